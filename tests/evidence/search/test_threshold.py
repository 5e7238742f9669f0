"""The search's belief and evidence, on answers whose threshold is known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from bufferlab.evidence.sizing_mininet.search.least import size_grid
from bufferlab.evidence.sizing_mininet.search.threshold import Threshold

SIZES = size_grid(1, 453, 0.1)
AIM = math.log(1.1)
Answer = Callable[[int, np.random.Generator, float], bool]
"""Whether a sample of a size meets the target, given a round's common number of 0 to 1."""


def search(
    answer: Answer, rng: np.random.Generator, *, confidence: float = 0.95, rounds: int = 60
) -> Threshold:
    """Search until the interval is narrow or the rounds are over."""
    threshold = Threshold(SIZES, confidence)
    for _ in range(rounds):
        common = float(rng.random())
        indices = threshold.propose(AIM)
        threshold.observe([(index, answer(SIZES[index], rng, common)) for index in indices])
        least, most = threshold.interval()
        if least == most or (least and most < len(SIZES) and SIZES[most] <= 1.1 * SIZES[least - 1]):
            break
    return threshold


def holds(threshold: Threshold, true: float) -> bool:
    """Whether the interval holds the first size of at least `true`."""
    first = next((index for index, size in enumerate(SIZES) if size >= true), len(SIZES))
    return threshold.interval().least <= first <= threshold.interval().most


def noisy(true: float, width: float, wrong: float = 0.0, *, common: bool = True) -> Answer:
    """Logistic noise of this width in the logarithm of the size, and answers that are just wrong."""

    def answer(size: int, rng: np.random.Generator, shared: float) -> bool:
        chance = 1.0 / (1.0 + math.exp(-np.clip((math.log(size) - math.log(true)) / width, -500, 500)))
        number = shared if common else float(rng.random())
        return (number < chance) != (float(rng.random()) < wrong)

    return answer


@pytest.mark.parametrize("true", [0.5, 1.5, 2.5, 17.0, 47.5, 300.0, 452.5])
def test_without_noise_the_threshold_is_found_within_two_dozen_rounds(true: float) -> None:
    threshold = search(lambda size, _rng, _common: size >= true, np.random.default_rng(1), rounds=26)
    least, most = threshold.interval()
    assert SIZES[threshold.estimate()] == next(size for size in SIZES if size >= true)
    assert holds(threshold, true)
    assert SIZES[most] <= max(1.1 * SIZES[max(least - 1, 0)], SIZES[max(least - 1, 0)] + 1)


def test_if_no_size_meets_none_is_found() -> None:
    threshold = search(lambda _size, _rng, _common: False, np.random.default_rng(1))
    assert threshold.interval() == (len(SIZES), len(SIZES))


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize(
    ("width", "wrong", "common"),
    [(0.001, 0.0, True), (0.03, 0.0, True), (0.03, 0.1, False), (0.2, 0.0, True), (0.2, 0.2, False)],
)
def test_intervals_hold_the_threshold_as_often_as_stated(
    confidence: float, width: float, wrong: float, common: bool
) -> None:
    rng = np.random.default_rng([int(confidence * 100), int(width * 1000), int(wrong * 10)])
    held = 0
    searches = 100
    for _ in range(searches):
        true = float(np.exp(rng.uniform(math.log(1.2), math.log(450))))
        held += holds(search(noisy(true, width, wrong, common=common), rng, confidence=confidence), true)
    # fewer than this would be seen once in a thousand tries if the confidence were what it says
    assert held >= binom.ppf(1e-3, searches, confidence)


def test_intervals_hold_the_threshold_at_the_worst_noise() -> None:
    """Samples near the threshold are coin tosses over a factor of four in size, sure beyond it."""
    rng = np.random.default_rng(7)

    def answer(size: int, rng: np.random.Generator, _common: float) -> bool:
        if 24 <= size < 96:
            return bool(rng.random() < (0.5 if size >= 48 else 0.4999))
        return size >= 96

    held = sum(holds(search(answer, rng), 48) for _ in range(200))
    assert held >= binom.ppf(1e-3, 200, 0.95)


@pytest.mark.parametrize("bad", range(40))
def test_one_bad_answer_cannot_turn_the_search(bad: int) -> None:
    """Whichever answer it is: plain bisection ends elsewhere for each of its steps."""
    count = 0

    def answer(size: int, _rng: np.random.Generator, _common: float) -> bool:
        nonlocal count
        count += 1
        return (size >= 47.5) != (count == bad)

    threshold = search(answer, np.random.default_rng(1))
    least, most = threshold.interval()
    assert holds(threshold, 47.5)
    assert SIZES[most] <= 1.1 * SIZES[least - 1]


def test_heavy_tails_do_not_turn_the_search() -> None:
    """A mean would follow Cauchy noise anywhere; the median stays."""
    rng = np.random.default_rng(3)

    def answer(size: int, rng: np.random.Generator, _common: float) -> bool:
        utilization = 1.0 - 1.0 / (1.0 + size) + 1e-3 * float(rng.standard_cauchy())
        return utilization >= 0.98  # at 49 packets

    thresholds = [search(answer, rng, rounds=150) for _ in range(50)]
    assert sum(holds(threshold, 49) for threshold in thresholds) >= binom.ppf(1e-3, 50, 0.95)
    estimates = [SIZES[threshold.estimate()] for threshold in thresholds]
    assert 44 <= min(estimates) <= max(estimates) <= 54


def test_the_confidence_is_a_price() -> None:
    needed = []
    for confidence in (0.8, 0.95, 0.999):
        threshold = Threshold(SIZES, confidence)
        rounds = 0
        while threshold.interval().most == len(SIZES):
            threshold.observe([(len(SIZES) - 1, True)])
            rounds += 1
        needed.append(rounds)
    assert needed[0] < needed[1] < needed[2]
    # Ville: unanimous answers must be less likely than 1 - confidence under the threshold that they rule out
    assert all(2.0**-rounds <= 1 - level for rounds, level in zip(needed, (0.8, 0.95, 0.999), strict=True))


def test_nothing_is_out_before_a_bet_is_won() -> None:
    """All money together is one unit at the start, so at even odds it has not doubled."""
    threshold = Threshold([10], 0.5)
    assert threshold.chances() == pytest.approx([0.5])
    threshold.observe([(0, True)])
    assert threshold.interval() == (0, 1)


def test_what_is_out_has_lost_twenty_times_all_stakes() -> None:
    """Ville at 95 %: half of the money below and half above, counted by hand from what each bet paid."""
    threshold, below = Threshold([10, 20], 0.95), 1.0
    while threshold.interval().most == 2:
        # the bet that both sizes fail wins nothing, the one that they meet its stake
        below *= 1.0 + min(max(2.0 * float(threshold.chances()[1]) - 1.0, 0.0), 0.9)
        threshold.observe([(1, True)])
        assert ((below + 1.0) / 2.0 >= 20.0) == (threshold.interval().most < 2)
    assert below >= 39.0


def test_the_grid_has_steps_of_half_the_resolution() -> None:
    sizes = size_grid(1, 1000, 0.1)
    assert (sizes[0], sizes[-1]) == (1, 1000)
    assert all(b <= 1.05 * a + 1 for a, b in itertools.pairwise(sizes))
    assert size_grid(5, 6, 0.1) == [5, 6]
