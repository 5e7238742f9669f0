"""Lowering: what a scenario becomes as plain integers."""

from __future__ import annotations

import cProfile
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bufferlab.plan import NEVER_PS, Plan, lower, plan_hash, plan_json
from bufferlab.scenario import Scenario

from .conftest import Make

MS = 10**9
S = 10**12
ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "scenario.schema.json").read_text())
CONGESTIONS = SCHEMA["$defs"]["Flow"]["properties"]["congestion"]["anyOf"][0]["enum"]
RUST_PLAN = ROOT / "crates" / "simulator" / "src" / "plan.rs"


def rust_fields(name: str) -> set[str]:
    """Names of a structure's public fields in the engine's source."""
    body = re.search(rf"pub struct {name} \{{(.*?)\n\}}", RUST_PLAN.read_text(), re.DOTALL)
    assert body is not None, name
    return set(re.findall(r"pub (\w+):", body[1]))


def parking_lot() -> Scenario:
    links = [
        {"name": "a", "rate": "10 Mbps", "delay": "3 ms", "buffer": "1 bdp"},
        {"name": "b", "rate": "10 Mbps", "delay": "4 ms", "buffer": "stanford"},
        {"name": "back", "rate": "1 Mbps", "delay": "5 ms", "buffer": "1 bdp"},
    ]
    flows = [
        {"name": "long", "path": ["a", "b"], "reverse_path": ["back"], "rtt": "100 ms", "count": 3},
        {"name": "cross", "path": ["b"], "rtt": "20 ms", "segment": "536 B"},
        {
            "name": "noise",
            "path": ["b"],
            "rtt": "9 s",
            "application": {"kind": "udp", "packet": "2000 B", "rate": "1 Mbps"},
        },
    ]
    probes = {"interval": "10 ms", "links": ["b"], "flows": ["long"], "per_group": 2}
    return Scenario.from_dict({"run": {"duration": "10 s"}, "links": links, "flows": flows, "probes": probes})


@pytest.fixture
def plan() -> Plan:
    return lower(parking_lot())


def test_keys_are_those_that_the_engine_reads(plan: Plan) -> None:
    assert set(plan) == rust_fields("Plan")
    varying = {"capacity", "varying_delay", "loss_bursts", "memory"}  # left out where they are off
    assert set(plan["links"][0]) == rust_fields("LinkPlan") - varying
    headers = {"dscp", "sender", "receiver"}  # as are these
    assert set(plan["groups"][0]) == rust_fields("GroupPlan") - headers
    assert set(plan["flows"]) == rust_fields("FlowColumns")


def test_columns_have_one_entry_a_flow(plan: Plan) -> None:
    lengths = {name: len(column) for name, column in plan["flows"].items()}
    assert (lengths.pop("echo_of"), lengths.pop("transfer_bytes")) == (0, 0)
    assert set(lengths.values()) == {5}
    assert plan["flows"]["group"] == [0, 0, 0, 1, 2]
    assert plan["flows"]["sample"] == [True, True, False, False, False]
    assert [link["sample"] for link in plan["links"]] == [False, True, False]
    assert plan["sample_interval_ps"] == 10 * MS


def test_delays_sum_to_the_rtt(plan: Plan) -> None:
    flows = plan["flows"]
    parts = [flows[f"{name}_delay_ps"] for name in ("source", "sink", "return", "home")]
    links_ps = [12 * MS] * 3 + [4 * MS] * 2
    totals = [sum(delays) + link_ps for *delays, link_ps in zip(*parts, links_ps, strict=True)]
    assert totals == [100 * MS] * 3 + [20 * MS, 9 * S]
    # 100 ms less 3 + 4 + 5 ms of links leave 22 ms for each quarter.
    assert [part[0] for part in parts] == [22 * MS] * 4
    # Without a queued way back, acknowledgments take half the round-trip time, as data does.
    assert [part[3] for part in parts] == [3 * MS, 3 * MS, 10 * MS, 0]


def test_delays_sum_to_the_rtt_to_the_picosecond(make: Make) -> None:
    """The same draws, split with and without a link's delay, have the same sums."""
    keys = {"flows.long.rtt": "uniform(10 ms, 1 s)", "flows.long.count": 500}
    sums = []
    for plan in (lower(make(keys)), lower(make({**keys, "links.west.delay": "0 s"}))):
        columns = [np.array(column) for name, column in plan["flows"].items() if name.endswith("_delay_ps")]
        sums.append(np.sum(columns, axis=0) + plan["links"][0]["delay_ps"])
    assert sums[0].tolist() == sums[1].tolist()


def test_paths_are_indices(plan: Plan) -> None:
    assert [(group["forward"], group["reverse"]) for group in plan["groups"]] == [
        ([0, 1], [2]),
        ([1], []),
        ([1], []),
    ]


