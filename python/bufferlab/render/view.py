"""What people are shown: boxes, lines of text and grids, for a terminal, as text and for a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bufferlab.render.framed import BelowBox, Box
from bufferlab.render.grid import Grid

_LABEL_WIDTH: Final = 24
"""Most characters of what a line is about."""

_TAB: Final = 4
"""Columns of a tab at the beginning of a line to type."""


@dataclass(frozen=True)
class Heading:
    """A line that stands out."""

    text: str


@dataclass(frozen=True)
class Typing:
    """Lines to be typed or pasted: they are never broken, however narrow the terminal."""

    lines: Sequence[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """For a terminal."""
        for line in self.lines:
            yield Text(line.expandtabs(_TAB), no_wrap=True, overflow="ignore")

    def html(self) -> str:
        """For a notebook."""
        return f"<pre>{html.escape(chr(10).join(self.lines))}</pre>"


@dataclass(frozen=True)
class Terms:
    """Lines of what something is, each behind what it is about."""

    lines: Sequence[tuple[str, str]]

    def table(self) -> Table:
        """For a terminal: a long text goes on below itself."""
        table = Table.grid(padding=(0, 2))
        table.add_column(max_width=_LABEL_WIDTH, overflow="fold")
        table.add_column(overflow="fold")
        for line in self.lines:
            table.add_row(*map(Text, line))
        return table

    def html(self) -> str:
        """For a notebook."""
        rows = (f"<tr>{''.join(map(_html_cell, line))}</tr>" for line in self.lines)
        return "\n".join(["<table>", *rows, "</table>"])


Part = str | Heading | Typing | Terms | Box | BelowBox | Grid


@dataclass(frozen=True)
class View:
    """Lines and grids, one below the other; rich prints it as wide as there is room."""

    parts: Sequence[Part]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """For a terminal."""
        for part in self.parts:
            match part:
                case Grid() | Box() | BelowBox() | Typing():
                    yield part
                case Heading(text):
                    yield Text(text, style="bold")
                case Terms():
                    yield part.table()
                case _:
                    yield Text(part)

    def text(self, columns: int = 100) -> str:
        """What a terminal of some width shows, without colors."""
        console = Console(file=StringIO(), width=columns, color_system=None, force_terminal=False)
        with console.capture() as capture:
            console.print(self, crop=False)
        return capture.get().rstrip()

    def html(self) -> str:
        """For a notebook."""
        return "\n".join(_html(part) for part in self.parts)

    def document(self) -> list[dict[str, Any]]:
        """For the page, which shows each part in its own way: `kind` names it."""
        return [_document(part) for part in self.parts if not isinstance(part, BelowBox)]


def _document(part: str | Heading | Typing | Terms | Box | Grid) -> dict[str, Any]:
    match part:
        case Box():
            return {"kind": "box"} | part.document()
        case Grid():
            return {"kind": "grid"} | part.document()
        case Typing(lines):
            return {"kind": "typing", "lines": list(lines)}
        case Terms(lines):
            return {"kind": "terms", "lines": [list(line) for line in lines]}
        case Heading(text):
            return {"kind": "heading", "text": text}
        case _:
            return {"kind": "text", "text": part}


def _html(part: Part) -> str:
    match part:
        case Grid() | Typing() | Terms() | Box() | BelowBox():
            return part.html()
        case Heading(text):
            return f"<p><b>{html.escape(text)}</b></p>"
        case _:
            return f"<p>{html.escape(part)}</p>"


def _html_cell(text: str) -> str:
    return f'<td style="text-align:left">{html.escape(text)}</td>'
