"""The E-model against what ITU-T and others publish, and against hand calculation."""

from __future__ import annotations

import pytest

from bufferlab.results.latency.emodel import (
    G711,
    G729A,
    delay_impairment,
    loss_impairment,
    opinion_score,
    rating,
)


def test_the_defaults_give_what_g107_says() -> None:
    """G.107 section 7.7: "R = 93.2"; MOS 4.41."""
    assert rating(0.0) == pytest.approx(93.2, abs=0.05)
    assert opinion_score(rating(0.0)) == pytest.approx(4.41, abs=0.005)


@pytest.mark.parametrize(("rated", "score"), [(90, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58)])
def test_scores_of_g107_annex_b(rated: float, score: float) -> None:
    """Table B.1, the relation between R and user satisfaction; its 4.03 is 4.024 by its own formula."""
    assert opinion_score(rated) == pytest.approx(score, abs=0.0065)


@pytest.mark.parametrize("delay_ms", [50, 100, 150, 200, 250, 300])
def test_delays_with_echo_are_those_of_cole_and_rosenbluth(delay_ms: float) -> None:
    """R. Cole and J. Rosenbluth, "Voice over IP performance monitoring", CCR 31(2), 2001: by default Id
    is about 0.024 d + 0.11 (d - 177.3) H(d - 177.3), two straight lines that stay within half a point of it.
    """
    published = 0.024 * delay_ms + 0.11 * max(delay_ms - 177.3, 0.0)
    assert rating(0.0) - rating(delay_ms, echo=True) == pytest.approx(published, abs=0.5)


def test_an_echo_at_once_is_no_echo() -> None:
    assert rating(0.9, echo=True) > rating(0.9) - 0.1
    assert rating(20, echo=True) < rating(20)


def test_delay_by_hand() -> None:
    # Ta = 200 ms: X = 1; Ta = 400 ms: X = 2
    assert delay_impairment(200) == pytest.approx(25 * (2 ** (1 / 6) - 3 * (730 / 729) ** (1 / 6) + 2))
    assert delay_impairment(400) == pytest.approx(25 * (65 ** (1 / 6) - 3 * (793 / 729) ** (1 / 6) + 2))
    assert [round(rating(ms), 1) for ms in (100, 150, 200, 400)] == [93.2, 93.0, 90.2, 69.1]


def test_loss_by_hand() -> None:
    assert loss_impairment(0.0, G711) == 0
    assert loss_impairment(0.02, G711) == pytest.approx(95 * 2 / (2 + 25.1))
    assert loss_impairment(0.02, G711, burst_ratio=2) == pytest.approx(95 * 2 / (1 + 25.1))
    assert loss_impairment(0.0, G729A) == 11
    assert loss_impairment(0.02, G729A) == pytest.approx(11 + 84 * 2 / (2 + 19))
    assert rating(0.0, 0.02, G729A) == pytest.approx(rating(0.0) - 19.0)


def test_ratings_and_scores_stay_within_their_scales() -> None:
    assert rating(10_000, 1.0) == 0
    assert rating(0.0, advantage=20) == 100
    assert [opinion_score(rated) for rated in (-5, 0, 3, 100, 120)] == [1, 1, 1, 4.5, 4.5]


def test_worse_is_never_rated_better() -> None:
    delays = [rating(ms) for ms in range(0, 1000, 7)]
    losses = [rating(50, percent / 100) for percent in range(101)]
    assert delays == sorted(delays, reverse=True)
    assert losses == sorted(losses, reverse=True)
