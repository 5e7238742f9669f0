"""What an experiment keeps in a store, and takes from it."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any, Final

from bufferlab.experiment import values
from bufferlab.experiment.experiment import TABLES, Job, Performed, parameters_text
from bufferlab.experiment.store import Claim, Row, Writer, done_row, measured_row
from bufferlab.results import folder as folders
from bufferlab.results.result import Result

MISSING: Final = object()
"""Stands for "not in the store" (`None` is a value)."""


class Shelf:
    """One experiment's part of a store; all threads may share it."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._mutex = threading.Lock()
        self._known: dict[str, dict[str, str]] = {}

    def claim(self, job: Job) -> Claim:
        """Try to make a run ours.

        Raises:
            OutputError: The store cannot be written.
        """
        return self._writer.claim(job.name, job.identity())

    def value(self, job: Job) -> Any:  # noqa: ANN401 - whatever was measured
        """What is stored of a run, `MISSING` if nothing is."""
        measure = job.identity()
        if measure == TABLES:
            return self._result(job)
        text = self._text(measure, job.name)
        return MISSING if text is None else values.decode(text)

    def put(self, job: Job, performed: Performed) -> None:
        """Store a run.

        Raises:
            OutputError: The store cannot be written.
        """
        measure = job.identity()
        result = performed.result
        if measure == TABLES and result is not None:
            folder = self._writer.store.tables_folder(job.name)
            folder.parent.mkdir(parents=True, exist_ok=True)
            folders.save([result], result.summary(), folder)
        self._writer.put(self._row(job, performed, measure))

    def _row(self, job: Job, performed: Performed, measure: str) -> Row:
        figures: Row = {}
        if performed.result is not None:
            figures = done_row(performed.result, wall_s=performed.wall_s)
        return measured_row(
            figures,
            name=job.name,
            measure=measure,
            measured=performed.text,
            scenario=job.title,
            parameters=parameters_text(job.parameters),
            seed=job.seed,
            wall_s=performed.wall_s,
        )

    def _text(self, measure: str, name: str) -> str | None:
        with self._mutex:
            known = self._known.get(measure)
            if known is None or name not in known:  # others may have put it meanwhile
                known = self._known[measure] = self._writer.store.measured(measure)
            return known.get(name)

    def _result(self, job: Job) -> Any:  # noqa: ANN401 - a result, or MISSING
        folder = self._writer.store.tables_folder(job.name)
        if not folder.is_dir():
            return MISSING
        scenario = job.point
        return replace(
            Result.load(folder),
            name=scenario.title,
            scenario=scenario.to_toml(),
            overrides=scenario.overrides,
        )
