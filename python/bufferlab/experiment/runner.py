"""Runs experiments: over threads or a Ray cluster, with a store that spares what was done before.

    with Runner(store="runs") as runner:
        table = runner.table(Experiment("buffers", scenarios, measure=queue_of_link, seeds=5))

Whatever the executor and the number of threads, the same experiment has the same values, and so it has with a
store and without. Ctrl-C ends it within moments: what finished is in the store and in the exception.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self, get_args

import polars as pl

from bufferlab.errors import InputError, OutputError
from bufferlab.experiment.experiment import Done, Experiment, Key, Variants
from bufferlab.experiment.interruption import Interruption, RunInterrupted
from bufferlab.experiment.keeping import Keeper, Ledger, Shelf
from bufferlab.experiment.local import Executor, Local
from bufferlab.experiment.store import Store, Writer, open_store
from bufferlab.experiment.store.studies import Study, StudyFile
from bufferlab.experiment.work import Work
from bufferlab.progress import Bar, progress_bar

Engine = Literal["local", "ray"]
ENGINES: Final[tuple[Engine, ...]] = get_args(Engine)

_SYNC_S: Final = 1.0
_POLL_S: Final = 0.05


class Runner:
    """Runs experiments: on threads or a Ray cluster, with or without a store of runs.

    Attributes:
        simulated: How many runs it has simulated.
        stored: How many it has taken from the store.
        repeated: How many of those it had simulated itself.
    """

    def __init__(
        self,
        *,
        threads: int | None = None,
        engine: str = "local",
        ray_address: str | None = None,
        store: Store | str | PathLike[str] | None = None,
        is_cache: bool = False,
        fresh: bool = False,
        progress: bool | None = None,
        logged: bool = False,
    ) -> None:
        """Prepare to run.

        Args:
            threads: Simulations at a time (with Ray, the most tasks); default one for each processor.
            engine: "local" for threads of this process, "ray" for a Ray cluster.
            ray_address: The cluster, for the engine "ray"; default the one that runs, else a new one on this
                machine.
            store: The store of runs, or its folder, which is made if it is missing; `None` keeps nothing.
            is_cache: The store is a convenience: if it cannot be written, runs are made without it.
            fresh: Simulate again what is in the store, and put it there anew.
            progress: Show a progress bar; default if standard error is a terminal.
            logged: Where it is none, print plain lines: for each stage of work that has many experiments, and
                how many runs of one are done.

        Raises:
            InputError: There is no such engine, or `threads` is not positive.
        """
        if engine not in ENGINES:
            raise InputError("is no engine", key="engine", value=engine, accepted=", ".join(ENGINES))
        if threads is not None and threads < 1:
            raise InputError("is too small", key="threads", value=threads, accepted="1 or more threads")
        self.simulated = 0
        self.stored = 0
        self.repeated = 0
        self._own: set[str | None] = set()
        self._threads = threads
        self._engine = engine
        self._ray_address = ray_address
        self._store = store
        self._is_cache = is_cache
        self._fresh = fresh
        self._progress = progress
        self._logged = logged
        self._writer: Writer | None = None
        self._entered = 0
        self._study: StudyFile | None = None

    @property
    def directory(self) -> Path | None:
        """The folder of the store, if there is one."""
        if self._store is None:
            return None
        return self._store.directory if isinstance(self._store, Store) else Path(self._store)

    def __enter__(self) -> Self:
        """Keep the store open over several experiments."""
        self._entered += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered -= 1
        if not self._entered:
            self._close(kind, error, trace)

    @contextmanager
    def study(self, study: Study) -> Iterator[None]:
        """Let the store say that a study asked for the block's runs; in the block of another, that did."""
        if self._study is not None:
            yield
            return
        self._study = StudyFile(study)
        try:
            yield
        finally:
            self._study.close()
            self._study = None

    def bar(self, title: str, *, left: str = "left") -> AbstractContextManager[Bar]:
        """The progress bar of work that consists of many experiments, which then have no title.

        Args:
            title: What is going on.
            left: What stands before the time that the rest takes.
        """
        return progress_bar(title, visible=self._progress, logged=self._logged, left=left)

    def runs(self, experiment: Experiment[Key], bar: Bar | None = None) -> Iterator[Done[Key]]:
        """The runs of an experiment, each as soon as it is finished.

        Args:
            experiment: What to simulate and to measure.
            bar: What is kept up to date; default a bar with the experiment's title, if it has one.

        Raises:
            InputError: A point cannot be used, or the engine refuses it.
            OutputError: The store cannot be written. What finished is kept.
            RunInterrupted: At Ctrl-C, with a list of what finished, in order of what was asked for.
        """

        def opened() -> Keeper | None:
            if self._store is None or experiment.simulator is not None:
                return None
            return Shelf(self._open(retry_failed=True), is_cache=self._is_cache)

        return self._work_on(experiment, opened, bar, tables=False)

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
        """One row per run: what names the point, `seed`, and what was measured, which must be a mapping.

        Raises:
            InputError: A point cannot be used, or the engine refuses it.
            OutputError: The store cannot be written. What finished is kept.
            RunInterrupted: At Ctrl-C, with a list of what finished.
        """
        return table_of(experiment, self.all(experiment))

    def fill(
        self, experiment: Experiment[int], *, tables: bool = False, retry_failed: bool = False
    ) -> list[Done[int]]:
        """Put the figures of all variants of a scenario into the store; a run that fails is noted there, too.

        Args:
            experiment: Its points are `Variants`; it measures nothing beside the figures.
            tables: Keep the full tables of the runs that are simulated.
            retry_failed: Simulate runs again that failed before.

        Returns:
            All runs, in order of the points and their seeds, without values: the store has them.

        Raises:
            OutputError: The store cannot be written. What finished is kept.
            RunInterrupted: At Ctrl-C.
        """
        variants = experiment.points
        if not isinstance(variants, Variants):
            raise TypeError("only variants of a scenario can be noted as failed")

        def opened() -> Keeper:
            return Ledger(self._open(retry_failed=retry_failed), variants, tables=tables)

        done = self._work_on(experiment, opened, None, tables=tables)
        return sorted(done, key=lambda each: each.number)

    def _work_on(
        self,
        experiment: Experiment[Key],
        opened: Callable[[], Keeper | None],
        bar: Bar | None,
        *,
        tables: bool,
    ) -> Iterator[Done[Key]]:
        executor: Executor | None = None
        finished: list[Done[Key]] = []

        def stop() -> None:
            if executor is not None:
                work.stop()
                executor.cancel()

        with Interruption(stop) as interruption:
            keeper = opened()  # which takes a while
            work = Work(experiment, keeper)
            executor = self._executor(experiment, work, tables=tables)
            if interruption.error is not None:  # meanwhile, when there was nothing to stop
                stop()
            try:
                visible = self._progress if experiment.title else False
                with progress_bar(
                    experiment.title, visible=visible, logged=self._logged, counted=True
                ) as own:
                    executor.start()
                    for done in _drain(work, executor, bar or own):
                        self._note(experiment, done, is_kept=keeper is not None)
                        self._count(done)
                        finished.append(done)
                        yield done
            except KeyboardInterrupt as error:
                interruption.error = interruption.error or error
            except OutputError:
                if keeper is not None:  # there is room for the runs under way, if for no others
                    _let_finish(executor)
                raise
            finally:
                stop()
                executor.close()
                if not self._entered:
                    self._close(None, None, None)
            if interruption.error is not None:
                finished += self._late(experiment, work, is_kept=keeper is not None)
                raise self._interrupted(finished, work.total) from interruption.error

    def _executor(self, experiment: Experiment[Key], work: Work[Key], *, tables: bool) -> Executor:
        if self._engine == "ray" and experiment.simulator is None:  # files and screens are here
            from bufferlab.experiment.cluster import Cluster  # noqa: PLC0415 - for runs on a cluster only

            return Cluster(work, self._threads, self._ray_address, tables=tables)
        return Local(work, self._threads)

    def _open(self, *, retry_failed: bool) -> Writer:
        if self._store is None:
            raise TypeError("a runner without a store cannot fill one")
        if self._writer is None:
            if not isinstance(self._store, Store):
                self._store = open_store(self._store, create=True)
            self._writer = self._store.writer(retry_failed=retry_failed, fresh=self._fresh)
        return self._writer

    def _count(self, done: Done[Key]) -> None:
        if done.stored:
            self.stored += 1
            self.repeated += done.name in self._own
        elif not done.failed:
            self.simulated += 1
            self._own.add(done.name)

    def _late(self, experiment: Experiment[Key], work: Work[Key], *, is_kept: bool) -> list[Done[Key]]:
        """What finished since the work was stopped."""
        late = work.late()
        for done in late:
            self._note(experiment, done, is_kept=is_kept)
        return late

    def _note(self, experiment: Experiment[Key], done: Done[Key], *, is_kept: bool) -> None:
        """Take down a run for the study that asks."""
        directory = self.directory
        if is_kept and self._study is not None and directory is not None:
            self._study.add(directory, done.name, experiment.columns(done.key))

    def _interrupted(self, finished: list[Done[Key]], asked: int) -> RunInterrupted:
        ordered = sorted(finished, key=lambda done: done.number)
        return RunInterrupted(ordered, len(ordered), asked, store=self.directory)

    def _close(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.__exit__(kind, error, trace)


def table_of(experiment: Experiment[Key], runs: Sequence[Done[Key]]) -> pl.DataFrame:
    """Finished runs as a table: what names the point, `seed`, and what was measured."""
    rows = [experiment.columns(done.key) | {"seed": done.seed} | done.value for done in runs]
    return pl.DataFrame(rows, infer_schema_length=None)


def _drain(work: Work[Key], executor: Executor, bar: Bar) -> Iterator[Done[Key]]:
    """Yield what finishes until all has, or the work is stopped."""
    synced_s = time.monotonic()
    more = True
    while more and not work.stopped:
        more = executor.turn()
        yield from work.finished(executor.poll_s if more else 0.0)
        bar.update(work.share(executor.running()), work.note())
        if time.monotonic() - synced_s >= _SYNC_S:
            work.sync()
            synced_s = time.monotonic()
    yield from work.finished(0.0)


def _let_finish(executor: Executor) -> None:
    """Wait until the runs under way are finished; no others are handed out."""
    more = True
    while more:
        with suppress(OutputError):
            more = executor.turn()
        time.sleep(_POLL_S)
