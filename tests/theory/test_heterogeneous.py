"""The equations of the heterogeneous-TCP document: its numbers, its identities, and their laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bufferlab.evidence.heterogeneous.published import table_iii
from bufferlab.evidence.heterogeneous.settings import AS_PUBLISHED
from bufferlab.theory import heterogeneous as theory
from bufferlab.theory.normal import probability_of

RENO, BIC = table_iii()["reno"], table_iii()["bic"]
Z = AS_PUBLISHED.z
BDP = 622e6 * 0.1 / 8

spreads = st.floats(1e-4, 0.3)
z_scores = st.floats(0.1, 3.0)
losses = st.floats(1e-4, 0.2)


def test_mix_of_the_evaluation() -> None:
    counts = {"reno": 42, "bic": 51, "cubic-0.8": 30, "cubic-0.7": 41, "ctcp": 34}
    value = theory.mix_characteristic([table_iii()[name] for name in counts], list(counts.values()))
    assert value == pytest.approx(0.12817, abs=5e-6)
    spread = theory.relative_deviation(value, 198)
    busy = theory.utilization_buffer(BDP, spread, Z)
    both = theory.combined_buffer(BDP, spread, Z, Z, 0.01)
    assert (both / busy - 1) * 100 == pytest.approx(45.45, abs=0.005)


def test_flows_for_a_loss_bound_of_one_percent() -> None:
    assert theory.least_flows_for_loss([BIC, RENO], Z, 0.01).tolist() == [24, 1526]


def test_increase_for_a_loss_of_0_0035() -> None:
    spread = theory.relative_deviation([BIC, RENO], 200)
    increase = (
        theory.combined_buffer(BDP, spread, Z, Z, 0.0035) / theory.utilization_buffer(BDP, spread, Z) - 1
    )
    assert increase.tolist() == pytest.approx([0.0, 0.87], abs=0.002)


def test_without_a_buffer_the_z_score_is_zero() -> None:
    spread = theory.relative_deviation(RENO, 200)
    wanted = theory.utilization_buffer(BDP, spread, Z)
    gamma = theory.shrinkage(BDP, 0.0, wanted)
    z = theory.compromised_z(Z, spread, gamma)
    assert z == pytest.approx(0.0, abs=1e-12)
    assert 0.99 - probability_of(z, "document") == pytest.approx(0.24)


def test_theorem_2_on_a_worked_value() -> None:
    # a/sqrt n = 0.05, z = 2: 1000 / 0.9 - 1000
    assert theory.utilization_buffer(1000.0, 0.05, 2.0) == pytest.approx(1000 / 9)


def test_theorem_3_is_ten_with_the_deviation_of_six() -> None:
    by_moments = theory.loss_buffer_by_moments(1000.0, 1100.0, 55.0, 2.0, 0.01)
    assert by_moments == pytest.approx((2 * 55 + 1100) * 0.99 - 1000)
    assert theory.loss_buffer(1000.0, 1100.0, 0.05, 2.0, 0.01) == pytest.approx(float(by_moments))


def test_delay_and_extra_loss_on_worked_values() -> None:
    assert theory.delay_buffer(622e6 / 8, 0.02) == pytest.approx(1.555e6)
    assert theory.extra_loss(1000.0, 50.0, 250.0) == pytest.approx(200 / 1250)
    assert theory.extra_loss(1000.0, 250.0, 50.0) == 0.0


def test_too_few_flows_have_no_buffer() -> None:
    assert math.isinf(theory.utilization_buffer(BDP, 0.5, 2.1))
    assert math.isfinite(theory.utilization_buffer(BDP, 0.5, 1.9))


def test_below_one_half_no_buffer_is_needed() -> None:
    assert theory.utilization_buffer(BDP, 0.1, -1.0) == 0.0


def test_arrays_over_flows_loss_and_z_broadcast() -> None:
    spread = theory.relative_deviation(RENO, np.array([200, 800]))[:, None]
    both = theory.combined_buffer(BDP, spread, Z, np.array([1.0, 2.0, 2.5]), 0.005)
    assert both.shape == (2, 3)
    assert both[1, 2] == pytest.approx(
        float(theory.combined_buffer(BDP, RENO / math.sqrt(800), Z, 2.5, 0.005))
    )


@given(spread=spreads, z=z_scores)
def test_theorem_2_is_the_boundary_of_theorem_1(spread: float, z: float) -> None:
    mean = BDP + float(theory.utilization_buffer(BDP, spread, z))
    assert mean == pytest.approx(float(theory.least_mean_by_deviation(BDP, spread * mean, z)))
    assert theory.z_by_mean(BDP, mean, spread * mean) == pytest.approx(z, rel=1e-6, abs=1e-8)


@given(value=st.floats(0.01, 0.4), flows=st.integers(10, 10**5), more=st.integers(1, 1000), z=z_scores)
def test_more_flows_need_less(value: float, flows: int, more: int, z: float) -> None:
    few, many = theory.relative_deviation(value, [flows, flows + more])
    assert theory.utilization_buffer(BDP, many, z) < theory.utilization_buffer(BDP, few, z)
    assert theory.combined_buffer(BDP, many, z, z, 0.01) < theory.combined_buffer(BDP, few, z, z, 0.01)


@given(spread=spreads, z=z_scores, step=st.floats(1e-3, 0.3))
def test_a_higher_utilization_needs_more(spread: float, z: float, step: float) -> None:
    assert theory.utilization_buffer(BDP, spread, z + step) > theory.utilization_buffer(BDP, spread, z)


@given(spread=spreads, z=z_scores, phi=losses, step=st.floats(1e-4, 0.3))
def test_a_looser_loss_bound_never_needs_more(spread: float, z: float, phi: float, step: float) -> None:
    tight = theory.combined_buffer(BDP, spread, z, z, phi)
    loose = theory.combined_buffer(BDP, spread, z, z, phi + step)
    assert loose <= tight
    assert loose >= theory.utilization_buffer(BDP, spread, z)


@given(spread=spreads, z=z_scores, phi=losses)
def test_twelve_holds_exactly_where_the_loss_bound_adds_nothing(spread: float, z: float, phi: float) -> None:
    least = float(theory.loss_of_any_buffer(spread, z))
    if abs(phi - least) < 1e-9:
        return
    assert bool(theory.any_buffer_bounds_loss(spread, z, phi)) is (phi > least)
    busy = theory.utilization_buffer(BDP, spread, z)
    adds = theory.utilization_and_loss_buffer(BDP, spread, z, z, phi) > busy
    assert bool(adds) is (phi < least)


@given(value=st.floats(0.01, 0.4), z=z_scores, phi=losses)
def test_least_flows_are_the_least(value: float, z: float, phi: float) -> None:
    flows = float(theory.least_flows_for_loss(value, z, phi))
    assert theory.any_buffer_bounds_loss(value / math.sqrt(flows * (1 + 1e-9)), z, phi)
    if flows > 1:
        assert not theory.any_buffer_bounds_loss(value / math.sqrt((flows - 1) * (1 - 1e-9)), z, phi)


@given(spread=spreads, z=z_scores, share=st.floats(0.0, 1.0), step=st.floats(0.001, 0.5))
def test_a_smaller_buffer_leaves_a_smaller_z(spread: float, z: float, share: float, step: float) -> None:
    wanted = float(theory.utilization_buffer(BDP, spread, z))
    less = theory.compromised_z(z, spread, theory.shrinkage(BDP, share * wanted, wanted))
    more = theory.compromised_z(z, spread, theory.shrinkage(BDP, min(share + step, 1.0) * wanted, wanted))
    assert less <= more + 1e-9
    assert more <= z + 1e-9


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.relative_deviation(0.1, 0),
        lambda: theory.relative_deviation(-0.1, 10),
        lambda: theory.utilization_buffer(0.0, 0.1, 2.0),
        lambda: theory.combined_buffer(BDP, 0.1, 2.0, 2.0, 1.0),
        lambda: theory.combined_buffer(BDP, 0.1, 2.0, 2.0, -0.1),
        lambda: theory.compromised_z(2.0, 0.0, 0.9),
        lambda: theory.mix_characteristic([0.1], [0]),
        lambda: theory.mix_characteristic([0.1, 0.2], [1]),
        lambda: theory.utilization_buffer(float("nan"), 0.1, 2.0),
    ],
)
def test_nonsense_is_refused(call) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    with pytest.raises(ValueError, match=r"must be"):
        call()
