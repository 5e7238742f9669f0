"""Datagrams that do not yield lose for themselves where flows are kept apart, and else for all."""

from __future__ import annotations

from typing import Final

from bufferlab.studies.advise.entry import Users
from bufferlab.studies.choosing.choice import loses_too_much, losses_of, standing
from bufferlab.studies.choosing.losses import felt, floods
from bufferlab.studies.targets import Values, make_target

GROUPS: Final = (
    Users("tcp", "bulk", 4, "cubic"),
    Users("flood", "udp", 1, None),
    Users("call", "udp", 1, None),
)
APART: Final[Values] = {
    "loss": 0.5,
    "tcp.loss": 0.005,
    "flood.loss": 0.78,
    "call.loss": 0.0,
    "call.call_r": 93.0,
    "wait_mean_ms": 107.0,
    "tcp.wait_mean_ms": 8.0,
    "flood.wait_mean_ms": 200.0,
    "call.wait_mean_ms": 1.0,
}
TOGETHER: Final[Values] = {
    "loss": 0.11,
    "tcp.loss": 0.1,
    "flood.loss": 0.11,
    "call.loss": 0.12,
    "call.call_r": 60.0,
    "wait_mean_ms": 50.0,
    "tcp.wait_mean_ms": 50.0,
    "flood.wait_mean_ms": 50.0,
    "call.wait_mean_ms": 50.0,
}
BUSY: Final = (make_target("utilization", 0.99),)


def test_what_others_feel_is_known_from_what_a_flood_does_to_itself() -> None:
    assert floods(APART.get, GROUPS) == {"flood": 0.78}
    assert felt("loss", APART.get, GROUPS) == 0.005
    assert felt("wait_mean_ms", APART.get, GROUPS) == 8.0
    assert felt("loss", TOGETHER.get, GROUPS) == 0.11


def test_a_call_that_loses_is_no_flood() -> None:
    lost: Values = {"loss": 0.2, "call.loss": 0.3, "call.call_r": 20.0, "tcp.loss": 0.01}
    assert floods(lost.get, GROUPS) == {} and felt("loss", lost.get, GROUPS) == 0.2


def test_where_all_is_flood_its_loss_counts() -> None:
    alone = GROUPS[1:2]
    values: Values = {"loss": 0.3, "flood.loss": 0.3}
    assert felt("loss", values.get, alone) == 0.3


def test_a_queue_is_out_for_what_others_lose_and_late_for_what_others_wait() -> None:
    contest = {"fq_codel": [APART], "pie": [TOGETHER]}
    assert losses_of(contest, BUSY, GROUPS) == {"fq_codel": 0.005, "pie": 0.11}
    assert losses_of(contest, [make_target("loss", 0.2)], GROUPS) == {}
    assert [loses_too_much(runs, BUSY, GROUPS) for runs in contest.values()] == [False, True]
    assert standing(contest, 40.0, BUSY, GROUPS) == {"pie"}
    assert standing(contest, 40.0, BUSY) == {"fq_codel", "pie"}
