"""Packets of several segments in a run: queues count packets, flows count segments."""

from __future__ import annotations

import polars as pl
import pytest

import bufferlab
from bufferlab.scenario import Scenario

FRAME_BYTES = 1500


def host_queue(offload: str) -> dict[str, float]:
    """Ten packets in a host's queue: what waits, how large packets are, how long pings take."""
    flow = {"rtt": "4 ms", "stack": "linux", "congestion": "reno", "offload": offload}
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "10 s", "warmup": "1 s"},
            "bottleneck": {"rate": "10 Mbps", "delay": "1 ms", "buffer": "10 packets"},
            "flows": [
                {"name": "bulk", **flow},
                {"name": "ping", "rtt": "4 ms", "application": {"kind": "ping", "interval": "100 ms"}},
            ],
        }
    )
    result = bufferlab.run(scenario)
    bulk = result.queues.filter(pl.col("group") == "bulk")
    pings = result.exchanges.filter(pl.col("group") == "ping")["duration_s"].drop_nulls()
    sent = result.flows.filter(pl.col("group") == "bulk")["sent_packets"].item()
    return {
        "segments": bulk["departed_bytes"].item() / bulk["departed_packets"].item() / FRAME_BYTES,
        "sent": sent * FRAME_BYTES / bulk["arrived_bytes"].item(),
        "ping_ms": 1000 * float(pings.mean()),  # type: ignore[arg-type]
    }


def test_a_host_s_queue_holds_longer_what_it_counts_as_one() -> None:
    single, linux, six = (host_queue(offload) for offload in ("none", "auto", "6 segments"))
    assert single["segments"] == 1
    # ten packets of a flow of 10 Mbps: Linux's are of two segments, and at times of one
    assert 1.8 < linux["segments"] <= 2.1
    assert 4 < six["segments"] <= 6
    assert 1.3 * single["ping_ms"] < linux["ping_ms"] < 0.7 * six["ping_ms"]


@pytest.mark.parametrize("offload", ["none", "auto", "44 segments"])
def test_flows_count_segments_whatever_the_packets(offload: str) -> None:
    # what is sent reaches the queue some milliseconds later
    assert host_queue(offload)["sent"] == pytest.approx(1, abs=0.02)
