"""What the queue disciplines are for, through the whole program."""

from __future__ import annotations

from typing import Any

import pytest

from bufferlab.experiment.simulation import simulate
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario

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
    # targets of 5, 5, 15 and 5 ms; a FIFO fills its buffer of 500 ms and DRR does not drop early
    [
        ("codel", 2, 10),
        ("fq_codel", 2, 10),
        ("pie", 10, 20),
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
    ("queue", "shares"), [("fifo", False), ("pie", False), ("fq_codel", True), ("drr", True)]
)
def test_fair_queues_protect_from_who_does_not_listen(queue: str, shares: bool) -> None:
    goodput_bps = outcome(queue, "100 packets", GREEDY, BLAST).flows["goodput_bps"].to_list()
    assert (min(goodput_bps[:4]) > 3e6) == shares
    assert (goodput_bps[4] > 15e6) != shares
