"""How long a quick answer may take until it leaves out what only refines it."""

from __future__ import annotations

import time
from typing import Final

QUICK_S: Final = 60.0
"""Time after which `--quick` begins nothing that only refines its answer, s. Our choice: who asks for a quick
answer waits for a minute, and on a fast link with many flows a run alone takes seconds."""


class Budget:
    """The time of an answer, and what was left out since it was over.

    Args:
        seconds: How long it is; `None` for no end.
    """

    def __init__(self, seconds: float | None) -> None:
        self._end_s = None if seconds is None else time.monotonic() + seconds
        self._left_out: dict[str, None] = {}

    @property
    def left_out(self) -> tuple[str, ...]:
        """What was left out, in turn."""
        return tuple(self._left_out)

    def allows(self, what: str) -> bool:
        """Whether there is time left; if not, what is left out is kept.

        Args:
            what: What would be done, as a noun.
        """
        if self._end_s is None or time.monotonic() < self._end_s:
            return True
        self._left_out[what] = None
        return False
