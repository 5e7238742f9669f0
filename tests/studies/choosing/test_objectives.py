"""What users feel, as numbers."""

from __future__ import annotations

import math
import re
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bufferlab.errors import InputError
from bufferlab.experiment.simulation import prepare
from bufferlab.studies.choosing.objectives import (
    EMPHASIS,
    Aspect,
    Emphasis,
    Kind,
    aspects_of,
    possible_aspects,
    score,
    weights_for,
)
from bufferlab.studies.targets import Values

WAIT = Aspect("latency", "round trip", "wait_mean_ms", "less", 20.0)
RATE = Aspect("throughput", "goodput", "bulk.goodput_bps", "more")
LOST = Aspect("calls", "loss", "call.loss", "rest")
RATING = Aspect("calls", "rating", "call.call_r", "more")

amounts = st.floats(0.01, 1e9)


@pytest.mark.parametrize(
    ("aspect", "value", "utility"),
    [
        (WAIT, 30.0, 1 / 50),
        (WAIT, 0.0, 1 / 20),
        (RATE, 5e6, 5e6),
        (RATE, 0.0, 1e-3),
        (LOST, 0.25, 0.75),
        (LOST, 1.0, 1e-3),
        (RATING, None, 1e-3),
        (RATING, math.nan, 1e-3),
    ],
)
def test_utilities(aspect: Aspect, value: float | None, utility: float) -> None:
    assert aspect.utility({aspect.metric: value}) == pytest.approx(utility)


def test_a_value_that_is_not_there_is_the_worst() -> None:
    assert RATING.utility({}) == 1e-3


@given(amounts, amounts, st.floats(1.01, 10))
@settings(max_examples=40, deadline=None)
def test_ten_percent_is_ten_percent_whatever_the_unit(rate: float, wait: float, factor: float) -> None:
    """A queue with twice the goodput is as much better as one with half the round trip."""
    weights = weights_for(None, [RATE, WAIT])
    base: Values = {"bulk.goodput_bps": rate, "wait_mean_ms": wait}
    more = dict(base) | {"bulk.goodput_bps": rate * factor}
    less = dict(base) | {"wait_mean_ms": (wait + 20) / factor - 20}
    gained = [
        score(each, [RATE, WAIT], weights) - score(base, [RATE, WAIT], weights) for each in (more, less)
    ]
    assert gained[0] == pytest.approx(math.log(factor) / 2, abs=1e-9)
    assert gained[1] == pytest.approx(gained[0], abs=1e-6)


def test_a_kind_counts_once_however_many_aspects_it_has() -> None:
    aspects = [RATE, LOST, RATING]
    weights = weights_for(None, aspects)
    base: Values = {"bulk.goodput_bps": 1e6, "call.loss": 0.0, "call.call_r": 80.0}
    half = dict(base) | {"call.call_r": 40.0}
    gone = score(base, aspects, weights) - score(half, aspects, weights)
    assert gone == pytest.approx(math.log(2) / 2 / 2)


def test_the_kind_that_matters_weighs_more() -> None:
    assert weights_for(None, [WAIT, RATE, LOST]) == {"latency": 1.0, "throughput": 1.0, "calls": 1.0}
    assert weights_for("calls", [WAIT, LOST, RATING]) == {"latency": 1.0, "calls": EMPHASIS}


@pytest.mark.parametrize("emphasis", ["pages", "speed", ""])
def test_a_kind_that_the_scenario_has_not_is_an_error(emphasis: str) -> None:
    with pytest.raises(InputError) as error:
        weights_for(emphasis, [WAIT, RATE])
    assert error.value.key == "for" and error.value.value == emphasis
    assert error.value.accepted == "throughput, fairness, latency"


def test_it_says_what_traffic_would_tell_of_it() -> None:
    with pytest.raises(InputError) as error:
        weights_for("calls", [WAIT, RATE])
    assert 'it has no calls, which flows with application = { kind = "udp", ' in str(error.value)


@pytest.mark.parametrize("kind", ["calls", "pages", "transfers"])
def test_the_traffic_that_it_names_tells_of_it(kind: Kind) -> None:
    with pytest.raises(InputError) as error:
        weights_for(kind, [])
    written = re.search(r"application = (\{.*?\})", str(error.value))
    given = {} if written is None else {"application": tomllib.loads(f"a = {written[1]}")["a"]}
    found = aspects({"name": "a", "rtt": "20 ms", "count": 2, **given})
    assert kind in {each.kind for each in found}


