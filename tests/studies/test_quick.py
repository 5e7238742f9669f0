"""Scenarios that stand for a few numbers."""

from __future__ import annotations

import pytest

from bufferlab.scenario import Scenario
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


def test_how_bbr_starts_is_not_measured() -> None:
    """No buffer that a search begins with is still full of what BBR sent at its start; docs/sizing.md."""
    run = quick_scenario("100 Mbps", "30 ms", [("cubic", 49), ("bbr", 11)])["run"]
    assert (run["duration"], run["warmup"]) == ("92 s", "44 s")
    given = quick_scenario("100 Mbps", "30 ms", [("bbr", 11)], duration="20 s")["run"]
    assert (given["duration"], given.get("warmup")) == ("20 s", None)


def test_calls_are_beside_the_flows_and_take_no_part_in_sizing() -> None:
    plain = quick_scenario("20 Mbps", "30 ms", [("cubic", 4)])
    called = quick_scenario("20 Mbps", "30 ms", [("cubic", 4)], calls=10)
    assert called["run"] == plain["run"] and called["flows"][:-1] == plain["flows"]
    call = Scenario.from_dict(called).resolved["flows"][-1]
    assert (call["name"], call["count"], call["tcp"]) == ("call", 10, None)
    # 160 bytes of speech every 20 ms are 64 kbit/s (RFC 3551, section 4.5.14), and headers of IP, UDP and RTP
    application = call["application"]
    assert application["kind"] == "udp"
    assert application["packet_bytes"] == 160 + 20 + 8 + 12
