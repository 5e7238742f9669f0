"""The answer of a search in words, and its measurements as a table."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from bufferlab.display import as_view, significant
from bufferlab.render.grid import Column, Grid
from bufferlab.render.scenario import ScenarioLines
from bufferlab.render.view import View
from bufferlab.results.metrics.registry import STORED
from bufferlab.studies.search.answer import Searched


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
        share = significant(found.full_rate_bps / searched.rate_bps * 100)
        yield (
            f"full rate (100 %): {significant(found.full_rate_bps / 1e6)} Mbps, {share} % of the link's "
            f"rate, the median with a buffer of {found.calibrated_at} packets"
        )
    spent = found.spent
    yield (
        f"cost: {spent['measurements']:.0f} measurements, {significant(spent['simulated_s'])} s simulated, "
        f"{significant(spent['cpu_s'], 3)} s of CPU time"
    )


def _headline(searched: Searched) -> str:
    found = searched.found
    size = searched.size(found.estimate)
    what = "smallest" if found.goal.asks_for_more else "largest"
    high = "?" if found.high is None else str(found.high)
    sure = f"{found.confidence * 100:.10g} % confidence: {found.low} … {high}"
    if size is None:
        text = f"{what} buffer of {searched.link}: unknown ({sure})"
    else:
        size_of = f"{significant(size['bytes'] / 1e3)} KB, {significant(size['ms'])} ms"
        text = f"{what} buffer of {searched.link}: {found.estimate} packets ({size_of}; {sure})"
    text += f", for {found.goal}"
    if found.interrupted:
        return f"{text}; interrupted, so the interval is wider than requested"
    wide = "the interval is wider than requested: use more --seeds or longer runs"
    return text if found.reached else f"{text}; {wide}"


def _grid(searched: Searched) -> Grid:
    """A row for each size that was measured."""
    columns = ("utilization", "loss", "wait_mean_ms")
    sizes = searched.found.course.group_by("buffer_packets").agg(
        pl.len().alias("measured"), pl.col("meets").sum(), pl.col(columns).median()
    )
    rows = []
    for row in sizes.sort("buffer_packets").iter_rows(named=True):
        size = searched.size(row["buffer_packets"])
        figures = [significant(row[name] * STORED[name].unit.scale) for name in columns]
        drain_ms = significant(size["ms"]) if size else ""
        rows.append([str(row["buffer_packets"]), drain_ms, str(row["measured"]), str(row["meets"]), *figures])
    heads = ("ms", "measured", "met", *(STORED[name].label for name in columns))
    return Grid([Column("packets")], heads, rows)
