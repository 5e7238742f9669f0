"""What flows are if only their number is known."""

from __future__ import annotations

import numpy as np
import pytest

from bufferlab.scenario import Scenario
from bufferlab.studies.internet import (
    SATELLITE_MS,
    SHARES,
    SPREAD,
    about_round_trips,
    controls_of,
    shared_out,
    spread_of,
)
from bufferlab.studies.size import quick_scenario

CUBIC, BBR = (control for _, control, _ in SHARES)


@pytest.mark.parametrize("flows", [1, 2, 3, 7, 58, 500, 999_983])
def test_all_flows_have_a_control_and_shares_are_kept_to_a_flow(flows: int) -> None:
    found = dict(controls_of(flows))
    assert sum(found.values()) == flows
    assert abs(found[CUBIC] - flows * 36 / 58) < 1
    assert abs(found.get(BBR, 0) - flows * 22 / 58) < 1


def test_few_flows_have_the_most_frequent_controls() -> None:
    assert controls_of(1) == [(CUBIC, 1)]
    assert controls_of(2) == [(CUBIC, 1), (BBR, 1)]
    assert controls_of(58) == [(CUBIC, 36), (BBR, 22)]


def test_equal_remainders_go_to_the_first() -> None:
    assert shared_out(4, [("a", 1.0), ("b", 1.0), ("c", 1.0)]) == [("a", 2), ("b", 1), ("c", 1)]


@pytest.mark.parametrize("flows", [1, 2, 5, 500])
def test_round_trip_times_keep_their_mean_in_every_group(flows: int) -> None:
    scenario = Scenario.from_dict(quick_scenario("1 Gbps", "30 ms", controls_of(flows)))
    for drawn in scenario.seeded().draws:
        times_ms = np.asarray(drawn["rtt_ps"]) / 1e9
        assert times_ms.mean() == pytest.approx(30.0, abs=1e-6)
        assert times_ms.min() >= 3.0 and times_ms.max() <= 57.0
        # even spacing over 3 to 57 ms, each flow in the middle of its share
        assert np.diff(np.sort(times_ms)) == pytest.approx(54.0 / len(times_ms), abs=1e-6)


def test_groups_are_named_by_their_controls() -> None:
    def names(*controls: str | None) -> list[str]:
        content = quick_scenario("1 Gbps", "30 ms", [(each, 1) for each in controls])
        return [flow["name"] for flow in content["flows"]]

    assert names(CUBIC, BBR) == ["cubic", "bbr"]
    assert names(None) == ["flows"]
    assert names("reno", "cubic-0.8", "cubic-0.7") == ["reno", "cubic-0_8", "cubic-0_7"]
    assert names("cubic", "cubic(hystart)", "fixed(3)") == ["cubic-0", "cubic-1", "fixed"]


def test_a_short_path_needs_a_shorter_run_in_which_flows_start_sooner() -> None:
    def made(rtt: str, duration: str | None = None) -> tuple[str, str]:
        content = quick_scenario("10 Gbps", rtt, [(None, 500)], duration=duration)
        return content["run"]["duration"], content["flows"][0]["start"]

    assert made("30 ms") == ("33 s", "uniform(0 s, 5 s)")
    assert made("4 ms") == ("20 s", "uniform(0 s, 2000 ms)")
    assert made("0.2 ms") == ("5 s", "uniform(0 s, 500 ms)")
    assert made("30 ms", "300 ms") == ("300 ms", "uniform(0 s, 30 ms)")
    assert made("30 ms", "90 s") == ("90 s", "uniform(0 s, 5 s)")
    assert made("30 ms", "a while") == ("a while", "uniform(0 s, 5 s)")


def test_no_round_trip_over_a_satellite_is_shorter_than_light_takes() -> None:
    assert pytest.approx(477.5, abs=0.1) == SATELLITE_MS
    assert spread_of(100.0) == spread_of(SATELLITE_MS) == SPREAD
    assert 600.0 * (1 - spread_of(600.0)) == pytest.approx(SATELLITE_MS)
    assert spread_of(1e6) == SPREAD
    assert "down to 477 ms" in about_round_trips(spread_of(600.0))
    assert "Ark" in about_round_trips(SPREAD)
