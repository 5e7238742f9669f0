"""SplitBuff and heavy-tailed round-trip times of 10 ms to 1000 ms, which the text names without numbers."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.points import means_of_points, run_points
from bufferlab.evidence.registry import Reproduced, Request, reproduction
from bufferlab.evidence.splitbuff.sweep import CITATION, RATE_BPS, Effort, scenario
from bufferlab.experiment.simulation import prepare
from bufferlab.render.plots.style import COLORS, new_figure_row
from bufferlab.results.result import Result
from bufferlab.stats import jain_index

FLOWS: Final = 100
LAW: Final = "lognormal(median=60 ms, sigma=1, min=10 ms, max=1000 ms)"
"""Round-trip times; the text has their range only."""

QUEUES: Final[dict[str, tuple[str, Any]]] = {
    "BDP rule": ("1 bdp", "fifo"),
    "Stanford model": ("stanford", "fifo"),
    "SplitBuff-2": ("2 bdp", "splitbuff"),
    "SplitBuff-3": ("2 bdp", {"discipline": "splitbuff", "sub_buffers": 3}),
    "weighted SplitBuff": ("2 bdp", "splitbuff-weighted"),
}
"""Buffer and queue by title; the last shares the link by numbers of flows and is not the document's."""

MEASURES: Final = (
    "throughput_short", "throughput_long", "fairness", "delay_short_ms", "delay_long_ms", "delay_ms",
    "loss_percent", "utilization", "timeouts_flow_s",
)  # fmt: skip
"""What is measured: short and long are below and above the mean propagation delay."""

_FULL: Final = Effort((FLOWS,), (), 500.0, 100.0, (10, 0))
_QUICK: Final = Effort((FLOWS,), (), 40.0, 15.0, (1, 0))


@reproduction(
    name="splitbuff/heavytail",
    title="Heavy-tailed round-trip times, 10 ms to 1000 ms: throughput by round-trip time",
    citation=CITATION,
)
def heavytail(request: Request) -> Reproduced:
    """Throughput, fairness and delay of 100 flows under five queues."""
    effort = _QUICK if request.quick else _FULL
    seeds = request.seeds or effort.seeds[0]
    scenarios = {title: prepare(heavytail_scenario(title, effort)) for title in QUEUES}

    def measure(title: str, seed: int, result: Result) -> tuple[dict[str, Any], pl.DataFrame]:
        flows = result.flows.select(
            pl.lit(title).alias("queue"), "seed", "flow", "propagation_ms", "goodput_bps"
        )
        return {"queue": title, "seed": seed} | _measure(result), flows

    done = run_points(scenarios, seeds, measure, request, title="splitbuff, heavy tail")
    runs = pl.DataFrame([row for row, _ in done], infer_schema_length=None)
    flows = pl.concat([each for _, each in done])
    points = means_of_points(runs, ("queue",), MEASURES)
    return Reproduced(
        name="splitbuff/heavytail",
        tables={"runs": runs, "points": points, "flows": flows},
        figures={"heavytail": _draw(flows)},
        comparison=compare(points),
        notes=_notes(effort, seeds, quick=request.quick),
    )


def heavytail_scenario(title: str, effort: Effort = _FULL) -> dict[str, Any]:
    """The scenario of one queue: a single group of flows with their own round-trip times."""
    document = scenario("bdp", "in step", FLOWS, 100, effort)
    link = document["links"][0]
    link["buffer"], link["queue"] = QUEUES[title]
    document["flows"] = [document["flows"][0] | {"name": "flows", "count": FLOWS, "rtt": LAW}]
    return document


