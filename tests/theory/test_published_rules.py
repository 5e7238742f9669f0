"""Single flow, Stanford's error function, the band of Spang et al., BSCL and tiny buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bufferlab.errors import InputError
from bufferlab.evidence.heterogeneous.published import table_iii
from bufferlab.studies.size import Demand, Targets, get_rule
from bufferlab.theory import bscl, single_flow, spang, stanford, tiny

OC12 = {"rate_bps": 622e6, "rtt_s": 0.1, "flows": 200, "packet_bytes": 1500}


def test_single_flow_constants_of_spang() -> None:
    # Reno 1.000, CUBIC 0.428, CUBIC' 0.250, Scalable 0.143
    buffers = single_flow.single_flow_buffer(1.0, [0.5, 0.7, 0.8, 0.875])
    assert buffers.tolist() == pytest.approx([1.0, 3 / 7, 0.25, 1 / 7])


def test_single_flow_rule_takes_the_largest_fall_and_bbr_a_quarter() -> None:
    rule = get_rule("single-flow")
    demand = Demand(**OC12, mix=(("cubic-0.8", 10), ("cubic", 5)))  # type: ignore[arg-type]
    assert rule.buffer_bytes(demand) == pytest.approx(7.775e6 * 3 / 7)
    assert rule.buffer_bytes(Demand(**OC12, mix=(("bbr", 1),))) == pytest.approx(7.775e6 / 4)  # type: ignore[arg-type]


@given(beta=st.floats(0.1, 1.0), buffer=st.floats(0.0, 3.0))
def test_single_flow_utilization_is_full_exactly_from_the_rule_on(beta: float, buffer: float) -> None:
    need = float(single_flow.single_flow_buffer(1.0, beta))
    if abs(buffer - need) > 1e-9:
        assert (single_flow.single_flow_utilization(buffer, beta) == 1.0) is np.bool_(buffer > need)


def test_bbr_utilization() -> None:
    assert single_flow.bbr_utilization([0.0, 0.1, 0.25, 2.0]).tolist() == pytest.approx(
        [0.75, 0.85, 1.0, 1.0]
    )


def test_bdp_over_root_n_keeps_99_percent_by_the_error_function() -> None:
    flows = 10_000
    # the paper's example: "Util ≥ 98.99 %"
    assert stanford.erf_utilization(1.0, 0.01, flows) == pytest.approx(0.9899, abs=5e-5)


@given(utilization=st.floats(0.1, 0.9999), flows=st.integers(10, 10**6))
def test_error_function_and_its_inverse(utilization: float, flows: int) -> None:
    room = stanford.erf_buffer(5000.0, utilization, flows)
    assert stanford.erf_utilization(5000.0, room, flows) == pytest.approx(utilization)


@given(buffer=st.floats(0.01, 1e4), flows=st.integers(1, 10**6), more=st.floats(1.0001, 10.0))
def test_more_buffer_or_more_flows_never_lower_the_bound(buffer: float, flows: int, more: float) -> None:
    base = stanford.erf_utilization(5000.0, buffer, flows)
    assert stanford.erf_utilization(5000.0, buffer * more, flows) >= base
    assert stanford.erf_utilization(5000.0, buffer, flows * more) >= base


def test_band_of_spang() -> None:
    low, high = spang.band(100.0, [1, 4, 100])
    assert low.tolist() == [100.0, 50.0, 10.0]
    assert high.tolist() == [200.0, 100.0, 20.0]


def test_harmonic_mean_of_round_trip_times() -> None:
    assert bscl.effective_rtt_s([0.01, 0.99]) == pytest.approx(2 / (100 + 1 / 0.99))


def test_bscl_with_all_flows_synchronized_is_the_pipe() -> None:
    # all windows are hit at once if L is large: q = 1
    assert bscl.bscl_utilization_buffer(500.0, 10, lost_per_flow=1e3) == pytest.approx(500.0)
    assert bscl.bscl_utilization_buffer(500.0, 1) == pytest.approx(500.0)


@given(pipe=st.floats(10.0, 1e6), flows=st.integers(2, 1000), lost=st.floats(0.01, 5.0))
def test_bscl_leaves_the_pipe_full_just_after_the_loss(pipe: float, flows: int, lost: float) -> None:
    q = float(bscl.synchronized_share(flows, lost))
    room = float(bscl.bscl_utilization_buffer(pipe, flows, lost))
    left = (1 - q / 2) * (pipe + room) + flows * (1 - q)
    assert left >= pipe * (1 - 1e-9)
    if room > 0:
        assert left == pytest.approx(pipe)


def test_bscl_loss_buffer_is_proportional_to_the_flows_beyond_a_threshold() -> None:
    # 0.87 / sqrt(0.01) = 8.7 packets a flow, less the pipe of 435
    assert bscl.bscl_loss_buffer(435.0, [10, 50, 100, 200], 0.01).tolist() == pytest.approx([0, 0, 435, 1305])


def test_bscl_rule_uses_the_harmonic_mean_and_the_loss_bound() -> None:
    rule = get_rule("bscl")
    mixed = Demand(rate_bps=100e6, rtt_s=0.5, flows=2, packet_bytes=1000, harmonic_rtt_s=0.02)
    same = Demand(rate_bps=100e6, rtt_s=0.02, flows=2, packet_bytes=1000)
    assert rule.buffer_bytes(mixed) == pytest.approx(float(rule.buffer_bytes(same)))
    bounded = Demand(**OC12, targets=Targets(max_loss=1e-4))  # type: ignore[arg-type]
    expected = (200 * 87 - 622e6 * 0.1 / 12000) * 1500
    assert rule.buffer_bytes(bounded) == pytest.approx(expected)


def test_tiny_buffer_on_a_worked_value() -> None:
    # log_2(16² / (2 · 0.5)) = 8
    assert tiny.tiny_buffer_packets(16.0, 0.5, 0.5) == pytest.approx(8.0)


@given(window=st.floats(4.0, 1e5), load=st.floats(0.5, 0.95), kept=st.floats(0.0, 0.98))
def test_tiny_buffers_grow_with_window_load_and_what_is_kept(window: float, load: float, kept: float) -> None:
    base = tiny.tiny_buffer_packets(window, load, kept)
    assert tiny.tiny_buffer_packets(window * 2, load, kept) > base
    assert tiny.tiny_buffer_packets(window, load + 0.01, kept) > base
    assert tiny.tiny_buffer_packets(window, load, kept + 0.01) > base


def test_delay_rounds_down_and_the_document_rounds_up() -> None:
    demand = Demand(**OC12, targets=Targets(max_delay_s=0.00119, max_loss=0.01))  # type: ignore[arg-type]
    # 622 Mbps · 1.19 ms / 12000 bit = 61.7 packets
    assert get_rule("delay").buffer_packets(demand) == 61
    exact = float(get_rule("heterogeneous").buffer_bytes(demand)) / 1500
    assert get_rule("heterogeneous").buffer_packets(demand) == np.ceil(exact)


def test_rules_say_whether_they_apply() -> None:
    plain = Demand(**OC12)  # type: ignore[arg-type]
    assert not get_rule("delay").applies(plain)
    assert not get_rule("heterogeneous-loss").applies(plain)
    assert get_rule("heterogeneous").applies(plain)


def test_a_rule_without_an_answer_has_no_packets() -> None:
    # z = 5.6: even 0.19/1 is too much for one flow
    demand = Demand(rate_bps=1e6, rtt_s=0.1, targets=Targets(utilization=1 - 1e-8))
    with pytest.raises(ValueError, match="no buffer is enough"):
        get_rule("heterogeneous").buffer_packets(demand)


def test_a_protocol_with_a_window_dependent_epoch_is_evaluated_for_each_number_of_flows() -> None:
    few, many = Demand(rate_bps=622e6, rtt_s=0.1, flows=[20, 2000], mix=(("cubic", 1),)).characteristic
    assert few < many


def test_published_values_exist_for_the_document_protocols_only() -> None:
    published: dict[str, Any] = {
        "targets": Targets(characteristics="published"),
        "measured": table_iii(),
        **OC12,
    }
    assert Demand(mix=(("bic", 1),), **published).characteristic == pytest.approx(0.0241)
    with pytest.raises(InputError, match=r"'bbr' has no published .* accepted: .* reno, bic,"):
        _ = Demand(mix=(("bbr", 1),), **published).characteristic


@pytest.mark.parametrize(
    "call",
    [
        lambda: single_flow.single_flow_buffer(1.0, 0.0),
        lambda: single_flow.single_flow_buffer(1.0, 1.5),
        lambda: stanford.erf_buffer(1.0, 1.0, 10),
        lambda: bscl.bscl_loss_buffer(1.0, 10, 0.0),
        lambda: bscl.effective_rtt_s([]),
        lambda: tiny.tiny_buffer_packets(10.0, 1.0, 0.5),
        lambda: tiny.tiny_buffer_packets(10.0, 0.5, 1.0),
        lambda: spang.band(1.0, 0),
        lambda: Demand(rate_bps=1e6, rtt_s=0.1, mix=()),
        lambda: Demand(rate_bps=1e6, rtt_s=0.1, mix=(("reno", 0.0),)),
        lambda: Demand(rate_bps=1e6, rtt_s=0.1, harmonic_rtt_s=-1.0),
    ],
)
def test_nonsense_is_refused(call) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    with pytest.raises(ValueError, match="must"):
        call()
