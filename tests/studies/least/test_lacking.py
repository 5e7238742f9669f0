"""By how much targets are missed, also where runs have no value."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bufferlab.studies.least import Goal, Run
from bufferlab.studies.least.lacking import Lack, lack, runs_lack, total
from bufferlab.studies.targets import Target, Values, make_target

from .problems import BUSY, QUICK, solve

NAN = math.nan


def of(*margins: float) -> Lack:
    return lack(QUICK, np.asarray(margins))


def test_a_miss_is_a_share_of_the_bound() -> None:
    assert of(-QUICK.bound, -3 * QUICK.bound) == (0.0, 2.0)
    assert of(QUICK.bound / 2) == (0.0, -0.5)


def test_a_bound_of_zero_is_missed_by_the_value() -> None:
    assert lack(make_target("loss", 0.0), np.asarray([-0.02])) == (0.0, 0.02)


def test_a_run_without_a_value_is_worse_than_whatever_was_measured() -> None:
    worst, *others = of(NAN, NAN), of(-0.5, NAN), of(0.5, NAN), of(-1e9, -1e9), of(-0.1, -0.1)
    assert sorted([worst, *others]) == [*reversed(others), worst]
    assert of(NAN, NAN) == (1.0, 0.0)


def test_targets_are_missed_together_by_their_sums() -> None:
    assert total([of(-QUICK.bound, NAN), of(NAN, NAN), of(-QUICK.bound)]) == (1.5, 2.0)
    assert total([]) == (0.0, 0.0)


@pytest.mark.parametrize("known_from", [2, 30, 1000])
def test_the_closest_of_sizes_that_miss_is_one_whose_runs_have_values(known_from: int) -> None:
    """Below a size nothing comes to its end; above it the wait is ever farther from its bound."""

    def measure(run: Run) -> Values:
        if run.size < known_from:
            return {"wait_mean_ms": None, "utilization": 1.0}
        return {"wait_mean_ms": 2.0 * QUICK.bound + run.size, "utilization": 1.0}

    found = solve(Goal((QUICK, BUSY), 1, 1000), measure)
    assert found.size is None and found.closest >= known_from
    assert found.checks[0].mean is not None


def test_larger_sizes_come_nearer_where_only_they_let_runs_have_a_value() -> None:
    """No smaller size has a value to compare with, and yet the bound on sizes is raised."""

    def measure(run: Run) -> Values:
        return {"loss": None if run.size < 1000 else 20.0 / run.size}

    found = solve(Goal((make_target("loss", 0.01),), 1, 1000, most=8000), measure)
    assert found.confirmed and 2000 <= found.closest <= 2240


@pytest.mark.parametrize(
    ("target", "value", "times"),
    [
        (make_target("utilization", 0.99), 0.95, 5.0),  # five times as idle as it may be
        (make_target("loss", 0.005), 0.02, 4.0),
        (make_target("wait_mean_ms", 3.0), 15.0, 5.0),
        (make_target("goodput_bps", 5e6), 1e6, 5.0),
        (make_target("loss", 0.01), 0.005, 1.0),  # what is met adds nothing
    ],
)
def test_together_targets_are_missed_by_how_many_times_their_bounds(
    target: Target, value: float, times: float
) -> None:
    assert runs_lack([{target.name: value}], [target]).short == pytest.approx(math.log(times))


def test_an_empty_buffer_is_not_nearest_to_a_short_wait_on_a_busy_link() -> None:
    """An idle link has no waits: a use of 14 % is 85 points short, a wait of 15 ms four times 3 ms over."""
    busy, quick = make_target("utilization", 0.99), make_target("wait_mean_ms", 3.0)
    idle = runs_lack([{busy.name: 0.14, quick.name: 0.1}], (busy, quick))
    full = runs_lack([{busy.name: 1.0, quick.name: 15.0}], (busy, quick))
    assert full < idle
