"""What users could gain at most."""

from __future__ import annotations

import pytest

from bufferlab.studies.advise.prospects import could_be_felt
from bufferlab.studies.choosing.objectives import Aspect, Kind, weights_for
from bufferlab.studies.targets import Values, make_target

from ...advised import entry

WAIT = Aspect("latency", "round trip", "wait_mean_ms", "less", 100.0)
RATE = Aspect("throughput", "goodput", "long.goodput_bps", "more")
JAIN = Aspect("fairness", "Jain's index", "long.jain_index", "more")
RATING = Aspect("calls", "rating", "call.call_r", "more")
LOSS = Aspect("calls", "loss", "call.loss", "rest")
BUSY = make_target("utilization", 0.99)
PAGE = Aspect("pages", "median fetch time", "web.exchange_p50_s", "less")

GOOD: Values = {
    "utilization": 0.99,
    "wait_mean_ms": 9.0,
    "long.goodput_bps": 3e6,
    "long.jain_index": 0.97,
    "call.call_r": 92.0,
    "call.loss": 0.001,
    "web.exchange_p50_s": 0.2,
}


def felt(*aspects: Aspect, groups: int = 1, emphasis: str | None = None, **other: float | None) -> bool:
    values: Values = dict(GOOD) | {name.replace("__", "."): value for name, value in other.items()}
    weights: dict[Kind, float] = weights_for(emphasis, aspects)
    return could_be_felt(entry("fifo", 40, [values] * 3, [BUSY]), aspects, weights, groups=groups)


def test_a_short_wait_beside_a_long_round_trip_is_not_felt() -> None:
    assert not felt(WAIT, RATE, JAIN)
    assert felt(WAIT, RATE, JAIN, wait_mean_ms=25.0)  # a fifth of the round trip


def test_it_is_felt_where_waits_matter_most() -> None:
    assert felt(WAIT, RATE, JAIN, emphasis="latency")


@pytest.mark.parametrize("used", [0.89, 0.5])
def test_a_link_that_could_carry_more_is_felt(used: float) -> None:
    assert felt(WAIT, RATE, JAIN, utilization=used)


def test_calls_that_could_be_better_are_felt_before_other_things_are() -> None:
    assert not felt(RATING, LOSS)
    assert felt(RATING, LOSS, call__call_r=88.0)  # 5.6 % below the best rating
    assert felt(RATING, LOSS, call__loss=0.06)


@pytest.mark.parametrize("aspect", [PAGE, RATE])
def test_what_has_no_known_bound_may_be_felt(aspect: Aspect) -> None:
    assert felt(WAIT, aspect, groups=2)


def test_what_was_not_measured_may_be_felt() -> None:
    assert felt(WAIT, RATING, call__call_r=None)