def _measure(result: Result) -> dict[str, float | None]:
    flows = result.flows
    mean_ms = float(flows["propagation_ms"].to_numpy().mean())
    kinds = {
        "short": flows.filter(pl.col("propagation_ms") < mean_ms),
        "long": flows.filter(pl.col("propagation_ms") >= mean_ms),
    }
    queue = result.queues.filter(pl.col("link") == "bottleneck", pl.col("group") == "all").row(0, named=True)
    row: dict[str, float | None] = {}
    for kind, own in kinds.items():
        row[f"throughput_{kind}"] = float(own["goodput_bps"].to_numpy().mean()) / RATE_BPS
        row[f"delay_{kind}_ms"] = _mean_wait_ms(own)
    return row | {
        "fairness": jain_index(flows["goodput_bps"].to_list()),
        "delay_ms": queue["wait_mean_ms"],
        "loss_percent": queue["loss"] * 100.0,
        "utilization": queue["utilization"],
        "timeouts_flow_s": float(flows["timeouts"].sum()) / flows.height / result.measured_s,
    }


def _mean_wait_ms(flows: pl.DataFrame) -> float:
    """Round-trip time beyond propagation, mean over packets."""
    known = flows.filter(pl.col("rtt_ms").is_not_null())
    waits = (known["rtt_ms"] - known["propagation_ms"]).to_numpy()
    return float(np.average(waits, weights=known["delivered_bytes"].to_numpy().astype(np.float64)))


def compare(points: pl.DataFrame) -> pl.DataFrame:
    """One row a queue; nothing is published."""
    rows = [
        {
            "queue": point["queue"],
            "what": name,
            "published": None,
            "ours": point[column],
            "ours_ci95": point[f"{column}_ci95"],
            "why": _WHY[point["queue"]],
        }
        for point in points.iter_rows(named=True)
        for column, name in _NAMES.items()
    ]
    return pl.DataFrame(rows, schema_overrides={"published": pl.Float64}, infer_schema_length=None)


_NAMES: Final = {
    "throughput_long": "throughput of flows above the mean propagation delay, over the link's rate",
    "fairness": "Jain's fairness of all flows",
    "delay_short_ms": "delay of flows below the mean, ms",
    "delay_ms": "mean delay, ms",
}
_WHY: Final = {
    "BDP rule": "One queue: rate falls with the round-trip time.",
    "Stanford model": "The same with little wait, so propagation counts for more.",
    "SplitBuff-2": "Half of the link for the third of the flows above the mean: now the short ones lose.",
    "SplitBuff-3": "A third of the link for the few flows beyond mean + sigma/2.",
    "weighted SplitBuff": "Sub-buffers share by their numbers of flows and are cut in gaps (ours).",
}


def _draw(flows: pl.DataFrame) -> Figure:
    figure, panels = new_figure_row(len(QUEUES))
    for index, (panel, title) in enumerate(zip(panels, QUEUES, strict=True)):
        own = flows.filter(pl.col("queue") == title)
        panel.plot(
            own["propagation_ms"].to_numpy(),
            np.maximum(own["goodput_bps"].to_numpy() / RATE_BPS, 1e-6),
            color=COLORS[index],
            linestyle="none",
            marker=".",
            markersize=3,
        )
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_ylim(1e-4, 1)
        panel.axhline(1000 / 1040 / FLOWS, color="black", linewidth=1)
        panel.set_title(title, loc="left")
        panel.set_xlabel("propagation delay (ms)")
    panels[0].set_ylabel("flow's throughput / link's rate")
    return figure


def _notes(effort: Effort, seeds: int, *, quick: bool) -> tuple[str, ...]:
    notes = [
        f"100 Mbit/s, 1040 bytes on the wire, 100 flows, round-trip times {LAW}; {effort.duration_s:g} s, "
        f"measured from {effort.warmup_s:g} s, {seeds} runs, each with its own round-trip times.",
        "Short and long flows are those below and above the mean propagation delay; their delays are their "
        "round-trip times less propagation, mean over packets.",
        "SplitBuff's period is 2 s, longer than any round trip.",
    ]
    if quick:
        notes.append("Quick: one short run a point: shows that it works, not what the document found.")
    return tuple(notes)
