"""How busy a link shall be, if nobody says it."""

from __future__ import annotations

from typing import Any

import pytest

from bufferlab.scenario import Scenario
from bufferlab.studies.advise.floor import FLOOR, USUAL_FLOOR, default_targets
from bufferlab.studies.advise.needs import Needs
from bufferlab.studies.advise.question import Question
from bufferlab.studies.advise.queues import queues_for

BULK: dict[str, Any] = {"name": "bulk", "count": 2, "rtt": "20 ms"}
CALL: dict[str, Any] = {
    "name": "call",
    "rtt": "20 ms",
    "application": {"kind": "udp", "packet": "200 B", "interval": "20 ms", "record": True},
}


def scenario(*flows: dict[str, Any]) -> Scenario:
    return Scenario.from_dict(
        {
            "run": {"duration": "2 s"},
            "bottleneck": {"rate": "10 Mbps", "delay": "1 ms", "buffer": "20 packets"},
            "flows": list(flows),
        }
    )


def needs(base: Scenario, *targets: str) -> Needs:
    return Needs.of(base, targets, None, default_targets(base, 0)).with_floor(base, 0)


@pytest.mark.parametrize(
    ("asked", "met"),
    [
        ((), ["utilization"]),
        (("call.r > 80",), ["call.call_r", "utilization"]),
        (("loss < 1 %", "call.r > 80"), ["loss", "call.call_r", "utilization"]),
        (("utilization >= 50 %", "call.r > 80"), ["utilization", "call.call_r"]),
        (("bulk.goodput >= 1 Mbps",), ["bulk.goodput_bps"]),
        (("wait_p99 < 20 ms",), ["wait_p99_ms"]),
    ],
)
def test_the_link_shall_be_busy_unless_targets_say_how_busy(asked: tuple[str, ...], met: list[str]) -> None:
    assert [target.name for target in needs(scenario(BULK, CALL), *asked).targets] == met


@pytest.mark.parametrize(("asked", "met"), [((), ["loss"]), (("call.r > 80",), ["call.call_r"])])
def test_what_cannot_fill_the_link_need_not(asked: tuple[str, ...], met: list[str]) -> None:
    found = needs(scenario(CALL), *asked)
    assert [target.name for target in found.targets] == met
    assert found.floor is None and found.assumed() == ()


def test_who_did_not_ask_learns_of_the_default() -> None:
    (said,) = needs(scenario(BULK, CALL), "call.r > 80").assumed()
    assert said.startswith("utilization at least 90 %, as nobody said how busy")


@pytest.mark.parametrize(
    ("other", "bound"),
    [
        (CALL, USUAL_FLOOR),
        ({"name": "meeting", "application": {"kind": "video-call"}, "rtt": "20 ms"}, USUAL_FLOOR),
        (
            {**BULK, "name": "web", "application": {"kind": "web", "size": "50 KB", "every": "1 s"}},
            USUAL_FLOOR,
        ),
        ({**BULK, "name": "more"}, FLOOR),
        (
            {**CALL, "name": "flood", "application": {"kind": "udp", "packet": "1 kB", "rate": "1 Mbps"}},
            FLOOR,
        ),
    ],
)
def test_less_use_is_assumed_where_others_feel_waits(other: dict[str, Any], bound: float) -> None:
    assert [target.bound for target in needs(scenario(BULK, other)).targets] == [bound]


def test_a_queue_at_its_usual_target_needs_less_of_what_nobody_asked_for() -> None:
    base = scenario(BULK)
    queues = queues_for("codel,fifo", base, 0, upper=64, packet_us=1200.0, rtt_us=20_000.0)
    codel, fifo = queues
    assumed, asked = needs(base), needs(base, "utilization >= 99 %")
    for found, usual in ((assumed, USUAL_FLOOR), (asked, FLOOR)):
        question = Question.of(base, 0, found.targets, found.floor)
        assert question.targets_at(codel, codel.usual)[0].bound == usual
        assert question.targets_at(codel, codel.usual + 1)[0].bound == FLOOR
        assert question.targets_at(fifo, fifo.usual)[0].bound == FLOOR
