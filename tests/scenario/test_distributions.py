from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bufferlab.distributions import parse_distribution
from bufferlab.errors import InputError

MS = 10**9


def draws(text: str, count: int = 40_000, directory: Path | None = None) -> np.ndarray:
    return parse_distribution(text, directory=directory).draw(np.random.default_rng(7), count)


def test_a_time_is_a_constant() -> None:
    assert draws("10 ms", 3).tolist() == [10 * MS] * 3
    assert draws("constant(10 ms)", 2).tolist() == [10 * MS] * 2


# Tolerances are about five standard errors of 40,000 draws.
@pytest.mark.parametrize(
    ("text", "mean_ms", "sd_ms"),
    [
        ("uniform(0 s, 100 ms)", 50, 100 / math.sqrt(12)),
        ("normal(mean=100 ms, sd=10 ms)", 100, 10),
        ("normal(100 ms, 10 ms)", 100, 10),
        ("lognormal(mean=130 ms, sigma=0.2)", 130, 130 * math.sqrt(math.exp(0.04) - 1)),
        ("lognormal(median=100 ms, sigma=0.5)", 100 * math.exp(0.125), 100 * math.exp(0.125) * 0.5329),
        ("exponential(mean=20 ms)", 20, 20),
        ("choice(10 ms, 90 ms: 3)", 70, 40 * math.sqrt(0.75)),
    ],
)
def test_moments(text: str, mean_ms: float, sd_ms: float) -> None:
    drawn_ms = draws(text) / MS
    assert drawn_ms.mean() == pytest.approx(mean_ms, abs=5 * sd_ms / 200)
    assert drawn_ms.std() == pytest.approx(sd_ms, rel=0.05)


def test_bounds_hold_and_change_nothing_within() -> None:
    free, bounded = (
        draws("normal(mean=0 s, sd=10 ms)"),
        draws("normal(mean=0 s, sd=10 ms, min=5 ms, max=9 ms)"),
    )
    assert free.min() >= 0
    assert bounded.min() >= 5 * MS
    assert bounded.max() <= 9 * MS
    within = (free >= 5 * MS) & (free <= 9 * MS)
    assert within.sum() > 1000
    # A truncated normal on [0.5, 0.9] standard deviations has its mean at 0.691 of one.
    assert bounded.mean() / MS == pytest.approx(6.907, abs=0.03)


def test_more_draws_do_not_change_the_first_ones() -> None:
    assert draws("uniform(0 s, 1 s)", 10).tolist() == draws("uniform(0 s, 1 s)", 100)[:10].tolist()


def test_impossible_bounds_end() -> None:
    with pytest.raises(InputError, match="hardly ever"):
        draws("normal(mean=1 s, sd=1 ps, min=2 s)", 10)


def test_empirical(tmp_path: Path) -> None:
    (tmp_path / "rtts.csv").write_text("rtt_ms,weight\n10,1\n20.5,3\n\n30,0\n")
    drawn = draws("empirical(rtts.csv)", directory=tmp_path)
    assert sorted(set(drawn.tolist())) == [10 * MS, 20_500_000_000]
    assert (drawn == 10 * MS).mean() == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no usable header"),
        ("rtt\n1\n", "has no usable header"),
        ("rtt_ms,share\n1,2\n", "has no usable header"),
        ("rtt_ms\n", "has no values"),
        ("rtt_ms\n1\nx\n", "line 3"),
        ("rtt_ms\n-1\n", "line 2"),
        ("rtt_ms\nnan\n", "line 2"),
        ("rtt_ms,weight\n1\n", "line 2"),
        ("rtt_ms,weight\n1,inf\n", "line 2"),
        ('rtt_ms\n"1\n', "is not CSV"),
        ("rtt_ms,weight\n1,0\n", "weights"),
    ],
)
def test_refused_files(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "rtts.csv").write_text(content)
    with pytest.raises(InputError) as caught:
        parse_distribution("empirical(rtts.csv)", directory=tmp_path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("triangular(1 s, 2 s)", "is not a known distribution"),
        ("soon", "is not a time or a distribution"),
        ("uniform(5 s, 0 s)", "low above its high"),
        ("uniform(5 s)", "lacks high"),
        ("uniform(1 s, 2 s, 3 s)", "arguments that make no sense"),
        ("uniform(0 s, 1 s, low=2 s)", "arguments that make no sense"),
        ("uniform(0 s, 1 s, mean=2 s)", "unknown parameter 'mean'"),
        ("uniform(0, 1)", "'0' has no unit"),
        ("normal(mean=1 s)", "lacks sd"),
        ("normal(mean=1 s, sd=-1 s)", "is negative"),
        ("lognormal(mean=1 s, sigma=0.2 s)", "where a plain number belongs"),
        ("lognormal(mean=1 s, sigma=nan)", "sigma out of bounds"),
        ("lognormal(mean=1 s, sigma=99)", "sigma out of bounds"),
        ("exponential(mean=1 s, min=2 s, max=1 s)", "min above its max"),
        ("choice()", "is not a number with a unit"),
        ("choice(1 s: 0)", "weights"),
        ("choice(1 s: -1, 2 s)", "weights"),
        ("choice(1 s: inf)", "weights"),
        ("choice(1 s: x)", "where a plain number belongs"),
        ("empirical(nowhere.csv)", "no such file"),
        ("constant(1 s, min=0 s)", "unknown parameter 'min'"),
        ("x" * 5000, "is not a time or a distribution"),
    ],
)
def test_refused_distributions(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_distribution(text)
    assert message in str(caught.value)
    assert caught.value.accepted
