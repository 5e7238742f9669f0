"""An answer at a glance: a frame with sentences above labeled lines, no higher than a terminal."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import shorten, wrap
from typing import Any, Final

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from bufferlab.render.grid import Grid

USUAL_WIDTH: Final = 80
_LEAST_WIDTH: Final = 60
"""Characters of a line below which there is no frame: lines to type would not fit into it."""

_HEIGHT: Final = 23
"""A terminal's 24 lines, less one for the prompt."""

_FRAME: Final = 4
"""Characters of a box's frame and of the space within it, in a line."""

WITHIN: Final = USUAL_WIDTH - _FRAME
"""Characters of a line within the frame on a usual terminal."""

TITLE: Final = WITHIN - 4
"""Characters of a title on a usual terminal, beside what the frame has around it."""

_AROUND: Final = 3
"""Lines of the frame, and the one below the sentences."""


@dataclass(frozen=True)
class Line:
    """A labeled text of a box, which is never cut.

    Attributes:
        label: What it is about.
        text: The text; each of its lines begins a new one.
        most: Lines that it may take if there are shorter texts.
        verbatim: Whether it is to be typed, so that its lines stay as they are.
        shorter: Texts that say less where there is no room, each behind a number: of all lines' next ones the
            one with the highest takes its place first. An empty one leaves the line out.
        is_elsewhere: Whether what the shorter texts lack stands elsewhere anyhow.
        ends: Of a row of a table where each of its columns ends: those that do not fit are left out. Rows
            with one place go together: the head with what gives way last.
    """

    label: str
    text: str
    most: int = _HEIGHT
    verbatim: bool = False
    shorter: Sequence[tuple[int, str]] = ()
    is_elsewhere: bool = False
    ends: Sequence[int] = ()

    def height(self, width: int) -> int:
        """How many lines the text takes."""
        return len(self.lines(width))

    def lines(self, width: int) -> list[str]:
        """The text's lines."""
        if self.ends and self.text:
            return [self.text[: max((end for end in self.ends if end <= width), default=width)]]
        if self.verbatim:
            return self.text.splitlines()
        return [more for each in self.text.splitlines() for more in wrap(each, width, break_on_hyphens=False)]

    def cells(self) -> list[str]:
        """A row's texts, if it is one of a table."""
        return [self.text[start:end].strip() for start, end in zip([0, *self.ends], self.ends, strict=False)]

    def less(self) -> Line:
        """The line with the next shorter text."""
        return replace(self, text=self.shorter[0][1], shorter=self.shorter[1:])

    def within(self, width: int) -> Line:
        """The line with the first of its texts that takes no more lines than it may, or the last."""
        line = self
        while line.shorter and line.height(width) > line.most:
            line = line.less()
        return line


@dataclass(frozen=True)
class Box:
    """An answer at a glance: a frame with sentences above labeled lines.

    Attributes:
        title: In the frame.
        head: The sentences.
        lines: The labeled lines.
        figures: For the page: the figures that the sentences rest on.
    """

    title: str
    head: Sequence[str]
    lines: Sequence[Line]
    figures: Grid | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """For a terminal: as wide as there is room, but no wider than lines are easy to read."""
        width = min(options.max_width, USUAL_WIDTH)
        if width < _LEAST_WIDTH:
            yield from self._unframed(options.max_width)
            return
        within, label = self._widths(width)
        table = Table.grid(padding=(0, 1))
        table.add_column(style="dim", width=label)
        table.add_column(width=within - label - 1, overflow="fold")
        for each in self.fitted(width):
            if each.text:
                table.add_row(each.label, Text("\n".join(each.lines(within - label - 1))))
        head = [Text(line, style="bold" if at == 0 else "") for at, line in enumerate(self.head)]
        title = Text(f" {shorten(self.title, within - 4, placeholder=' …')} ")
        yield Panel(Group(*head, Text(), table), title=title, title_align="left", width=width)

    def _unframed(self, width: int) -> RenderResult:
        """For a terminal in which a frame leaves no room: lines to type stay whole."""
        label = max((len(each.label) for each in self.lines if each.ends), default=0)
        yield Text(self.title)
        yield from map(Text, self.head)
        for each in self.lines:
            if each.verbatim:
                yield Text(f"{each.label}:")
                yield Text(each.text, no_wrap=True, overflow="ignore")
            elif each.ends:
                yield from (Text(f"{each.label:<{label}} {row}") for row in each.lines(width - label - 1))
            else:
                yield Text(f"{each.label}: {each.text}".removeprefix(": "))

    def fitted(self, width: int) -> list[Line]:
        """The lines, of which some say less, until the box is no higher than a usual terminal.

        Args:
            width: Characters of a line of the terminal.
        """
        if width < _LEAST_WIDTH:
            return list(self.lines)
        within, label = self._widths(width)
        room = within - label - 1
        lines = [each.within(room) for each in self.lines]
        if width < USUAL_WIDTH:
            return lines
        head = sum(max(len(wrap(each, within, break_on_hyphens=False)), 1) for each in self.head)
        most = _HEIGHT - _AROUND - head
        taken: list[dict[int, Line]] = []
        while sum(each.height(room) for each in lines) > most and (less := _less(lines)):
            taken.append({at: lines[at] for at in less})
            for at, line in less.items():
                lines[at] = line
        return _given_back(lines, taken, most, room)

    def _widths(self, width: int) -> tuple[int, int]:
        """Characters of a line within the frame, and of the labels."""
        return width - _FRAME, max((len(each.label) for each in self.lines), default=0)

    def document(self) -> dict[str, Any]:
        """For the page, where there is room for everything: each row of a table has cells."""
        lines = [
            {
                "label": each.label.strip(),
                "text": each.text,
                "verbatim": each.verbatim,
                "cells": each.cells(),
            }
            for each in self.lines
        ]
        figures = None if self.figures is None else self.figures.document()
        return {"title": self.title, "head": list(self.head), "lines": lines, "figures": figures}

    def html(self) -> str:
        """For a notebook, where there is room for everything."""
        first, *others = self.head
        rows = "".join(
            f'<tr><td style="text-align:left;opacity:0.7">{html.escape(each.label)}</td>'
            f'<td style="text-align:left{_spaces(each)}">'
            f"{html.escape(each.text)}</td></tr>"
            for each in self.lines
        )
        more = "".join(f"<br>{html.escape(line)}" for line in others)
        return (
            f'<div style="border:1px solid;padding:0.5em;max-width:50em"><p>{html.escape(self.title)}</p>'
            f"<p><b>{html.escape(first)}</b>{more}</p><table>{rows}</table></div>"
        )


