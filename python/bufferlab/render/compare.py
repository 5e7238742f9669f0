"""The comparison as one table, and the answer below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from bufferlab.display import as_text
from bufferlab.render.grid import Grid, plain
from bufferlab.render.summary import headline, lines
from bufferlab.results.metrics.registry import STORED
from bufferlab.studies.compare.comparison import Comparison
from bufferlab.studies.compare.measure import FIGURES, GROUP_FIGURES

_LABEL_WIDTH: Final = 30
_COLUMN_WIDTH: Final = 21


@dataclass(frozen=True)
class ComparisonView:
    """The comparison for a terminal: rich prints it as wide as there is room."""

    comparison: Comparison

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = max((options.max_width - _LABEL_WIDTH) // _COLUMN_WIDTH, 1)
        rows = self.comparison.rows
        yield Text(headline(self.comparison.to_dict()), style="bold")
        for start in range(0, len(rows), columns):
            yield _grid(self.comparison.link, rows[start : start + columns]).rich()
        advice = self.comparison.advice
        yield Text(f"Rule: {advice.rule}.")
        queue = advice.queue or "any"
        yield Text(f"Which queue should I run for these flows? {queue}: {advice.reason}.")


def to_text(comparison: Comparison, columns: int = 100) -> str:
    """The comparison as the terminal shows it, without colors; `columns` is the width to wrap at."""
    return plain(ComparisonView(comparison), columns)


@as_text.register
def _(shown: Comparison) -> str:
    return to_text(shown)


def _grid(link: str, rows: Sequence[Mapping[str, Any]]) -> Grid:
    shown = [("buffer", [row["buffer"] for row in rows]), *lines(rows, map(STORED.__getitem__, FIGURES))]
    for at, group in enumerate(rows[0]["groups"]):
        of_group = [row["groups"][at] for row in rows]
        shown.append((f"{group['group']} ({group['flows']})", []))
        shown += [
            (f"  {label}", cells) for label, cells in lines(of_group, map(STORED.__getitem__, GROUP_FIGURES))
        ]
    return Grid(f"queue of {link}", [row["queue"] for row in rows], shown)
