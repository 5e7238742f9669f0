"""Runs as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bufferlab.display import as_text, significant
from bufferlab.render.grid import plain
from bufferlab.render.summary import NONE, estimated
from bufferlab.results.metrics.metric import CONFIDENCE_SUFFIX
from bufferlab.results.metrics.registry import STORED
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


@dataclass(frozen=True)
class RunsView:
    """Rows of a frame, the first of them, with figures in the units that people read.

    Attributes:
        title: What they are.
        frame: The rows.
        rows: How many to show.
        hint: How to get the others.
    """

    title: str
    frame: pl.DataFrame
    rows: int
    hint: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.title, style="bold")
        if self.frame.height:
            yield _table(self.frame.head(self.rows))
        if self.frame.height > self.rows:
            yield Text(f"and {self.frame.height - self.rows:,} more: {self.hint}")


@dataclass(frozen=True)
class SweepView:
    """What came out of a sweep."""

    sweep: Sweep
    rows: int = 100

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        sweep = self.sweep
        several = f" × {sweep.seeds} seeds" if sweep.seeds > 1 else ""
        points = f"{len(sweep.points)} point{'' if len(sweep.points) == 1 else 's'}"
        title = (
            f"{sweep.name}: {points}{several}; {sweep.simulated} simulated, {sweep.stored} in the store "
            f"before, {sweep.failed} failed; {significant(sweep.wall_s, 3)} s"
        )
        means = sweep.means
        columns = [*sweep.parameters, *with_widths(means, SHOWN)]
        hint = f"bufferlab results {sweep.store.directory}"
        yield from RunsView(title, means.select(columns), self.rows, hint).__rich_console__(console, options)
        yield Text(f"all figures and single runs: {hint}")


@as_text.register
def _(shown: Sweep) -> str:
    return plain(SweepView(shown))


def with_widths(frame: pl.DataFrame, figures: Sequence[str]) -> list[str]:
    """Figures and the widths of their intervals, as far as a frame has them."""
    names = [name for figure in figures for name in (figure, figure + CONFIDENCE_SUFFIX)]
    return [name for name in names if name in frame.columns]


def _table(frame: pl.DataFrame) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    names = [name for name in frame.columns if not name.endswith(CONFIDENCE_SUFFIX)]
    for name in names:
        metric = STORED.get(name)
        numeric = frame.schema[name].is_numeric()
        table.add_column(Text(metric.label if metric else name), justify="right" if numeric else "left")
    for row in frame.iter_rows(named=True):
        table.add_row(*(Text(_cell(row, name)) for name in names))
    return table


def _cell(row: dict[str, Any], name: str) -> str:
    value, width = row[name], row.get(name + CONFIDENCE_SUFFIX)
    if value is None:
        return NONE
    metric = STORED.get(name)
    if metric is None:
        return significant(value, 6) if isinstance(value, float) else str(value)
    return estimated(value, width, metric.unit.scale)
