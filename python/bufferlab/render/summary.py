"""The summary document as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from bufferlab.display import as_view, significant
from bufferlab.render.grid import Grid
from bufferlab.render.scenario import ScenarioLines
from bufferlab.render.view import Heading, View
from bufferlab.results.metrics.metric import (
    CONFIDENCE_SUFFIX,
    MILLIONS,
    RUNS_SUFFIX,
    Dimension,
    Metric,
    of_runs,
)
from bufferlab.results.metrics.registry import FLOW_GROUPS, LATENCY, QUEUE_SUMMARY, RUNS
from bufferlab.results.result import Result, RunSet
from bufferlab.results.tables import ALL
from bufferlab.stats import REMEDY

Document = Mapping[str, Any]

NONE: Final = "–"
"""Stands for what is not known."""

TOO_FEW: Final = "unknown"
"""Stands for a mean over runs of which some have no value since too few finished."""

_UNKNOWN: Final = (
    "unknown: too few finished in the other runs; a mean without them would leave out the worst."
)


def summary_view(summary: Document) -> View:
    """The tables of a summary, between what was run and what it cost."""
    scenario = ScenarioLines(summary["resolved"], summary["seeds"])
    grids = list(_grids(summary))
    return View([Heading(headline(summary)), scenario.terms(), *grids, *notes(grids), _cost(summary)])


@as_view.register
def _(shown: Result | RunSet) -> View:
    return summary_view(shown.summary())


def headline(summary: Document) -> str:
    """What was run, for how long, with which seeds."""
    seeds = summary["seeds"]
    several = f"means of {len(seeds)} seeds ± 95 % confidence" if len(seeds) > 1 else f"seed {seeds[0]}"
    if len(seeds) > 1 and not any(_widths(summary)):
        several = f"{len(seeds)} seeds, identical runs ({REMEDY})"
    window = f"{summary['duration_s']:g} s, measured from {summary['warmup_s']:g} s"
    return f"{summary['name']}: {window}; {several}"


def _widths(row: Document) -> Iterator[float]:
    """The widths of all intervals of queues and flows, however deep they are; zero for identical runs."""
    for key, value in row.items():
        if isinstance(value, list) and key in {"flows", "queues", "groups"}:
            yield from chain.from_iterable(map(_widths, value))
        elif key.endswith(RUNS_SUFFIX):
            yield 1.0  # runs with and without a value are not identical
        elif key.endswith(CONFIDENCE_SUFFIX) and key.removesuffix(CONFIDENCE_SUFFIX) not in RUNS.names:
            yield value or 0.0


def _cost(summary: Document) -> str:
    parts = [f"{summary['packets']:,.0f} packets"]
    if summary["packets_per_cpu_s"] is not None:
        time, speed = RUNS["cpu_s"], RUNS["packets_per_cpu_s"]
        parts.append(f"{time.unit.quantity(summary[time.name], digits=3)} of {time.title}")
        parts.append(f"{MILLIONS.quantity(summary[speed.name], digits=3)} {speed.title}")
    return ("a seed: " if len(summary["seeds"]) > 1 else "") + ", ".join(parts)


def _grids(summary: Document) -> Iterator[Grid]:
    runs = len(summary["seeds"])
    yield from _grid("flows", summary["flows"], FLOW_GROUPS, runs)
    links: dict[str, list[Document]] = {}
    for row in summary["queues"]:
        links.setdefault(row["link"], []).append(row)
    for link, rows in links.items():
        # A single group's row says the same as that of all.
        shown = [row for row in rows if row["group"] == ALL] if len(rows) == 2 else rows
        yield from _grid(f"queue of {link}", shown, QUEUE_SUMMARY, runs)
    yield from _grid("latency under load", summary["latency"], LATENCY, runs)


def _grid(title: str, rows: Sequence[Document], dimension: Dimension, runs: int) -> Iterator[Grid]:
    if rows:
        yield Grid([title], [_column_name(row) for row in rows], list(lines(rows, dimension, runs)))


def _column_name(row: Document) -> str:
    detail = f"{row['flows']:g}" if "flows" in row else row.get("kind")
    return str(row["group"]) if detail is None else f"{row['group']} ({detail})"


def lines(rows: Sequence[Document], metrics: Iterable[Metric], runs: int) -> Iterator[list[str]]:
    """A line per metric that some of the rows have, its label and a cell per row."""
    for metric in metrics:
        if metric.has_line:
            cells = [cell(row, metric, runs) for row in rows]
            if not ({NONE, "0"} if metric.hide_zero else {NONE}).issuperset(cells):
                yield [metric.label, *cells]


def cell(row: Document, metric: Metric, runs: int) -> str:
    """A metric of a summary's object, with its confidence interval if there is one, and of how many runs."""
    value = row[metric.name]
    if metric.out_of:
        whole = (value or 0) + (row[metric.out_of] or 0)
        return f"{_with_interval(row, metric, runs)} of {significant(whole)}" if whole else NONE
    if not metric.shown_if(row):
        return NONE
    if value is None:
        return unknown(_known(row, metric), runs)
    return value if isinstance(value, str) else _with_interval(row, metric, runs)


def _with_interval(row: Document, metric: Metric, runs: int) -> str:
    name = metric.name
    return metric.unit.text(row[name], row[name + CONFIDENCE_SUFFIX]) + of_runs(_known(row, metric), runs)


def _known(row: Document, metric: Metric) -> int | None:
    """Of how many runs a mean is; `None` if of all."""
    known: int | None = row.get(metric.name + RUNS_SUFFIX)
    return known


def unknown(known: int | None, runs: int | None) -> str:
    """What stands for a mean that is not known: of no run, or of too few."""
    return NONE if known is None else TOO_FEW + of_runs(known, runs)


def notes(grids: Iterable[Grid]) -> Iterator[str]:
    """Why means are unknown, where some are."""
    if any(cell.startswith(TOO_FEW) for grid in grids for row in grid.rows for cell in row):
        yield _UNKNOWN
