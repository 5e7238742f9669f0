"""Runs experiments: over threads or a Ray cluster, with a store that spares what was done before.

    with Runner(store="runs") as runner:
        table = runner.table(Experiment("buffers", scenarios, measure=queue_of_link, seeds=5))

Whatever the executor and the number of threads, the same experiment has the same values, and so it has with a
store and without. Ctrl-C ends it within moments: what finished is in the store and in the exception.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

import polars as pl

from bufferlab.errors import InputError
from bufferlab.experiment.experiment import Done, Experiment, Key
from bufferlab.experiment.interruption import Interruption, RunInterrupted
from bufferlab.experiment.local import Local
from bufferlab.experiment.shelf import Shelf
from bufferlab.experiment.store import Store, Writer, open_store
from bufferlab.experiment.work import Work
from bufferlab.progress import Bar, progress_bar

EngineName = Literal["local", "ray"]
ENGINES: Final = ("local", "ray")

_POLL_S: Final = 0.1


class Runner:
    """How experiments are run; one may run many, one after the other.

    Attributes:
        simulated: How many runs it has simulated.
        stored: How many it has taken from the store.
    """

    def __init__(
        self,
        *,
        threads: int | None = None,
        store: Store | str | PathLike[str] | None = None,
        fresh: bool = False,
        progress: bool | None = None,
    ) -> None:
        """Prepare to run.

        Args:
            threads: Simulations at a time; default one for each processor.
            store: The store of runs, or its folder, which is made if it is missing; `None` keeps nothing.
            fresh: Simulate again what is in the store, and put it there anew.
            progress: Show a progress bar; default if standard error is a terminal.

        Raises:
            InputError: `threads` is not positive.
        """
        if threads is not None and threads < 1:
            raise InputError("is too small", key="threads", value=threads, accepted="1 or more threads")
        self.simulated = 0
        self.stored = 0
        self._threads = threads
        self._store = store
        self._fresh = fresh
        self._progress = progress
        self._writer: Writer | None = None
        self._is_entered = False

    @property
    def directory(self) -> Path | None:
        """The folder of the store, if there is one."""
        if self._store is None:
            return None
        return self._store.directory if isinstance(self._store, Store) else Path(self._store)

    def __enter__(self) -> Self:
        """Keep the store open over several experiments."""
        self._is_entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_entered = False
        self._close(kind, error, trace)

    def runs(self, experiment: Experiment[Key]) -> Iterator[Done[Key]]:
        """The runs of an experiment, each as soon as it is finished.

        Raises:
            InputError: A point cannot be used, or the engine refuses it.
            OutputError: The store cannot be written. What finished is kept.
            RunInterrupted: At Ctrl-C, with a list of what finished, in order of what was asked for.
        """
        work = Work(experiment, self._shelf(experiment))
        executor = Local(work, self._threads)
        finished: list[Done[Key]] = []

        def stop() -> None:
            work.stop()
            executor.cancel()

        with Interruption(stop) as interruption:
            try:
                with progress_bar(experiment.title, visible=self._progress) as bar:
                    executor.start()
                    for done in _drain(work, executor, bar):
                        self._count(done)
                        finished.append(done)
                        yield done
            except KeyboardInterrupt as error:
                interruption.error = interruption.error or error
            finally:
                stop()
                executor.close()
                if not self._is_entered:
                    self._close(None, None, None)
            if interruption.error is not None:
                finished += work.late()
                raise self._interrupted(finished, work.total) from interruption.error

    def all(self, experiment: Experiment[Key]) -> list[Done[Key]]:
        """All runs of an experiment, in order of its points and their seeds.

        Raises:
            InputError: A point cannot be used, or the engine refuses it.
            OutputError: The store cannot be written. What finished is kept.
            RunInterrupted: At Ctrl-C, with a list of what finished.
        """
        return sorted(self.runs(experiment), key=lambda done: done.number)

    def values(self, experiment: Experiment[Key]) -> list[Any]:
        """What was measured in each run, in order of the points and their seeds.

        Raises:
            InputError: A point cannot be used, or the engine refuses it.
            OutputError: The store cannot be written. What finished is kept.
            RunInterrupted: At Ctrl-C, with a list of what finished.
        """
        return [done.value for done in self.all(experiment)]

    def table(self, experiment: Experiment[Key]) -> pl.DataFrame:
        """One row a run: what names the point, `seed`, and what was measured, which must be a mapping.

        Raises:
            InputError: A point cannot be used, or the engine refuses it.
            OutputError: The store cannot be written. What finished is kept.
            RunInterrupted: At Ctrl-C, with a list of what finished.
        """
        return table_of(experiment, self.all(experiment))

    def _shelf(self, experiment: Experiment[Key]) -> Shelf | None:
        if self._store is None or experiment.simulator is not None:
            return None
        if self._writer is None:
            if not isinstance(self._store, Store):
                self._store = open_store(self._store, create=True)
            self._writer = self._store.writer(retry_failed=True, fresh=self._fresh)
        return Shelf(self._writer)

    def _count(self, done: Done[Key]) -> None:
        if done.stored:
            self.stored += 1
        else:
            self.simulated += 1

    def _interrupted(self, finished: list[Done[Key]], asked: int) -> RunInterrupted:
        ordered = sorted(finished, key=lambda done: done.number)
        return RunInterrupted(ordered, len(ordered), asked, store=self.directory)

    def _close(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.__exit__(kind, error, trace)


def table_of(experiment: Experiment[Key], runs: list[Done[Key]]) -> pl.DataFrame:
    """Finished runs as a table: what names the point, `seed`, and what was measured."""
    rows = [experiment.columns(done.key) | {"seed": done.seed} | done.value for done in runs]
    return pl.DataFrame(rows, infer_schema_length=None)


def _drain(work: Work[Key], executor: Local, bar: Bar) -> Iterator[Done[Key]]:
    """Yield what finishes until all has, or the work is stopped."""
    done = 0
    while done < work.total:
        more = executor.turn()
        for each in work.finished(_POLL_S if more else 0.0):
            done += 1
            yield each
        bar.update(work.share(executor.running()), f"{done}/{work.total}")
        if work.stopped or not more:
            break
    yield from work.finished(0.0)
