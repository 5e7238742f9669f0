"""A progress bar with an estimate on a terminal; elsewhere nothing, or plain lines of stages or of runs."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from textwrap import shorten
from typing import TYPE_CHECKING, Final, Protocol

from rich.console import Console

from bufferlab.log import Log

if TYPE_CHECKING:
    from rich.progress import Progress

_PER_S: Final = 4
_TITLE_WIDTH: Final = 40

_NOTABLE_S: Final = 10.0
"""The least time left that is shown, s."""

_MINUTES_FROM_S: Final = 90.0

_EVERY_S: Final = 1.0


class Bar(Protocol):
    """What long work reports to."""

    def update(self, done: float, note: str) -> None:
        """Tell the share of the work done, from 0 to 1, and a short note of where it is."""


class Round:
    """The bar of a round of runs: tells how far it is after each run, and in between about once a second.

    Args:
        tell: What takes it: "3 of 14 runs, 25 % done, about 2 min left".
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._note = ""
        self._began_s = self._said_s = time.monotonic()

    def update(self, done: float, note: str) -> None:
        """Take the share of the round that is done, and how many runs ended: "3/14"."""
        now_s = time.monotonic()
        if note != self._note or now_s - self._said_s >= _EVERY_S:
            self._note, self._said_s = note, now_s
            self._tell(progress_text(note, done, now_s - self._began_s))


def progress_text(note: str, done: float, passed_s: float) -> str:
    """How far a round is, with the time left if that is notable and the runs so far tell.

    Args:
        note: How many runs ended: "3/14", or "3/14, 1 failed".
        done: Share of the round that is done, with that of the runs under way.
        passed_s: Time since the round began, s.
    """
    ended, comma, failed = note.partition(",")
    count = f"{ended.replace('/', ' of ')} {'run' if ended.endswith('/1') else 'runs'}{comma}{failed}"
    if not done:
        return count
    left_s = passed_s / done * (1.0 - done)
    if left_s < _NOTABLE_S:
        return count
    left = f"{math.ceil(left_s / 60)} min" if left_s >= _MINUTES_FROM_S else f"{math.ceil(left_s)} s"
    return f"{count}, {100.0 * done:.0f} % done, about {left} left"


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
    title: str,
    *,
    visible: bool | None = None,
    logged: bool = False,
    counted: bool = False,
    left: str = "left",
) -> Iterator[Bar]:
    """A bar on standard error while the block runs; it vanishes afterwards.

    Args:
        title: What is going on.
        visible: Show it; `None` shows it if standard error is a terminal.
        logged: Where there is none, print a plain line per stage, which is the first word of a note.
        counted: The notes count runs ("3/14"), all of one stage.
        left: What stands before the time that the rest takes at the pace so far.
    """
    console = Console(file=sys.stderr, force_terminal=visible)
    if not console.is_terminal:
        if not logged or visible is False:
            yield _Silent()
            return
        with Log() as log:
            yield Round(partial(log.tell, title)) if counted else _Logged(log)
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
