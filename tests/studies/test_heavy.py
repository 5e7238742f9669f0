"""Links whose runs take minutes: that this is said, and that the smaller link stands for the larger."""

from __future__ import annotations

import re
from typing import Any

import pytest

import bufferlab
from bufferlab.experiment.simulation import prepare
from bufferlab.studies.heavy import minutes_a_run, smaller_by, warning


def link(rate: str, *counts: int, duration: str = "6 s", congestion: str = "cubic") -> Any:
    flows = [
        {"name": f"g{index}", "count": count, "rtt": "uniform(10 ms, 40 ms)", "congestion": congestion}
        for index, count in enumerate(counts)
    ]
    run = {"duration": duration, "warmup": "2 s"}
    return prepare({"run": run, "bottleneck": {"rate": rate, "buffer": "1 ms"}, "flows": flows})


@pytest.mark.parametrize(
    ("flows", "factor"),
    [([8000], 50), ([450], 4), ([399], None), ([4000, 3], None), ([4000, 48], 40), ([], None)],
)
def test_a_smaller_link_keeps_a_hundred_flows_and_one_of_each_group(
    flows: list[int], factor: int | None
) -> None:
    assert smaller_by(flows) == factor


def test_a_fast_link_s_runs_take_minutes() -> None:
    fast = link("100 Gbps", 8000, duration="14.4 s")
    assert minutes_a_run(fast) == pytest.approx(1.0)
    said = warning(fast)
    assert said is not None
    assert re.match(r"a run of this link takes about 1 min on one processor. Ask about 1/50 of", said)
    assert warning(link("1 Gbps", 80)) is None
    assert warning(link("100 Gbps", 8, duration="40 s")) is None  # nothing smaller is like it


@pytest.mark.parametrize("congestion", ["cubic", "reno"])
def test_a_buffer_that_is_enough_for_fewer_flows_is_for_more(congestion: str) -> None:
    """Of the same time, at the same share a flow: use is no less and losses are no more."""
    few, many = (
        bufferlab.run(link(rate, count, congestion=congestion)).queues.row(-1, named=True)
        for rate, count in [("60 Mbps", 12), ("240 Mbps", 48)]
    )
    assert many["utilization"] > few["utilization"]
    assert many["dropped_packets"] / many["arrived_packets"] < few["dropped_packets"] / few["arrived_packets"]
