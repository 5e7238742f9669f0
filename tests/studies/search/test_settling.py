"""What the times of a link's flows are, and what a search says about runs that are too short for them."""

from __future__ import annotations

import pytest

import bufferlab
from bufferlab.scenario import Scenario
from bufferlab.studies.search import Effort, Goal
from bufferlab.studies.search.settling import LONGEST_CYCLE_S, settling

DOCUMENT = {
    "run": {"duration": "20 s", "warmup": "10 s", "stack": "linux"},
    "bottleneck": {"rate": "12 Mbps", "delay": "1 ms", "buffer": "1 bdp"},
    "flows": [{"congestion": "reno", "rtt": "100 ms", "count": 2}, {"congestion": "reno", "rtt": "40 ms"}],
}


def test_times_are_those_of_the_longest_flow_with_a_full_buffer() -> None:
    times = settling(Scenario.from_dict(DOCUMENT).seeded(), 0, 50, 1500)
    assert times.rtt_s == pytest.approx(0.1 + 50 * 1500 * 8 / 12e6)
    # Linux: 200 ms above the smoothed round-trip time
    assert times.rto_s == pytest.approx(times.rtt_s + 0.2)
    assert times.settle_s == pytest.approx(times.rto_s + 20 * times.rtt_s)
    # Reno halves 50 packets and takes 25 round trips back
    assert times.cycle_s == pytest.approx(25 * times.rtt_s)


def test_a_cycle_has_an_end_and_controls_without_a_model_have_none() -> None:
    fast = DOCUMENT | {"bottleneck": {"rate": "100 Gbps", "delay": "1 ms", "buffer": "1 bdp"}}
    assert settling(Scenario.from_dict(fast).seeded(), 0, 10**6, 1500).cycle_s == LONGEST_CYCLE_S
    westwood = DOCUMENT | {"flows": [{"congestion": "westwood", "rtt": "100 ms"}]}
    assert settling(Scenario.from_dict(westwood).seeded(), 0, 50, 1500).cycle_s == 0.0
    udp = {"rtt": "100 ms", "application": {"kind": "udp", "packet": "1000 B", "rate": "1 Mbps"}}
    assert settling(Scenario.from_dict(DOCUMENT | {"flows": [udp]}).seeded(), 0, 50, 1500).rto_s == 0.0


def test_runs_that_are_too_short_are_told() -> None:
    short = DOCUMENT | {"run": {"duration": "4 s", "warmup": "1 s", "stack": "linux"}}
    effort = Effort(confidence=0.5, resolution=1.0, rounds=6)
    found = bufferlab.search(short, Goal(utilization=0.9), effort=effort, progress=False).found
    assert any(
        "the warm-up of 1 s is shorter than a timeout and 20 round trips" in each for each in found.warnings
    )
    assert any("only 3 s are measured, but a flow takes up to" in each for each in found.warnings)


def test_a_link_that_no_buffer_fills_is_told() -> None:
    slow = {"rtt": "40 ms", "application": {"kind": "udp", "packet": "1000 B", "rate": "3 Mbps"}}
    effort = Effort(confidence=0.5, resolution=1.0, rounds=10)
    searched = bufferlab.search(
        DOCUMENT | {"flows": [slow]}, Goal(utilization=0.99), bounds="1..10", effort=effort, progress=False
    )
    assert searched.found.full_rate_bps == pytest.approx(3e6, rel=1e-3)
    assert any("the link carries only 25 % of its rate" in each for each in searched.found.warnings)
    assert searched.found.estimate == 1


def test_the_buffer_changes_of_a_scenario_do_not_disturb() -> None:
    bottleneck = DOCUMENT["bottleneck"] | {"changes": [{"at": "2 s", "buffer": "1 packets"}]}  # type: ignore[operator]
    effort = Effort(confidence=0.8, resolution=0.5, rounds=20)
    one, other = (
        bufferlab.search(document, Goal(utilization=0.95), effort=effort, progress=False).found
        for document in (DOCUMENT, DOCUMENT | {"bottleneck": bottleneck})
    )
    assert one.course.drop("cpu_s").equals(other.course.drop("cpu_s"))


def test_a_scenario_with_probes_is_searched_like_one_without() -> None:
    effort = Effort(confidence=0.6, resolution=1.0, rounds=8)
    one, other = (
        bufferlab.search(document, Goal(utilization=0.95), effort=effort, progress=False).found
        for document in (DOCUMENT, DOCUMENT | {"probes": {"interval": "10 ms"}})
    )
    assert one.course.drop("cpu_s").equals(other.course.drop("cpu_s"))
