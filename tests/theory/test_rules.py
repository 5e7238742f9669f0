"""Sizing rules on worked examples, and the registry."""

from __future__ import annotations

import numpy as np
import pytest

from bufferlab.studies.size import Demand, Rule, Targets, all_rules, get_rule
from bufferlab.theory.rules import rule


def test_bdp_of_the_splitbuff_example() -> None:
    demand = Demand(rate_bps=100e6, rtt_s=0.5, flows=2, packet_bytes=1000)
    bdp = get_rule("bdp")
    assert bdp.buffer_bytes(demand) == 6.25e6
    assert bdp.buffer_packets(demand) == 6250
    assert bdp.buffer_ms(demand) == pytest.approx(500.0)


def test_stanford_at_oc12_with_200_flows() -> None:
    # 622 Mbps x 100 ms / 1500 B = 5183.3 packets; / sqrt(200) = 366.5
    demand = Demand(rate_bps=622e6, rtt_s=0.1, flows=200, packet_bytes=1500)
    assert get_rule("stanford").buffer_packets(demand) == 367


def test_rules_take_arrays_of_flows() -> None:
    demand = Demand(rate_bps=100e6, rtt_s=0.1, flows=[1, 4, 100], packet_bytes=1000)
    np.testing.assert_allclose(get_rule("stanford").buffer_bytes(demand), [1.25e6, 0.625e6, 0.125e6])
    np.testing.assert_allclose(get_rule("bdp").buffer_bytes(demand), [1.25e6] * 3)


def test_no_buffer_is_less_than_a_packet() -> None:
    demand = Demand(rate_bps=1e6, rtt_s=1e-3, flows=400, packet_bytes=1500)
    assert get_rule("stanford").buffer_packets(demand) == 1


@pytest.mark.parametrize("each", all_rules(), ids=lambda each: each.name)
def test_every_rule_is_documented_and_grows_with_the_link(each: Rule) -> None:
    flows = np.array([1, 2, 10, 1000])
    targets = Targets(max_delay_s=0.02)
    slow = each.buffer_bytes(Demand(rate_bps=10e6, rtt_s=0.1, flows=flows, targets=targets))
    fast = each.buffer_bytes(Demand(rate_bps=20e6, rtt_s=0.1, flows=flows, targets=targets))
    assert slow.shape == flows.shape
    # with many flows bscl and tiny reach their floors
    assert np.all(slow >= 0) and np.all(fast >= slow) and fast[0] > slow[0]
    assert each.citation and each.assumptions and each.title


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ValueError, match="already"):
        rule(name="bdp", title="", citation="", assumptions=())(lambda demand: demand.flow_count)


def test_an_unknown_rule_lists_the_known() -> None:
    with pytest.raises(KeyError, match="stanford"):
        get_rule("cambridge")


@pytest.mark.parametrize(
    "bad",
    [
        {"rate_bps": 0.0},
        {"rtt_s": -1.0},
        {"rtt_s": float("nan")},
        {"flows": 0},
        {"flows": []},
        {"packet_bytes": 0},
    ],
)
def test_a_demand_refuses_nonsense(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        Demand(**({"rate_bps": 1e6, "rtt_s": 0.1} | bad))  # type: ignore[arg-type]
