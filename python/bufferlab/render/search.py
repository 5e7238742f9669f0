"""The answer of a search in words, and its measurements as a table."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from bufferlab.display import as_view
from bufferlab.render.grid import Column, Grid
from bufferlab.render.scenario import ScenarioLines
from bufferlab.render.view import View
from bufferlab.results.metrics.metric import (
    BITS_PER_S,
    BYTES,
    FRACTION,
    MILLISECONDS,
    PACKETS,
    SECONDS,
)  # fmt: skip
from bufferlab.results.metrics.registry import STORED
from bufferlab.studies.search.answer import Searched
from bufferlab.studies.search.goal import MEASURED


@as_view.register
def search_view(searched: Searched) -> View:
    """What was run, what was measured, and the answer."""
    scenario = ScenarioLines(searched.resolved, varied={searched.link: ("buffer",)})
    return View([scenario.terms(), _grid(searched), *answer(searched)])


def answer(searched: Searched) -> Iterator[str]:
    """The answer, what it means, and what it cost, one line each."""
    found = searched.found
    if searched.problem() is None:
        yield _headline(searched)
    if found.goal.utilization is not None:
        share = FRACTION.quantity(found.full_rate_bps / searched.rate_bps)
        yield (
            f"full rate ({FRACTION.quantity(1)}): {BITS_PER_S.quantity(found.full_rate_bps)}, {share} of the "
            f"link's rate, the median with a buffer of {found.calibrated_at} packets"
        )
    spent = found.spent
    simulated = SECONDS.quantity(spent["simulated_s"])
    yield (
        f"cost: {spent['measurements']:.0f} measurements, {simulated} simulated, "
        f"{SECONDS.quantity(spent['cpu_s'], digits=3)} of {STORED['cpu_s'].title}"
    )


def _headline(searched: Searched) -> str:
    found = searched.found
    size = searched.size(found.estimate)
    what = "smallest" if found.goal.asks_for_more else "largest"
    high = "?" if found.high is None else str(found.high)
    sure = f"{FRACTION.quantity(found.confidence, digits=10)} confidence: {found.low} … {high}"
    if size is None:
        text = f"{what} buffer of {searched.link}: unknown ({sure})"
    else:
        size_of = f"{BYTES.quantity(size['bytes'])}, {MILLISECONDS.quantity(size['ms'])}"
        text = f"{what} buffer of {searched.link}: {found.estimate} packets ({size_of}; {sure})"
    text += f", for {found.goal}"
    if found.interrupted:
        return f"{text}; interrupted, so the interval is wider than requested"
    wide = "the interval is wider than requested: use more --seeds or longer runs"
    return text if found.reached else f"{text}; {wide}"


def _grid(searched: Searched) -> Grid:
    """A row for each size that was measured."""
    sizes = searched.found.course.group_by("buffer_packets").agg(
        pl.len().alias("measured"), pl.col("meets").sum(), pl.col(MEASURED).median()
    )
    rows = []
    for row in sizes.sort("buffer_packets").iter_rows(named=True):
        size = searched.size(row["buffer_packets"])
        figures = [STORED[name].unit.text(row[name]) for name in MEASURED]
        drain_ms = MILLISECONDS.text(size["ms"]) if size else ""
        rows.append([str(row["buffer_packets"]), drain_ms, str(row["measured"]), str(row["meets"]), *figures])
    heads = (MILLISECONDS.shown, "measured", "met", *(STORED[name].label for name in MEASURED))
    return Grid([Column(PACKETS.shown)], heads, rows)
