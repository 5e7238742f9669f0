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

EVERY_S: Final = 30.0
"""Within a stage there is a line so often at most, s."""


class Log:
    """Prints a line for each stage of the work within its block, with the time that has passed.

    Args:
        patience: Share of `PATIENCE_S` after which it begins to.
    """

    def __init__(self, patience: float = 1.0) -> None:
        self._patience_s = patience * PATIENCE_S
        self._began_s = time.monotonic()
        self._printed_s = -math.inf
        self._stage = ""
        self._held: dict[str, str] | None = {}
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        """Hold lines back until the work has taken a while."""
        if self._patience_s <= 0:
            self._held = None
        elif math.isfinite(self._patience_s):
            self._timer = threading.Timer(self._patience_s, self._open)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def tell(self, stage: str, text: str) -> None:
        """Print what is done now.

        Args:
            stage: What it is part of; lines of the same stage are printed at times only.
            text: The line.
        """
        with self._lock:
            if self._held is not None:
                self._held[stage] = text
            elif stage != self._stage or time.monotonic() - self._printed_s >= EVERY_S:
                self._print(stage, text)

    def _open(self) -> None:
        with self._lock:
            held, self._held = self._held or {}, None
            for stage, text in held.items():
                self._print(stage, text)

    def _print(self, stage: str, text: str) -> None:
        self._stage, self._printed_s = stage, time.monotonic()
        passed = f"{self._printed_s - self._began_s:.0f} s"
        print(f"bufferlab: {passed}: {text}", file=sys.stderr, flush=True)  # noqa: T201
