"""A slow link sends few packets in a run: too few are refused, runs of numbers are as long as it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import bufferlab
from bufferlab.errors import InputError
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.question import RAISED, Question
from bufferlab.studies.size.quick import quick_scenario
from bufferlab.studies.targets import make_target

from ..small import dumbbell

FEW = (
    r"^run.duration: '10 s' lets bottleneck send 75 full packets in the 9 s measured, too few to judge by; "
    r"accepted: 14 s or more, for 100 packets$"
)


@pytest.mark.parametrize("ask", [bufferlab.advise, bufferlab.size, bufferlab.compare])
def test_runs_of_too_few_packets_are_refused(ask: Callable[..., Any]) -> None:
    scenario = Scenario.from_toml(dumbbell(duration="10 s", rate="100 kbps", buffer="5 packets"))
    with pytest.raises(InputError, match=FEW):
        ask(scenario)


def test_what_is_accepted_is_enough() -> None:
    scenario = Scenario.from_toml(dumbbell(duration="14 s", rate="100 kbps", buffer="5 packets"))
    assert question(scenario).site.packet_bytes == 1500


def test_an_option_that_stands_for_the_scenario_is_named() -> None:
    content = quick_scenario("1 bps", "40 ms", [("reno", 2)])
    with pytest.raises(InputError, match=r"^--rate: '1 bps' lets bottleneck send 0\.24 full packets"):
        bufferlab.advise(Scenario.from_dict(content, file="--rate/--rtt/--flows"))


@pytest.mark.parametrize(
    ("rate", "duration_s"),
    [("20 Mbps", 60), ("250 kbps", 60), ("100 kbps", 150), ("10 kbps", 1500), ("1 bps", 3600)],
)
def test_runs_of_numbers_measure_a_thousand_packets_in_an_hour_at_most(rate: str, duration_s: int) -> None:
    assert quick_scenario(rate, "40 ms", [("reno", 4)])["run"]["duration"] == f"{duration_s} s"


def test_no_buffer_is_tried_that_outlasts_a_tenth_of_what_is_measured() -> None:
    slow = Scenario.from_toml(dumbbell(duration="100 s", rate="150 kbps", buffer="5 packets"))
    assert (question(slow).upper, question(slow).most) == (64, 123)  # 1237 packets in 99 s
    fast = Scenario.from_toml(dumbbell(duration="100 s", rate="50 Mbps", buffer="5 packets"))
    assert question(fast).most == RAISED * question(fast).upper


def question(scenario: Scenario) -> Question:
    """What is asked of the link."""
    return Question.of(scenario, 0, (make_target("utilization", 0.9),))
