"""Applications that are silent at times: what the plan says, what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.plan import lower

from .conftest import Make

S = 10**12
ON_OFF_PLAN = Path(__file__).parents[2] / "crates" / "simulator" / "src" / "plan" / "on_off.rs"
TURNS: dict[str, object] = {"kind": "on-off", "on": "1 s", "off": "exponential(mean=2 s)"}


def source(make: Make, application: dict[str, object], **flow: object) -> dict[str, Any]:
    given = {f"flows.short.{key}": value for key, value in flow.items()}
    scenario = make({"flows.short.application": application, **given})
    found: dict[str, Any] = lower(scenario)["groups"][0]["source"]
    return found


def test_keys_are_those_that_the_engine_reads(make: Make) -> None:
    body = re.search(r"pub struct OnOffPlan \{(.*?)\n\}", ON_OFF_PLAN.read_text(), re.DOTALL)
    assert body is not None
    web: dict[str, object] = {"kind": "web", "size": "100 KB", "every": "2 s"}
    fields = set(re.findall(r"pub (\w+):", body[1]))
    assert set(source(make, web)["on_off"]) == set(source(make, TURNS)["on_off"]) == fields


def test_laws_of_times_and_sizes(make: Make) -> None:
    on_off = source(make, TURNS)["on_off"]
    assert on_off["on"] == {"time_ps": {"kind": "constant", "value": S}}
    assert on_off["off_ps"] == {"kind": "exponential", "mean": 2 * S}
    by_size: dict[str, object] = {"kind": "on-off", "size": "pareto(mean=100 KB, shape=1.5)", "off": "1 s"}
    bytes_law = {"kind": "pareto", "mean": 100_000, "shape": 1.5}
    assert source(make, by_size)["on_off"]["on"] == {"bytes": bytes_law}


def test_the_window_after_a_silence_is_the_stack_s_unless_given(make: Make) -> None:
    words = {"rfc": "restart", "linux": "decay", "ns2-sack1": "keep", "inet-reno": "restart", "quic": "keep"}
    for stack, word in words.items():
        assert source(make, TURNS, stack=stack)["on_off"]["after_idle"] == word, stack
    assert source(make, TURNS, after_idle="keep")["on_off"]["after_idle"] == "keep"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"on": None}, "flows[0].application: needs either on or size"),
        ({"size": "1 KB"}, "flows[0].application: needs either on or size"),
        ({"off": None}, "flows[0].application.off:"),
        ({"on": "0 s"}, "flows[0].application.on: '0 s' is too small; accepted: a time of 1 us"),
        ({"off": "1 MB"}, "flows[0].application.off: '1 MB' has a wrong unit"),
        ({"off": "uniform(1 s, 2 s)"}, "'uniform(1 s, 2 s)' is not a law that is drawn during the run"),
        ({"off": "exponential(mean=1 s, max=2 s)"}, "is not a law that is drawn during the run"),
        ({"off": "pareto(mean=1 s, shape=0.5)"}, "has a shape out of bounds"),
        ({"of": "1 s"}, "flows[0].application.of: is not a known key (did you mean 'off'?)"),
    ],
)
def test_refused(make: Make, change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make({"flows.short.application": TURNS | change})
    assert message in str(caught.value)


def test_the_word_after_idle_is_checked(make: Make) -> None:
    with pytest.raises(InputError, match="accepted: keep, restart, decay"):
        make({"flows.short.after_idle": "reset"})


def test_the_plan_has_a_pace_where_there_is_one(make: Make) -> None:
    assert not lower(make({"flows.short.paced": False}))["groups"][0]["source"].get("paced")
    assert lower(make({"flows.short.paced": True}))["groups"][0]["source"]["paced"] is True
    with pytest.raises(InputError, match=r"flows\[0\]\.paced: True means nothing to bbr3"):
        make({"flows.short.paced": True, "flows.short.congestion": "bbr3"})


def test_a_page_is_a_burst_over_a_new_connection(make: Make) -> None:
    web: dict[str, object] = {"kind": "web", "size": "exponential(mean=100 KB)", "every": "2 s"}
    on_off = source(make, web)["on_off"]
    assert on_off["on"] == {"bytes": {"kind": "exponential", "mean": 100_000}}
    assert (on_off["off_ps"], on_off["fetch"]) == ({"kind": "constant", "value": 2 * S}, True)


def test_a_ping_is_a_datagram_that_is_returned(make: Make) -> None:
    ping = source(make, {"kind": "ping", "interval": "100 ms"}, rtt="1 s")
    assert (ping["kind"], ping["packet_bytes"], ping["interval_ps"]) == ("udp", 84, S // 10)
    assert (ping["echo"], ping["arrivals"], ping["sizes"]) == (True, "constant", "constant")
    assert ping["record"] is False
    voice: dict[str, object] = {"kind": "udp", "packet": "100 B", "interval": "20 ms", "record": True}
    assert source(make, voice)["record"] is True


@pytest.mark.parametrize(
    ("application", "flow", "message"),
    [
        ({"kind": "web", "size": "1 MB"}, {}, "flows[0].application.every: is required"),
        ({"kind": "web", "every": "2 s"}, {}, "flows[0].application.size: is required"),
        ({"kind": "web", "size": "0 B", "every": "2 s"}, {}, "flows[0].application.size: '0 B' is too small"),
        (
            {"kind": "web", "size": "1 B", "every": "0 s"},
            {},
            "flows[0].application.every: '0 s' is too small",
        ),
        ({"kind": "ping"}, {}, "flows[0].application.interval: is required"),
        ({"kind": "ping", "interval": "0 s"}, {}, "flows[0].application.interval: '0 s' is too small"),
        (
            {"kind": "ping", "interval": "1 s", "packet": "70 KB"},
            {},
            "flows[0].application.packet: '70 KB' is too large",
        ),
        (
            {"kind": "ping", "interval": "1 s"},
            {"congestion": "reno"},
            "flows[0].congestion: means nothing to a ping application",
        ),
        (
            {"kind": "udp", "packet": "1 KB", "interval": "1 s", "record": "yes"},
            {},
            "flows[0].application.record: 'yes' is not true or false",
        ),
    ],
)
def test_refused_pages_and_pings(
    make: Make, application: dict[str, object], flow: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        source(make, application, **flow)
    assert message in str(caught.value)
    assert caught.value.accepted
