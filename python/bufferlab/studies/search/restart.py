"""Measuring buffers by simulation, each from the start of a run of its own."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from bufferlab import _core
from bufferlab.experiment.batch import run_batch
from bufferlab.experiment.simulation import prepare, simulate
from bufferlab.results.frames import ALL
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario
from bufferlab.studies.search.goal import Sample
from bufferlab.units import PS_PER_S


class CanceledError(Exception):
    """A search's control canceled it."""


class Restarts:
    """Measures buffers of a link by fresh runs.

    Args:
        scenario: What to run.
        link: Index of the link.
        first_seed: Seed of the first round; later rounds count up from it.
        threads: Runs at a time; `None` for one a processor.
        control: If given, runs are made one after the other in the calling thread, and this cancels them: for
            searches that are tasks of a batch themselves.
    """

    def __init__(
        self,
        scenario: Scenario,
        link: int,
        first_seed: int,
        *,
        threads: int | None = None,
        control: _core.Control | None = None,
    ) -> None:
        self._scenario = scenario
        self._link = link
        self._first_seed = first_seed
        self._threads = threads
        self._control = control
        self._cases: dict[int, Scenario] = {}

    def evaluate(self, sizes: Sequence[int], number: int) -> list[Sample]:
        """Measure each size in a run of its own, all with the seed of this round.

        Raises:
            BatchInterrupted: At Ctrl-C.
            CanceledError: The control canceled it.
        """
        seed = self._first_seed + number

        def task(size: int, control: _core.Control) -> Sample | None:
            result = simulate(self._case(size), seed, control)
            return None if result is None else sample_of(result, self._scenario.links[self._link].name)

        for size in sizes:
            self._case(size)
        if self._control is not None:
            return [_uncanceled(task(size, self._control)) for size in sizes]
        return run_batch(task, sizes, title="", threads=self._threads, progress=False)

    def _case(self, size: int) -> Scenario:
        if size not in self._cases:
            self._cases[size] = with_buffer(self._scenario, self._link, f"{size} packets")
        return self._cases[size]


def _uncanceled(sample: Sample | None) -> Sample:
    if sample is None:
        raise CanceledError
    return sample


def with_buffer(scenario: Scenario, link: int, buffer: str) -> Scenario:
    """The scenario with another buffer at a link, which stays the same for the whole run."""
    changes: dict[str, object] = {f"links[{link}].buffer": buffer}
    if scenario.links[link].changes:
        changes[f"links[{link}].changes"] = []
    return prepare(scenario, changes)


def sample_of(result: Result, link: str) -> Sample:
    """What a run says about a link."""
    rows = result.queues.filter((pl.col("link") == link) & (pl.col("group") == ALL))
    row = rows.row(0, named=True)
    return Sample(
        rate_bps=row["throughput_bps"],
        loss=row["loss"] or 0.0,
        wait_mean_ms=row["wait_mean_ms"] or 0.0,
        simulated_s=result.reached_ps / PS_PER_S,
        cpu_s=result.cpu_s,
    )