def test_buffer_words_look_at_the_flows_that_cross(plan: Plan) -> None:
    limits = [link["discipline"]["limit"] for link in plan["links"]]
    # a: 10 Mbps x 100 ms / 1500 bytes; b: 4 TCP flows, mean rtt (3 x 100 + 20) / 4 = 80 ms, largest packet
    # of all is of 2000 bytes; back: acknowledgments of 52 bytes.
    assert limits == [{"packets": 83}, {"packets": 25}, {"packets": 240}]


def test_spread_takes_the_middles_of_equal_parts(make: Make) -> None:
    flows = lower(make({"flows.long.rtt_spread": 0.2, "flows.long.rtt": "100 ms", "flows.long.count": 4}))[
        "flows"
    ]
    rtt_ps = [2 * delay_ps for delay_ps in flows["return_delay_ps"][1:]]
    assert rtt_ps == [85 * MS, 95 * MS, 105 * MS, 115 * MS]


def test_start_and_stop(make: Make) -> None:
    flows = lower(make({"flows.short.stop": "50 s", "flows.long.start": "uniform(1 s, 2 s)"}))["flows"]
    assert flows["stop_ps"] == [50 * S, *[NEVER_PS] * 3]
    assert flows["start_ps"][0] == 0
    assert all(S <= start_ps < 2 * S for start_ps in flows["start_ps"][1:])
    assert len(set(flows["start_ps"])) == 4


def test_seeds_change_draws_only(make: Make) -> None:
    scenario = make({"flows.long.start": "uniform(0 s, 5 s)"})
    first, again, second = lower(scenario, 1), lower(scenario), lower(scenario, 2)
    assert plan_json(first) == plan_json(again)
    assert first["flows"]["start_ps"] != second["flows"]["start_ps"]
    assert first["links"] == second["links"]
    assert len({plan_hash(plan_json(plan)) for plan in (first, second)}) == 2


def test_other_groups_do_not_change_a_group_s_draws(table: dict[str, Any]) -> None:
    group = {"name": "drawn", "rtt": "uniform(10 ms, 1 s)", "start": "uniform(0 s, 5 s)", "count": 5}
    table["flows"].append(group)
    last = lower(Scenario.from_dict(table))["flows"]
    table["flows"] = [{**group, "count": 6}, {"rtt": "50 ms"}]
    first = lower(Scenario.from_dict(table))["flows"]
    for column in ("start_ps", "return_delay_ps"):
        assert last[column][-5:] == first[column][:5]
    table["flows"].append({**group, "name": "other", "count": 6})
    other = lower(Scenario.from_dict(table))["flows"]
    assert other["start_ps"][:6] != other["start_ps"][-6:]
    assert other["start_ps"][:6] != other["return_delay_ps"][:6]


def test_draws_are_the_same_on_every_machine(make: Make) -> None:
    """A change of these numbers changes every published result: say so in the change log."""
    flows = lower(make({"flows.long.start": "uniform(0 s, 5 s)"}))["flows"]
    assert flows["start_ps"][1:] == START_PS


START_PS = [3_882_576_672_857, 4_376_512_984_213, 1_313_117_730_906]