def aspects(
    *flows: dict[str, Any], without: tuple[str, ...] = (), emphasis: Emphasis | None = None
) -> list[Aspect]:
    """The aspects of some flows, whose runs have every value but some."""
    base = prepare(
        {
            "run": {"duration": "2 s"},
            "bottleneck": {"rate": "10 Mbps", "delay": "2 ms", "buffer": "20 packets"},
            "flows": list(flows),
        }
    )
    metrics = [each.metric for each in possible_aspects(base, 20.0, emphasis)]
    values = {metric: None if metric in without else 1.0 for metric in metrics}
    return aspects_of(base, [values], 20.0, emphasis)


def flow(name: str, kind: str | None = None, count: int = 1, **more: Any) -> dict[str, Any]:
    application = {} if kind is None else {"application": {"kind": kind} | more}
    return {"name": name, "rtt": "20 ms", "count": count} | application


CALL = flow("call", "udp", interval="20 ms", packet="200 B", record=True)
BLAST = flow("blast", "udp", interval="1 ms", packet="200 B")
PINGS = flow("pings", "ping", interval="100 ms")


def test_aspects_follow_from_the_traffic() -> None:
    found = aspects(flow("many", count=3), flow("one"), CALL, PINGS, flow("file", "transfer", bytes="1 MB"))
    assert [(each.kind, each.metric) for each in found] == [
        ("throughput", "many.goodput_bps"),
        ("fairness", "many.jain_index"),
        ("throughput", "one.goodput_bps"),
        ("calls", "call.call_r"),
        ("calls", "call.loss"),
        ("latency", "pings.loaded_rtt_p95_ms"),
        ("transfers", "file.completion_s"),
    ]


@pytest.mark.parametrize(
    ("more", "is_felt"), [((), True), ((BLAST,), True), ((CALL,), False), ((PINGS,), False)]
)
def test_the_mean_wait_is_felt_where_nobody_pings_or_calls(
    more: tuple[dict[str, Any], ...], *, is_felt: bool
) -> None:
    found = [each for each in aspects(flow("bulk"), *more) if each.metric == "wait_mean_ms"]
    assert [each.offset for each in found] == ([20.0] if is_felt else [])


def test_what_no_run_has_a_value_for_is_no_aspect() -> None:
    found = aspects(BLAST, without=("blast.call_r",))
    assert [each.metric for each in found] == ["wait_mean_ms", "blast.loss"]


WEB = flow("pages", "web", size="20 KB", every="1 s")


@pytest.mark.parametrize(
    ("kind", "flows", "metric"),
    [
        ("latency", (CALL, flow("bulk")), "wait_mean_ms"),
        ("latency", (PINGS, flow("bulk")), None),
        ("throughput", (CALL, WEB), "throughput_bps"),
        ("throughput", (CALL, flow("bulk")), None),
        ("fairness", (flow("one"), flow("other")), "jain_index"),
        ("fairness", (flow("one"), flow("many", count=3)), None),
    ],
)
def test_what_is_asked_for_is_taken_of_all_traffic_where_no_group_tells_of_it(
    kind: Kind, flows: tuple[dict[str, Any], ...], metric: str | None
) -> None:
    usual = aspects(*flows)
    both: tuple[Emphasis, ...] = (kind, {kind: 3.0})
    for emphasis in both:
        found = aspects(*flows, emphasis=emphasis)
        assert [each.metric for each in found if each not in usual] == [metric] * (metric is not None)
        assert weights_for(emphasis, found)[kind] in {EMPHASIS, 3.0}
    assert aspects(*flows, emphasis={kind: 0.0}) == usual
    assert kind not in weights_for({kind: 0.0}, [LOST]) and weights_for({kind: 0.0}, [LOST]) == {"calls": 1.0}


def test_the_parts_of_a_video_call_are_felt_together() -> None:
    """Averaged, twice the bitrate with fewer late frames was worth less than 29 % of a backup's goodput."""
    kinds = aspects(flow("meeting", "video-call"), flow("backup"))
    weights = weights_for(None, kinds)
    dropping = {
        "meeting.goodput_bps": 0.99e6,
        "meeting.frame_p95_ms": 72.7,
        "meeting.frames_late": 0.029,
        "backup.goodput_bps": 3.69e6,
    }
    apart = {
        "meeting.goodput_bps": 2.14e6,
        "meeting.frame_p95_ms": 73.2,
        "meeting.frames_late": 0.01,
        "backup.goodput_bps": 2.62e6,
    }
    gain = score(apart, kinds, weights) - score(dropping, kinds, weights)
    of_call = 2.14 / 0.99 * 72.7 / 73.2 * 0.99 / 0.971
    assert gain == pytest.approx((math.log(of_call) + math.log(2.62 / 3.69)) / 2) and gain > 0.2
