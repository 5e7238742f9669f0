"""What an experiment keeps in a store, and takes from it: values of measures, or figures and failures."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Protocol

from bufferlab.errors import InputError, OutputError
from bufferlab.experiment import values
from bufferlab.experiment.experiment import Task, Variants
from bufferlab.experiment.job import TABLES, Job, Performed
from bufferlab.experiment.store import Claim, Row, Writer, done_row, failed_row, measured_row
from bufferlab.experiment.store.reader import StoreReader
from bufferlab.files import make_folder
from bufferlab.results import folder as folders
from bufferlab.results.metrics.calls import group_figures
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario

MISSING: Final = object()
"""Stands for "not in the store" (`None` is a value)."""


class WorkerError(Exception):
    """What a run failed from on another machine, in one line."""


class Keeper(Protocol):
    """One experiment's part of a store; all threads may share it. All raise `OutputError` if it is full."""

    def claim(self, job: Job) -> Claim:
        """Try to make a run ours."""

    def value(self, job: Job) -> Any:  # noqa: ANN401 - whatever was measured
        """What is stored of a run, `MISSING` if nothing is."""

    def put(self, job: Job, performed: Performed) -> None:
        """Store a run; once this returns, no end of this process loses it."""

    def sync(self) -> None:
        """Make what was put survive a power cut."""


class Shelf:
    """Keeps the values of measures."""

    def __init__(self, writer: Writer, *, is_cache: bool = False) -> None:
        """Take a part of a store; if it is a cache, one that cannot be written is left alone."""
        self._writer = writer
        self._errors: tuple[type[OutputError], ...] = (OutputError,) if is_cache else ()
        self._is_off = False
        self._mutex = threading.Lock()
        self._known: dict[str, dict[str, str]] = {}

    def claim(self, job: Job) -> Claim:
        """Try to make a run and its measure ours."""
        if self._is_off:
            return Claim.MINE
        try:
            return self._writer.claim(job.name, job.identity())
        except self._errors:
            self._is_off = True
        return Claim.MINE

    def value(self, job: Job) -> Any:  # noqa: ANN401 - whatever was measured
        """What is stored of a run, `MISSING` if nothing is."""
        measure = job.identity()
        if measure == TABLES:
            return _kept_tables(self._writer.store, job)
        text = self._text(measure, job.name)
        return MISSING if text is None else values.decode(text)

    def put(self, job: Job, performed: Performed) -> None:
        """Store a run."""
        if self._is_off:
            return
        try:
            self._put(job, performed)
        except self._errors:
            self._is_off = True

    def _put(self, job: Job, performed: Performed) -> None:
        measure = job.identity()
        if measure == TABLES and performed.result is not None:
            _keep_tables(self._writer.store, job, performed.result)
        figures = performed.figures
        if figures is None and performed.result is not None:
            figures = done_row(performed.result)
        row = measured_row(
            figures or {},
            name=job.name,
            measure=measure,
            measured=performed.text,
            scenario=job.title,
            parameters=json.dumps(job.parameters, ensure_ascii=False, default=str),
            seed=job.seed,
            wall_s=performed.wall_s,
        )
        self._writer.put(row | _origin(job))

    def sync(self) -> None:
        """Make what was put survive a power cut."""
        with suppress(*self._errors):
            self._writer.sync()

    def _text(self, measure: str, name: str) -> str | None:
        with self._mutex:
            known = self._known.get(measure)
            if known is None or name not in known:  # others may have put it meanwhile
                known = self._known[measure] = self._writer.store.measured(measure)
            return known.get(name)


def variant_row(job: Job, result: Result, wall_s: float) -> Row:
    """The row of a variant's run, with the figures of its groups, as nothing else was measured."""
    row = done_row(result, parameters=job.parameters, wall_s=wall_s)
    return row | {"measured": group_figures(result)}


class Ledger:
    """Keeps the figures of a scenario's variants, and why some failed; values are read from the store."""

    def __init__(self, writer: Writer, variants: Variants, *, tables: bool) -> None:
        self._writer = writer
        self._variants = variants
        self._tables = tables

    def claim(self, job: Job) -> Claim:
        """Try to make a run ours."""
        return self._writer.claim(job.name)

    def value(self, job: Job) -> Any:  # noqa: ANN401 - as in Keeper
        """Nothing: what is stored is read later, all at once."""
        del job

    def put(self, job: Job, performed: Performed) -> None:
        """Store a run's figures, and its tables if they are wanted."""
        row = performed.figures
        if row is None and performed.result is not None:
            row = variant_row(job, performed.result, performed.wall_s)
        if row is not None:
            row = row | _origin(job)
        if self._tables and performed.result is not None:  # first: a run without its tables is not done
            _keep_tables(self._writer.store, job, performed.result)
        if row is not None:
            self._writer.put(row)

    def sync(self) -> None:
        """Make what was put survive a power cut."""
        self._writer.sync()

    def fail(self, job: Job, error: BaseException, wall_s: float) -> None:
        """Store that a run failed."""
        self._writer.put(
            failed_row(
                job.name,
                why(error),
                scenario=job.title,
                seed=job.seed,
                parameters=job.parameters,
                wall_s=wall_s,
            )
        )

    def refuse(self, task: Task[int], seed: int | None, error: InputError) -> str:
        """Store that a run has no plan; return the identity that stands for it: what was asked for.

        Args:
            task: The run.
            seed: Its seed; `None` if not even the scenario could be made.
            error: What is wrong.
        """
        point = self._variants.points[task.key]
        scenario = self._variants.base if seed is None else self._variants[task.key]
        which = f"seed {task.index} of it" if seed is None else f"seed {seed}"
        name = _refused(scenario, point, which)
        if self._writer.claim(name) is Claim.MINE:
            self._writer.put(failed_row(name, str(error), scenario=scenario.title, parameters=point))
        return name


def _origin(job: Job) -> dict[str, Any]:
    """The scenario of a run, for its row; nothing if its point is none."""
    if not isinstance(job.point, Scenario):
        return {}
    overrides = json.dumps(job.point.overrides, ensure_ascii=False)
    return {"scenario_hash": job.point.identity, "overrides": overrides}


def why(error: BaseException) -> str:
    """What to store about a run that failed."""
    if isinstance(error, InputError | WorkerError):
        return str(error)
    if isinstance(error, MemoryError):
        return "out of memory"
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _refused(scenario: Scenario, point: Mapping[str, Any], which: str) -> str:
    asked = json.dumps([scenario.to_dict(), point, which], sort_keys=True)
    return f"refused-{hashlib.sha256(asked.encode()).hexdigest()[:56]}"


def _keep_tables(store: StoreReader, job: Job, result: Result) -> None:
    folder = store.tables_folder(job.name)
    make_folder(folder.parent)
    folders.save([result], result.summary(), folder)


def _kept_tables(store: StoreReader, job: Job) -> object:
    folder = store.tables_folder(job.name)
    if not folder.is_dir():
        return MISSING
    return with_scenario(Result.load(folder), job.point)


def with_scenario(result: Result, scenario: Scenario) -> Result:
    """A result as that of a scenario, whose plan it is of."""
    return replace(
        result,
        name=scenario.title,
        scenario=scenario.to_toml(),
        files=scenario.files,
        overrides=scenario.overrides,
    )
