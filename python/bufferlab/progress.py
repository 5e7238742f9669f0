"""A progress bar with an estimate on a terminal; elsewhere nothing, or a line per stage."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten
from typing import TYPE_CHECKING, Final, Protocol

from rich.console import Console

from bufferlab.log import Log

if TYPE_CHECKING:
    from rich.progress import Progress

_PER_S: Final = 4
_TITLE_WIDTH: Final = 40


class Bar(Protocol):
    """What long work reports to."""

    def update(self, done: float, note: str) -> None:
        """Tell the share of the work done, from 0 to 1, and a short note of where it is."""


class _Silent:
    def update(self, done: float, note: str) -> None:
        pass


class _Logged:
    def __init__(self, log: Log) -> None:
        self._log = log

    def update(self, done: float, note: str) -> None:
        del done
        self._log.tell(note.partition(" ")[0], note)


class _Visible:
    def __init__(self, progress: Progress, title: str) -> None:
        self._progress = progress
        self._task = progress.add_task(title, total=1.0, note="")

    def update(self, done: float, note: str) -> None:
        self._progress.update(self._task, completed=done, note=note)


@contextmanager
def progress_bar(
    title: str, *, visible: bool | None = None, logged: bool = False, left: str = "left"
) -> Iterator[Bar]:
    """A bar on standard error while the block runs; it vanishes afterwards.

    Args:
        title: What is going on.
        visible: Show it; `None` shows it if standard error is a terminal.
        logged: Where there is none, print a plain line per stage, which is the first word of a note.
        left: What stands before the time that the rest takes at the pace so far.
    """
    console = Console(file=sys.stderr, force_terminal=visible)
    if not console.is_terminal:
        if not logged or visible is False:
            yield _Silent()
            return
        with Log() as log:
            yield _Logged(log)
        return
    from rich import progress as bars  # noqa: PLC0415 - slow to import, and not needed without a terminal

    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(bar_width=None),
        bars.TaskProgressColumn(),
        bars.TextColumn("{task.fields[note]}", markup=False),
        bars.TimeElapsedColumn(),
        bars.TextColumn(left),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(
        *columns, console=console, transient=True, refresh_per_second=_PER_S, expand=True
    ) as progress:
        yield _Visible(progress, shorten(title, _TITLE_WIDTH, placeholder="…"))
