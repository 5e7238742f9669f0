"""Targets that exclude each other end a search soon, and at what is nearest to both."""

from __future__ import annotations

import pytest

from bufferlab.studies.least import Goal, Least, Run, least
from bufferlab.studies.least.search import REFUTING
from bufferlab.studies.targets import make_target

from .problems import Problem, normal, solve

LOSS, WAIT = make_target("loss", 0.02), make_target("wait_p99_ms", 30.0)
EDGE = 1625
"""The buffer that drains within the wait that is asked for."""

PLAN = Goal((LOSS, WAIT), 1, 2708, guess=24, most=20_000, edges=(EDGE, 1080))


def apart(number: int) -> Problem:
    """The loss is about the same in small buffers, and far from what is asked for in any."""
    truth = {"loss": lambda size: 0.105 * min(1.0, (600 / size) ** 0.5), "wait_p99_ms": _wait_ms}
    return Problem(truth, normal, {"loss": 2e-3, "wait_p99_ms": 0.2}, number)


def _wait_ms(size: int) -> float:
    return 29.5 * size / EDGE


def checked(problem: Problem) -> tuple[Least, dict[int, int]]:
    """A search's answer, and the sizes that it had checked, with how many runs each."""
    search, checks = least(PLAN), {}
    try:
        step = next(search)
        while True:
            if step.note.startswith("checking"):
                checks[step.runs[0].size] = len(step.runs)
            step = search.send({run: problem.run(run) for run in step.runs})
    except StopIteration as end:
        return end.value, checks


@pytest.mark.parametrize("number", range(20))
def test_what_its_looks_exclude_has_no_check_of_many_runs(number: int) -> None:
    found, checks = checked(apart(number))
    assert found.size is None and found.conflict == (LOSS,)
    assert EDGE / 1.3 <= found.closest <= 1.1 * EDGE
    assert set(checks.values()) == {REFUTING} and len(checks) <= 2
    assert found.runs < 60


@pytest.mark.parametrize("number", range(10))
def test_a_narrow_room_between_the_targets_is_found(number: int) -> None:
    truth = {"loss": lambda size: 0.02 * 1500 / size, "wait_p99_ms": _wait_ms}
    found = solve(PLAN, Problem(truth, normal, {"loss": 5e-4, "wait_p99_ms": 0.2}, number).run)
    assert found.confirmed and 1500 <= found.closest <= EDGE * 30 / 29.5


def test_edges_are_looked_at_only_where_no_size_meets_all() -> None:
    problem = Problem({"loss": lambda size: 2.0 / size, "wait_p99_ms": _wait_ms})
    search = least(PLAN)
    step, asked = next(search), set[Run]()
    try:
        while True:
            asked |= set(step.runs)
            step = search.send({run: problem.run(run) for run in step.runs})
    except StopIteration:
        assert EDGE not in {run.size for run in asked}
