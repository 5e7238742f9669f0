"""A search in two parts gives what it gives as a whole."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from bufferlab.studies.advise.paused import Paused
from bufferlab.studies.least import Goal, Least, Run, Search, least
from bufferlab.studies.targets import Values, make_target

BUSY = make_target("utilization", 0.99)


def goal() -> Goal:
    return Goal((BUSY,), 1, 2000)


def measured(run: Run, reaches: float) -> Values:
    scatter = random.Random(f"{run.size} {run.seed}").gauss(0, 1e-3)
    return {"utilization": min(reaches, 1 - 0.05 / (1 + run.size / 100)) + scatter}


def ended(search: Search, reaches: float) -> tuple[Least, int]:
    """The answer of a search, or of a part of it, and how many runs it asked for."""
    values: Mapping[Run, Values] | None = None
    runs = 0
    while True:
        try:
            step = next(search) if values is None else search.send(values)
        except StopIteration as end:
            return end.value, runs
        runs += len(step.runs)
        values = {run: measured(run, reaches) for run in step.runs}


def test_two_parts_are_the_whole() -> None:
    whole, runs = ended(least(goal()), 1.0)
    paused = Paused(least(goal()))
    first, before = ended(paused.first(), 1.0)
    assert first.confirmed and first.runs == before
    rest, after = ended(paused.rest(), 1.0)
    assert after > 0
    assert (first.size, first.checks) == (whole.size, whole.checks) == (rest.size, rest.checks)
    assert (rest.beyond, before + after) == (whole.beyond, runs)
    assert (first.runs, rest.runs) == (before, runs)  # what was found first knows no later runs


@pytest.mark.parametrize("reaches", [0.97])
def test_a_search_that_confirms_nothing_ends_in_its_first_part(reaches: float) -> None:
    paused = Paused(least(goal()))
    first, _ = ended(paused.first(), reaches)
    assert paused.ended and first.size is None
