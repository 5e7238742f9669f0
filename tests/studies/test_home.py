"""A home's line from its two rates: what is read, and that it is the scenario of examples/home-line.toml."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from bufferlab.errors import InputError
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.floor import default_targets
from bufferlab.studies.advise.needs import Needs
from bufferlab.studies.home import Rates, about_home, home_scenario, read_rates, read_share

EXAMPLE = Path(__file__).parents[2] / "examples" / "home-line.toml"


@pytest.mark.parametrize(
    ("text", "down_bps", "up_bps"),
    [
        ("50/10Mbps", 50_000_000, 10_000_000),
        (" 50 / 10 Mbps ", 50_000_000, 10_000_000),
        ("1 Gbps/50 Mbps", 1_000_000_000, 50_000_000),
        ("50 Mbps/10", 50_000_000, 10_000_000),
        ("50 Mbit/s/10 Mbit/s", 50_000_000, 10_000_000),
        ("2.5/.5 Mbit/s", 2_500_000, 500_000),
    ],
)
def test_the_rates_of_a_line(text: str, down_bps: int, up_bps: int) -> None:
    assert read_rates(text) == Rates(down_bps, up_bps)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("50-10 Mbps", "'50-10 Mbps' is not the two rates of a line (did you mean '50/10 Mbps'?)"),
        ("100 Mbps", "'100 Mbps' is not the two rates of a line (did you mean '100 Mbps/100 Mbps'?)"),
        ("50/10/5 Mbps", "'50/10/5 Mbps' is not the two rates of a line; accepted: the rate down and"),
        ("/", "'/' is not the two rates of a line; accepted"),
        ("", "'' is not the two rates of a line; accepted"),
        ("50/10", "'50/10' has no unit ('50'); accepted: the rate down and the rate up, such as 50/10Mbps"),
        ("50/10 mbps", "'50/10 mbps' has a wrong unit (did you mean 'Mbps'?) ('50 mbps')"),
        ("50/-10Mbps", "'50/-10Mbps' has a rate that is not positive"),
        ("-50/10Mbps", "'-50/10Mbps' has a rate that is not positive"),
        ("0/10 Mbps", "'0/10 Mbps' is too small ('0 Mbps')"),
    ],
)
def test_what_is_no_line_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        read_rates(text)
    assert str(refused.value).startswith(f"--home: {message}")


def test_the_share_of_the_shapers() -> None:
    assert read_share("95 %") == read_share("0.95") == Fraction(19, 20)
    for text, problem in (("95", "is out of range"), ("49 %", "is out of range"), ("all", "is not a share")):
        with pytest.raises(InputError, match=problem):
            read_share(text)


def test_the_example_is_the_same_scenario() -> None:
    made = Scenario.from_dict(home_scenario(read_rates("50/10Mbps")))
    assert made.title == Scenario.load(EXAMPLE).title
    assert made.resolved == Scenario.load(EXAMPLE).resolved


def test_the_shapers_are_below_the_line_and_round_trips_are_asked_for() -> None:
    made = Scenario.from_dict(
        home_scenario(read_rates("1 Gbps/50 Mbps"), rtt="20 ms", share=Fraction(19, 20))
    )
    assert [link["rate_bps"] for link in made.links] == [950_000_000, 47_500_000]
    assert {flow["rtt"]["text"] for flow in made.flows} == {"20 ms"}
    assert made.title == "Home line 1 Gbps/50 Mbps"
    assert any("--rtt sets another" in each for each in about_home(None))
    assert not any("--rtt" in each for each in about_home("20 ms"))


@pytest.mark.parametrize(("rtt", "problem"), [("900 us", "is too short for a line"), ("20", "has no unit")])
def test_a_round_trip_that_the_line_exceeds_is_refused(rtt: str, problem: str) -> None:
    with pytest.raises(InputError, match=f"rtt: '{rtt}' {problem}"):
        home_scenario(read_rates("50/10Mbps"), rtt=rtt)


@pytest.mark.parametrize(("rtt", "delay_ms"), [("30 ms", 5), ("20 ms", 5), ("6 ms", 1.5), ("1 ms", 0.25)])
def test_the_line_leaves_half_of_its_round_trip_to_the_nearest_download(rtt: str, delay_ms: float) -> None:
    made = Scenario.from_dict(home_scenario(read_rates("1 Gbps/500 Mbps"), rtt=rtt))
    assert [link["delay_ps"] / 1e9 for link in made.links] == [delay_ms, delay_ms]
    made.seeded(1)  # raises where a flow's path is longer than its round trip


def test_a_home_s_line_shall_be_used_by_nine_tenths_whatever_the_queue() -> None:
    content = home_scenario(read_rates("50/10Mbps"))
    asked, written = (Scenario.from_dict(content, file=file) for file in ("--home", "line.toml"))
    for base, origin in ((asked, "default"), (written, "scenario")):
        needs = Needs.of(base, (), None, default_targets(base, 0)).with_floor(base, 0)
        assert [str(each) for each in needs.targets] == ["utilization at least 90 %"]
        assert needs.targets_from == origin
    needs = Needs.of(asked, ["loss < 1 %"], None, ()).with_floor(asked, 0)
    assert [str(each) for each in needs.targets] == ["loss at most 1 %", "utilization at least 90 %"]
    assert needs.is_assumed(needs.targets[1]) and "of a queue at" not in needs.assumed(eases=True)[0]
