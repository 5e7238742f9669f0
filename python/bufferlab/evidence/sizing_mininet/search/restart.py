"""Measuring buffers by simulation, each from the start of a run of its own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from bufferlab.evidence.sizing_mininet.search.sample import Sample
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.inline import Values
from bufferlab.results.result import Result
from bufferlab.results.tables import ALL
from bufferlab.scenario import Scenario
from bufferlab.studies.buffers import with_buffer
from bufferlab.units import PS_PER_S


class Restarts:
    """Measures buffers of a link by fresh runs.

    Args:
        scenario: What to run.
        link: Index of the link.
        first_seed: Seed of the first round; later rounds count up from it.
        runner: Runs them; `Inline` for searches that are procedures of an experiment themselves.
    """

    def __init__(self, scenario: Scenario, link: int, first_seed: int, runner: Values) -> None:
        self._scenario = scenario
        self._link = link
        self._first_seed = first_seed
        self._runner = runner
        self._cases: dict[int, Scenario] = {}

    def evaluate(self, sizes: Sequence[int], number: int) -> list[Sample]:
        """Measure each size in a run of its own, all with the seed of this round.

        Raises:
            RunInterrupted: At Ctrl-C.
            CanceledError: The control of an `Inline` canceled it.
        """
        experiment = Experiment(
            "",
            {size: self._case(size) for size in sizes},
            partial(sample_values, self._scenario.links[self._link]["name"]),
            seeds=[self._first_seed + number],
            parameters=lambda size: {f"links[{self._link}].buffer": f"{size} packets"},
        )
        return [Sample(**values) for values in self._runner.values(experiment)]

    def _case(self, size: int) -> Scenario:
        if size not in self._cases:
            self._cases[size] = with_buffer(self._scenario, self._link, f"{size} packets")
        return self._cases[size]


def sample_values(link: str, result: Result) -> dict[str, float]:
    """What a run says about a link: fields of a `Sample`."""
    rows = result.queues.filter((pl.col("link") == link) & (pl.col("group") == ALL))
    row = rows.row(0, named=True)
    return {
        "rate_bps": row["throughput_bps"],
        "loss": row["loss"] or 0.0,
        "wait_mean_ms": row["wait_mean_ms"] or 0.0,
        "simulated_s": result.reached_ps / PS_PER_S,
        "cpu_s": result.cpu_s,
    }
