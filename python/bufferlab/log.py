"""Plain lines about long work on standard error, for those who read no terminal but a log."""

from __future__ import annotations

import math
import sys
import threading
import time
from types import TracebackType
from typing import Final, Self

PATIENCE_S: float = 5.0
"""Work that ends sooner says nothing, s; infinite if nothing is ever to be said."""

EVERY_S: float = 15.0
"""Within a stage there is a line this often, s."""

_WAKES_S: Final = 0.01


class Log:
    """Prints a line for each stage of the work within its block, with the time that has passed.

    Args:
        patience: Share of `PATIENCE_S` after which it begins to.
    """

    def __init__(self, patience: float = 1.0) -> None:
        self._patience_s = patience * PATIENCE_S
        self._began_s = time.monotonic()
        self._printed_s = -math.inf
        self._printed = ("", "")
        self._latest = ("", "")
        self._held: dict[str, str] | None = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        """Hold lines back until the work has taken a while."""
        if self._patience_s <= 0:
            self._held = None
        if math.isfinite(self._patience_s):
            threading.Thread(target=self._live, name="log", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        with self._lock:  # a line that is being printed is whole
            self._held = {}

    def tell(self, stage: str, text: str) -> None:
        """Print what is done now.

        Args:
            stage: What it is part of; lines of the same stage are printed at times only.
            text: The line.
        """
        with self._lock:
            self._latest = (stage, text)
            if self._held is not None:
                self._held[stage] = text
            elif stage != self._printed[0] or self._left_s() <= 0:
                self._print(stage, text)

    def _live(self) -> None:
        """Print what was held back, and then at times that it lives."""
        if self._ended.wait(self._patience_s):
            return
        with self._lock:
            held, self._held = self._held or {}, None
            for stage, text in held.items():
                self._print(stage, text)
        while not self._ended.wait(max(self._left_s(), _WAKES_S)):
            with self._lock:
                if self._left_s() <= 0 and self._latest[0]:
                    self._print(*self._latest, still="still " if self._latest == self._printed else "")

    def _left_s(self) -> float:
        """Time until the next line of the stage, s."""
        return self._printed_s + EVERY_S - time.monotonic()

    def _print(self, stage: str, text: str, still: str = "") -> None:
        self._printed, self._printed_s = (stage, text), time.monotonic()
        passed = f"{self._printed_s - self._began_s:.0f} s"
        print(f"bufferlab: {passed}: {still}{text}", file=sys.stderr, flush=True)  # noqa: T201