RENO = {"kind": "reno", "growth": "per_segment"}
CUBIC = {"fast_convergence": True, "hystart": False}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, {"recovery": "sack", "congestion": RENO, "ack_every": 2}),
        ({"congestion": "reno"}, {"recovery": "sack"}),
        ({"congestion": "newreno"}, {"recovery": "newreno"}),
        ({"congestion": "tahoe"}, {"recovery": "tahoe"}),
        ({"congestion": "tahoe", "recovery": "sack-ns2"}, {"recovery": "sack_ns2"}),
        ({"congestion": "fixed(20)"}, {"recovery": "sack", "congestion": {"kind": "fixed", "segments": 20}}),
        (
            {"congestion": "bic"},
            {"congestion": {"kind": "bic", "fast_convergence": True}, "recovery": "sack"},
        ),
        (
            {"congestion": "bic", "fast_convergence": False},
            {"congestion": {"kind": "bic", "fast_convergence": False}},
        ),
        ({"congestion": "bic", "stack": "ns2-sack1"}, {"recovery": "sack_ns2"}),
        ({"congestion": "cubic"}, {"congestion": {"kind": "cubic", **CUBIC}}),
        ({"congestion": "cubic(hystart)"}, {"congestion": {"kind": "cubic", **CUBIC, "hystart": True}}),
        (
            {"congestion": "cubic-0.8"},
            {"congestion": {"kind": "cubic-linux", "version": "linux_2_6_24", **CUBIC}},
        ),
        (
            {"congestion": "cubic-0.7", "fast_convergence": False},
            {
                "congestion": {
                    "kind": "cubic-linux",
                    "version": "linux_2_6_26",
                    "fast_convergence": False,
                    "hystart": False,
                }
            },
        ),
        (
            {"congestion": "cubic-linux"},
            {"congestion": {"kind": "cubic-linux", "version": "linux_5", **CUBIC}},
        ),
        (
            {"congestion": "cubic-linux(hystart)"},
            {"congestion": {"kind": "cubic-linux", "version": "linux_5", **CUBIC, "hystart": True}},
        ),
        ({"congestion": "reno", "fast_convergence": False}, {"congestion": RENO}),
        ({"stack": "inet-reno"}, {"recovery": "reno", "mss_bytes": 536, "receive_window_bytes": 7504}),
        ({"stack": "inet-reno", "window": "256 KiB"}, {"receive_window_bytes": 65_535}),
        (
            {"stack": "inet-reno", "window": "256 KiB", "window_scaling": True},
            {"receive_window_bytes": 262_144},
        ),
        ({"stack": "inet-reno", "congestion": "reno"}, {"recovery": "reno"}),
        (
            {"stack": "ns2-sack1"},
            {"recovery": "sack_ns2", "receive_window_bytes": 10**8, "initial_ssthresh": 100_000},
        ),
        ({"stack": "ns2-sack1", "segment": "500 B"}, {"receive_window_bytes": 5 * 10**7, "mss_bytes": 500}),
        ({"stack": "ns2-sack1", "initial_ssthresh": "none"}, {"initial_ssthresh": None}),
        (
            {"stack": "linux"},
            {
                "congestion": {"kind": "cubic-linux", "version": "linux_5", **CUBIC, "hystart": True},
                "recovery": "linux",
                "rto_margin_ps": 200 * MS,
            },
        ),
        ({"window": "100 segments"}, {"receive_window_bytes": 144_800}),
        ({"delayed_ack": False, "growth": "per-segment"}, {"ack_every": 1}),
        ({"delayed_ack": 4}, {"ack_every": 4}),
        ({"initial_ssthresh": 64, "handshake": False}, {"initial_ssthresh": 64, "handshake": False}),
        ({"header": "0 B", "ack": "40 B"}, {"header_bytes": 0, "ack_bytes": 40}),
        ({"ack_delay": "1 ms", "clock": "10 ms"}, {"ack_delay_ps": MS, "clock_ps": 10 * MS}),
        (
            {"min_rto": "1 ms", "max_rto": "2 s", "initial_rto": "3 s"},
            {"min_rto_ps": MS, "max_rto_ps": 2 * S},
        ),
        ({"recovery": "linux", "rto_margin": "200 ms"}, {"recovery": "linux", "rto_margin_ps": 200 * MS}),
        ({"timestamps": False, "limited_transmit": False}, {"timestamps": False, "limited_transmit": False}),
        (
            {"stated_rtt": "10 s", "stated_in": "handshake"},
            {"stated_rtt_ps": 10 * S, "stated_in": "handshake"},
        ),
        ({"application": {"kind": "transfer", "bytes": "2 MB"}}, {"transfer_bytes": 2_000_000}),
    ],
)
def test_tcp_keys(table: dict[str, Any], keys: dict[str, Any], expected: dict[str, Any]) -> None:
    table["flows"][0] |= keys
    source = lower(Scenario.from_dict(table))["groups"][0]["source"]
    assert {key: source[key] for key in expected} == expected


KINDS = {
    "compound": "ctcp",
    "bbr1": "bbr",
    "tahoe": "reno",
    "newreno": "reno",
    "cubic-0.8": "cubic-linux",
    "cubic-0.7": "cubic-linux",
}
"""What the engine runs for words that are not its own; those of Linux 2.6 share one."""
RECOVERIES = {"tahoe": "tahoe", "newreno": "newreno"}


@pytest.mark.parametrize("word", CONGESTIONS)
def test_words_of_congestion_controls(table: dict[str, Any], word: str) -> None:
    table["flows"][0]["congestion"] = word
    source = lower(Scenario.from_dict(table))["groups"][0]["source"]
    plain = word.partition("(")[0]
    kind = "reno-2.6" if plain.endswith("-2.6") else KINDS.get(plain, plain)
    assert (source["congestion"]["kind"], source["recovery"]) == (kind, RECOVERIES.get(word, "sack"))


def test_udp(table: dict[str, Any]) -> None:
    udp = {
        "kind": "udp",
        "packet": "1000 B",
        "rate": "50 Mbps",
        "arrivals": "poisson",
        "sizes": "exponential",
    }
    table["flows"][0]["application"] = udp
    table["flows"][1]["application"] = {"kind": "udp", "packet": "100 B", "interval": "1 s", "header": "8 B"}
    first, second = (group["source"] for group in lower(Scenario.from_dict(table))["groups"])
    assert first == {
        "kind": "udp",
        "packet_bytes": 1000,
        "header_bytes": 28,
        "interval_ps": 160_000_000,
        "arrivals": "exponential",
        "sizes": "exponential",
        "echo": False,
        "record": False,
    }
    assert (second["interval_ps"], second["header_bytes"], second["arrivals"]) == (S, 8, "constant")


