"""What the queue disciplines are for, through the whole program."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bufferlab.experiment.simulation import simulate
from bufferlab.results.result import Result
from bufferlab.scenario import QUEUE_WORDS, Scenario

GREEDY = {"count": 4, "rtt": "50 ms", "start": "uniform(0 s, 1 s)"}
BLAST = {"rtt": "50 ms", "application": {"kind": "udp", "packet": "1000 B", "rate": "30 Mbps"}}


def outcome(queue: str, buffer: str, *flows: dict[str, Any]) -> Result:
    """Flows at a link of 20 Mbps."""
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "20 s", "warmup": "5 s"},
            "bottleneck": {"rate": "20 Mbps", "buffer": buffer, "queue": queue},
            "flows": list(flows),
        }
    )
    result = simulate(scenario, 1)
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("queue", "least_ms", "most_ms"),
    # targets of 5 (four), 15, 15, 20 and 5 ms; a FIFO fills its buffer of 500 ms and DRR does not drop early
    [
        ("codel", 2, 10),
        ("cobalt", 2, 10),
        ("cake", 2, 10),
        ("fq_codel", 2, 10),
        ("pie", 10, 20),
        ("fq_pie", 10, 20),
        ("pi2", 14, 26),
        ("red", 2, 10),
        ("fifo", 200, 500),
        ("drr", 200, 500),
    ],
)
def test_active_queues_keep_the_wait_short(queue: str, least_ms: float, most_ms: float) -> None:
    row = outcome(queue, "10 bdp", GREEDY).queues.row(0, named=True)
    assert least_ms < row["wait_mean_ms"] < most_ms
    assert row["utilization"] > 0.75


@pytest.mark.parametrize(
    ("queue", "shares"),
    [("fifo", False), ("pie", False), ("fq_codel", True), ("cake", True), ("fq_pie", True), ("drr", True)],
)
def test_fair_queues_protect_from_who_does_not_listen(queue: str, shares: bool) -> None:
    goodput_bps = outcome(queue, "100 packets", GREEDY, BLAST).flows["goodput_bps"].to_list()
    assert (min(goodput_bps[:4]) > 3e6) == shares
    assert (goodput_bps[4] > 15e6) != shares


@pytest.mark.parametrize("queue", QUEUE_WORDS)
def test_the_backlog_of_a_sawtooth_is_as_by_hand(queue: str) -> None:
    """Every 10 ms five packets of 1 ms come at once: 4, 3, 2 and 1 of them wait for 1 ms each, then none."""
    application = {"kind": "udp", "packet": "1000 B", "interval": "10 ms"}
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "12 s", "warmup": "2 s"},
            "bottleneck": {"rate": "8 Mbps", "buffer": "50 packets", "queue": queue},
            "flows": [{"count": 5, "rtt": "10 ms", "start": "0 s", "application": application}],
        }
    )
    result = simulate(scenario, 1)
    assert result is not None
    row = result.queues.row(by_predicate=pl.col("group") == "all", named=True)
    assert row["loss"] == 0
    assert row["empty_fraction"] == pytest.approx(0.6, abs=1e-12)
    assert row["backlog_mean_packets"] == pytest.approx(1.0, abs=1e-12)
    # at most 3 wait for 90 % of the time
    found = [row[f"backlog_{which}_packets"] for which in ("p50", "p95", "p99", "max")]
    assert found == [0, 4, 4, 4]


@pytest.mark.parametrize("queue", QUEUE_WORDS)
def test_backlogs_agree_with_a_fine_time_series(queue: str) -> None:
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "25 s", "warmup": "5 s"},
            "bottleneck": {"rate": "20 Mbps", "buffer": "0.15 bdp", "queue": queue},
            "flows": [GREEDY],
            "probes": {"interval": "0.2 ms"},
        }
    )
    result = simulate(scenario, 1)
    assert result is not None
    row = result.queues.row(by_predicate=pl.col("group") == "all", named=True)
    samples = result.queue_samples.filter(pl.col("time_s") > 5)["backlog_packets"]
    assert len(samples) > 90_000
    # a packet takes 0.6 ms, so the series misses no state but those around an arrival
    assert row["empty_fraction"] == pytest.approx((samples == 0).mean(), abs=0.005)
    assert 0.001 < row["empty_fraction"] < 0.9
    for percent in (50, 95, 99):
        # four standard errors of a share of 5000 moments
        slack = 4 * (percent / 100 * (1 - percent / 100) / 5000) ** 0.5
        found = row[f"backlog_p{percent}_packets"]
        assert (samples < found).mean() - slack < percent / 100 < (samples <= found).mean() + slack
