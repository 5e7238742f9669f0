"""The summary document as tables for people: on a terminal (rich) and in a notebook (HTML)."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bufferlab.display import as_html, as_text, significant
from bufferlab.results.figure import Figure
from bufferlab.results.frames import ALL
from bufferlab.results.latency import GRADED, LATENCY_FIGURES
from bufferlab.results.result import Result, RunSet
from bufferlab.results.summary import CONFIDENCE_SUFFIX, FLOW_FIGURES, QUEUE_FIGURES

Document = Mapping[str, Any]

_LABEL_WIDTH: Final = 26
_COLUMN_WIDTH: Final = 14
_WIDE_COLUMN_WIDTH: Final = 22
"""Characters of a column with confidence intervals; groups that do not fit go into further tables below."""

_HTML_COLUMNS: Final = 8

_ONLY_OF_SEVERAL_FLOWS: Final = {"goodput_min_bps", "goodput_max_bps", "goodput_total_bps", "jain_index"}
_ONLY_IF_NOT_ZERO: Final = {
    "lost_packets", "marked_packets", "reordered_packets", "spurious_retransmissions",
}  # fmt: skip
_OF: Final = {"finished_flows": "unfinished_flows", "exchanges": "exchanges_not_done"}
"""What is done, and what is not: shown together above the means of the done."""

_LEAST: Final = "completion_least_s"
_NONE: Final = "–"


@dataclass(frozen=True)
class Grid:
    """A table of texts: one row a figure, one column a group."""

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]


@dataclass(frozen=True)
class SummaryView:
    """The summary for a terminal: rich prints it as wide as there is room."""

    summary: Document

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        several = len(self.summary["seeds"]) > 1
        column_width = _WIDE_COLUMN_WIDTH if several else _COLUMN_WIDTH
        columns = max((options.max_width - _LABEL_WIDTH) // column_width, 1)
        yield Text(headline(self.summary), style="bold")
        yield from (_rich_table(grid) for grid in _grids(self.summary, columns))
        yield Text(_cost(self.summary))


def to_text(summary: Document, columns: int = 100) -> str:
    """The summary as the terminal shows it, without colors; `columns` is the width to wrap at."""
    console = Console(file=StringIO(), width=columns, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(SummaryView(summary))
    return capture.get().rstrip()


@as_text.register
def _(shown: Result | RunSet) -> str:
    return to_text(shown.summary())


@as_html.register
def _(shown: Result | RunSet) -> str:
    return to_html(shown.summary())


def to_html(summary: Document) -> str:
    """The summary for a notebook."""
    parts = [f"<p><b>{html.escape(headline(summary))}</b></p>"]
    parts += [_html_table(grid) for grid in _grids(summary, _HTML_COLUMNS)]
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
    yield from _split("flows", summary["flows"], FLOW_FIGURES, columns)
    links: dict[str, list[Document]] = {}
    for row in summary["queues"]:
        links.setdefault(row["link"], []).append(row)
    for link, rows in links.items():
        # A single group's row says the same as that of all.
        shown = [row for row in rows if row["group"] == ALL] if len(rows) == 2 else rows
        yield from _split(f"queue of {link}", shown, QUEUE_FIGURES, columns)
    yield from _split("latency under load", summary.get("latency", ()), LATENCY_FIGURES, columns)


def _split(title: str, rows: Sequence[Document], figures: Sequence[Figure], columns: int) -> Iterator[Grid]:
    for start in range(0, len(rows), columns):
        shown = rows[start : start + columns]
        yield Grid(title, [_column_name(row) for row in shown], list(_rows(shown, figures)))


def _column_name(row: Document) -> str:
    detail = f"{row['flows']:g}" if "flows" in row else row.get("kind")
    return str(row["group"]) if detail is None else f"{row['group']} ({detail})"


def _rows(columns: Sequence[Document], figures: Sequence[Figure]) -> Iterator[tuple[str, Sequence[str]]]:
    for figure in figures:
        if figure.key in _OF.values():
            continue
        cells = [_of_all(row, figure) if figure.key in _OF else cell(row, figure) for row in columns]
        empty = {_NONE, "0"} if figure.key in _ONLY_IF_NOT_ZERO else {_NONE}
        if not empty.issuperset(cells):
            yield figure.label, cells
        if figure.key == GRADED:
            yield "bloat: grade", [row["bloat_grade"] or _NONE for row in columns]


def _of_all(row: Document, done: Figure) -> str:
    """How many are done, of how many."""
    several, others = row[done.key], row[_OF[done.key]]
    if not (several or 0) + (others or 0):
        return _NONE
    return f"{cell(row, done)} of {significant(several + others)}"


def cell(row: Document, figure: Figure) -> str:
    """A figure of a summary's object, with its confidence interval if there is one."""
    mean, half_width = row[figure.key], row[figure.key + CONFIDENCE_SUFFIX]
    if mean is None or (figure.key in _ONLY_OF_SEVERAL_FLOWS and row.get("flows") == 1):
        return _NONE
    if figure.key == _LEAST and not row["unfinished_flows"]:
        return _NONE  # the mean of the done says it
    text = significant(mean * figure.scale)
    # what lies far below the digits shown is rounding, not spread
    if not half_width or half_width < 1e-6 * abs(mean):
        return text
    return f"{text} ± {significant(half_width * figure.scale, 2)}"


def _rich_table(grid: Grid) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(Text(grid.title), no_wrap=True)
    for column in grid.columns:
        table.add_column(Text(column), justify="right", no_wrap=True)
    for label, cells in grid.rows:
        table.add_row(label, *cells)
    return table


def _html_table(grid: Grid) -> str:
    heads = "".join(f"<th>{html.escape(column)}</th>" for column in grid.columns)
    lines = [
        f"<table><caption>{html.escape(grid.title)}</caption>",
        f"<thead><tr><th></th>{heads}</tr></thead>",
    ]
    for label, cells in grid.rows:
        values = "".join(f'<td style="text-align:right">{html.escape(cell)}</td>' for cell in cells)
        lines.append(f'<tr><th style="text-align:left">{html.escape(label)}</th>{values}</tr>')
    return "\n".join([*lines, "</table>"])
