"""Fairness, confidence intervals and quantiles, against their definitions."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from bufferlab.stats import Survival, chance_of_mean, estimate, histogram_quantiles, jain_index

FloatArray = npt.NDArray[np.float64]

rates = st.lists(st.floats(0, 1e12, allow_nan=False), min_size=1, max_size=50)


def test_jain_of_the_definitions_own_cases() -> None:
    assert jain_index([3.0, 3.0, 3.0]) == pytest.approx(1)
    assert jain_index([1.0, 0.0, 0.0, 0.0]) == pytest.approx(1 / 4)
    assert jain_index([1.0, 2.0]) == pytest.approx(9 / 10)


def test_jain_of_nothing_is_unknown() -> None:
    assert jain_index([]) is None
    assert jain_index([0.0, 0.0]) is None


@given(st.floats(-1e12, 1e12, allow_nan=False), st.integers(2, 12))
def test_equal_values_have_no_width_at_all(value: float, count: int) -> None:
    assert estimate([value] * count) == (value, 0.0, count, 0)


@given(rates)
def test_jain_lies_between_one_share_and_one(shares: list[float]) -> None:
    index = jain_index(shares)
    assert (index is None) == (max(shares) == 0)
    if index is not None:
        assert 1 / len(shares) - 1e-9 <= index <= 1 + 1e-9


def test_jain_does_not_vanish_for_tiny_shares() -> None:
    assert jain_index([1e-200, 1e-200]) == pytest.approx(1)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_interval_is_that_of_student(values: list[float]) -> None:
    mean, half_width, known, lacking = estimate(values)
    assert (known, lacking) == (len(values), 0)
    deviation = float(np.std(values, ddof=1))
    expected = float(reference.t.ppf(0.975, len(values) - 1)) * deviation / math.sqrt(len(values))
    assert mean == pytest.approx(float(np.mean(values)), abs=1e-6)
    assert half_width == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_missing_values_are_left_out_of_an_estimate_and_counted() -> None:
    partial = estimate([None, 1.0, float("nan"), 3.0])
    assert (partial.mean, partial.known, partial.lacking, partial.is_partial) == (2, 2, 2, True)
    assert estimate([None]) == (None, None, 0, 1)
    assert estimate([4.0]) == (4.0, None, 1, 0)
    assert not estimate([None]).is_partial


def deviations(law: str, problems: int, size: int) -> FloatArray:
    """Samples of true mean 0; skewness 0, 2 and -2."""
    draw = np.random.default_rng(size)
    if law == "normal":
        return draw.normal(size=(problems, size))
    long_right = draw.exponential(size=(problems, size)) - 1
    return long_right if law == "right" else -long_right


@pytest.mark.parametrize(
    ("law", "sizes", "least"),
    [("normal", (3, 5, 8, 16, 30), 0.93), ("left", (3, 5, 8), 0.86), ("left", (16, 30), 0.9)],
)
def test_intervals_cover_the_true_mean_as_often_as_their_page_says(
    law: str, sizes: tuple[int, ...], least: float
) -> None:
    for size in sizes:
        found = [estimate(values.tolist()) for values in deviations(law, 1000, size)]
        covered = sum(abs(each.mean) <= each.half_width for each in found) / 1000  # type: ignore[arg-type, operator]
        assert least <= covered <= 0.98


@pytest.mark.parametrize("law", ["normal", "left", "right"])
@pytest.mark.parametrize("size", [8, 16, 48])
def test_a_mean_of_zero_is_seldom_said_to_be_above(law: str, size: int) -> None:
    """Of 2000 samples as many as is said, and 2.5 standard errors more by chance."""
    chances = [chance_of_mean(values) for values in deviations(law, 2000, size)]
    for level in (0.05, 0.0125):
        said = sum(chance <= level for chance in chances) / 2000
        assert said <= level + 2.5 * math.sqrt(level * (1 - level) / 2000)


@pytest.mark.parametrize(("law", "least"), [("normal", 0.95), ("left", 0.7), ("right", 0.99)])
def test_a_mean_of_one_deviation_is_often_said_to_be_above(law: str, least: float) -> None:
    chances = [chance_of_mean(values + 1) for values in deviations(law, 500, 30)]
    assert sum(chance <= 0.025 for chance in chances) / 500 >= least


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_chance_of_a_mean_is_a_chance(values: list[float]) -> None:
    chance = chance_of_mean(values)
    assert 0 <= chance <= 1
    if np.ptp(values) > 0 and np.mean(values) <= 0:
        assert chance == 1


@given(st.floats(-1e6, 1e6), st.integers(2, 20))
def test_identical_values_are_above_or_not(value: float, size: int) -> None:
    assert chance_of_mean([value] * size) == (0.0 if value >= 0 else 1.0)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, math.nan], [1.0, 2.0, math.inf]])
def test_what_is_no_sample_shows_nothing(values: list[float]) -> None:
    assert chance_of_mean(values) == 1


def test_quantiles_lie_within_their_bucket() -> None:
    lower, upper, count = [0, 10, 20], [9, 19, 29], [50, 0, 50]
    assert histogram_quantiles(lower, upper, count, [0.25, 0.5, 0.75, 1.0]) == [4.5, 9.0, 24.5, 29.0]


def test_no_quantile_is_above_the_largest_value() -> None:
    assert histogram_quantiles([0, 100], [0, 200], [1, 1], [0.99], largest=120) == [120]


def test_empty_histogram_has_no_quantiles() -> None:
    assert histogram_quantiles([], [], [], [0.5, 0.9]) == [None, None]
    assert histogram_quantiles([0], [5], [0], [0.5]) == [None]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=40))
def test_quantiles_of_a_histogram_are_near_those_of_the_values(values: list[int]) -> None:
    width = 10
    counts = np.bincount(np.array(values) // width)
    lower = [width * bucket for bucket in range(len(counts))]
    found = histogram_quantiles(
        lower, [low + width - 1 for low in lower], counts.tolist(), [0.0, 0.5, 0.95, 1.0]
    )
    exact = [float(np.quantile(values, q, method="inverted_cdf")) for q in (0.0, 0.5, 0.95, 1.0)]
    assert found == sorted(found, key=lambda value: value or 0)
    for value, expected in zip(found[1:], exact[1:], strict=True):
        assert value is not None
        assert abs(value - expected) < width


def test_quantiles_of_durations_that_all_ended_are_the_sample_s() -> None:
    durations = np.array([4.0, 1.0, 3.0, 2.0, 2.0])
    survival = Survival(durations, np.ones(5, bool))
    assert [survival.quantile(each) for each in (0.2, 0.5, 0.6, 0.99)] == [1.0, 2.0, 2.0, 4.0]


def test_quantiles_agree_with_kaplan_and_meier_by_hand() -> None:
    """Of 6 one ends at 1 (5/6 last), one is lost at 2, of the 4 left two end at 3 and 4 (5/8, 5/12)."""
    durations = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 5.0])
    ended = np.array([True, False, True, True, False, False])
    survival = Survival(durations, ended)
    assert (survival.ended, survival.censored) == (3, 3)
    found = [survival.quantile(each) for each in (1 / 6, 0.37, 0.38, 0.58, 0.59)]
    assert found == [1.0, 3.0, 4.0, 4.0, None]


def test_quantiles_of_nothing_are_none() -> None:
    assert Survival(np.array([]), np.array([], bool)).quantile(0.5) is None


@given(st.lists(st.tuples(st.integers(1, 20), st.booleans()), min_size=1, max_size=60))
def test_survival_is_scipy_s(seen: list[tuple[int, bool]]) -> None:
    durations = np.array([float(duration) for duration, _ in seen])
    ended = np.array([over for _, over in seen])
    censored = reference.CensoredData(uncensored=durations[ended], right=durations[~ended])
    lasting = reference.ecdf(censored).sf
    survival = Survival(durations, ended)
    for quantile in (0.05, 0.5, 0.95):
        reached = lasting.quantiles[lasting.probabilities <= (1 - quantile) * (1 + 1e-9)]
        assert survival.quantile(quantile) == (reached[0] if reached.size else None)
