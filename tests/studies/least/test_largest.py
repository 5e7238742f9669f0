"""The largest size that keeps a bound: the same search from the other end."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from bufferlab.studies.least import Goal, Least, Run, least
from bufferlab.studies.least.search import REFUTING
from bufferlab.studies.targets import Target, make_target

WAIT = make_target("wait_mean_ms", 20.0)


def searched(wait_ms: Callable[[int], float], spread_ms: float, *targets: Target, upper: int = 2000) -> Least:
    """A search over mean waits that scatter by seed."""
    search = least(Goal(targets or (WAIT,), 1, upper, largest=True))
    step = next(search)
    while True:
        values = {run: value(run, wait_ms, spread_ms) for run in step.runs}
        try:
            step = search.send(values)
        except StopIteration as end:
            found: Least = end.value
            return found


def value(run: Run, wait_ms: Callable[[int], float], spread_ms: float) -> dict[str, float | None]:
    noise = random.Random(run.seed).gauss(0, spread_ms)
    return {"wait_mean_ms": wait_ms(run.size) + noise, "utilization": 1 - 1 / run.size}


@pytest.mark.parametrize("spread_ms", [0.01, 1.0])
def test_the_answer_keeps_the_bound_and_a_step_more_does_not(spread_ms: float) -> None:
    found = searched(lambda size: size / 10, spread_ms)  # 200 packets wait 20 ms
    assert found.size is not None and found.confirmed
    assert 200 / 1.1 / 1.03 <= found.size <= 200
    assert found.beyond is not None and found.beyond >= 200
    assert found.confidence >= 0.95


def test_without_noise_it_is_within_a_step_of_the_largest() -> None:
    found = searched(lambda size: size / 10, 0.0)
    assert found.size is not None and 180 <= found.size <= 200
    assert found.checks[0].identical


def test_a_bound_that_all_keep_gives_the_largest_allowed() -> None:
    found = searched(lambda size: size / 1000, 0.01)
    assert (found.size, found.beyond) == (2000, None)


def test_a_bound_that_none_keeps_says_what_the_smallest_gives() -> None:
    found = searched(lambda size: 30.0 + size, 0.1)
    assert (found.size, found.closest, found.conflict) == (None, 1, (WAIT,))
    assert found.checks[0].mean == pytest.approx(31.0, abs=0.2)
    assert found.checks[0].runs == REFUTING


def test_a_smaller_size_that_misses_is_an_island() -> None:
    found = searched(lambda size: 50.0 if size < 15 else size / 10, 0.1)
    assert found.size is not None and found.size > 150
    assert found.islands and max(found.islands) < 15


def test_a_target_that_wants_more_is_in_conflict() -> None:
    busy = make_target("utilization", 0.999)  # from 1000 packets on
    found = searched(lambda size: size / 10, 0.01, WAIT, busy)
    assert found.size is None
    assert found.conflict in ((WAIT,), (busy,))
    assert math.isfinite(found.closest)
