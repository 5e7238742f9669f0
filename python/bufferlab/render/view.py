"""What people are shown: lines of text and grids, for a terminal, as text and for a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from bufferlab.render.grid import Grid


@dataclass(frozen=True)
class Heading:
    """A line that stands out."""

    text: str


@dataclass(frozen=True)
class View:
    """Lines and grids, one below the other; rich prints it as wide as there is room."""

    parts: Sequence[str | Heading | Grid]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """For a terminal."""
        for part in self.parts:
            match part:
                case Grid():
                    yield part
                case Heading(text):
                    yield Text(text, style="bold")
                case _:
                    yield Text(part)

    def text(self, columns: int = 100) -> str:
        """What a terminal of some width shows, without colors."""
        console = Console(file=StringIO(), width=columns, color_system=None, force_terminal=False)
        with console.capture() as capture:
            console.print(self)
        return capture.get().rstrip()

    def html(self) -> str:
        """For a notebook."""
        return "\n".join(_html(part) for part in self.parts)


def _html(part: str | Heading | Grid) -> str:
    match part:
        case Grid():
            return part.html()
        case Heading(text):
            return f"<p><b>{html.escape(text)}</b></p>"
        case _:
            return f"<p>{html.escape(part)}</p>"
