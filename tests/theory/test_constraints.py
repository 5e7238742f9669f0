"""Which buffers meet utilization, loss and delay, and what is given up."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bufferlab.errors import InputError
from bufferlab.studies.size import Demand, Feasibility, Targets, feasibility, get_rule
from bufferlab.theory.normal import z_score

MIX = (("reno", 42), ("bic", 51), ("cubic-0.8", 30), ("cubic-0.7", 41), ("ctcp", 34))


def demand(**targets: float | str) -> Demand:
    """The document's evaluation: 198 flows on an OC-12, 100 ms."""
    return Demand(
        rate_bps=622e6,
        rtt_s=0.1,
        flows=198,
        mix=MIX,
        targets=Targets(**targets),  # type: ignore[arg-type]
    )


def with_way(asked: Demand, found: Feasibility, constraint: str, margin: float = 1e-6) -> Demand:
    """The demand with one of the ways out taken, a hair more than stated."""
    value = next(way.value for way in found.ways_out if way.constraint == constraint)
    if constraint == "flows":
        return dataclasses.replace(asked, flows=int(value))
    changes = {
        "delay": {"max_delay_s": value * (1 + margin)},
        "loss": {"max_loss": value * (1 + margin)},
        "utilization": {"utilization": value * (1 - margin)},
    }
    return dataclasses.replace(
        asked,
        targets=dataclasses.replace(asked.targets, **changes[constraint]),  # type: ignore[arg-type]
    )


def test_the_range_of_the_documents_mix() -> None:
    found = feasibility(demand(max_loss=0.01, max_delay_s=0.02))
    assert found.feasible and found.binding == "loss"
    assert found.loss_bytes == pytest.approx(
        float(get_rule("heterogeneous-loss").buffer_bytes(demand(max_loss=0.01)))
    )
    assert found.delay_bytes == pytest.approx(1.555e6)
    assert found.compromise is None and found.ways_out == ()


def test_a_loose_loss_bound_holds_for_any_buffer() -> None:
    found = feasibility(demand(max_loss=0.05))
    assert found.any_buffer_bounds_loss and found.loss_bytes == 0.0
    assert found.binding == "utilization"


def test_a_delay_bound_that_is_too_small_costs_utilization_and_loss() -> None:
    found = feasibility(demand(max_loss=0.01, max_delay_s=0.001))
    assert not found.feasible
    assert found.compromise is not None
    # by hand: gamma = (7.775e6 + 77750)/(7.775e6 + B_l), (18), then the normal distribution
    asked = demand(max_loss=0.01)
    spread = float(asked.spread)
    gamma = (7.775e6 + 77750) / (7.775e6 / (1 - float(z_score(0.99)) * spread))
    z = float(z_score(0.99)) / gamma - (1 / gamma - 1) / spread
    assert found.compromise.utilization == pytest.approx(0.5 * (1 + math.erf(z / math.sqrt(2))))
    assert found.compromise.utilization_given_up == pytest.approx(0.99 - found.compromise.utilization)
    assert found.loss_bytes is not None
    assert found.compromise.loss_added == pytest.approx(
        (found.loss_bytes - 77750) / (7.775e6 + found.loss_bytes)
    )


@pytest.mark.parametrize("constraint", ["delay", "loss", "utilization", "flows"])
def test_each_way_out_is_enough_and_no_more_than_that(constraint: str) -> None:
    asked = demand(max_loss=0.01, max_delay_s=0.003)
    found = feasibility(asked)
    assert not found.feasible
    assert feasibility(with_way(asked, found, constraint)).feasible
    if constraint == "flows":
        flows = int(next(way.value for way in found.ways_out if way.constraint == "flows"))
        assert not feasibility(dataclasses.replace(asked, flows=flows - 1)).feasible
    else:
        assert not feasibility(with_way(asked, found, constraint, margin=-1e-4)).feasible


def test_too_few_flows_for_any_buffer() -> None:
    asked = Demand(rate_bps=1e6, rtt_s=0.1, targets=Targets(utilization=1 - 1e-8, max_delay_s=0.1))
    found = feasibility(asked)
    assert not found.feasible and found.compromise is None
    assert {way.constraint for way in found.ways_out} == {"utilization", "flows"}


@settings(max_examples=40, deadline=None)
@given(
    flows=st.integers(10, 10**5),
    loss=st.floats(0.0005, 0.1),
    delay_s=st.floats(1e-4, 0.2),
    utilization=st.floats(0.6, 0.9999),
)
def test_what_is_feasible_stays_so_with_more_delay_loss_or_flows(
    flows: int, loss: float, delay_s: float, utilization: float
) -> None:
    targets = Targets(utilization=utilization, max_loss=loss, max_delay_s=delay_s)
    asked = Demand(rate_bps=622e6, rtt_s=0.1, flows=flows, targets=targets)
    found = feasibility(asked)
    looser = [
        dataclasses.replace(asked, flows=2 * flows),
        dataclasses.replace(asked, targets=dataclasses.replace(targets, max_loss=loss * 1.1)),
        dataclasses.replace(asked, targets=dataclasses.replace(targets, max_delay_s=delay_s * 1.1)),
    ]
    if found.feasible:
        assert all(feasibility(each).feasible for each in looser)
    else:
        assert found.compromise is not None
        assert found.compromise.utilization_given_up > 0 or found.compromise.loss_added > 0


@pytest.mark.parametrize(
    ("bad", "key"),
    [
        ({"utilization": 1.0}, "utilization"),
        ({"utilization": 0.0}, "utilization"),
        ({"utilization": float("nan")}, "utilization"),
        ({"utilization": 0.5, "convention": "document"}, "utilization"),
        ({"max_loss": 1.0}, "max_loss"),
        ({"max_loss": 0.0}, "max_loss"),
        ({"max_loss": -0.1}, "max_loss"),
        ({"max_delay_s": 0.0}, "max_delay_s"),
        ({"max_delay_s": float("inf")}, "max_delay_s"),
        ({"confidence": 1.0}, "confidence"),
        ({"convention": "two-sided"}, "convention"),
        ({"characteristics": "guessed"}, "characteristics"),
    ],
)
def test_targets_that_nothing_can_meet_are_refused(bad: dict[str, float | str], key: str) -> None:
    with pytest.raises(InputError) as error:
        Targets(**bad)  # type: ignore[arg-type]
    assert error.value.key == key and error.value.accepted


def test_vegas_needs_room_for_what_it_keeps_waiting() -> None:
    vegas = Demand(rate_bps=155e6, rtt_s=0.1, flows=10, mix=(("vegas", 1.0),))
    assert float(get_rule("heterogeneous").buffer_packets(vegas)) == 40
    assert feasibility(vegas).utilization_bytes == 40 * 1500
    half = dataclasses.replace(vegas, mix=(("vegas", 1.0), ("reno", 1.0)))
    reno = dataclasses.replace(vegas, mix=(("fixed", 1.0), ("reno", 1.0)))
    rule = get_rule("heterogeneous")
    assert float(rule.buffer_packets(half)) == float(rule.buffer_packets(reno)) + 20
    late = feasibility(dataclasses.replace(vegas, targets=Targets(max_delay_s=1e-3, max_loss=0.01)))
    assert not late.feasible
    assert late.compromise is None
    assert late.any_buffer_bounds_loss is False
