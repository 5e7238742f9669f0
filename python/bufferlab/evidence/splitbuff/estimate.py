"""SplitBuff's figure 3: the router's estimate of the mean propagation delay over time."""

from __future__ import annotations

import itertools
import math
from typing import Any, Final

import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.points import means_of_points, run_points
from bufferlab.evidence.registry import Reproduced, Request, reproduction
from bufferlab.evidence.splitbuff.sweep import CITATION, SENDERS, Effort, Senders, scenario
from bufferlab.experiment.simulation import prepare
from bufferlab.render.plots.style import line_style, new_figure_row
from bufferlab.results.result import Result

MEAN_MS: Final = 100.0
LAWS: Final[dict[str, str]] = {"homogeneous": "100 ms", "heterogeneous": "uniform(50 ms, 150 ms)"}
"""Propagation delays, as in the document's two scenarios."""

PUBLISHED_MS: Final = {"homogeneous": 5.2, "heterogeneous": 7.7}
"""Section IV.A: "the standard deviation remains within 5.2 ms and 7.7 ms of the actual RTTP"."""

KEYS: Final = ("law", "senders", "flows")
MEASURES: Final = ("error_ms", "bias_ms", "deviation_ms")
"""Of the estimate, over time: root mean square and mean distance from the flows' mean, standard deviation."""

_FULL: Final = Effort((2, 10, 100, 250, 500), (), 500.0, 100.0, (10, 3))
_QUICK: Final = Effort((10, 100), (), 60.0, 20.0, (1, 1))
_DRAWN_SEED: Final = 1


@reproduction(
    name="splitbuff/fig3",
    title="The router's estimate of the mean propagation delay over time, for one delay and for 50 to 150 ms",
    citation=CITATION,
)
def fig3(request: Request) -> Reproduced:
    """Estimates over time for several numbers of flows, and how far they are from the truth."""
    effort = _QUICK if request.quick else _FULL
    points = list(itertools.product(LAWS, SENDERS, effort.flows))
    scenarios = {point: prepare(estimate_scenario(*point, effort)) for point in points}
    seeds = {senders: request.seeds or number for senders, number in zip(SENDERS, effort.seeds, strict=True)}

    def measure(
        point: tuple[str, Senders, int], seed: int, result: Result
    ) -> tuple[dict[str, Any], pl.DataFrame]:
        keys = dict(zip(KEYS, point, strict=True)) | {"seed": seed}
        series = estimates_of(result)
        return keys | errors_of(result, series), series.with_columns(
            **{name: pl.lit(value) for name, value in keys.items()}
        )

    done = run_points(scenarios, lambda point: seeds[point[1]], measure, request, title="splitbuff/fig3")
    runs = pl.DataFrame([row for row, _ in done], infer_schema_length=None)
    series = pl.concat([each for _, each in done])
    means = means_of_points(runs, KEYS, MEASURES)
    return Reproduced(
        name="splitbuff/fig3",
        tables={"runs": runs, "points": means, "estimates": series},
        figures={"fig3": _draw(series)},
        comparison=compare(means),
        notes=_notes(effort, seeds, quick=request.quick),
    )


def estimate_scenario(law: str, senders: Senders, flows: int, effort: Effort = _FULL) -> dict[str, Any]:
    """The scenario of one point: SplitBuff, sampled each second."""
    document = scenario("splitbuff", senders, 2, MEAN_MS, effort)
    group = document["flows"][0] | {"name": "flows", "count": flows, "rtt": LAWS[law]}
    # a bound that the estimate stays below, as everywhere: twice the bandwidth-delay product
    document["links"][0]["buffer"] = "2 bdp"
    return document | {
        "flows": [group],
        "probes": {"interval": "1 s", "links": ["bottleneck"], "per_group": 1},
    }


def estimates_of(result: Result) -> pl.DataFrame:
    """The estimates after the warm-up, `time_s` and `estimate_ms`."""
    return result.class_samples.filter(
        pl.col("class").is_null(), pl.col("time_s") >= result.warmup_s, pl.col("rtt_ms").is_not_null()
    ).select("time_s", estimate_ms="rtt_ms")


def errors_of(result: Result, series: pl.DataFrame) -> dict[str, float]:
    """`MEASURES`: how far a run's estimates are from the mean over its flows."""
    actual_ms = float(result.flows["propagation_ms"].to_numpy().mean())
    errors = series["estimate_ms"].to_numpy() - actual_ms
    bias = float(errors.mean())
    deviation = float(errors.std())
    return {"error_ms": math.hypot(bias, deviation), "bias_ms": bias, "deviation_ms": deviation}


def compare(points: pl.DataFrame) -> pl.DataFrame:
    """One row a setting: the published bound holds for all numbers of flows."""
    rows = [
        {
            "what": f"{point['law']}: estimate's distance from the actual mean, root mean square",
            "flows": point["flows"],
            "senders": point["senders"],
            "unit": "ms",
            "published": f"within {PUBLISHED_MS[point['law']]}",
            "ours": point["error_ms"],
            "bias": point["bias_ms"],
            "deviation": point["deviation_ms"],
            "holds": point["error_ms"] <= PUBLISHED_MS[point["law"]],
            "why": _why(point),
        }
        for point in points.iter_rows(named=True)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _why(point: dict[str, Any]) -> str:
    if point["law"] == "homogeneous":
        return (
            "One round-trip time: the threshold lies at every flow, and packets change between two "
            "sub-buffers with different waits as the smoothed times move about it; what the smoothed delay "
            "is late by, the estimate is off by."
        )
    return (
        "The mean is over packets, of which short flows send more: it lies below the mean over flows. With "
        "few flows the sawteeth of their windows move it."
    )


def _draw(series: pl.DataFrame) -> Figure:
    figure, panels = new_figure_row(len(LAWS))
    for panel, law in zip(panels, LAWS, strict=True):
        own = series.filter(
            pl.col("law") == law, pl.col("senders") == SENDERS[0], pl.col("seed") == _DRAWN_SEED
        )
        for index, ((flows,), line) in enumerate(own.group_by("flows", maintain_order=True)):
            panel.plot(
                line["time_s"].to_numpy(),
                line["estimate_ms"].to_numpy(),
                **line_style(index),
                label=f"{flows} flows",
            )
        panel.axhline(MEAN_MS, color="black", linewidth=1)
        panel.set_title(f"{law}: {LAWS[law]}, {SENDERS[0]}", loc="left")
        panel.set_xlabel("time (s)")
    panels[0].set_ylabel("estimated mean propagation delay (ms)")
    panels[-1].legend(fontsize="small", frameon=False)
    return figure


def _notes(effort: Effort, seeds: dict[Senders, int], *, quick: bool) -> tuple[str, ...]:
    in_step, jitter = (seeds[senders] for senders in SENDERS)
    notes = [
        f"ns-2's Sack1, 100 Mbit/s, 1040 bytes on the wire, {effort.duration_s:g} s; the estimate (mean "
        "round-trip time over packets less the smoothed delay) is read each second from "
        f"{effort.warmup_s:g} s on; means of {in_step} runs in step, {jitter} with up to 1 ms of random "
        "delay in the senders.",
        "The truth is the mean over the flows of a run. The document's standard deviations come without the "
        "numbers of flows, the update period and the weight.",
    ]
    if quick:
        notes.append("Quick: few points, short runs: shows that it works, not what the document found.")
    return tuple(notes)
