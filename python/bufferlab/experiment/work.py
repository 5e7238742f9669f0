"""The work of a running experiment: which run is next, and the state of each."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from queue import Empty, Queue
from typing import Final, Generic, cast

from bufferlab.errors import InputError
from bufferlab.experiment.experiment import Done, Experiment, Key, Task
from bufferlab.experiment.job import Job, Performed
from bufferlab.experiment.keeping import MISSING, Keeper, Ledger
from bufferlab.experiment.store import Claim

_PATIENCE_S: Final = 0.2


class Nothing(Enum):
    """Why there is no run to simulate."""

    LATER = "other processes simulate what is left"
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
        failed: How many of them failed.
        stopped: Whether no more runs are handed out.
    """

    def __init__(self, experiment: Experiment[Key], keeper: Keeper | None) -> None:
        """Prepare the work.

        Args:
            experiment: What is asked for.
            keeper: Its part of a store. With a `Ledger`, a run that fails does not end the others.
        """
        self._experiment = experiment
        self._keeper = keeper
        self._failures = keeper if isinstance(keeper, Ledger) else None
        self.total = experiment.total
        self.settled = 0
        self.failed = 0
        self.stopped = False
        self._fresh: Iterator[Task[Key]] = experiment.tasks()
        self._cost = float(self.total)
        if experiment.seed_by_seed or experiment.weight is not None:
            tasks = sorted(self._fresh, key=lambda task: -task.weight)
            if experiment.seed_by_seed:
                tasks.sort(key=lambda task: task.index)
            self._fresh, self._cost = iter(tasks), sum(task.weight for task in tasks)
        self._cost_done = 0.0
        self._mutex = threading.Lock()
        self._deferred: deque[Ready[Key]] = deque()
        # not SimpleQueue: a signal during its `get` may turn a timeout into waiting forever
        self._finished: Queue[Done[Key] | BaseException] = Queue()

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
            ready = deferred if task is None else self._prepared(task)
            if ready is None:
                if task is None:
                    return Nothing.OVER
                continue
            claim = Claim.MINE if self._keeper is None else self._keeper.claim(ready.job)
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
        if self._keeper is not None:
            self._keeper.put(ready.job, performed)
        value = None if self._failures is not None else performed.value()
        self._settle(ready, value)

    def broke(self, ready: Ready[Key], error: Exception, wall_s: float) -> None:
        """Take that a run failed: it ends all of it, unless failures are kept.

        Raises:
            OutputError: The store cannot be written.
        """
        if self._failures is None:
            self.fail(error)
            return
        self._failures.fail(ready.job, error, wall_s)
        self._settle(ready, None, failed=True)

    def fail(self, error: BaseException) -> None:
        """End all of it: `finished` raises the error."""
        self.stopped = True
        self._finished.put(error)

    def stop(self) -> None:
        """Hand out no more runs. It takes no lock, so that a signal may call it."""
        self.stopped = True

    def sync(self) -> None:
        """Make what was recorded survive a power cut.

        Raises:
            OutputError: The disk reports an error.
        """
        if self._keeper is not None:
            self._keeper.sync()

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

    def note(self) -> str:
        """How far it is, for the progress bar."""
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.settled}/{self.total}{failed}"

    def _prepared(self, task: Task[Key]) -> Ready[Key] | None:
        """A run with its plan; one that has none is a failure, if they are kept."""
        seed: int | None = None
        try:
            seed = self._experiment.seed(task)
            return Ready(task, self._experiment.job(task))
        except InputError as error:
            if self._failures is None:
                raise
            name = self._failures.refuse(cast("Task[int]", task), seed, error)
        self._take(Done(task.number, task.key, name, None, failed=True), task.weight)
        return None

    def _take_stored(self, ready: Ready[Key]) -> bool:
        value = MISSING if self._keeper is None else self._keeper.value(ready.job)
        if value is MISSING:
            return False
        self._settle(ready, value, stored=True)
        return True

    def _settle(
        self, ready: Ready[Key], value: object, *, stored: bool = False, failed: bool = False
    ) -> None:
        task, job = ready.task, ready.job
        self._take(
            Done(task.number, task.key, job.name, job.seed, value, stored=stored, failed=failed), task.weight
        )

    def _take(self, done: Done[Key], weight: float) -> None:
        with self._mutex:
            # before it counts: who sees that all are settled takes what is there, and waits no more
            self._finished.put(done)
            self.settled += 1
            self.failed += done.failed
            self._cost_done += weight
