"""Draws against the closed forms of their laws, by tests that right draws fail with one in 10,000 seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from bufferlab.plan import lower
from bufferlab.scenario import Scenario

MS = 10**9
S = 10**12
SEED = 2
DRAWS = 20_000
LEVEL = 1e-4
WEIGHTED = {10.0: 1.0, 20.5: 3.0, 90.0: 0.5}

Floats = npt.NDArray[np.float64]
Cdf = Callable[[Any], Any]


def within(law: Any, least: float, most: float) -> Cdf:
    """A law given that it falls between two bounds."""
    low, high = law.cdf(least), law.cdf(most)
    return lambda values: (np.clip(law.cdf(values), low, high) - low) / (high - low)


def pareto(mean: float, shape: float) -> Any:
    """P(X > x) = (least/x)^shape, with the mean shape/(shape - 1) times the least value."""
    return stats.pareto(shape, scale=mean * (shape - 1) / shape)


def lognormal(median: float, sigma: float) -> Any:
    return stats.lognorm(sigma, scale=median)


TIMES: Mapping[str, Cdf] = {
    "uniform(5 ms, 95 ms)": stats.uniform(5, 90).cdf,
    "uniform(0 s, 100 ms, min=30 ms, max=80 ms)": stats.uniform(30, 50).cdf,
    "normal(mean=100 ms, sd=10 ms)": stats.norm(100, 10).cdf,
    "normal(mean=10 ms, sd=10 ms)": within(stats.norm(10, 10), 0, np.inf),
    "normal(mean=20 ms, sd=10 ms, min=15 ms, max=50 ms)": within(stats.norm(20, 10), 15, 50),
    "lognormal(mean=130 ms, sigma=0.2)": lognormal(130 * np.exp(-0.02), 0.2).cdf,
    "lognormal(median=100 ms, sigma=1.5)": lognormal(100, 1.5).cdf,
    "lognormal(median=100 ms, sigma=1, max=300 ms)": within(lognormal(100, 1), 0, 300),
    "exponential(mean=20 ms)": stats.expon(scale=20).cdf,
    "exponential(mean=20 ms, min=5 ms, max=100 ms)": within(stats.expon(scale=20), 5, 100),
    "pareto(mean=30 ms, shape=1.2)": pareto(30, 1.2).cdf,
    "pareto(mean=30 ms, shape=3.5)": pareto(30, 3.5).cdf,
    "pareto(mean=30 ms, shape=1.5, max=500 ms)": within(pareto(30, 1.5), 0, 500),
}
"""Laws of times, and their distribution functions in ms."""

SIZES: Mapping[str, Cdf] = {
    "pareto(mean=30 KB, shape=1.2)": pareto(30_000, 1.2).cdf,
    "exponential(mean=30 KB)": within(stats.expon(scale=30_000), 1, np.inf),
    "lognormal(median=10 KB, sigma=1)": within(lognormal(10_000, 1), 1, np.inf),
    "normal(mean=10 KB, sd=3 KB)": within(stats.norm(10_000, 3000), 1, np.inf),
}
"""Laws of sizes, and their distribution functions in bytes; whole ones are close enough."""


def columns(flow: Mapping[str, object], folder: Path | None = None) -> dict[str, Floats]:
    """What was drawn for one group without links' delays."""
    table = {
        "run": {"duration": "1000 s"},
        "bottleneck": {"rate": "1 Gbps", "delay": "0 s", "buffer": "10 packets"},
        "flows": [{"name": "drawn", **flow}],
    }
    file = str(folder / "scenario.toml") if folder else None
    flows = lower(Scenario.from_dict(table, file=file), SEED)["flows"]
    drawn = {name: np.array(column, dtype=np.float64) for name, column in flows.items()}
    parts = [drawn[f"{part}_delay_ps"] for part in ("source", "sink", "return", "home")]
    return drawn | {"rtt_ps": np.sum(parts, axis=0)}


def assert_follows(values: Floats, cdf: Cdf) -> None:
    """Kolmogorov and Smirnov's test."""
    assert values.size >= 0.9 * DRAWS
    assert stats.kstest(values, cdf).pvalue > LEVEL


def assert_shares(values: Floats, weights: Mapping[float, float]) -> None:
    """Pearson's test."""
    counts = [int((values == value).sum()) for value in weights]
    assert sum(counts) == values.size >= 0.9 * DRAWS
    expected = np.array(list(weights.values())) * values.size / sum(weights.values())
    assert stats.chisquare(counts, expected).pvalue > LEVEL


@pytest.mark.parametrize("text", TIMES)
def test_round_trips_and_starts_follow_their_law(text: str) -> None:
    drawn = columns({"count": DRAWS, "rtt": text, "start": text})
    assert_follows(drawn["rtt_ps"] / MS, TIMES[text])
    assert_follows(drawn["start_ps"] / MS, TIMES[text])
    # they have nothing to do with each other: the coefficient of ranks is normal, its variance 1/(n - 1)
    assert stats.spearmanr(drawn["rtt_ps"], drawn["start_ps"]).pvalue > LEVEL


def test_stops_follow_their_law() -> None:
    drawn = columns({"count": DRAWS, "rtt": "50 ms", "stop": "uniform(20 s, 60 s)"})
    assert_follows(drawn["stop_ps"] / S, stats.uniform(20, 40).cdf)


def test_choices_have_their_weights(tmp_path: Path) -> None:
    lines = [f"{value},{weight}" for value, weight in WEIGHTED.items()]
    (tmp_path / "trips.csv").write_text("\n".join(["rtt_ms,weight", *lines]))
    choice = ", ".join(f"{value} ms: {weight}" for value, weight in WEIGHTED.items())
    flow = {"count": DRAWS, "rtt": f"choice({choice})", "start": "empirical(trips.csv)"}
    drawn = columns(flow, tmp_path)
    assert_shares(drawn["rtt_ps"] / MS, WEIGHTED)
    assert_shares(drawn["start_ps"] / MS, WEIGHTED)


@pytest.mark.parametrize("text", SIZES)
def test_sizes_and_arrivals_follow_their_law(text: str) -> None:
    application = {"kind": "short-flows", "size": text, "interval": f"{1000 / DRAWS} s"}
    drawn = columns({"rtt": "exponential(mean=50 ms)", "application": application})
    assert_follows(drawn["transfer_bytes"], SIZES[text])
    assert_follows(drawn["rtt_ps"] / MS, stats.expon(scale=50).cdf)
    gaps_s = np.diff(drawn["start_ps"], prepend=0) / S
    assert_follows(gaps_s, stats.expon(scale=1000 / DRAWS).cdf)


def test_small_sizes_are_rounded_and_never_zero() -> None:
    application = {"kind": "short-flows", "size": "uniform(1 B, 5 B)", "interval": f"{1000 / DRAWS} s"}
    drawn = columns({"rtt": "50 ms", "application": application})
    assert_shares(drawn["transfer_bytes"], {1: 0.5, 2: 1, 3: 1, 4: 1, 5: 0.5})
