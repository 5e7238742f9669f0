"""Packets of several segments: what the plan says, what is refused."""

from __future__ import annotations

import pytest

from bufferlab.errors import InputError
from bufferlab.plan import lower

from .conftest import Make


@pytest.mark.parametrize(
    ("offload", "lowered"),
    [("6 segments", {"segments": 6}), ("1 segments", {"segments": 1}), ("auto", "auto"), ("none", None)],
)
def test_the_plan_has_offload_where_there_is_some(make: Make, offload: str, lowered: object) -> None:
    source = lower(make({"flows.short.offload": offload}))["groups"][0]["source"]
    assert source.get("offload") == lowered
    assert lower(make({}))["groups"][0]["source"].get("offload") is None


@pytest.mark.parametrize(
    ("offload", "message"),
    [
        (
            "six",
            "flows[0].offload: 'six' is not a number with a unit; accepted: '6 segments' (1 to 128), 'auto'",
        ),
        (6, "flows[0].offload: 6 is not a text with a number and a unit"),
        ("0 segments", "flows[0].offload: '0 segments' is not a packet's number of segments"),
        ("1.5 segments", "is not a packet's number of segments"),
        ("129 segments", "is not a packet's number of segments"),
        (True, "flows[0].offload: True is not a text with a number and a unit"),
        (
            "46 segments",
            "flows[0].offload: '46 segments' is more than 64 KB; accepted: 1 to 45 segments of 1448 B",
        ),
    ],
)
def test_refused(make: Make, offload: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make({"flows.short.offload": offload})
    assert message in str(caught.value)


def test_the_bound_follows_the_segment(make: Make) -> None:
    make({"flows.short.offload": "120 segments", "flows.short.segment": "536 B"})
    with pytest.raises(InputError, match="1 to 7 segments of 8948 B"):
        make({"flows.short.offload": "8 segments", "flows.short.segment": "8948 B"})


def test_datagrams_have_none(make: Make) -> None:
    with pytest.raises(InputError, match=r"flows\[0\]\.offload: means nothing to a udp application"):
        make(
            {
                "flows.short.offload": "auto",
                "flows.short.application": {"kind": "udp", "packet": "1000 B", "rate": "1 Mbps"},
            }
        )
