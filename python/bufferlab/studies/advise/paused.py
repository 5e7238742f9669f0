"""A search that is halted once an answer is confirmed, and goes on later until a step beyond it misses."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Final

from bufferlab.studies.least import Least, Run, Search, Step
from bufferlab.studies.targets import Values

FIRST_RUNS: Final = 100
"""After this many runs the first part ends with the best answer so far, be it confirmed or not."""


class Paused:
    """A search in two parts: up to a confirmed answer, and what makes sure that it is the least.

    Args:
        search: The search, not yet begun.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._step = next(search)
        self.ended = False
        """Whether nothing is left of it."""

    @property
    def asks(self) -> tuple[Run, ...]:
        """The runs that it asks for next."""
        return self._step.runs

    def first(self) -> Search:
        """The part up to a confirmed answer, to the best one after `FIRST_RUNS`, or to the end."""
        while (answer := self._step.answer) is None or not (answer.confirmed or answer.runs >= FIRST_RUNS):
            ended = yield from self._on()
            if ended is not None:
                return ended
        return answer

    def rest(self) -> Search:
        """What follows; not for one that has ended."""
        while True:
            ended = yield from self._on()
            if ended is not None:
                return ended

    def _on(self) -> Generator[Step, Mapping[Run, Values], Least | None]:
        """One step further; the answer if that was the last."""
        values = yield self._step
        try:
            self._step = self._search.send(values)
        except StopIteration as end:
            self.ended = True
            answer: Least = end.value
            return answer
        return None
