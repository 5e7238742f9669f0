"""The work of an experiment while it goes on: which run is next, and what became of each."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from queue import Empty, SimpleQueue
from typing import Final, Generic, TypeVar

from bufferlab.experiment.experiment import Done, Experiment, Job, Performed, Task
from bufferlab.experiment.shelf import MISSING, Shelf
from bufferlab.experiment.store import Claim

Key = TypeVar("Key")

_PATIENCE_S: Final = 0.2


class Nothing(Enum):
    """Why there is no run to simulate."""

    LATER = "others simulate what is left"
    OVER = "all is done"


@dataclass(frozen=True)
class Ready(Generic[Key]):
    """A run that is ours to simulate."""

    task: Task[Key]
    job: Job


class Work(Generic[Key]):
    """Hands out runs and takes back what became of them; all threads of an executor may share it.

    Attributes:
        total: How many runs are asked for.
        settled: How many need no more work.
        stopped: Whether no more runs are handed out.
    """

    def __init__(self, experiment: Experiment[Key], shelf: Shelf | None) -> None:
        self._experiment = experiment
        self._shelf = shelf
        tasks = list(experiment.tasks())
        if experiment.weight is not None:
            tasks.sort(key=lambda task: -task.weight)
        self.total = len(tasks)
        self.settled = 0
        self.stopped = False
        self._cost = sum(task.weight for task in tasks)
        self._cost_done = 0.0
        self._mutex = threading.Lock()
        self._fresh: Iterator[Task[Key]] = iter(tasks)
        self._deferred: deque[Ready[Key]] = deque()
        self._finished: SimpleQueue[Done[Key] | BaseException] = SimpleQueue()

    def next(self, *, wait: bool = True) -> Ready[Key] | Nothing:
        """The next run to simulate, claimed.

        Args:
            wait: While others simulate all that is left, wait for them; else say `LATER`.

        Raises:
            InputError: A point cannot be used.
            OutputError: The store cannot be written.
        """
        while not self.stopped:
            with self._mutex:
                task = next(self._fresh, None)
                deferred = self._deferred.popleft() if task is None and self._deferred else None
            if task is not None:
                ready = Ready(task, self._experiment.job(task))
            elif deferred is not None:
                ready = deferred
            else:
                return Nothing.OVER
            claim = Claim.MINE if self._shelf is None else self._shelf.claim(ready.job)
            if claim is Claim.DONE and self._take_stored(ready):
                continue
            if claim is not Claim.TAKEN:
                return ready
            with self._mutex:
                self._deferred.append(ready)
            if deferred is not None and not wait:
                return Nothing.LATER
            if deferred is not None:
                time.sleep(_PATIENCE_S)
        return Nothing.OVER

    def record(self, ready: Ready[Key], performed: Performed) -> None:
        """Take what became of a run; once this returns, no end of this process loses it from the store.

        Raises:
            OutputError: The store cannot be written.
        """
        if self._shelf is not None:
            self._shelf.put(ready.job, performed)
        task = ready.task
        self._settle(Done(task.number, task.key, task.seed, performed.value()), task.weight)

    def fail(self, error: BaseException) -> None:
        """End all of it: `finished` raises the error."""
        self.stopped = True
        self._finished.put(error)

    def stop(self) -> None:
        """Hand out no more runs. It takes no lock, so that a signal may call it."""
        self.stopped = True

    def finished(self, timeout_s: float) -> Iterator[Done[Key]]:
        """The runs that finished since the last call; waits for the first of them.

        Raises:
            BaseException: The error that ended all of it.
        """
        try:
            while True:
                done = self._finished.get(timeout=timeout_s)
                if isinstance(done, BaseException):
                    raise done
                yield done
                timeout_s = 0.0
        except Empty:
            return

    def late(self) -> list[Done[Key]]:
        """The runs that finished since, when all threads have ended; errors count no more."""
        left = [self._finished.get() for _ in range(self._finished.qsize())]
        return [done for done in left if isinstance(done, Done)]

    def share(self, running: float) -> float:
        """Share of the work done, from 0 to 1.

        Args:
            running: Weight of what is done of the runs under way.
        """
        return min((self._cost_done + running) / self._cost, 1.0) if self._cost else 1.0

    def _take_stored(self, ready: Ready[Key]) -> bool:
        value = MISSING if self._shelf is None else self._shelf.value(ready.job)
        if value is MISSING:
            return False
        task = ready.task
        self._settle(Done(task.number, task.key, task.seed, value, stored=True), task.weight)
        return True

    def _settle(self, done: Done[Key], weight: float) -> None:
        with self._mutex:
            self.settled += 1
            self._cost_done += weight
        self._finished.put(done)
