"""Runs as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from bufferlab.display import as_view, significant
from bufferlab.experiment.store import calls
from bufferlab.experiment.store.calls import listed_metric, shown_of_groups
from bufferlab.render.grid import Column, Grid
from bufferlab.render.scenario import ScenarioLines
from bufferlab.render.summary import notes, unknown
from bufferlab.render.view import Heading, Terms, View
from bufferlab.results.metrics.metric import CONFIDENCE_SUFFIX, RUNS_SUFFIX, of_runs
from bufferlab.studies.sweep import Sweep

SHOWN: Final = (
    "utilization",
    "loss",
    "wait_mean_ms",
    "wait_p95_ms",
    "goodput_total_bps",
    "jain_index",
)
"""The figures of a list of runs if none are asked for."""

_POINTS: Final = 100
"""Most points of a sweep that are shown."""


def runs_view(title: str, frame: pl.DataFrame, most: int, hint: str) -> View:
    """Rows of a frame, the first of them, with figures in the units that people read.

    Args:
        title: What they are.
        frame: The rows.
        most: How many to show.
        hint: How to get the others.
    """
    more = [f"and {frame.height - most:,} more: {hint}"] if frame.height > most else []
    grids = [_grid(frame.head(most))] if frame.height else []
    return View([Heading(title), *grids, *notes(grids), *more])


@as_view.register
def sweep_view(sweep: Sweep) -> View:
    """What came out of a sweep."""
    several = f" × {sweep.seeds} seeds" if sweep.seeds > 1 else ""
    points = f"{len(sweep.points)} point{'' if len(sweep.points) == 1 else 's'}"
    repeated = f"{sweep.repeated} the same as others, " if sweep.repeated else ""
    title = (
        f"{sweep.name}: {points}{several}; {sweep.simulated} simulated, {sweep.stored} in the store "
        f"before, {repeated}{sweep.failed} failed; {significant(sweep.wall_s, 3)} s"
    )
    means = sweep.means
    columns = [
        *sweep.parameters,
        *with_widths(means, [*SHOWN, *calls.SHOWN, *shown_of_groups(means.columns)]),
    ]
    hint = f"bufferlab results {sweep.store.directory}"
    heading, *table = runs_view(title, means.select(columns), _POINTS, hint).parts
    scenario = ScenarioLines(sweep.resolved, varied=_varied(sweep)).terms()
    varied = Terms([*scenario.lines, ("varied", ", ".join(sweep.parameters))])
    return View([heading, varied, *table, f"all figures and single runs: {hint}"])


def _varied(sweep: Sweep) -> dict[str, list[str]]:
    """Which of a link's queue and buffer are varied, by its name."""
    return {
        link["name"]: [
            key
            for key in ("queue", "buffer")
            if any(f"{path}.{key}" in sweep.parameters for path in _paths(at, link["name"]))
        ]
        for at, link in enumerate(sweep.resolved["links"])
    }


def _paths(at: int, name: str) -> list[str]:
    """The paths of a link's keys."""
    return [f"links[{at}]", f"links.{name}", *(["bottleneck"] if at == 0 else [])]


def with_widths(frame: pl.DataFrame, figures: Sequence[str]) -> list[str]:
    """Figures, the widths of their intervals and of how many runs they are, as far as a frame has them."""
    names = [figure + suffix for figure in figures for suffix in ("", CONFIDENCE_SUFFIX, RUNS_SUFFIX)]
    return [name for name in names if name in frame.columns]


def _grid(frame: pl.DataFrame) -> Grid:
    """A row for each of the frame; the columns before the first figure, at least one, tell rows apart."""
    names = [name for name in frame.columns if not _is_beside(name)]
    labels = max(next((at for at, name in enumerate(names) if listed_metric(name)), len(names)), 1)
    columns = [_column(name, is_number=frame.schema[name].is_numeric()) for name in names]
    rows = [[_cell(row, name) for name in names] for row in frame.iter_rows(named=True)]
    return Grid(columns[:labels], columns[labels:], rows)


def _is_beside(name: str) -> bool:
    """Whether a column is shown in the cells of its figure's."""
    of = (name.removesuffix(suffix) for suffix in (CONFIDENCE_SUFFIX, RUNS_SUFFIX))
    return not listed_metric(name) and any(listed_metric(each) for each in of)


def _column(name: str, *, is_number: bool) -> Column:
    metric = listed_metric(name)
    head = metric.label if metric else name
    return Column(head) if is_number else Column(head, "left", wraps=True)


def _cell(row: dict[str, Any], name: str) -> str:
    value, width = row[name], row.get(name + CONFIDENCE_SUFFIX)
    if value is None:
        return unknown(row.get(name + RUNS_SUFFIX), row.get("runs"))
    metric = listed_metric(name)
    if metric is None:
        return significant(value, 6) if isinstance(value, float) else str(value)
    return metric.unit.text(value, width) + of_runs(row.get(name + RUNS_SUFFIX), row.get("runs"))
