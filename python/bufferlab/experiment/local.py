"""Simulates an experiment's runs in threads of this process; the engine runs without Python's lock."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import Any

from bufferlab import _core
from bufferlab.experiment.work import Ready, Work


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Local:
    """Threads that take runs until there are none left."""

    def __init__(self, work: Work[Any], threads: int | None) -> None:
        count = min(threads or processors(), max(work.total, 1))
        self._team = [_Worker(work) for _ in range(count)]

    def start(self) -> None:
        """Begin; the runs go on without us."""
        for worker in self._team:
            worker.start()

    def turn(self) -> bool:
        """Whether there is more to do."""
        return any(worker.is_alive() for worker in self._team)

    def running(self) -> float:
        """Weight of what is done of the runs under way."""
        return sum(worker.share() for worker in self._team)

    def cancel(self) -> None:
        """End the runs under way soon. It takes no lock, so that a signal may call it."""
        for worker in self._team:
            worker.cancel()

    def close(self) -> None:
        """Wait until all threads have ended."""
        for worker in self._team:
            with suppress(RuntimeError):  # it never started
                worker.join()


class _Worker(threading.Thread):
    """One thread, one run after the other."""

    def __init__(self, work: Work[Any]) -> None:
        super().__init__(name="simulation", daemon=True)
        self._work: Work[Any] = work
        self._control = _core.Control()
        self._ready: Ready[Any] | None = None
        self._canceled = False

    def run(self) -> None:
        try:
            while not self._canceled and isinstance(ready := self._work.next(), Ready):
                self._perform(ready)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the main thread raises it
            self._work.fail(error)

    def cancel(self) -> None:
        self._canceled = True
        self._control.cancel()

    def share(self) -> float:
        """Weight of what is done of the run under way."""
        ready = self._ready
        if ready is None or not ready.job.duration_ps:
            return 0.0
        return ready.task.weight * min(self._control.reached_ps() / ready.job.duration_ps, 1.0)

    def _perform(self, ready: Ready[Any]) -> None:
        self._control = _core.Control()
        if self._canceled:  # meanwhile, and the former control was told
            return
        self._ready = ready
        performed = ready.job.perform(self._control)
        self._ready = None
        if performed is not None:
            self._work.record(ready, performed)
