"""About the least size, on made-up links whose least size is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bufferlab.studies.advise.rough import RESOLUTION, Rough, roughly
from bufferlab.studies.least import Goal
from bufferlab.studies.targets import Target, make_target, parse_target

BUSY = make_target("utilization", 0.99)
QUICK = make_target("wait_mean_ms", 20.0)
CALL = parse_target("call.r > 80", ["call"])
UPPER = 20_000

sizes = st.integers(1, UPPER)


def found(
    start: int,
    *,
    busy_from: int = 1,
    quick_to: int = UPPER,
    call_to: int = UPPER,
    largest: bool = False,
) -> Rough:
    """A search on a link that is busy from a size on and keeps waits up to a size."""

    def missed(size: int) -> tuple[Target, ...]:
        assert 1 <= size <= UPPER
        asked.append(size)
        limits = ((BUSY, size >= busy_from), (QUICK, size <= quick_to), (CALL, size <= call_to))
        return tuple(target for target, is_met in limits if not is_met)

    asked: list[int] = []
    rough = roughly(Goal((BUSY, QUICK, CALL), 1, UPPER, largest=largest), start, missed)
    assert sorted(asked) == list(rough.tried)  # each once
    return rough


@given(sizes, sizes)
def test_the_least_size_is_found_to_within_the_resolution(start: int, least: int) -> None:
    rough = found(start, busy_from=least)
    assert rough.size is not None
    assert least <= rough.size <= max(least * (1 + RESOLUTION), least + 1)
    assert len(rough.tried) <= 14


@given(sizes, sizes)
def test_the_largest_size_is_found_where_only_waits_are_bounded(start: int, most: int) -> None:
    rough = found(start, quick_to=most, largest=True)
    assert rough.size is not None
    assert most / (1 + RESOLUTION) - 1 <= rough.size <= most


@given(sizes, sizes)
def test_a_size_below_is_found_for_waits_and_then_the_least(start: int, most: int) -> None:
    least = max(most // 4, 1)
    rough = found(start, busy_from=least, quick_to=most)
    if rough.size is not None:
        assert least <= rough.size <= max(min(most, least * (1 + RESOLUTION)), least + 1)


def test_calls_may_want_smaller_buffers() -> None:
    rough = found(1000, busy_from=10, call_to=40)
    assert rough.size is not None and 10 <= rough.size <= 13
    assert {2000, 500} < set(rough.tried)


@pytest.mark.parametrize("start", [30, 100, 300])
def test_targets_in_conflict_have_no_size(start: int) -> None:
    assert found(start, busy_from=200, quick_to=50).size is None


def test_a_start_that_misses_both_ways_is_the_only_one_tried() -> None:
    assert found(100, busy_from=200, quick_to=50) == Rough(None, (100,))


def test_what_no_size_meets_is_tried_up_to_the_bound() -> None:
    rough = found(1000, busy_from=UPPER + 1)
    assert rough.size is None and rough.tried[0] == 1000 and rough.tried[-1] == UPPER