def _less(lines: Sequence[Line]) -> dict[int, Line]:
    """What says less first where there is no room, by its place; nothing where the box has to grow."""
    able = [at for at, each in enumerate(lines) if each.shorter]
    if not able:
        return {}
    first = max(able, key=lambda at: (lines[at].shorter[0][0], at))
    place = lines[first].shorter[0][0]
    rows = [at for at in able if lines[at].ends and lines[at].shorter[0][0] == place]
    return {at: lines[at].less() for at in (rows if lines[first].ends else [first])}


def _given_back(lines: list[Line], taken: Sequence[dict[int, Line]], most: int, room: int) -> list[Line]:
    """The lines, with what was taken from them where there is room after all: several went for a long one.

    Args:
        lines: The lines, of which some say less.
        taken: What they were before each step.
        most: Lines of a terminal that they may take.
        room: Characters of a line.
    """
    for whole in reversed(taken):
        more = [whole.get(at, each) for at, each in enumerate(lines)]
        is_next = all(each.less() == lines[at] for at, each in whole.items())
        if is_next and not _is_headless(more) and sum(each.height(room) for each in more) <= most:
            lines = more
    return lines


def _is_headless(lines: Sequence[Line]) -> bool:
    """Whether a table has rows without its first one, the head, or the head alone."""
    table = [each for each in lines if each.ends]
    shown = [each for each in table if each.text]
    return bool(shown) and (shown[0] is not table[0] or len(shown) == 1)


def _spaces(line: Line) -> str:
    """The style of a text whose lines stay as they are, or begin where they do."""
    if line.verbatim or line.ends:
        return ";white-space:pre;font-family:monospace"
    return ";white-space:pre-wrap" if "\n" in line.text else ""


@dataclass(frozen=True)
class BelowBox:
    """In full, what a box had no room for and no other part has; nothing where it had room for all.

    Attributes:
        box: The box.
    """

    box: Box

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """For a terminal."""
        width = min(options.max_width, USUAL_WIDTH)
        table = Table.grid(padding=(0, 2))
        table.add_column()
        table.add_column(overflow="fold")
        typed, label = [], ""
        for whole, shown in zip(self.box.lines, self.box.fitted(width), strict=True):
            label = whole.label or label  # a line without a label goes on with what is above it
            if shown.text == whole.text or whole.is_elsewhere:
                continue
            if whole.verbatim:
                typed += whole.text.splitlines()
            else:
                table.add_row(Text(label), Text(whole.text))
        if typed:
            yield Text("To type", style="bold")
        for line in typed:
            yield Text(line, no_wrap=True, overflow="ignore")
        if table.row_count:
            yield Text("More about the answer", style="bold")
            yield table

    def html(self) -> str:
        """For a notebook, where the box has everything."""
        return ""
