"""Characteristic values: numeric integration, closed forms, and Table III with its slip."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bufferlab.errors import InputError
from bufferlab.evidence.heterogeneous.published import table_iii
from bufferlab.scenario import Scenario
from bufferlab.studies.size import Demand, get_rule
from bufferlab.studies.traffic import demand_of, protocol_of
from bufferlab.theory import characteristic, epochs, protocols
from bufferlab.theory.characteristic import integrate_growth

_SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "scenario.schema.json").read_text())
CONGESTIONS = _SCHEMA["$defs"]["Flow"]["properties"]["congestion"]["anyOf"][0]["enum"]

ONE_FLOW = {"run": {"duration": "60 s"}, "bottleneck": {"rate": "10 Mbps", "buffer": "1 bdp"}}

CLOSED = {
    "reno": characteristic.linear(0.5),
    "bic": characteristic.linear(0.8, 0.9),
    "cubic-0.8": characteristic.cubic(0.8),
    "cubic-0.7": characteristic.cubic(0.7),
    "ctcp": characteristic.quartic(0.5),
    "scalable": characteristic.exponential(0.875),
}


@pytest.mark.parametrize(("window", "rtt_s"), [(20.0, 0.01), (100.0, 0.1), (5000.0, 0.3)])
@pytest.mark.parametrize("name", CLOSED)
def test_integration_gives_the_closed_form_whatever_window_and_rtt(
    name: str, window: float, rtt_s: float
) -> None:
    value = protocols.get_protocol(name).characteristic(window, rtt_s)
    assert value == pytest.approx(float(CLOSED[name]), rel=1e-9)


@pytest.mark.parametrize("name", [name for name in table_iii() if name != "bic"])
def test_growth_functions_give_table_iii_within_its_digits(name: str) -> None:
    # two decimals are printed; CTCP's 0.198 became 0.19
    assert protocols.get_protocol(name).characteristic() == pytest.approx(table_iii()[name], abs=0.01)


def test_bic_of_table_iii_is_too_small_by_the_root_of_two() -> None:
    derived = protocols.get_protocol("bic").characteristic()
    assert derived == pytest.approx(0.0340, abs=5e-5)
    assert derived / table_iii()["bic"] == pytest.approx(math.sqrt(2.0), rel=0.005)


def test_any_growth_function_can_be_integrated() -> None:
    # a square wave between 1 and 3: mean 2, deviation 1
    moments = integrate_growth(lambda time: 1.0 if time < 2.0 else 3.0, 4.0, breaks_s=(2.0,))
    assert (moments.mean, moments.sd) == pytest.approx((2.0, 1.0))


def test_growth_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="duration"):
        integrate_growth(lambda time: time, 0.0)
    with pytest.raises(ValueError, match="mean"):
        integrate_growth(lambda _time: 0.0, 1.0)


@given(low=st.floats(0.1, 0.9), step=st.floats(0.01, 0.09))
def test_a_smaller_fall_varies_less(low: float, step: float) -> None:
    for closed in (
        characteristic.linear,
        characteristic.cubic,
        characteristic.quartic,
        characteristic.exponential,
    ):
        assert closed(low + step) < closed(low)


def test_closed_forms_take_arrays() -> None:
    np.testing.assert_allclose(
        characteristic.cubic([0.7, 0.8]), [float(characteristic.cubic(0.7)), float(characteristic.cubic(0.8))]
    )


def test_epochs_run_from_beta_w_max_to_w_max() -> None:
    for name in ("reno", "cubic-0.8", "cubic-0.7", "cubic", "ctcp", "scalable", "htcp"):
        protocol = protocols.get_protocol(name)
        epoch = protocol.epoch(300.0, 0.05)
        assert epoch.growth(0.0) == pytest.approx(protocol.beta * 300.0), name
        assert epoch.growth(epoch.duration_s) == pytest.approx(300.0), name


def test_rfc_cubic_is_linear_where_reno_is_faster_and_cubic_elsewhere() -> None:
    rfc = protocols.get_protocol("cubic")
    # 10 packets, 5 ms: K = 2 s, while W_est needs 3/0.529 = 5.7 round trips
    assert rfc.characteristic(10.0, 0.005) == pytest.approx(float(characteristic.linear(0.7)))
    # 10,000 packets, 100 ms: K = 20 s against 567 s
    assert rfc.characteristic(10_000.0, 0.1) == pytest.approx(float(characteristic.cubic(0.7)), rel=1e-6)
    between = rfc.characteristic(26.0, 0.1)
    assert float(characteristic.cubic(0.7)) < between < float(characteristic.linear(0.7))


def test_htcp_is_reno_for_epochs_within_a_second() -> None:
    # 10 packets at 50 ms: five round trips of one packet
    assert epochs.htcp_epoch(10.0, 0.05).duration_s == pytest.approx(0.25)
    assert protocols.get_protocol("htcp").characteristic(10.0, 0.05) == pytest.approx(1 / (3 * math.sqrt(3)))


def test_bbr_cycle_by_hand() -> None:
    # two of eight round trips between 1 and 1.25, six at 1
    mean = (6.0 + 2 * 1.125) / 8
    square = (6.0 + 2 * (1.25**3 - 1) / 0.75) / 8
    assert protocols.get_protocol("bbr").characteristic() == pytest.approx(math.sqrt(square - mean**2) / mean)


def test_probe_rtt_makes_bbr_vary_more() -> None:
    with_it = epochs.bbr_epoch(100.0, 0.1, probe_rtt=True).moments.characteristic
    assert with_it > 2 * protocols.get_protocol("bbr").characteristic()


@pytest.mark.parametrize("window", [3.0, 26.0, 1000.0])
def test_dctcp_sawtooth_by_hand(window: float) -> None:
    protocol = protocols.get_protocol("dctcp")
    epoch = protocol.epoch(window, 0.1)
    assert epoch.growth(epoch.duration_s) == pytest.approx(window)
    # Alizadeh 2010: D = (W* + 1)·alpha/2, a round trip for each packet of it
    share = 2.0 * epoch.duration_s / 0.1 / window
    assert share**2 * (1.0 - share / 4.0) == pytest.approx((2.0 * (window - 1.0) + 1.0) / window**2)
    assert protocol.characteristic(window) == pytest.approx(float(characteristic.linear(1.0 - share / 2.0)))


def test_dctcp_with_a_large_window_keeps_to_the_approximation() -> None:
    # alpha = sqrt(2/W*), the fall is alpha/2 of the window
    low = 1.0 - math.sqrt(2.0 / 1e4) / 2.0
    value = protocols.get_protocol("dctcp").characteristic(1e4)
    assert value == pytest.approx(float(characteristic.linear(low)), rel=0.01)


def test_dctcp_without_marks_is_reno() -> None:
    unmarked = protocols.get_protocol("dctcp-unmarked")
    assert unmarked.characteristic() == protocols.get_protocol("reno").characteristic()


def test_bbr3_cycle_by_hand() -> None:
    # 25 round trips of 100 ms: up in one, down in 2.5, the rest at 1
    mean = (21.5 + 3.5 * 1.125) / 25
    square = (21.5 + 3.5 * (1.25**3 - 1) / 0.75) / 25
    a = math.sqrt(square - mean**2) / mean
    assert protocols.get_protocol("bbr3").characteristic(100.0, 0.1) == pytest.approx(a)
    # 63 at most, and no more than the BDP has packets
    assert epochs.bbr3_epoch(1000.0, 0.001).duration_s == pytest.approx(0.063)
    assert epochs.bbr3_epoch(12.5, 0.001).duration_s == pytest.approx(0.010)


def test_vegas_and_a_fixed_window_do_not_vary() -> None:
    assert protocols.get_protocol("vegas").characteristic() == 0.0
    assert protocols.get_protocol("fixed(20)").characteristic() == 0.0


def test_a_protocol_without_a_model_says_what_to_do() -> None:
    message = "'westwood' has no model of its window.*; accepted: a measured value: --measured westwood=0.1"
    with pytest.raises(InputError, match=message):
        protocols.get_protocol("westwood").characteristic()
    mix = (("westwood", 1.0), ("reno", 1.0))
    demand = Demand(rate_bps=1e8, rtt_s=0.1, flows=200, mix=mix)
    assert get_rule("stanford").buffer_packets(demand) == 59
    with pytest.raises(InputError, match=message):
        get_rule("heterogeneous").buffer_packets(demand)
    demand = Demand(rate_bps=1e8, rtt_s=0.1, flows=200, mix=mix, measured={"westwood": 0.1})
    assert float(demand.characteristic) == pytest.approx(math.sqrt((0.01 + 1 / 27) / 2))


@pytest.mark.parametrize("value", [-0.1, 1.0, math.nan])
def test_measured_values_that_are_none(value: float) -> None:
    with pytest.raises(InputError, match=r"measured\.reno: .* is not a characteristic value"):
        Demand(rate_bps=1e8, rtt_s=0.1, measured={"reno": value})


@pytest.mark.parametrize("word", [*CONGESTIONS, "fixed(20)"])
def test_every_congestion_control_of_scenarios_is_a_protocol(word: str) -> None:
    tcp = Scenario.from_dict(ONE_FLOW | {"flows": [{"rtt": "40 ms", "congestion": word}]}).flows[0]["tcp"]
    assert tcp is not None
    congestion = tcp["congestion"]
    assert protocol_of(congestion, marks=True) == protocols.get_protocol(word).name
    unmarked = protocol_of(congestion)
    assert unmarked == ("dctcp-unmarked" if word == "dctcp" else protocols.get_protocol(word).name)


@pytest.mark.parametrize(
    ("queue", "protocol"), [("fifo", "dctcp-unmarked"), ("step", "dctcp"), ("dualpi2", "dctcp")]
)
def test_dctcp_is_marked_by_queues_that_always_mark(queue: str, protocol: str) -> None:
    bottleneck = {**ONE_FLOW["bottleneck"], "queue": queue}
    flows = [{"rtt": "40 ms", "congestion": "dctcp"}]
    scenario = Scenario.from_dict(ONE_FLOW | {"bottleneck": bottleneck, "flows": flows})
    assert demand_of(scenario.seeded(), 0).mix == ((protocol, 1.0),)


def test_names() -> None:
    assert protocols.get_protocol("cubic(hystart)").name == "cubic"
    assert protocols.get_protocol("newreno").name == "reno"
    with pytest.raises(InputError, match=r"'cubix' is not a known protocol \(did you mean 'cubic'\?\)"):
        protocols.get_protocol("cubix")
    with pytest.raises(ValueError, match="positive"):
        protocols.get_protocol("reno").characteristic(0.0)
