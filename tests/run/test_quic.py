"""QUIC beside the other stacks, in whole runs."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import bufferlab
from bufferlab import Result
from bufferlab.scenario import Scenario

COUNTED = ("retransmissions", "spurious_retransmissions", "timeouts", "recoveries", "reordered_packets")


def run(stack: str, link: dict[str, Any] | None = None, **flow: Any) -> Result:
    content = {
        "run": {"duration": "40 s", "warmup": "10 s", "seed": 5},
        "bottleneck": {"rate": "20 Mbps", "buffer": "1 bdp"} | (link or {}),
        "flows": [{"name": "f", "stack": stack, "rtt": "40 ms", "congestion": "cubic", **flow}],
    }
    return bufferlab.run(content, progress=False)[0]


def counts(result: Result) -> dict[str, int]:
    return {column: int(result.flows[column].sum()) for column in COUNTED}


@pytest.mark.parametrize("congestion", ["reno", "cubic", "bbr", "bbr3"])
def test_a_lone_flow_fills_the_link_as_over_tcp(congestion: str) -> None:
    quic, tcp = (run(stack, congestion=congestion) for stack in ("quic", "rfc"))
    assert quic.queues["utilization"][0] == pytest.approx(tcp.queues["utilization"][0], abs=0.01)
    assert counts(quic)["timeouts"] == counts(quic)["spurious_retransmissions"] == 0


@pytest.mark.parametrize("loss", [0.05, 0.2])
def test_losses_are_repaired_without_timeouts(loss: float) -> None:
    """A lost retransmission is found like any other loss, and a lost tail is probed for."""
    quic, tcp = (counts(run(stack, {"loss": loss})) for stack in ("quic", "rfc"))
    assert quic["timeouts"] < tcp["timeouts"] / 5
    assert quic["retransmissions"] > 100
    assert quic["spurious_retransmissions"] <= quic["retransmissions"] / 20


def test_packets_that_change_places_are_lost_beyond_the_thresholds_alone() -> None:
    """Packets are 0.6 ms apart: 1 ms is not three of them."""
    few, many = (
        counts(run("quic", {"jitter": f"uniform(0 s, {most})", "reorder": True}, congestion="fixed(60)"))
        for most in ("1 ms", "10 ms")
    )
    assert few["reordered_packets"] > 100
    assert few["retransmissions"] == 0
    assert many["spurious_retransmissions"] > 100


@pytest.mark.parametrize("every", [2, 10])
def test_fewer_acknowledgments_are_asked_for_by_delayed_ack(every: int) -> None:
    content = {
        "run": {"duration": "10 s", "stack": "quic"},
        "links": [
            {"name": "down", "rate": "20 Mbps", "buffer": "1 bdp"},
            {"name": "up", "rate": "2 Mbps", "buffer": "100 packets"},
        ],
        "flows": [
            {"name": "f", "rtt": "40 ms", "path": ["down"], "reverse_path": ["up"], "delayed_ack": every}
        ],
    }
    queues = bufferlab.run(content, progress=False)[0].queues
    down, up = (
        float(queues.filter(pl.col("link") == link)["arrived_packets"].sum()) for link in ("down", "up")
    )
    assert down / up == pytest.approx(every, rel=0.1)


def test_newreno_is_quic_s_own() -> None:
    content = {
        "run": {"duration": "1 s", "stack": "quic"},
        "bottleneck": {"rate": "1 Mbps", "buffer": "1 MB"},
        "flows": [{"rtt": "10 ms", "congestion": word} for word in ("reno", "newreno", "tahoe")],
    }
    recoveries = [flow["tcp"]["recovery"] for flow in Scenario.from_dict(content).flows if flow["tcp"]]
    assert recoveries == ["quic", "quic", "tahoe"]
