"""What people are shown: boxes, lines of text and grids, for a terminal, as text and for a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import StringIO
from textwrap import shorten, wrap
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from bufferlab.render.grid import Grid

_LABEL_WIDTH: Final = 24
"""Most characters of what a line is about."""

_TAB: Final = 4
"""Columns of a tab at the beginning of a line to type."""

_BOX_WIDTH: Final = 80
_BOX_HEIGHT: Final = 23
"""A terminal's 24 lines, less one for the prompt."""

_FRAME: Final = 4
"""Characters of a box's frame and of the space within it, in a line."""


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


@dataclass(frozen=True)
class Line:
    """A labeled text of a box, which is never cut.

    Attributes:
        label: What it is about.
        text: The text; each of its lines begins a new one.
        most: Lines that it may take if there are shorter texts.
        verbatim: Whether it is to be typed, so that its lines stay as they are.
        shorter: Texts that say less where there is no room; the last one says where the rest is.
    """

    label: str
    text: str
    most: int = 2
    verbatim: bool = False
    shorter: Sequence[str] = ()


@dataclass(frozen=True)
class Box:
    """An answer at a glance: a frame with sentences above labeled lines.

    Attributes:
        title: In the frame.
        head: The sentences.
        lines: The labeled lines.
    """

    title: str
    head: Sequence[str]
    lines: Sequence[Line]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """For a terminal: as wide as there is room, but no wider than lines are easy to read."""
        width = min(options.max_width, _BOX_WIDTH)
        label = max((len(each.label) for each in self.lines), default=0)
        within = width - _FRAME
        table = Table.grid(padding=(0, 1))
        table.add_column(style="dim", width=label)
        table.add_column(width=within - label - 1, overflow="fold")
        for each, text in zip(self.lines, self._fitted(within, within - label - 1), strict=True):
            table.add_row(each.label, Text(text))
        head = [Text(line, style="bold" if at == 0 else "") for at, line in enumerate(self.head)]
        title = Text(f" {shorten(self.title, within - 4, placeholder=' …')} ")
        yield Panel(Group(*head, Text(), table), title=title, title_align="left", width=width)

    def _fitted(self, within: int, width: int) -> list[str]:
        """The lines' texts: those that can say less do, until the box is no higher than a terminal."""
        head = sum(max(len(wrap(each, within)), 1) for each in self.head)
        lines = [_shortened(each, width) for each in self.lines]
        while head + sum(_height(each, width) for each in lines) > _BOX_HEIGHT - 3:
            able = [at for at, each in enumerate(lines) if each.shorter]
            if not able:
                break  # the box grows
            longest = max(able, key=lambda at: _height(lines[at], width))
            lines[longest] = _less(lines[longest])
        return [each.text if each.verbatim else "\n".join(_wrapped(each, width)) for each in lines]

    def html(self) -> str:
        """For a notebook."""
        first, *others = self.head
        rows = "".join(
            f'<tr><td style="text-align:left;opacity:0.7">{html.escape(each.label)}</td>'
            f'<td style="text-align:left{";white-space:pre;font-family:monospace" if each.verbatim else ""}">'
            f"{html.escape(each.text)}</td></tr>"
            for each in self.lines
        )
        more = "".join(f"<br>{html.escape(line)}" for line in others)
        return (
            f'<div style="border:1px solid;padding:0.5em;max-width:50em"><p>{html.escape(self.title)}</p>'
            f"<p><b>{html.escape(first)}</b>{more}</p><table>{rows}</table></div>"
        )


@dataclass(frozen=True)
class View:
    """Lines and grids, one below the other; rich prints it as wide as there is room."""

    parts: Sequence[str | Heading | Typing | Terms | Box | Grid]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """For a terminal."""
        for part in self.parts:
            match part:
                case Grid() | Box() | Typing():
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


def _shortened(line: Line, width: int) -> Line:
    """A line with the first of its texts that takes no more lines than it may, or the last."""
    while line.shorter and _height(line, width) > line.most:
        line = _less(line)
    return line


def _less(line: Line) -> Line:
    """A line with the next shorter text."""
    return replace(line, text=line.shorter[0], shorter=line.shorter[1:])


def _height(line: Line, width: int) -> int:
    """How many lines a text takes."""
    return line.text.count("\n") + 1 if line.verbatim else len(_wrapped(line, width))


def _wrapped(line: Line, width: int) -> list[str]:
    return [more for each in line.text.splitlines() for more in wrap(each, width)]


def _html(part: str | Heading | Typing | Terms | Box | Grid) -> str:
    match part:
        case Grid() | Typing() | Terms() | Box():
            return part.html()
        case Heading(text):
            return f"<p><b>{html.escape(text)}</b></p>"
        case _:
            return f"<p>{html.escape(part)}</p>"


def _html_cell(text: str) -> str:
    return f'<td style="text-align:left">{html.escape(text)}</td>'
