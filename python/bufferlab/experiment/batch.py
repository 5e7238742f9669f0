"""Many independent simulations at a time: different scenarios and seeds in one pool of threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.progress import Bar, progress_bar

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")

_POLL_S: Final = 0.2


class BatchInterrupted(KeyboardInterrupt, Generic[Outcome]):
    """Ctrl-C ended a batch early.

    Attributes:
        finished: Results of the tasks that were complete, in order of the tasks.
        asked: How many tasks there were.
    """

    def __init__(self, finished: list[Outcome], asked: int) -> None:
        self.finished = finished
        self.asked = asked
        super().__init__(f"interrupted: {len(finished)} of {asked} simulations finished")


def run_batch(
    function: Callable[[Task, _core.Control], Outcome | None],
    tasks: Sequence[Task],
    *,
    title: str,
    threads: int | None = None,
    progress: bool | None = None,
    weights: Sequence[float] | None = None,
    durations_ps: Sequence[int] | None = None,
) -> list[Outcome]:
    """Apply a function that simulates to every task.

    Heavy tasks are started first, so that no thread is left alone with one at the end.

    Args:
        function: Simulates a task; it hands the control to the engine and returns `None` if canceled.
        tasks: What to do.
        title: Name of the work, for the progress bar.
        threads: Tasks at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        weights: Expected cost of each task, in any unit; default equal.
        durations_ps: Simulated time of each task, so that the bar moves while it runs; default unknown.

    Returns:
        One result a task, in the order of the tasks, whatever the number of threads.

    Raises:
        InputError: If `threads` is not positive.
        BatchInterrupted: At Ctrl-C, with what was finished.
    """
    if threads is not None and threads < 1:
        raise InputError("is too small", key="threads", value=threads, accepted="1 or more threads")
    if not tasks:
        return []
    costs = list(weights) if weights is not None else [1.0] * len(tasks)
    order = sorted(range(len(tasks)), key=lambda index: -costs[index])
    controls = [_core.Control() for _ in tasks]
    futures: dict[int, Future[Outcome | None]] = {}
    with ThreadPoolExecutor(threads or processors(), thread_name_prefix="batch") as pool:
        for index in order:
            futures[index] = pool.submit(function, tasks[index], controls[index])
        try:
            with progress_bar(title, visible=progress) as bar:
                _await(futures, _Work(controls, costs, durations_ps), bar)
        except BaseException as error:
            for control in controls:
                control.cancel()
            pool.shutdown(cancel_futures=True)
            if isinstance(error, KeyboardInterrupt):
                raise BatchInterrupted(_finished(futures), len(tasks)) from error
            raise
    return _finished(futures)


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class _Work:
    """How much there is to do, and how far it is."""

    controls: Sequence[_core.Control]
    costs: Sequence[float]
    durations_ps: Sequence[int] | None

    def done(self, futures: Mapping[int, Future[Any]]) -> float:
        """Share of the work done, 0 to 1."""
        done = sum(self._share(index, future) * self.costs[index] for index, future in futures.items())
        return done / (sum(self.costs) or 1.0)

    def _share(self, index: int, future: Future[Any]) -> float:
        if future.done():
            return 1.0
        if self.durations_ps is None:
            return 0.0
        return min(self.controls[index].reached_ps() / self.durations_ps[index], 1.0)


def _await(futures: Mapping[int, Future[Any]], work: _Work, bar: Bar) -> None:
    pending = set(futures.values())
    while pending:
        done, pending = wait(pending, timeout=_POLL_S, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        bar.update(work.done(futures), f"{len(futures) - len(pending)}/{len(futures)}")


def _finished(futures: dict[int, Future[Outcome | None]]) -> list[Outcome]:
    results: list[Outcome] = []
    for _, future in sorted(futures.items()):
        if future.done() and not future.cancelled() and future.exception() is None:
            result = future.result()
            if result is not None:
                results.append(result)
    return results
