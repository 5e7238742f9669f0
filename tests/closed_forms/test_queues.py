"""Poisson arrivals at a link are M/D/1 and M/M/1/K: simulated, against the closed forms.

Tolerances are Student intervals over independent seeds (99.9 %), and each test states how narrow that must
be, so that a wide interval cannot hide an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import stdtrit

from bufferlab.experiment.run import run
from bufferlab.results.metrics.metric import QUANTILES
from bufferlab.results.result import RunSet
from bufferlab.theory import queueing
from bufferlab.theory.arrays import FloatArray

RATE_BPS = 8_000_000
PACKET_BYTES = 1000
SERVICE_S = PACKET_BYTES * 8 / RATE_BPS
SEEDS = 8


def poisson(
    load: float, *, buffer: str, sizes: str, packet_bytes: int = PACKET_BYTES, probe: bool = False
) -> RunSet:
    """Runs of a Poisson source at a link of 1000 packets of 1000 bytes a second."""
    scenario: dict[str, Any] = {
        "run": {"duration": "220 s", "warmup": "20 s", "seed": 1},
        "bottleneck": {"rate": f"{RATE_BPS * packet_bytes // PACKET_BYTES} bps", "buffer": buffer},
        "flows": [
            {
                "rtt": "0 s",
                "application": {
                    "kind": "udp",
                    "packet": f"{packet_bytes} B",
                    "rate": f"{round(load * RATE_BPS * packet_bytes / PACKET_BYTES)} bps",
                    "arrivals": "poisson",
                    "sizes": sizes,
                    "header": "0 B",
                },
            }
        ],
    }
    if probe:
        scenario["probes"] = {"interval": "5 ms"}
    return run(scenario, seeds=SEEDS, progress=False)


def assert_mean(values: Sequence[float] | pl.Series, expected: float, *, precision: float) -> None:
    """Values have the expected mean, and the interval is at most `precision` of it wide."""
    sample = np.asarray(values, dtype=np.float64)
    half = stdtrit(sample.size - 1, 0.9995) * sample.std(ddof=1) / np.sqrt(sample.size)
    assert half <= precision * expected, (
        f"interval ±{half:.3g} is too wide to tell anything about {expected:.3g}"
    )
    assert abs(sample.mean() - expected) <= half, f"{sample.mean():.6g} ± {half:.2g}, theory {expected:.6g}"


def of_link(runs: RunSet, column: str) -> pl.Series:
    """A column of the link's rows, one value a seed."""
    return runs.queues.filter(pl.col("group") == "all")[column]


def assert_backlogs(runs: RunSet, system: FloatArray) -> None:
    """The empty queue's share and the backlog's percentiles are those of a distribution of the system."""
    # nobody waits with none or one in the system
    waiting = np.concatenate([[system[0] + system[1]], system[2:]])
    assert_mean(of_link(runs, "empty_fraction"), float(waiting[0]), precision=0.05)
    up_to = np.concatenate([[0.0], waiting.cumsum()])
    for percent, _ in QUANTILES:
        found = int(np.median(of_link(runs, f"backlog_p{percent}_packets")))
        share = percent / 100
        # four standard errors of a share of 8000 independent moments: 5000 of each run, not all independent
        slack = 4 * float(np.sqrt(share * (1 - share) / 8000))
        below, reached = up_to[found], up_to[found + 1]
        assert below - slack < share < reached + slack, f"{percent} %: {found} packets, {below:.4f}"


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_md1_mean_wait_and_mean_queue(load: float) -> None:
    runs = poisson(load, buffer="unlimited", sizes="constant")
    wait_s = queueing.md1_mean_wait_s(load / SERVICE_S, SERVICE_S)
    assert_mean(of_link(runs, "wait_mean_ms"), wait_s * 1e3, precision=0.05)
    queue = queueing.md1_mean_queue_packets(load / SERVICE_S, SERVICE_S)
    assert_mean(of_link(runs, "backlog_mean_packets"), queue, precision=0.05)
    assert_mean(of_link(runs, "utilization"), load, precision=0.01)


def test_md1_distribution_of_the_queue() -> None:
    load = 0.7
    runs = poisson(load, buffer="unlimited", sizes="constant", probe=True)
    system = queueing.md1_system_distribution(load, 8)
    assert_backlogs(runs, queueing.md1_system_distribution(load, 60))
    samples = runs.queue_samples.filter(pl.col("time_s") > 20)
    for waiting in range(5):
        # nobody waits with none or one in the system
        expected = system[0] + system[1] if waiting == 0 else system[waiting + 1]
        is_so = (pl.col("backlog_packets") == waiting).mean().alias("share")
        shares = samples.group_by("seed", maintain_order=True).agg(is_so)["share"]
        assert_mean(shares, float(expected), precision=0.1)


def test_md1_waits_nothing_with_the_chance_of_an_idle_link() -> None:
    load = 0.6
    runs = poisson(load, buffer="unlimited", sizes="constant")
    of_all = runs.histograms.filter(pl.col("group") == "all")
    shares = of_all.group_by("seed", maintain_order=True).agg(
        pl.col("packets").filter(pl.col("lower_ms") == 0).sum() / pl.col("packets").sum()
    )
    # the bucket that starts at 0 is at most a microsecond wide: waits within it are rarer than 1 in 1000
    widest_ms = of_all.filter(pl.col("lower_ms") == 0)["upper_ms"].max()
    assert isinstance(widest_ms, float)
    assert widest_ms <= 1e-3
    assert_mean(shares["packets"], 1 - load, precision=0.02)


@pytest.mark.parametrize(("load", "capacity"), [(0.5, 4), (0.9, 8), (1.0, 6), (1.4, 5)])
def test_mm1k_blocking_wait_and_queue(load: float, capacity: int) -> None:
    # 3000 bytes: whole bytes are a fine grain, and the cut at an IP packet's 65,535 bytes is never felt
    runs = poisson(load, buffer=f"{capacity - 1} packets", sizes="exponential", packet_bytes=3000)
    assert_mean(of_link(runs, "loss"), queueing.mm1k_blocking(load, capacity), precision=0.08)
    wait_ms = queueing.mm1k_mean_wait_s(load, capacity, SERVICE_S) * 1e3
    assert_mean(of_link(runs, "wait_mean_ms"), wait_ms, precision=0.05)
    queue = queueing.mm1k_mean_queue_packets(load, capacity)
    assert_mean(of_link(runs, "backlog_mean_packets"), queue, precision=0.05)
    assert_backlogs(runs, queueing.mm1k_distribution(load, capacity))


def test_mm1_backlogs_follow_the_geometric_law() -> None:
    load = 0.75
    runs = poisson(load, buffer="unlimited", sizes="exponential", packet_bytes=3000)
    assert_backlogs(runs, (1 - load) * load ** np.arange(100, dtype=np.float64))
