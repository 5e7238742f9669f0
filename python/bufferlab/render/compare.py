"""The comparison as one table, and the answer below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bufferlab.display import as_text
from bufferlab.render.summary import cell, headline
from bufferlab.results.figure import Figure
from bufferlab.results.summary import FLOW_FIGURES, QUEUE_FIGURES
from bufferlab.studies.compare.comparison import Comparison
from bufferlab.studies.compare.measure import FIGURES, GROUP_FIGURES

_FIGURES: Final[Mapping[str, Figure]] = {each.key: each for each in (*QUEUE_FIGURES, *FLOW_FIGURES)}
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
            yield _table(self.comparison.link, rows[start : start + columns])
        advice = self.comparison.advice
        yield Text(f"Rule: {advice.rule}.")
        queue = advice.queue or "any"
        yield Text(f"Which queue should I run for these flows? {queue}: {advice.reason}.")


def to_text(comparison: Comparison, columns: int = 100) -> str:
    """The comparison as the terminal shows it, without colors; `columns` is the width to wrap at."""
    console = Console(file=StringIO(), width=columns, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(ComparisonView(comparison))
    return capture.get().rstrip()


@as_text.register
def _(shown: Comparison) -> str:
    return to_text(shown)


def _table(link: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(Text(f"queue of {link}"), no_wrap=True)
    for row in rows:
        table.add_column(Text(row["queue"]), justify="right", no_wrap=True)
    table.add_row("buffer", *(row["buffer"] for row in rows))
    for label, cells in _lines(rows, FIGURES):
        table.add_row(label, *cells)
    for at, group in enumerate(rows[0]["groups"]):
        table.add_section()
        table.add_row(Text(f"{group['group']} ({group['flows']})", style="bold"))
        for label, cells in _lines([row["groups"][at] for row in rows], GROUP_FIGURES):
            table.add_row(f"  {label}", *cells)
    return table


def _lines(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    for key in keys:
        yield _FIGURES[key].label, [cell(row, _FIGURES[key]) for row in rows]
