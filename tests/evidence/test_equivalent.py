"""Settings of ns-2 as plans."""

from __future__ import annotations

import dataclasses

import pytest

from bufferlab.evidence.ns2.equivalent import Variant, groups_of, plan_of, scenario_of
from bufferlab.evidence.ns2.ns2_random import uniform
from bufferlab.evidence.ns2.reference import Setting, load_references, unsupported

FIG1 = Setting(
    scenario="fig1",
    stack="sack1",
    rate_bps=100e6,
    wire_bytes=1040,
    flows=2,
    rtt_ms=(10.0, 990.0),
    buffer_packets=312,
    buffer_rule="25ms",
    duration_s=500.0,
    warmup_s=100.0,
)


def with_options(**options: str) -> Setting:
    """FIG1 with options."""
    return dataclasses.replace(FIG1, options=tuple(options.items()))


def test_a_queue_of_ns2_holds_one_packet_less() -> None:
    assert plan_of(FIG1, 1)["links"][0]["discipline"]["limit"] == {"packets": 311}


def test_the_wire_size_is_payload_and_headers() -> None:
    source = plan_of(FIG1, 1)["groups"][0]["source"]
    assert (source["mss_bytes"], source["header_bytes"]) == (1000, 40)
    assert source["receive_window_bytes"] == 100_000 * 1000


def test_flows_start_when_those_of_ns2_did() -> None:
    starts = plan_of(FIG1, 3)["flows"]["start_ps"]
    assert starts == [round(start * 1e12) for start in uniform(3, 5.0, 2)]


def test_round_trips_have_the_store_and_forward_times_of_access_links() -> None:
    plan = plan_of(FIG1, 1)
    flows = plan["flows"]
    columns = ("source_delay_ps", "sink_delay_ps", "return_delay_ps", "home_delay_ps")
    own = [sum(flows[column][index] for column in columns) for index in (0, 1)]
    # 10 ms less the links' 2 ms, and data and acknowledgment twice at 10 Gbps: 2·(1040 + 40)·8 bits
    assert own == [8 * 10**9 + 1_728_000, 988 * 10**9 + 1_728_000]


def test_spread_is_that_of_the_hosts_in_turn() -> None:
    setting = dataclasses.replace(
        FIG1, flows=8, rtt_ms=(100.0, 100.0), options=(("hosts", "2"), ("spread", "0.2"))
    )
    flows = plan_of(setting, 1)["flows"]
    totals = [
        sum(flows[f"{part}_delay_ps"][index] for part in ("source", "sink", "return", "home")) / 1e9
        for index in range(8)
    ]
    # two hosts at 90 and 110 ms, links' 2 ms taken off; flow i of a type is at host i mod 2
    assert totals == pytest.approx([88.0, 108.0] * 4, abs=0.01)


@pytest.mark.parametrize(
    ("options", "key", "value"),
    [
        ({"minrto": "1.0"}, "min_rto_ps", 10**12),
        ({"tick": "0.1"}, "clock_ps", 10**11),
        ({"window": "20"}, "receive_window_bytes", 20_000),
        ({"delack": "1"}, "ack_every", 2),
        ({"singledup": "0"}, "limited_transmit", False),
        ({"ssthresh": "122"}, "initial_ssthresh", 122),
    ],
)
def test_options_of_the_agents(options: dict[str, str], key: str, value: object) -> None:
    assert plan_of(with_options(**options), 1)["groups"][0]["source"][key] == value


def test_overhead_is_jitter() -> None:
    jitter = plan_of(with_options(overhead="8e-05"), 1)["groups"][1]["jitter"]
    assert jitter == {"kind": "uniform", "low_ps": 0, "high_ps": 80 * 10**6}


def test_variants_change_one_thing_each() -> None:
    plain = plan_of(FIG1, 1)
    later = plan_of(FIG1, 1, Variant(later_ms=3))
    assert [b - a for a, b in zip(plain["flows"]["start_ps"], later["flows"]["start_ps"], strict=True)] == [
        3 * 10**9
    ] * 2
    nudged = plan_of(FIG1, 1, Variant(second_first_ps=1))["flows"]["sink_delay_ps"]
    before = plain["flows"]["sink_delay_ps"]
    assert (nudged[0] - before[0], nudged[1] - before[1]) == (0, -1)
    noisy = plan_of(FIG1, 1, Variant(noise_ns=1))["groups"][0]["jitter"]
    assert noisy == {"kind": "uniform", "low_ps": 0, "high_ps": 1000}


