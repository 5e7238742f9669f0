"""A table of texts with many outputs: terminal, HTML, Markdown."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import polars as pl
from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

_GAP: Final = 2
_EDGES: Final = 2
"""Characters between two columns, and at both ends together."""

_NOTHING: Final = frozenset({"", "–"})
"""Cells in which nothing stands."""


@dataclass(frozen=True)
class Column:
    """What heads a column, and its looks.

    Attributes:
        head: The text above it.
        align: Where its cells stand.
        wraps: Whether its cells may take several lines.
    """

    head: str
    align: Literal["left", "right", "center"] = "right"
    wraps: bool = False


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes:
        labels: Heads of the columns that tell rows apart; a text stands at the left.
        columns: Heads of the others; a text stands at the right, as numbers do.
        rows: The cells, labels first; a row with one cell, where there are more columns, begins a section.
        title: Stands above.
    """

    labels: Sequence[str | Column]
    columns: Sequence[str | Column]
    rows: Sequence[Sequence[str]]
    title: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """For a terminal: nothing is cut; columns that do not fit follow in further tables below."""
        if self.title:
            yield Text(self.title, style="italic")
        for part in self.parts(options.max_width):
            yield part.table(options.max_width)

    def parts(self, width: int) -> Iterator[Grid]:
        """Grids with the same labels, each with as many of the columns as fit, but at least one.

        Rows in which nothing stands are left out of all but the first.
        """
        start = 0
        while start == 0 or start < len(self.columns):
            stop = start + 1
            while stop < len(self.columns) and self._with(start, stop + 1).least_width() <= width:
                stop += 1
            part = self._with(start, stop)
            yield part if start == 0 else _filled(part)
            start = stop

    def least_width(self) -> int:
        """The characters that it takes if all that may wrap does, between words."""
        return _total(least for least, _ in self._ranges())

    def table(self, width: int) -> Table:
        """One table for a terminal; where there is no room, texts that may wrap do so first, then all."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        for column, characters in zip(self.heads, _widths(self._ranges(), width), strict=True):
            table.add_column(Text(column.head), justify=column.align, width=characters, overflow="fold")
        for row in self.rows:
            if self._is_section(row):
                table.add_section()
                table.add_row(Text(row[0], style="bold"))
            else:
                table.add_row(*map(Text, row))
        return table

    def document(self) -> dict[str, Any]:
        """For the page."""
        heads = [{"text": each.head, "align": each.align} for each in self.heads]
        rows = [list(row) for row in self.rows]
        return {"title": self.title, "labels": len(self.labels), "heads": heads, "rows": rows}

    def html(self) -> str:
        """For a notebook."""
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        heads = "".join(_html_cell("th", column, column.head) for column in self.heads)
        lines = [f"<table>{caption}", f"<thead><tr>{heads}</tr></thead>"]
        for row in self.rows:
            cells = [
                _html_cell("th" if at < len(self.labels) else "td", column, cell)
                for at, (column, cell) in enumerate(zip(self.heads, row, strict=False))
            ]
            lines.append(f"<tr>{''.join(cells)}</tr>")
        return "\n".join([*lines, "</table>"])

    def markdown(self) -> str:
        """For a page of the documentation, without the title; texts may be Markdown themselves."""
        heads = [column.head for column in self.heads]
        cells = [[cell.replace("|", "\\|") for cell in row] for row in self.rows]
        frame = pl.DataFrame(cells, schema=dict.fromkeys(heads, pl.String), orient="row")
        with pl.Config(
            tbl_formatting="MARKDOWN",
            tbl_hide_column_data_types=True,
            tbl_hide_dataframe_shape=True,
            tbl_rows=-1,
            tbl_cols=-1,
            tbl_width_chars=-1,
            fmt_str_lengths=2**31,
        ):
            return str(frame)

    @property
    def heads(self) -> list[Column]:
        """All columns, labels first."""
        labels = [each if isinstance(each, Column) else Column(each, "left") for each in self.labels]
        return labels + [each if isinstance(each, Column) else Column(each) for each in self.columns]

    def _ranges(self) -> list[tuple[int, int]]:
        """The least and the most characters of each column."""
        ranges = []
        for at, column in enumerate(self.heads):
            cells = [row[at] for row in self.rows if at < len(row)]
            whole = [word for cell in cells for word in cell.split()] if column.wraps else cells
            ranges.append((_widest([*column.head.split(), *whole]), _widest([column.head, *cells])))
        return ranges

    def _is_section(self, row: Sequence[str]) -> bool:
        return len(row) == 1 < len(self.heads)

    def _with(self, start: int, stop: int) -> Grid:
        """The grid with some of its columns only."""
        labels = len(self.labels)
        rows = [[*row[:labels], *row[labels + start : labels + stop]] for row in self.rows]
        return Grid(self.labels, self.columns[start:stop], rows)


def _filled(grid: Grid) -> Grid:
    """A grid without rows in which nothing stands; sections stay."""
    labels = len(grid.labels)
    rows = [row for row in grid.rows if len(row) == 1 or not _NOTHING.issuperset(row[labels:])]
    return replace(grid, rows=rows)


def _widest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts), default=0)


def _total(widths: Iterable[int]) -> int:
    """What a table of these columns takes."""
    listed = list(widths)
    return sum(listed) + _GAP * (len(listed) - 1) + _EDGES


def _widths(ranges: Sequence[tuple[int, int]], width: int) -> list[int]:
    """How wide columns are within a width: narrow ones get their most first; too wide ones lose theirs."""
    widths = [least for least, _ in ranges]
    while _total(widths) < width:
        growing = [at for at, (_, most) in enumerate(ranges) if widths[at] < most]
        if not growing:
            break
        widths[min(growing, key=widths.__getitem__)] += 1
    while _total(widths) > width and max(widths) > 1:
        widths[max(range(len(widths)), key=widths.__getitem__)] -= 1
    return widths


def _html_cell(tag: str, column: Column, text: str) -> str:
    return f'<{tag} style="text-align:{column.align}">{html.escape(text)}</{tag}>'
