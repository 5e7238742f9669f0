"""Scenarios that stand for a few numbers."""

from __future__ import annotations

import pytest

from bufferlab.studies.size import quick_scenario


@pytest.mark.parametrize(
    ("rate", "flows", "duration", "warmup"),
    [
        ("10 Mbps", 5, "60 s", None),
        ("1 Gbps", 500, "60 s", None),
        ("10 Gbps", 2000, "30 s", "10 s"),  # 25 million packets in 30 s
        ("10 Gbps", 10, "600 s", None),  # a flow takes a minute from loss to loss
    ],
)
def test_runs_are_as_long_as_flows_take(rate: str, flows: int, duration: str, warmup: str | None) -> None:
    run = quick_scenario(rate, "40 ms", [(None, flows)])["run"]
    assert (run["duration"], run.get("warmup")) == (duration, warmup)
