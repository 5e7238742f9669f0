"""How far a round of runs is: those that were asked for together.

How many rounds follow depends on what they find, so no time is given for the whole.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final

_NOTABLE_S: Final = 10.0
"""The least time left that is shown, s."""

_MINUTES_FROM_S: Final = 90.0

_EVERY_S: Final = 1.0


class Round:
    """The bar of a round of runs: tells how far it is after each run, and in between about once a second.

    Args:
        tell: What takes it: "this round: 3 of 14 runs, 25 % done, about 2 min left".
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
        note: How many runs ended: "3/14".
        done: Share of the round that is done, with that of the runs under way.
        passed_s: Time since the round began, s.
    """
    count = f"this round: {note.replace('/', ' of ')} runs"
    if not done:
        return count
    left_s = passed_s / done * (1.0 - done)
    if left_s < _NOTABLE_S:
        return count
    left = f"{math.ceil(left_s / 60)} min" if left_s >= _MINUTES_FROM_S else f"{math.ceil(left_s)} s"
    return f"{count}, {100.0 * done:.0f} % done, about {left} left"
