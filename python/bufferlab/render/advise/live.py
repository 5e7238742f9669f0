"""The best answer so far while it is made better: on a terminal, or as lines of a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from bufferlab.log import Log
from bufferlab.render.advise.box import box_of
from bufferlab.render.advise.head import interim
from bufferlab.render.advise.typed import Typed
from bufferlab.render.advise.words import sure_text
from bufferlab.studies.advise.advice import Advice, Stage

_FRAMES_PER_S: Final = 4

_STAGES: Final[dict[Stage, str]] = {
    "begun": "first answer, larger buffers and other queues not tried yet",
    "first": "first answer of all queues",
    "tuned": "refined answer",
    "final": "final answer",
}


class Shown(Protocol):
    """What `advise` tells of its course."""

    def __call__(self, advice: Advice | None, note: str, /) -> None:
        """Take the best answer so far, and what is done now."""


@contextmanager
def watching(typed: Typed | None, *, boxed: bool) -> Iterator[Shown]:
    """Show the course within the block on a terminal, where it vanishes afterwards; else a line per stage.

    Args:
        typed: Where lines are typed; `None` for several links, whose lines are shown later.
        boxed: Show the answer on standard output, if that is a terminal; otherwise only a line of progress on
            standard error.
    """
    out = Console(file=sys.stdout, highlight=False)
    err = Console(file=sys.stderr, highlight=False)
    screen = _Screen(typed, boxed=boxed and out.is_terminal)
    console = out if screen.boxed else err
    if not console.is_terminal:
        with Log() as log:
            yield _Logged(log, names_link=typed is None).take
        return
    with Live(
        console=console,
        get_renderable=lambda: screen,
        refresh_per_second=_FRAMES_PER_S,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        yield screen.take


class _Logged:
    """Logs each answer and each stage in a line, and of an answer again only if it has changed.

    Args:
        log: Where to.
        names_link: Whether answers say for which link they are.
    """

    def __init__(self, log: Log, *, names_link: bool) -> None:
        self._log = log
        self._names_link = names_link
        self._verdicts: dict[str, str] = {}

    def take(self, advice: Advice | None, note: str, /) -> None:
        """Take what is known now."""
        if advice is not None and not advice.finished:
            link = advice.site.link
            of = f" ({link})" if self._names_link else ""
            found = f"{_STAGES[advice.stage]}{of}: {interim(advice)}"
            if found != self._verdicts.get(link):
                self._verdicts[link] = found
                self._log.tell(found, f"{advice.runs} runs, {found}")
        if note:  # where a search is follows a colon
            what = note.partition(";")[0]  # how far the round is follows
            self._log.tell(what.partition(": ")[0], note)


class _Screen:
    def __init__(self, typed: Typed | None, *, boxed: bool) -> None:
        self.boxed = boxed
        self._typed = typed
        self._advice: Advice | None = None
        self._note = "starting"
        self._began_s = time.monotonic()

    def take(self, advice: Advice | None, note: str, /) -> None:
        """Take what is known now."""
        self._advice = advice or self._advice
        self._note = note or self._note

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._advice is not None and self.boxed:
            yield box_of(self._advice, self._typed)
        yield Text(self._progress(), style="dim", overflow="ellipsis", no_wrap=True)

    def _progress(self) -> str:
        seconds = f"{time.monotonic() - self._began_s:.0f} s"
        if self._advice is None:
            return f"{seconds}, no answer yet: {self._note}"
        sure = sure_text(self._advice.answer.confidence) if self._advice.choice.meets else "targets missed"
        return f"{seconds}, {self._advice.runs} runs, {sure}; Ctrl-C takes this answer; {self._note}"
