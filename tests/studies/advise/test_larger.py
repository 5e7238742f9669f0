"""Larger buffers than the least that meets the targets: taken only where users fare better."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

import pytest

from bufferlab.studies.advise.larger import (
    Ladder,
    Larger,
    longest_bought_ms,
    sizes_above,
    sizes_beyond,
)
from bufferlab.studies.choosing.objectives import Aspect, Kind, bought_by_buffers, judged_by_buffers
from bufferlab.studies.least import Goal, Least, Run
from bufferlab.studies.targets import Target, Values, make_target

from ..least.problems import solve

BUSY = make_target("utilization", 0.95)
CALL = Aspect("calls", "rating", "call.call_r", "more")
GOODPUT = Aspect("throughput", "goodput", "goodput_bps", "more")
WEIGHTS: dict[Kind, float] = {"calls": 10.0, "throughput": 1.0}
SEEDS = range(1001, 1009)
UPPER = 128


def link(
    rating: Callable[[int], float], most: int = UPPER, loss: Callable[[int], float] = lambda _: 0.0
) -> Callable[[Run], Values]:
    """A link whose use grows with the buffer up to a size from which on it is missed."""

    def run(asked: Run) -> Values:
        draw = random.Random(f"{asked.size} {asked.seed}")
        busy = min(0.90 + asked.size / 100, 0.999) if asked.size <= most else 0.9
        scatter = 1 + draw.gauss(0, 1e-3)
        return {
            "utilization": busy * scatter,
            "call.call_r": rating(asked.size) * scatter,
            "goodput_bps": 1e6 * busy * scatter,
            "loss": loss(asked.size),
        }

    return run


def climbed(
    measured: Callable[[Run], Values],
    beyond: int | None = None,
    targets: tuple[Target, ...] = (BUSY,),
    long_wait_ms: float | None = None,
) -> tuple[Least, Larger | None, list[Run]]:
    """The least buffer, what is taken in its place, and the runs that this took."""
    found = solve(Goal(targets, 1, UPPER, resolution=0.2), measured)
    asked: list[Run] = []

    def measure(size: int, seeds: Sequence[int]) -> list[Values]:
        asked.extend(run for seed in seeds if (run := Run(size, seed)) not in asked)
        return [measured(Run(size, seed)) for seed in seeds]

    seeds = (SEEDS[:3], SEEDS)
    ladder = Ladder((CALL, GOODPUT), WEIGHTS, measure, *seeds, 0.95, beyond, long_wait_ms)
    return found, ladder.climb(found), asked


def test_the_sizes_are_the_same_whatever_the_least_is_and_wherever_the_search_ends() -> None:
    assert sizes_above(6, 128) == [8, 16, 32, 64, 128]
    assert sizes_above(5, 128) == [8, 16, 32, 64, 128]
    assert sizes_above(7, 133) == [16, 32, 64, 128]
    assert sizes_above(1, 3) == [2] and sizes_above(128, 128) == []
    assert sizes_beyond(133, 600) == [256, 512] and sizes_beyond(127, 128) == [128]
    assert sizes_beyond(133, None) == [] == sizes_beyond(133, 255)


def test_between_one_that_loses_much_and_one_that_misses_the_middle_is_tried() -> None:
    """As waits grow with the buffer, and losses shrink: 45 of 32 and 64 packets are within both."""
    found, larger, asked = climbed(
        link(lambda _: 80.0, most=50, loss=lambda size: 0.051 if size < 40 else 0.045),
        targets=(BUSY,),
    )
    assert found.size is not None and found.size < 8
    assert larger is not None and 40 <= larger.size <= 50
    assert any(40 <= run.size <= 50 for run in asked)


def test_of_those_with_which_users_fare_as_well_as_best_the_smallest_is_taken() -> None:
    """The rating has its best at 64 packets, and is as good for users from 32 on."""
    ratings = {8: 80.0, 16: 84.0, 32: 91.0, 64: 93.0, 128: 92.0}
    found, larger, asked = climbed(link(lambda size: ratings.get(size, 80.0)))
    assert found.size is not None and found.size < 8
    assert larger is not None and (larger.least, larger.size) == (found.size, 32)
    assert 0.08 < (larger.behind.mean or 0.0) < 0.14
    assert len(larger.values) == len(SEEDS)
    assert len(asked) < 50


def test_no_buffer_is_taken_that_is_as_good_as_the_least() -> None:
    """16 packets are as good as 32, and as 6; 32 are better than 6."""
    ratings = {8: 80.0, 16: 83.0, 32: 86.0}
    _, larger, _ = climbed(link(lambda size: ratings.get(size, 80.0)))
    assert larger is not None and larger.size == 32
    assert (larger.behind.mean or 0.0) > 0.05


def test_a_size_that_happens_to_be_no_better_does_not_end_the_ladder() -> None:
    ratings = {8: 79.0, 16: 92.0}
    _, larger, _ = climbed(link(lambda size: ratings.get(size, 80.0)))
    assert larger is not None and larger.size == 16


@pytest.mark.parametrize(
    "rating", [lambda _: 90.0, lambda size: 90.0 - size / 20, lambda size: 90 + size / 50]
)
def test_where_users_fare_alike_or_worse_the_least_stays(rating: Callable[[int], float]) -> None:
    _, larger, asked = climbed(link(rating))
    assert larger is None and len({run.size for run in asked}) <= 6


def test_no_buffer_is_taken_that_misses_a_target() -> None:
    _, larger, _ = climbed(link(lambda size: 70.0 + 10 * math.log10(size), most=40))
    assert larger is not None and larger.size <= 32


def test_where_no_buffer_meets_there_is_no_larger_one() -> None:
    found, larger, asked = climbed(link(lambda _: 90.0, most=0))
    assert found.size is None and larger is None and not asked


def test_users_may_fare_alike_over_a_wide_range_and_better_beyond_it() -> None:
    _, larger, _ = climbed(link(lambda size: 92.0 if size > 64 else 80.0))
    assert larger is not None and larger.size == 128


def test_the_largest_that_the_search_tried_is_no_bound_while_users_fare_better() -> None:
    measured = link(lambda size: min(70.0 + size / 20, 90.0), most=10**6)
    assert (found := climbed(measured)[1]) is not None and found.size == 128
    (_, beyond, asked) = climbed(measured, 16 * UPPER)
    assert beyond is not None and beyond.size == 4 * UPPER
    assert max(run.size for run in asked) <= 8 * UPPER
    assert (held := climbed(measured, 2 * UPPER - 1)[1]) is not None and held.size == 128


def test_what_loses_a_packet_in_twenty_is_not_taken_where_a_larger_buffer_loses_less() -> None:
    """Users fare a little worse with each larger buffer: 256 packets are the first that lose less.

    Of those that lose much a run each is enough.
    """
    measured = link(lambda size: 90.0 - size / 100, 10**6, loss=lambda size: 0.16 if size < 200 else 0.03)
    found, larger, asked = climbed(measured, 16 * UPPER)
    assert found.size is not None and larger is not None
    assert (larger.least, larger.size) == (found.size, 2 * UPPER)
    assert max(run.size for run in asked) == 4 * UPPER
    assert {sum(run.size == size for run in asked) for size in (16, 32, 64, 128)} == {1}


def test_where_all_lose_much_users_decide() -> None:
    measured = link(lambda size: 90.0 - size / 100, 10**6, loss=lambda _: 0.16)
    _, larger, asked = climbed(measured, 16 * UPPER)
    assert larger is None and max(run.size for run in asked) == 16 * UPPER


def test_where_all_lose_much_within_a_bound_on_waits_the_largest_is_taken() -> None:
    usual = link(lambda _: 90.0, 10**6, loss=lambda _: 0.16)

    def measured(run: Run) -> Values:
        return {**usual(run), "wait_p99_ms": float(run.size)}

    bounded = (BUSY, make_target("wait_p99_ms", 100.0))
    found, larger, _ = climbed(measured, targets=bounded)
    assert found.size is not None and larger is not None
    assert larger.least == found.size and 80 <= larger.size <= 100


@pytest.mark.parametrize(
    ("lossy_below", "long_wait_ms", "size"),
    [
        (0, None, 64),  # users fare best with it
        (0, 30.0, 16),  # 32 packets wait 32 ms
        (50, 30.0, 64),  # the first that does not lose much, though it waits long
        (20, 30.0, 32),
        (100, 30.0, 128),
    ],
)
def test_a_long_wait_is_not_taken_where_less_buffer_does_not_lose_much(
    lossy_below: int, long_wait_ms: float | None, size: int
) -> None:
    ratings = {16: 86.0, 32: 90.0, 64: 95.0, 128: 90.0}
    usual = link(lambda each: ratings.get(each, 80.0), loss=lambda each: 0.16 * (each < lossy_below))

    def measured(run: Run) -> Values:
        return {**usual(run), "wait_mean_ms": float(run.size)}

    _, larger, asked = climbed(measured, long_wait_ms=long_wait_ms)
    assert larger is not None and larger.size == size
    if long_wait_ms is not None:  # nothing larger is simulated than what waits long and loses little
        assert max(run.size for run in asked) <= max(32, size)


def test_a_run_that_loses_little_by_chance_does_not_end_the_ladder() -> None:
    """32 packets lose 5.1 % in the mean of all pilots, and 1 % in the first."""
    usual = link(lambda _: 90.0, 10**6, loss=lambda size: 0.16 if size < 32 else 0.01)

    def measured(run: Run) -> Values:
        unlucky = run.size == 32 and run.seed != SEEDS[0]
        return {**usual(run), "wait_mean_ms": float(run.size), **({"loss": 0.08} if unlucky else {})}

    _, larger, _ = climbed(measured, long_wait_ms=30.0)
    assert larger is not None and larger.size == 64


def test_who_asks_for_throughput_or_bounds_waits_says_how_long_packets_may_wait() -> None:
    assert longest_bought_ms(45.0, [BUSY], None) == 45.0
    assert longest_bought_ms(5.0, [BUSY], "calls") == 20.0
    assert longest_bought_ms(45.0, [BUSY], "throughput") is None  # a word, as --for gives it
    assert longest_bought_ms(45.0, [BUSY], {"fairness": 10.0}) is None
    assert longest_bought_ms(45.0, [BUSY, make_target("wait_p99_ms", 20.0)], None) is None


def test_a_bound_on_the_loss_says_what_is_accepted() -> None:
    measured = link(lambda size: 90.0 - size / 100, 10**6, loss=lambda size: 0.16 if size < 200 else 0.03)
    bounded = (BUSY, make_target("loss", 0.2))
    assert climbed(measured, 16 * UPPER, targets=bounded)[1] is None


@pytest.mark.parametrize(("lost", "is_taken"), [(0.03, True), (0.019, False)])
def test_between_bounds_the_largest_is_taken_where_the_least_loses_what_is_worth_a_word(
    lost: float, *, is_taken: bool
) -> None:
    """Users fare worse with each larger one; who bounds waits has said how long packets may wait."""
    usual = link(lambda size: 90.0 - size / 100, 10**6, loss=lambda size: lost * (1 - size / 400))

    def measured(run: Run) -> Values:
        return {**usual(run), "wait_p99_ms": float(run.size)}

    bounded = (BUSY, make_target("wait_p99_ms", 100.0))
    found, larger, _ = climbed(measured, targets=bounded)
    assert found.size is not None and found.size < 10
    assert (larger is not None and 80 <= larger.size <= 100) == is_taken
    level = climbed(lambda run: {**measured(run), "loss": lost}, targets=bounded)[1]
    assert level is None  # it would lose as much
    bounds_loss = (*bounded, make_target("loss", 0.2))
    assert climbed(measured, targets=bounds_loss)[1] is None


def test_a_run_that_misses_by_chance_does_not_end_the_search_for_what_loses_less() -> None:
    """32 packets lose much anyway."""
    usual = link(lambda size: 90.0 - size / 100, 10**6, loss=lambda size: 0.16 if size < 200 else 0.03)

    def unlucky(run: Run) -> Values:
        return {**usual(run), "utilization": 0.9} if run.size == 32 else usual(run)

    _, larger, _ = climbed(unlucky, 16 * UPPER)
    assert larger is not None and larger.size == 2 * UPPER


def test_that_flows_share_more_equally_buys_no_buffer_unless_it_was_asked_for() -> None:
    call = Aspect("calls", "call: rating R", "call.call_r", "more")
    jain = Aspect("fairness", "long: Jain's index", "long.jain_index", "more")
    assert bought_by_buffers([jain, call], is_fairness_asked=False) == [call]
    assert bought_by_buffers([jain, call], is_fairness_asked=True) == [jain, call]
    assert bought_by_buffers([jain], is_fairness_asked=False) == [jain]
    weights: dict[Kind, float] = {"fairness": 2.0, "calls": 3.0}
    assert judged_by_buffers([jain, call], weights, None) == ([call], {"calls": 3.0})
    assert judged_by_buffers([jain, call], weights, "fairness") == ([jain, call], weights)
