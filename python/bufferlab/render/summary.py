"""The summary document as tables for people: on a terminal (rich) and in a notebook (HTML)."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from bufferlab.display import as_html, as_text, significant
from bufferlab.render.grid import Grid, plain
from bufferlab.results.metrics.metric import CONFIDENCE_SUFFIX, Dimension, Metric
from bufferlab.results.metrics.registry import FLOW_GROUPS, LATENCY, QUEUE_SUMMARY
from bufferlab.results.result import Result, RunSet
from bufferlab.results.tables import ALL

Document = Mapping[str, Any]

_LABEL_WIDTH: Final = 30
_COLUMN_WIDTH: Final = 14
_WIDE_COLUMN_WIDTH: Final = 22
"""Characters of a column with confidence intervals; groups that do not fit go into further tables below."""

_HTML_COLUMNS: Final = 8

NONE: Final = "–"
"""Stands for what is not known."""


@dataclass(frozen=True)
class SummaryView:
    """The summary for a terminal: rich prints it as wide as there is room."""

    summary: Document

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        several = len(self.summary["seeds"]) > 1
        column_width = _WIDE_COLUMN_WIDTH if several else _COLUMN_WIDTH
        columns = max((options.max_width - _LABEL_WIDTH) // column_width, 1)
        yield Text(headline(self.summary), style="bold")
        yield from (grid.rich() for grid in _grids(self.summary, columns))
        yield Text(_cost(self.summary))


def to_text(summary: Document, columns: int = 100) -> str:
    """The summary as the terminal shows it, without colors; `columns` is the width to wrap at."""
    return plain(SummaryView(summary), columns)


@as_text.register
def _(shown: Result | RunSet) -> str:
    return to_text(shown.summary())


@as_html.register
def _(shown: Result | RunSet) -> str:
    return to_html(shown.summary())


def to_html(summary: Document) -> str:
    """The summary for a notebook."""
    parts = [f"<p><b>{html.escape(headline(summary))}</b></p>"]
    parts += [grid.html() for grid in _grids(summary, _HTML_COLUMNS)]
    return "\n".join([*parts, f"<p>{html.escape(_cost(summary))}</p>"])


def headline(summary: Document) -> str:
    """What was run, for how long, with which seeds."""
    seeds = summary["seeds"]
    several = f"means of {len(seeds)} seeds ± 95 % confidence" if len(seeds) > 1 else f"seed {seeds[0]}"
    window = f"{summary['duration_s']:g} s, measured from {summary['warmup_s']:g} s"
    return f"{summary['name']}: {window}; {several}"


def _cost(summary: Document) -> str:
    parts = [f"{summary['packets']:,.0f} packets"]
    if summary["packets_per_cpu_s"] is not None:
        parts.append(f"{significant(summary['cpu_s'], 3)} s of CPU time")
        parts.append(f"{significant(summary['packets_per_cpu_s'] / 1e6, 3)} million packets per CPU second")
    return ("a seed: " if len(summary["seeds"]) > 1 else "") + ", ".join(parts)


def _grids(summary: Document, columns: int) -> Iterator[Grid]:
    yield from _split("flows", summary["flows"], FLOW_GROUPS, columns)
    links: dict[str, list[Document]] = {}
    for row in summary["queues"]:
        links.setdefault(row["link"], []).append(row)
    for link, rows in links.items():
        # A single group's row says the same as that of all.
        shown = [row for row in rows if row["group"] == ALL] if len(rows) == 2 else rows
        yield from _split(f"queue of {link}", shown, QUEUE_SUMMARY, columns)
    yield from _split("latency under load", summary["latency"], LATENCY, columns)


def _split(title: str, rows: Sequence[Document], dimension: Dimension, columns: int) -> Iterator[Grid]:
    for start in range(0, len(rows), columns):
        shown = rows[start : start + columns]
        yield Grid(title, [_column_name(row) for row in shown], list(lines(shown, dimension)))


def _column_name(row: Document) -> str:
    detail = f"{row['flows']:g}" if "flows" in row else row.get("kind")
    return str(row["group"]) if detail is None else f"{row['group']} ({detail})"


def lines(rows: Sequence[Document], metrics: Iterable[Metric]) -> Iterator[tuple[str, list[str]]]:
    """A line per metric that some of the rows have, a cell per row."""
    for metric in metrics:
        if metric.has_line:
            cells = [cell(row, metric) for row in rows]
            if not ({NONE, "0"} if metric.hide_zero else {NONE}).issuperset(cells):
                yield metric.label, cells


def cell(row: Document, metric: Metric) -> str:
    """A metric of a summary's object, with its confidence interval if there is one."""
    value = row[metric.name]
    if metric.out_of:
        whole = (value or 0) + (row[metric.out_of] or 0)
        return f"{_with_interval(row, metric)} of {significant(whole)}" if whole else NONE
    if value is None or not metric.shown_if(row):
        return NONE
    return value if isinstance(value, str) else _with_interval(row, metric)


def _with_interval(row: Document, metric: Metric) -> str:
    return estimated(row[metric.name], row[metric.name + CONFIDENCE_SUFFIX], metric.unit.scale)


def estimated(mean: float, half_width: float | None, scale: float) -> str:
    """A mean with its confidence interval if there is one, times a scale."""
    text = significant(mean * scale)
    # what lies far below the digits shown is rounding, not spread
    if not half_width or half_width < 1e-6 * abs(mean):
        return text
    return f"{text} ± {significant(half_width * scale, 2)}"
