"""What the times of a link's flows are."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bufferlab.scenario import Scenario
from bufferlab.studies.settling import (
    LONGEST_CYCLE_S,
    Waiting,
    about_longer,
    has_start_measured,
    lengthened,
    settling,
    short_for_any,
    short_runs,
)

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


def test_runs_that_are_long_enough_have_no_warning() -> None:
    long = DOCUMENT | {"run": {"duration": "60 s", "warmup": "10 s", "stack": "linux"}}
    assert short_runs(Scenario.from_dict(long), 0, Waiting(50, 1500)) is None


def test_runs_that_are_too_short_say_which_part_and_how_long_it_should_be() -> None:
    short = DOCUMENT | {"run": {"duration": "4 s", "warmup": "1 s", "stack": "linux"}}
    found = short_runs(Scenario.from_dict(short), 0, Waiting(50, 1500))
    assert found is not None and (found.warmup_s, found.duration_s) == (7, 15)
    assert str(found) == (
        "the warm-up of 1 s is shorter than a timeout and 20 round trips, 3.35 s; only 3 s are measured, but "
        "a flow takes up to 3.75 s from loss to loss: use --set run.warmup='7 s' --set run.duration='15 s' "
        "(docs/sizing.md)"
    )


def test_all_reasons_have_one_remedy_that_is_enough() -> None:
    run = {"duration": "14 s", "warmup": "1 s", "stack": "linux"}
    flows = [{"congestion": "bbr", "rtt": "100 ms"}, {"congestion": "reno", "rtt": "100 ms"}]
    scenario = Scenario.from_dict(DOCUMENT | {"run": run, "flows": flows})
    waiting = Waiting(1600, 1500)
    said = str(short_runs(scenario, 0, waiting))
    assert said.startswith("BBR fills this buffer") and "shorter than a timeout" in said
    times = dict(re.findall(r"--set (run\.\w+)='(\d+ s)'", said))
    assert said.count("--set") == 2 and short_runs(scenario.with_overrides(times), 0, waiting) is None


def bbr(
    buffer: str = "4 bdp", congestion: str = "bbr", warmup: str = "12 s", rtt: str = "100 ms"
) -> str | None:
    run = {"duration": "60 s", "warmup": warmup, "stack": "linux"}
    flows = [{"congestion": congestion, "rtt": rtt, "count": 10}]
    link = {"rate": "12 Mbps", "buffer": buffer if rtt != "0 s" else "400 packets"}
    scenario = Scenario.from_dict({"run": run, "bottleneck": link, "flows": flows})
    packets = {"1 bdp": 100, "4 bdp": 400}[buffer]
    said = str(short_runs(scenario, 0, Waiting(packets, 1500)))
    found = said if said.startswith("BBR") else None
    assert has_start_measured(scenario, 0, Waiting(packets, 1500)) == (found is not None)
    assert not has_start_measured(scenario, 0, Waiting(packets, 1500, is_held=True))
    return found


def test_a_buffer_that_bbr_fills_at_its_start_is_to_be_empty_before_loss_is_measured() -> None:
    """10 flows lost a tenth up to the 40th second with 8 bandwidth-delay products, to the 50th with 16."""
    warned = bbr() or ""
    assert "may take 33 s to empty it, but the warm-up is 12 s" in warned
    assert "--set run.warmup='44 s' --set run.duration='92 s'" in warned
    assert bbr(warmup="40 s") is None
    assert bbr("1 bdp") is None  # full as long as they last
    assert "may take 96 s" in (
        bbr(rtt="0 s") or ""
    )  # 400 packets are 400 times the least that can be under way
    assert bbr(congestion="bbr3") is bbr(congestion="cubic") is None


@given(
    rate_mbps=st.floats(1, 10_000),
    rtt_ms=st.floats(1, 500),
    flows=st.integers(1, 200),
    control=st.sampled_from(["bbr", "cubic", "reno", "westwood"]),
    duration_s=st.integers(2, 100),
    products=st.floats(0.01, 16),
)
@settings(max_examples=100, deadline=None)
def test_lengthened_runs_are_long_enough(
    rate_mbps: float, rtt_ms: float, flows: int, control: str, duration_s: int, products: float
) -> None:
    scenario = Scenario.from_dict(
        {
            "run": {"duration": f"{duration_s} s", "stack": "linux"},
            "bottleneck": {"rate": f"{rate_mbps:.3f} Mbps", "delay": "0.1 ms", "buffer": "1 bdp"},
            "flows": [{"congestion": control, "rtt": f"{rtt_ms:.3f} ms", "count": flows}],
        }
    )
    packets = 1 + round(products * rate_mbps * rtt_ms / 12)
    longer = lengthened(scenario, 0, Waiting(packets, 1500))
    assert longer is not None or short_runs(scenario, 0, Waiting(packets, 1500)) is None
    if longer is not None:
        assert short_runs(longer, 0, Waiting(packets, 1500)) is None
        assert not has_start_measured(longer, 0, Waiting(packets, 1500))
        assert longer.run["duration_ps"] > scenario.run["duration_ps"]
        assert longer.run["warmup_ps"] >= scenario.run["warmup_ps"]


def test_what_lengthened_runs_are_is_said() -> None:
    short = Scenario.from_dict(DOCUMENT | {"run": {"duration": "4 s", "warmup": "1 s", "stack": "linux"}})
    longer = lengthened(short, 0, Waiting(50, 1500))
    assert longer is not None
    assert about_longer(short, longer) == (
        "runs of 15 s, measured from 7 s on, as those of 4 s were too short for these buffers; --set "
        "run.duration and run.warmup set others"
    )


def test_runs_are_not_lengthened_without_end() -> None:
    slow = DOCUMENT | {"bottleneck": {"rate": "100 bps", "buffer": "10 packets"}}
    scenario = Scenario.from_dict(slow)
    assert short_runs(scenario, 0, Waiting(10, 1500)) is not None
    assert lengthened(scenario, 0, Waiting(10, 1500)) is None


def test_of_several_queues_the_one_in_which_most_waits_says_that_runs_are_too_short() -> None:
    """`advise` looked at its answer alone, in which little waited, and said nothing."""
    short = Scenario.from_dict(DOCUMENT | {"run": {"duration": "40 s", "warmup": "5 s", "stack": "linux"}})
    little, much = Waiting(5, 1500), Waiting(2000, 1500)
    assert short_runs(short, 0, little) is None and short_for_any(short, 0, {"fq_codel": little}) is None
    found = short_for_any(short, 0, {"fq_codel": little, "fifo": much, "pie": Waiting(1000, 1500)})
    assert str(found).startswith(
        "under fifo, the warm-up of 5 s is shorter than a timeout and 20 round trips"
    )
