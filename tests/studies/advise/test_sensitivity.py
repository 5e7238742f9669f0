"""What would change an answer: the changed scenarios are what their titles say."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bufferlab.experiment.simulation import prepare
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.sensitivity import FACTORS, Sensitivity, _scaled, variants
from bufferlab.studies.home import home_scenario, read_rates
from bufferlab.studies.size import quick_scenario
from bufferlab.studies.targets import make_target


def scenario(**flow: Any) -> Scenario:
    content = {
        "run": {"duration": "2 s", "warmup": "1 s"},
        "bottleneck": {"rate": "10 Mbps", "delay": "2 ms", "buffer": "20 packets"},
        "flows": [{"name": "many", "count": 40, "rtt": "20 ms"} | flow],
    }
    return prepare(content)


def rtts_ps(base: Scenario) -> np.ndarray[Any, Any]:
    (drawn,) = base.seeded(7).draws
    return np.asarray(drawn["rtt_ps"], dtype=np.float64)


@pytest.mark.parametrize(
    "law",
    [
        "20 ms",
        ".02 s",
        "2.e1 ms",
        "20000 µs",
        "constant(30 ms)",
        "uniform(10 ms, 0.2 s)",
        "normal(mean=100 ms, sd=20 ms)",
        "lognormal(mean=130 ms, sigma=0.2)",
        "lognormal(median=80 ms, sigma=1.5, min=20 ms, max=0.01 min)",
        "exponential(mean=50 ms, min=5 ms)",
        "pareto(mean=30 ms, shape=1.2, min=8 ms)",
        "choice(10 ms, 99 ms: 3, 0.2 s: 0.5)",
    ],
)
def test_round_trip_times_are_what_was_drawn_times_the_factor(law: str) -> None:
    base = scenario(rtt=law)
    changed = {each.title: each.scenario for each in variants(base)}
    for factor, title in zip(FACTORS, ("half the", "twice the"), strict=True):
        other = changed[f"{title} round-trip times"]
        np.testing.assert_allclose(rtts_ps(other), rtts_ps(base) * float(factor), atol=5, rtol=1e-9)
        assert other.links[0]["delay_ps"] == base.links[0]["delay_ps"] * factor


def test_numbers_without_units_are_no_times() -> None:
    assert _scaled("lognormal(mean=1 ms, sigma=2)", Fraction(2)) == "lognormal(mean=2000000000 ps, sigma=2)"
    assert _scaled("choice(1 ps, 4 ps: 3)", Fraction(1, 2)) == "choice(0 ps, 2 ps: 3)"


def test_flows_are_half_and_twice_as_many() -> None:
    counts = {each.title: each.scenario.flows[0]["count"] for each in variants(scenario())}
    assert counts["half the flows (20)"] == 20
    assert counts["twice the flows (80)"] == 80


def test_one_flow_is_not_halved() -> None:
    titles = [each.title for each in variants(scenario(count=1))]
    assert "twice the flows (2)" in titles
    assert not any("half the flows" in title for title in titles)


@pytest.mark.parametrize(
    ("control", "others"),
    [("cubic", ("bbr", "reno")), ("reno", ("cubic", "bbr")), ("vegas", ("cubic", "bbr"))],
)
def test_other_controls_take_the_place_of_the_usual_one(control: str, others: tuple[str, str]) -> None:
    found = [each for each in variants(scenario(congestion=control)) if "in place of" in each.title]
    assert [each.title for each in found] == [f"{other} in place of {control}" for other in others]
    for each, other in zip(found, others, strict=True):
        tcp = each.scenario.flows[0]["tcp"]
        assert tcp is not None and tcp["congestion"].startswith(other)


LOADS = ["half the offered load", "twice the offered load"]
ROUND_TRIPS = ["half the round-trip times", "twice the round-trip times"]


def test_traffic_without_endless_flows_has_other_loads_and_no_other_controls() -> None:
    file = {"kind": "transfer", "bytes": "1 MB"}
    found = variants(scenario(application=file))
    assert [each.title for each in found] == [*LOADS, *ROUND_TRIPS]
    assert [each.scenario.flows[0]["count"] for each in found[:2]] == [20, 80]


def test_datagrams_do_not_wait_for_answers_so_that_only_their_load_matters() -> None:
    found = variants(scenario(application={"kind": "udp", "rate": "5 Mbps", "packet": "1000 B"}))
    assert [each.title for each in found] == LOADS
    assert [each.brief for each in found] == ["half the load", "twice the load"]
    applications = [each.scenario.flows[0]["application"] for each in found]
    assert [each["kind"] == "udp" and each["rate_bps"] for each in applications] == [2_500_000, 10_000_000]
    steady = {"kind": "udp", "interval": "20 ms", "packet": "1500 B", "record": True}
    often = variants(scenario(application=steady, count=1))
    times = [each.scenario.flows[0]["application"] for each in often]
    assert [each["kind"] == "udp" and each["interval_ps"] for each in times] == [40 * 10**9, 10 * 10**9]


def test_other_loads_of_calls_are_other_numbers_of_calls() -> None:
    call = {"kind": "udp", "interval": "20 ms", "packet": "200 B", "record": True}
    found = variants(scenario(application=call))
    assert [each.scenario.flows[0]["count"] for each in found] == [20, 80]
    assert [each.title for each in variants(scenario(application=call, count=1))] == LOADS[1:]


def test_short_flows_come_half_and_twice_as_often() -> None:
    short = {"kind": "short-flows", "size": "30 KB", "load": "4 Mbps"}
    found = variants(scenario(application=short, count=1))
    assert [each.title for each in found] == [*LOADS, *ROUND_TRIPS]
    applications = [each.scenario.flows[0]["application"] for each in found[:2]]
    loads = [each["kind"] == "short-flows" and each["load_bps"] for each in applications]
    assert loads == [2_000_000, 8_000_000]


def test_an_answer_holds_if_nothing_is_missed() -> None:
    busy = make_target("utilization", 0.99)
    assert Sensitivity("", "", {}, (), None).holds
    assert not Sensitivity("", "", {}, (busy,), None).holds


def test_a_mix_is_tried_with_its_most_frequent_control_alone() -> None:
    base = prepare(quick_scenario("10 Mbps", "20 ms", [("reno", 3), ("bbr", 2)]))
    found = {
        each.title: [flow["tcp"]["congestion"] for flow in each.scenario.flows if flow["tcp"] is not None]
        for each in variants(base)
    }
    assert found["reno alone"] == ["reno", "reno"]
    assert found["bbr3 in place of bbr"] == ["reno", "bbr3"] and list(found)[:2] == [
        "reno alone",
        "bbr3 in place of bbr",
    ]
    assert len(found) == 7 and "round-trip times within ± 20 %" in found


def test_a_mix_without_a_newer_version_is_tried_with_another_control() -> None:
    base = prepare(quick_scenario("10 Mbps", "20 ms", [("reno", 3), ("westwood", 2)]))
    found = {each.title: each for each in variants(base)}
    assert [
        flow["tcp"] and flow["tcp"]["congestion"] for flow in found["cubic in place of reno"].scenario.flows
    ] == [
        "cubic",
        "westwood",
    ]
    assert not any(each.is_newer for each in found.values())


def test_round_trips_that_differ_widely_are_tried_alike() -> None:
    wide, narrow = (scenario(rtt_spread=spread) for spread in (0.7, 0.2))
    (found,) = [each for each in variants(wide) if each.brief == "RTTs ± 20 %"]
    assert found.scenario.flows[0]["rtt_spread"] == 0.2
    assert "RTTs ± 20 %" not in [each.brief for each in variants(narrow)]


def test_the_flows_of_the_link_in_question_are_counted() -> None:
    """A line with three downloads and an upload: who asks about downloads has not given four flows."""
    base = prepare(Scenario.from_dict(home_scenario(read_rates("50/10Mbps"), rtt="30 ms", share=Fraction(1))))
    download, upload = ([each.brief for each in variants(base, link)][:4] for link in (0, 1))
    first = ["cubic alone", "bbr3 for bbr"]  # of a mix
    assert download == [*first, "2 long flows", "6 long flows"]
    assert upload == [*first, "half the flows of downloads", "2 long flows"]
    assert variants(base, 0)[2].title == "2 long flows in place of 3"
