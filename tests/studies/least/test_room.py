"""Bounds that leave too little room are raised, if larger sizes come nearer, and only then."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from bufferlab.studies.least import Goal, least
from bufferlab.studies.least.room import level_from
from bufferlab.studies.targets import make_target

from .problems import BUSY, QUICK, Noise, Problem, none, normal, saturating, skewed, solve

LOSS = make_target("loss", 0.01)
UPPER, MOST = 1000, 8000
PLAN = Goal((LOSS,), 1, UPPER, most=MOST)


def losing(knee: float) -> Callable[[int], float]:
    """A loss that falls with the buffer, to what is asked for at a size."""
    return lambda size: 0.01 * (knee / size) ** 0.5


@pytest.mark.parametrize("noise", [none, normal, skewed])
@pytest.mark.parametrize("knee", [900, 1100, 1900, 2100, 5577, 7000])
def test_an_answer_beyond_the_bounds_is_found(noise: Noise, knee: int) -> None:
    for number in range(4):
        found = solve(PLAN, Problem({"loss": losing(knee)}, noise, {"loss": 1e-5}, number).run)
        assert found.confirmed and knee <= found.closest <= 1.13 * knee
        assert found.upper == next(end for end in (1000, 2000, 4000, 8000) if end >= found.closest)


def test_what_fails_by_a_hair_at_the_end_is_sought_beyond_it() -> None:
    """Few runs may meet at the end by luck; the runs that check it do not."""
    problem = Problem({"loss": losing(1010)}, normal, {"loss": 1e-4})
    found = [solve(PLAN, Problem(problem.truth, normal, problem.spread, number).run) for number in range(10)]
    assert all(each.confirmed and each.upper == 2000 for each in found)


def test_runs_that_scatter_widely_seldom_hide_that_larger_sizes_come_nearer() -> None:
    """With BBR the loss of a run scatters by a third of itself."""
    truth = {"loss": losing(5000)}
    found = [solve(PLAN, Problem(truth, normal, {"loss": 4e-3}, number).run) for number in range(10)]
    assert sum(each.upper > UPPER for each in found) >= 8


def test_a_raise_says_up_to_where() -> None:
    problem = Problem({"loss": losing(1900)}, none)
    search = least(PLAN)
    step, notes = next(search), []
    try:
        while True:
            notes.append(step.note)
            step = search.send({run: problem.run(run) for run in step.runs})
    except StopIteration:
        assert notes[:2] == ["looking at 1 packet to 1000 packets", "looking at up to 2000 packets"]


def test_the_most_is_never_exceeded() -> None:
    found = solve(PLAN, Problem({"loss": losing(20_000)}, normal, {"loss": 1e-5}).run)
    assert (found.size, found.closest, found.upper, found.ceiling) == (None, MOST, MOST, "most")


def test_bounds_that_were_asked_for_stay() -> None:
    found = solve(Goal((LOSS,), 1, UPPER), Problem({"loss": losing(1500)}, normal, {"loss": 1e-5}).run)
    assert (found.size, found.upper, found.ceiling) == (None, UPPER, "given")


@pytest.mark.parametrize("noise", [none, normal])
def test_what_comes_no_nearer_raises_nothing(noise: Noise) -> None:
    falling = Problem({"loss": lambda size: 0.02 + 1e-6 * size}, noise, {"loss": 1e-5})
    found = solve(PLAN, falling.run)
    assert (found.size, found.upper, found.ceiling) == (None, UPPER, "no nearer")


def test_targets_in_conflict_raise_nothing() -> None:
    truth = {"utilization": saturating(3000), "wait_mean_ms": lambda size: size / 5}
    problem = Problem(truth, normal, {"utilization": 1e-4, "wait_mean_ms": 0.1})
    found = solve(Goal((BUSY, QUICK), 1, UPPER, most=MOST), problem.run)
    assert (found.size, found.upper) == (None, UPPER)


def test_a_largest_size_is_sought_within_the_bounds() -> None:
    problem = Problem({"wait_mean_ms": lambda size: size / 1e3}, normal, {"wait_mean_ms": 1e-3})
    found = solve(Goal((QUICK,), 1, UPPER, largest=True, most=MOST), problem.run)
    assert (found.size, found.upper) == (UPPER, UPPER)


def test_a_metric_without_values_raises_nothing() -> None:
    found = solve(PLAN, lambda _run: {"loss": math.nan})
    assert (found.size, found.upper) == (None, UPPER)


def bottoming(size: int) -> float:
    """A loss that falls to 0.8 % at 700 packets and then rises again, slowly, as with BBR in short runs."""
    return 0.008 * max(700 / size, math.pow(size / 700, 0.2))


@pytest.mark.parametrize("noise", [normal, skewed])
@pytest.mark.parametrize("bound", [0.002, 0.004])
def test_a_search_ends_where_larger_sizes_come_no_nearer(noise: Noise, bound: float) -> None:
    """It does not creep on by candidates of twice as many runs."""
    goal = Goal((make_target("loss", bound),), 1, UPPER, most=MOST)
    found = [
        solve(goal, Problem({"loss": bottoming}, noise, {"loss": 2e-3}, number).run) for number in range(10)
    ]
    assert all(each.size is None and each.ceiling == "no nearer" for each in found)
    assert sorted(each.runs for each in found)[8] <= 100
    starts = [level_from(each.memory, goal.targets[0]) for each in found]
    assert all(start is not None and 251 <= start <= 2000 for start in starts)


def test_a_size_that_seems_nearer_by_chance_raises_nothing() -> None:
    """Before, one of two such searches went on to sizes that are no better."""
    level = [
        solve(PLAN, Problem({"loss": lambda _size: 0.02}, normal, {"loss": 2e-3}, number).run)
        for number in range(40)
    ]
    assert sum(each.upper > UPPER for each in level) <= 4


@pytest.mark.parametrize("most", [0.05, 0.0001])
def test_sizes_that_are_shunned_are_passed_over_to_the_end(most: float) -> None:
    """Any size keeps the link busy; what they lose halves with four times the size, from 20 % on."""
    shunned = make_target("loss", most)

    def lost(size: int) -> float:
        return 0.2 / math.sqrt(size)

    truth: dict[str, Callable[[int], float]] = {"utilization": lambda _: 0.995, "loss": lost}
    answer = solve(Goal((BUSY,), 1, UPPER, shunned=shunned), Problem(truth, none).run)
    fine = [size for size in (1, 4, 16, 63, 251, 1000) if lost(size) <= most]
    assert answer.confirmed and answer.size == (fine[0] if fine else UPPER)


def test_a_search_without_shunned_sizes_is_as_it_would_be() -> None:
    """From 40 packets on the link is busy, and nothing is lost."""
    truth: dict[str, Callable[[int], float]] = {
        "utilization": lambda size: 0.99 + 0.004 * math.log(size / 40),
        "loss": lambda _: 0.0,
    }
    plain, shunning = (
        solve(Goal((BUSY,), 1, UPPER, shunned=shunned), Problem(truth, none).run)
        for shunned in (None, make_target("loss", 0.05))
    )
    assert (plain.size, plain.runs) == (shunning.size, shunning.runs)


def test_a_target_that_is_missed_by_a_hair_wherever_does_not_hide_that_another_comes_nearer() -> None:
    """With BBR alone, larger buffers lose nothing, and use 98.4 % in place of 99 %."""
    problem = Problem({"loss": losing(1900), "utilization": lambda _size: 0.984}, none)
    found = solve(Goal((LOSS, make_target("utilization", 0.99)), 1, UPPER, most=MOST), problem.run)
    assert found.size is None and found.upper > UPPER and found.closest >= 1900


def test_a_bound_on_waits_that_is_missed_raises_nothing() -> None:
    problem = Problem({"loss": losing(1900), "wait_mean_ms": lambda size: size / 10}, none)
    found = solve(Goal((LOSS, QUICK), 1, UPPER, most=MOST), problem.run)
    assert found.size is None and found.upper == UPPER
