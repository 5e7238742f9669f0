"""SplitBuff's table I and its three sub-buffers: 100 flows with two lognormal modes of round-trip times.

The text has three pairs of modes: propagation delays of "approximately" 60 and 130 ms, round-trip times of 74
and 180 ms, and SplitBuff's estimates of the propagation delays, 62.7 and 178.7 ms. Simulated are the first
and the third, narrow and wide, as the text has no deviations.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.points import means_of_points, run_points
from bufferlab.evidence.registry import Reproduced, Request, reproduction
from bufferlab.evidence.splitbuff.sweep import CITATION, MEASURES, Effort, row_of, scenario
from bufferlab.experiment.simulation import prepare
from bufferlab.render.plots.style import COLORS, new_figure_row
from bufferlab.results.result import Result

FLOWS: Final = 100
MODES_MS: Final = ((60, 130), (60, 180))
"""Means of the two laws: as the text has the propagation delays, and as table I has their estimates."""

SIGMAS: Final = (0.2, 0.5)
"""Standard deviations of the logarithm."""

QUEUES: Final = ("bdp", "splitbuff-2", "splitbuff-3")
KEYS: Final = ("queue", "modes_ms", "sigma")
SUB_BUFFERS: Final = ("first", "last")
COLUMNS: Final = (
    *MEASURES, "delay_of_types_ms", "delay_of_sub_buffers_ms",
    *(f"{what}_{which}_ms" for which in SUB_BUFFERS for what in ("rttp", "delay")),
)  # fmt: skip
"""What is measured.

`rttp_…` and `delay_…` are the router's own estimate and the mean wait in the sub-buffers of the shortest and
of the longest round-trip times; `delay_of_…` are means of two delays, as the table's "Avg" is.
"""

_FULL: Final = Effort((FLOWS,), (), 500.0, 100.0, (10, 0))
_QUICK: Final = Effort((FLOWS,), (), 40.0, 15.0, (1, 0))


@dataclass(frozen=True)
class Number:
    """A published number: under which queue, our column for it, the value, its unit, what it is."""

    queue: str
    column: str
    value: float
    unit: str
    what: str


TABLE_I: Final = (
    Number("bdp", "throughput_short", 0.012, "", "BDP rule: throughput of type 1"),
    Number("bdp", "throughput_long", 0.0072, "", "BDP rule: throughput of type 2"),
    Number("bdp", "delay_ms", 108.7, "ms", "BDP rule: mean delay"),
    Number("splitbuff-2", "rttp_first_ms", 62.7, "ms", "SplitBuff-2: estimated RTTP, sub-buffer 1"),
    Number("splitbuff-2", "rttp_last_ms", 178.7, "ms", "SplitBuff-2: estimated RTTP, sub-buffer 2"),
    Number("splitbuff-2", "throughput_short", 0.0106, "", "SplitBuff-2: throughput of type 1"),
    Number("splitbuff-2", "throughput_long", 0.0086, "", "SplitBuff-2: throughput of type 2"),
    Number("splitbuff-2", "delay_first_ms", 52.2, "ms", "SplitBuff-2: delay, sub-buffer 1"),
    Number("splitbuff-2", "delay_last_ms", 144.4, "ms", "SplitBuff-2: delay, sub-buffer 2"),
    Number("splitbuff-2", "delay_of_sub_buffers_ms", 98.25, "ms", "SplitBuff-2: mean delay"),
)
THREE: Final = (
    Number("splitbuff-3", "throughput_short", 0.0095, "", "SplitBuff-3: throughput of type 1"),
    Number("splitbuff-3", "throughput_long", 0.0096, "", "SplitBuff-3: throughput of type 2"),
    Number("splitbuff-3", "delay_of_types_ms", 67.3, "ms", "SplitBuff-3: mean of both types' delays"),
)


@reproduction(
    name="splitbuff/table1",
    title="Two modes of round-trip times: throughput, delay and estimated propagation delay",
    citation=CITATION,
)
def table1(request: Request) -> Reproduced:
    """Table I: the BDP rule and two sub-buffers."""
    return _reproduced("table1", TABLE_I, request)


@reproduction(
    name="splitbuff/three_buffers",
    title="The same with three sub-buffers",
    citation=CITATION,
)
def three_buffers(request: Request) -> Reproduced:
    """Section IV.C's three sub-buffers, thresholds half a standard deviation beside the mean."""
    return _reproduced("three_buffers", THREE, request)


def bimodal_scenario(
    queue: str, modes_ms: tuple[int, int], sigma: float, effort: Effort = _FULL
) -> dict[str, Any]:
    """The scenario of one setting: half of the flows from each mode's law."""
    document = scenario("bdp", "in step", FLOWS, modes_ms[1], effort)
    link = document["links"][0]
    link["buffer"] = "1 bdp"
    if queue != "bdp":
        link["queue"] = {"discipline": "splitbuff", "sub_buffers": int(queue[-1])}
        link["buffer"] = "2 bdp"
        document["probes"] = {"interval": "1 s", "links": [link["name"]], "per_group": 1}
    for group, mode_ms in zip(document["flows"], modes_ms, strict=True):
        group["rtt"] = f"lognormal(mean={mode_ms} ms, sigma={sigma:g}, min=5 ms)"
    return document