def test_shifts_are_those_that_ns2_draws_for_its_pairs_of_hosts() -> None:
    """The draws are ns-2's own: `$rng seed 1003`, ten thrown away, `$rng uniform 0 77e-6`."""
    by_ns2_s = [4.5102662288165961e-07, 6.407833145655615e-05, 4.8809429639395993e-05, 7.070112420790881e-05]
    plain = dataclasses.replace(FIG1, flows=6, options=(("hosts", "2"),))
    shifted = dataclasses.replace(plain, options=(*plain.options, ("shift", "77e-6")))
    before, after = (plan_of(each, 3)["flows"] for each in (plain, shifted))
    # three flows of each type at two pairs of hosts in turn
    expected_ps = [by_ns2_s[host] / 2 * 1e12 for host in (0, 1, 0, 2, 3, 2)]
    for column in ("source_delay_ps", "home_delay_ps"):
        longer = [new - old for new, old in zip(after[column], before[column], strict=True)]
        assert longer == pytest.approx(expected_ps, abs=1.0)
    for column in ("sink_delay_ps", "return_delay_ps", "start_ps"):
        assert after[column] == before[column]


def test_every_supported_setting_is_a_scenario() -> None:
    references = load_references()
    assert len(references) == 305
    assert sum(len(each.runs) for each in references) == 1695
    for each in references:
        if unsupported(each.setting) is None:
            assert scenario_of(each.setting)["links"][0]["name"] == "bottleneck"
            assert len(plan_of(each.setting, 1)["flows"]["group"]) == each.setting.flows


def test_what_cannot_be_simulated_is_named() -> None:
    reasons = {unsupported(each.setting) for each in load_references()} - {None}
    assert any("fack" in str(reason) for reason in reasons)
    assert any("maxburst" in str(reason) for reason in reasons)


MIX = dataclasses.replace(
    FIG1,
    scenario="mix",
    stack="linux-mix",
    flows=6,
    rtt_ms=(100.0, 100.0),
    options=(("mix", "reno:1,cubic:3,compound:2"), ("hosts", "3"), ("spread", "0.2")),
)


def test_mixed_flows_have_their_own_controls_starts_and_hosts() -> None:
    assert MIX.control_of == ["cubic", "compound", "reno", "cubic", "compound", "cubic"]
    assert groups_of(MIX) == [
        (0, "compound"),
        (0, "cubic"),
        (0, "reno"),
        (1, "compound"),
        (1, "cubic"),
    ]
    plan = plan_of(MIX, 2)
    order = [1, 0, 2, 4, 3, 5]
    assert [plan["groups"][group]["name"] for group in plan["flows"]["group"]][3:] == [
        "type2-compound",
        "type2-cubic",
        "type2-cubic",
    ]
    starts = uniform(2, 5.0, 6)
    assert plan["flows"]["start_ps"] == [round(starts[flow] * 1e12) for flow in order]
    flows = plan["flows"]
    totals = [
        sum(flows[f"{part}_delay_ps"][index] for part in ("source", "sink", "return", "home")) / 1e9
        for index in range(6)
    ]
    by_host = [100 * (1 + 0.2 * (2 * (host + 0.5) / 3 - 1)) - 2 for host in range(3)]
    assert totals == pytest.approx([by_host[flow % 3] for flow in order], abs=0.01)


def test_linux_agents_have_a_recovery_of_their_own_and_the_timers_of_ns2() -> None:
    source = plan_of(MIX, 1)["groups"][1]["source"]
    assert source["congestion"]["version"] == "linux_2_6_24"
    assert (source["recovery"], source["timestamps"]) == ("linux_ns2", True)
    assert (source["clock_ps"], source["min_rto_ps"], source["rto_margin_ps"]) == (10**9, 2 * 10**11, 0)


def test_a_variant_may_lengthen_every_round_trip() -> None:
    plain = plan_of(MIX, 1)["flows"]["sink_delay_ps"]
    longer = plan_of(MIX, 1, Variant(further_us=13))["flows"]["sink_delay_ps"]
    assert [after - before for before, after in zip(plain, longer, strict=True)] == [13 * 10**6] * 6