@pytest.mark.parametrize(
    ("jitter", "expected"),
    [
        ("none", {"kind": "none"}),
        ("0 s", {"kind": "none"}),
        ("uniform(1 us, 1 ms)", {"kind": "uniform", "low_ps": 10**6, "high_ps": MS}),
        ("exponential(mean=1 ms)", {"kind": "exponential", "mean_ps": MS}),
    ],
)
def test_jitter_and_access(make: Make, jitter: str, expected: dict[str, Any]) -> None:
    group = lower(make({"flows.short.jitter": jitter, "flows.short.access_rate": "10 Gbps"}))["groups"][0]
    assert group["jitter"] == expected
    assert group["access_bps"] == 10**10


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"stack": "linux"}, {"kind": "uniform", "low_ps": 0, "high_ps": 50 * 10**6}),
        ({"stack": "linux", "jitter": "0 s"}, {"kind": "none"}),
        ({"stack": "linux", "jitter": "none"}, {"kind": "none"}),
        ({"stack": "linux", "jitter": "exponential(mean=1 ms)"}, {"kind": "exponential", "mean_ps": MS}),
        ({"stack": "linux", "congestion": "bbr"}, {"kind": "uniform", "low_ps": 0, "high_ps": 50 * 10**6}),
        ({"stack": "linux", "recovery": "linux"}, {"kind": "uniform", "low_ps": 0, "high_ps": 50 * 10**6}),
        ({"stack": "linux", "recovery": "sack"}, {"kind": "none"}),
        ({"stack": "linux", "congestion": "newreno"}, {"kind": "none"}),
        ({"stack": "rfc"}, {"kind": "none"}),
        ({"stack": "rfc", "recovery": "linux"}, {"kind": "none"}),
        ({"stack": "ns2-sack1"}, {"kind": "none"}),
        ({"stack": "inet-reno"}, {"kind": "none"}),
    ],
)
def test_only_linux_hosts_take_time_unless_said(
    table: dict[str, Any], keys: dict[str, Any], expected: dict[str, Any]
) -> None:
    table["flows"][0] |= keys
    assert lower(Scenario.from_dict(table))["groups"][0]["jitter"] == expected


def test_links_are_lowered(make: Make) -> None:
    changes = [{"at": "1 s", "buffer": "1 MB"}, {"at": "2 s", "buffer": "unlimited"}]
    link = lower(make({"links.west.changes": changes, "links.west.loss": 0.001}))["links"][0]
    assert link["loss_ppb"] == 1_000_000
    assert link["discipline"] == {"kind": "fifo", "limit": {"packets": 100}, "mark_above": None}
    assert link["changes"] == [
        {"at_ps": S, "limit": {"bytes": 10**6}},
        {"at_ps": 2 * S, "limit": "unlimited"},
    ]


def test_the_plan_is_json_and_its_hash_that_of_the_text(plan: Plan) -> None:
    assert json.loads(plan_json(plan)) == plan
    text = plan_json(plan)
    assert text == plan_json(dict(reversed(plan.items())))
    assert re.fullmatch(r"[0-9a-f]{64}", plan_hash(text))


def test_everything_fits_the_engine_s_integers() -> None:
    """The largest accepted values stay within 64 bits, sums of times included."""
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "100000 s"},
            "bottleneck": {"rate": "8 Tbps", "delay": "50000 s", "buffer": "1000000000000 packets"},
            "flows": [{"rtt": "100000 s", "start": "99999 s", "stop": "100000 s"}],
        }
    )
    plan = lower(scenario, 2**63 - 1)
    longest_ps = plan["duration_ps"] + sum(
        column[0] for name, column in plan["flows"].items() if "delay" in name
    )
    assert longest_ps + plan["links"][0]["delay_ps"] < 2**63


def test_flows_are_drawn_together_and_not_one_by_one(make: Make) -> None:
    assert calls_to_lower(make, 100_000) < 2 * calls_to_lower(make, 1_000)


def calls_to_lower(make: Make, flows: int) -> int:
    """How many functions Python calls to lower a scenario with that many flows."""
    keys = {"count": flows, "rtt": "lognormal(mean=100 ms, sigma=0.3)", "start": "uniform(0 s, 5 s)"}
    scenario = make({f"flows.long.{key}": value for key, value in keys.items()})
    profile = cProfile.Profile()
    plan = profile.runcall(lower, scenario)
    assert len(plan["flows"]["group"]) == flows + 1
    return sum(entry.callcount for entry in profile.getstats())
