"""A table of texts with many outputs: terminal, HTML, Markdown."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

import polars as pl
from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes:
        title: Heads the column of labels.
        columns: Heads the other columns.
        rows: A label and a cell per column; a label without cells begins a section.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]

    def rich(self) -> Table:
        """For a terminal."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column(Text(self.title), no_wrap=True)
        for column in self.columns:
            table.add_column(Text(column), justify="right", no_wrap=True)
        for label, cells in self.rows:
            if not cells:
                table.add_section()
            table.add_row(Text(label) if cells else Text(label, style="bold"), *map(Text, cells))
        return table

    def html(self) -> str:
        """For a notebook."""
        heads = "".join(f"<th>{html.escape(column)}</th>" for column in self.columns)
        lines = [
            f"<table><caption>{html.escape(self.title)}</caption>",
            f"<thead><tr><th></th>{heads}</tr></thead>",
        ]
        for label, cells in self.rows:
            values = "".join(f'<td style="text-align:right">{html.escape(cell)}</td>' for cell in cells)
            lines.append(f'<tr><th style="text-align:left">{html.escape(label)}</th>{values}</tr>')
        return "\n".join([*lines, "</table>"])

    def markdown(self) -> str:
        """For a page of the documentation; texts may be Markdown themselves."""
        cells = [[cell.replace("|", "\\|") for cell in (label, *cells)] for label, cells in self.rows]
        frame = pl.DataFrame(
            cells, schema=dict.fromkeys([self.title, *self.columns], pl.String), orient="row"
        )
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


def plain(view: RenderableType, columns: int = 100) -> str:
    """What a terminal of some width shows of a view, without colors."""
    console = Console(file=StringIO(), width=columns, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(view)
    return capture.get().rstrip()