@lru_cache(maxsize=2)
def simulated(request: Request) -> pl.DataFrame:
    """All runs, one row each; the table and the three sub-buffers share them, so they are kept."""
    effort = _QUICK if request.quick else _FULL
    settings = list(itertools.product(QUEUES, MODES_MS, SIGMAS))
    scenarios = {each: prepare(bimodal_scenario(*each, effort)) for each in settings}

    def measure(point: tuple[str, tuple[int, int], float], seed: int, result: Result) -> dict[str, Any]:
        queue, modes_ms, sigma = point
        keys = {"queue": queue, "modes_ms": "/".join(map(str, modes_ms)), "sigma": sigma, "seed": seed}
        return keys | _measure(result)

    seeds = request.seeds or effort.seeds[0]
    rows = run_points(scenarios, seeds, measure, request, title="splitbuff, two modes")
    return pl.DataFrame(rows, infer_schema_length=None)


def _measure(result: Result) -> dict[str, float | None]:
    row = row_of(result)
    row["delay_of_types_ms"] = _mean(row["delay_short_ms"], row["delay_long_ms"])
    own = dict(zip(SUB_BUFFERS, _sub_buffers(result), strict=True))
    for which, (rttp_ms, delay_ms) in own.items():
        row |= {f"rttp_{which}_ms": rttp_ms, f"delay_{which}_ms": delay_ms}
    row["delay_of_sub_buffers_ms"] = _mean(*(delay_ms for _, delay_ms in own.values()))
    return row


def _sub_buffers(result: Result) -> list[tuple[float | None, float | None]]:
    """Estimated propagation delay and mean wait, ms, of the first and the last sub-buffer, if any."""
    if result.classes.is_empty():
        return [(None, None)] * len(SUB_BUFFERS)
    measured = result.class_samples.filter(pl.col("time_s") >= result.warmup_s)
    found: list[tuple[float | None, float | None]] = []
    for index in (0, result.classes["class"].max()):
        estimates = measured.filter(pl.col("class") == index)["rtt_ms"].drop_nulls()
        waits = result.classes.filter(pl.col("class") == index)["wait_mean_ms"]
        found.append((float(estimates.to_numpy().mean()) if len(estimates) else None, waits[0]))
    return found


def _mean(*values: float | None) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def compare(points: pl.DataFrame, numbers: Sequence[Number]) -> pl.DataFrame:
    """One row a published number and setting; ns-2 has no SplitBuff and was not run on these."""
    rows = []
    for number in numbers:
        for point in points.filter(pl.col("queue") == number.queue).iter_rows(named=True):
            value = point[number.column]
            rows.append(
                {
                    "what": number.what,
                    "modes_ms": point["modes_ms"],
                    "sigma": point["sigma"],
                    "unit": number.unit,
                    "published": number.value,
                    "ours": value,
                    "ours_ci95": point[f"{number.column}_ci95"],
                    "difference_percent": (value / number.value - 1.0) * 100.0,
                    "why": _why(number),
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def _why(number: Number) -> str:
    if number.queue == "splitbuff-3":
        return (
            "Round robin gives each of three sub-buffers a third of the link: with narrow modes nearly all "
            "of type 1 shares one of them and type 2 has the other two. Equal throughputs need a law that "
            "fills the middle from both; the text does not state its own."
        )
    if "rttp" in number.column:
        return (
            "The router's own estimate, mean over time. Wide modes overlap, so both sub-buffers hold flows "
            "of both types."
        )
    if number.queue == "bdp":
        return (
            "A mean delay of 108.7 ms needs a buffer of more than that: a mean propagation delay above 109 "
            "ms, as 60 and 180 ms have (120) and 60 and 130 ms have not (95)."
        )
    if "throughput" in number.column:
        return (
            "Open. Narrow modes: one type a sub-buffer, so half of the link each, by round robin. Wide: "
            "it depends on the draw; single ones come near."
        )
    return "Waits in the sub-buffers: B is a bandwidth-delay product, and each is drained at half the rate."


def _reproduced(name: str, numbers: Sequence[Number], request: Request) -> Reproduced:
    runs = simulated(request)
    points = means_of_points(runs, KEYS, COLUMNS)
    effort = _QUICK if request.quick else _FULL
    notes = [
        f"100 Mbit/s, 1040 bytes on the wire, 100 flows, half of each mode, {effort.duration_s:g} s, "
        f"measured from {effort.warmup_s:g} s; {request.seeds or effort.seeds[0]} runs, each with its own "
        "round-trip times.",
        "Modes are means of lognormal laws; sigma is the standard deviation of the logarithm. The text has "
        "no deviations, and three pairs of modes.",
        "Estimates are the router's own, read each second.",
    ]
    if request.quick:
        notes.append("Quick: one short run a point: shows that it works, not what the document found.")
    return Reproduced(
        name=f"splitbuff/{name}",
        tables={"runs": runs, "points": points},
        figures={name: _draw(points, numbers)},
        comparison=compare(points, numbers),
        notes=tuple(notes),
    )


def _draw(points: pl.DataFrame, numbers: Sequence[Number]) -> Figure:
    """Ours over published, a bar a number and setting."""
    comparison = compare(points, numbers)
    settings = comparison.select("modes_ms", "sigma").unique(maintain_order=True)
    figure, (panel,) = new_figure_row(1)
    figure.set_size_inches(7.2, 0.45 * len(numbers) * 1.6 + 1.4)
    for index, (modes, sigma) in enumerate(settings.iter_rows()):
        own = comparison.filter(pl.col("modes_ms") == modes, pl.col("sigma") == sigma)
        panel.barh(
            np.arange(own.height) + (index - 1.5) * 0.2,
            (own["ours"] / own["published"]).to_numpy(),
            height=0.18,
            color=COLORS[index],
            label=f"{modes} ms, sigma {sigma:g}",
        )
    panel.axvline(1.0, color="black", linewidth=1)
    panel.set_yticks(range(len(numbers)), [number.what for number in numbers])
    panel.invert_yaxis()
    panel.set_xlabel("ours / published")
    panel.legend(fontsize="x-small", frameon=False)
    return figure
