"""How far a round of runs is: those that were asked for together.

How many rounds follow depends on what they find, so no time is given for the whole.
"""

from __future__ import annotations

import math
import time
from typing import Final

_NOTABLE_S: Final = 10.0
"""The least time left that is shown, s."""

_MINUTES_FROM_S: Final = 90.0


class Round:
    """Counts the runs of a round.

    Args:
        total: How many there are.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._began_s = time.monotonic()

    def after_another(self) -> str:
        """How far the round is after one more run: "this round: 3 of 14 runs, about 2 min left"."""
        self._done += 1
        passed_s = time.monotonic() - self._began_s
        return progress_text(self._done, self._total, passed_s)


def progress_text(done: int, total: int, passed_s: float) -> str:
    """How far a round is, with the time left if that is notable and the runs so far tell.

    Args:
        done: Runs that ended, at least one.
        total: All of them.
        passed_s: Time since the round began, s.
    """
    count = f"this round: {done} of {total} runs"
    left_s = passed_s / done * (total - done)
    if left_s < _NOTABLE_S:
        return count
    left = f"{math.ceil(left_s / 60)} min" if left_s >= _MINUTES_FROM_S else f"{math.ceil(left_s)} s"
    return f"{count}, about {left} left"
