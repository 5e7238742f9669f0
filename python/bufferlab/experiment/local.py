"""Simulates an experiment's runs in threads of this process; the engine runs without Python's lock."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import Any, Final, Protocol

from bufferlab import _core
from bufferlab.experiment.work import Ready, Work


class Executor(Protocol):
    """Simulates the runs of a work."""

    @property
    def poll_s(self) -> float:
        """How long to wait for a run to finish between two turns, s."""

    def start(self) -> None:
        """Begin; runs go on without us."""

    def turn(self) -> bool:
        """Do what is due; say whether there is more to do."""

    def running(self) -> float:
        """Weight of what is done of the runs under way."""

    def cancel(self) -> None:
        """End the runs under way soon. It takes no lock, so that a signal may call it."""

    def close(self) -> None:
        """Wait until all have ended."""


class Local:
    """Threads that take runs until there are none left."""

    poll_s: Final = 0.1

    def __init__(self, work: Work[Any], threads: int | None) -> None:
        self._work = work
        count = min(threads or processors(), max(work.total, 1))
        self._team = [_Worker(work) for _ in range(count)]

    def start(self) -> None:
        """Start the threads."""
        for worker in self._team:
            worker.start()

    def turn(self) -> bool:
        """Whether there is more to do."""
        return self._work.settled < self._work.total and any(each.is_alive() for each in self._team)

    def running(self) -> float:
        """Weight of what is done of the runs under way."""
        return sum(worker.share() for worker in self._team)

    def cancel(self) -> None:
        """End the runs under way soon."""
        for worker in self._team:
            worker.cancel()

    def close(self) -> None:
        """Wait until all threads have ended."""
        for worker in self._team:
            with suppress(RuntimeError):  # it never started
                worker.join()


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Worker(threading.Thread):
    """One thread, one run after the other."""

    def __init__(self, work: Work[Any]) -> None:
        super().__init__(name="simulation", daemon=True)
        self._work = work
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
        if self._canceled:  # meanwhile; the former control was canceled
            return
        self._ready = ready
        began_s = time.monotonic()
        try:
            performed = ready.job.perform(self._control)
        except Exception as error:  # noqa: BLE001 - whether it ends all is the work's to say
            self._work.broke(ready, error, time.monotonic() - began_s)
            return
        finally:
            self._ready = None
        if performed is not None:
            self._work.record(ready, performed)
