"""How work ends early: Ctrl-C and SIGTERM stop it at a safe place, and what finished is not lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final, Self, TypeVar

from bufferlab import _core

T = TypeVar("T")

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C or a signal ended work early.

    Attributes:
        finished: What was finished: for `run` a `RunSet`, for `compare` a `Comparison` over the seeds that
            every queue finished, for a `Runner` a list of `Done`; `None` if there is nothing.
        done: How many runs, or whatever `what` counts, were finished.
        asked: How many there were to do.
        store: The folder that keeps what was finished; `None` if nothing does.
    """

    def __init__(
        self,
        finished: Any,  # noqa: ANN401 - each caller has its own
        done: int,
        asked: int,
        *,
        what: str = "simulations finished",
        store: Path | None = None,
    ) -> None:
        self.finished = finished
        self.done = done
        self.asked = asked
        self.store = store
        kept = f"; {store} keeps them; the same command continues from there" if store and done else ""
        super().__init__(f"interrupted: {done} of {asked} {what}{kept}")

    def concluded(self, finished: Any) -> RunInterrupted:  # noqa: ANN401 - each caller has its own
        """This interruption with what a study makes of the runs that finished."""
        return RunInterrupted(finished, self.done, self.asked, store=self.store)


class Interruption:
    """Within its block, a signal that would raise `KeyboardInterrupt` asks for an end instead.

    An exception raised wherever the program happens to be would leave threads behind, or lose what they
    finished. So the first signal only stops the work and is remembered; a second one raises as usual. Signals
    reach the main thread only; in other threads the block changes nothing.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        """Prepare the block.

        Args:
            stop: Stops the work. It is called between any two instructions, so it must not take locks.
        """
        self.error: KeyboardInterrupt | None = None
        self._stop = stop
        self._before: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                before = signal.getsignal(number)
                if callable(before):
                    self._before[number] = before
                    signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if threading.current_thread() is threading.main_thread():
            for number, before in self._before.items():
                signal.signal(number, before)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        try:
            self._before[number](number, frame)
        except KeyboardInterrupt as error:
            if self.error is not None:
                raise
            self.error = error
            self._stop()


def interruptible(function: Callable[[_core.Control], T]) -> T:
    """Call a function that simulates, in a thread of its own, so that Ctrl-C is heard and cancels it.

    Raises:
        KeyboardInterrupt: At Ctrl-C.
    """
    control = _core.Control()
    returned: list[T] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            returned.append(function(control))
        except BaseException as error:  # noqa: BLE001 - raised again below
            raised.append(error)

    thread = threading.Thread(target=work, name="simulation", daemon=True)
    with Interruption(control.cancel) as interruption:
        thread.start()
        thread.join()
    for error in (interruption.error, *raised):
        if error is not None:
            raise error
    return returned[0]
