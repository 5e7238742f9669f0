"""LEDBAT++ on a link: where it gives way and where not, what it leaves waiting, and how flows of it share.

The draft (draft-irtf-iccrg-ledbat-plus-plus-01) says what to expect, section by section.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import sqrt
from statistics import fmean
from typing import Any, Final

import polars as pl
import pytest

import bufferlab
from bufferlab import _core
from bufferlab.scenario import Scenario

TARGET_MS: Final = 60.0
CUBIC: Final = {"name": "cubic", "congestion": "cubic-linux(hystart)"}
UPDATE: Final = {"name": "update", "congestion": "ledbat++"}


def scenario(
    *flows: Mapping[str, object], rtt: str, link: Mapping[str, object], **run: object
) -> dict[str, Any]:
    return {
        "run": {"duration": "90 s", "warmup": "30 s", "stack": "linux", **run},
        "bottleneck": {"rate": "20 Mbps", **link},
        "flows": [{"rtt": rtt, **flow} for flow in flows],
    }


def goodputs(shared: dict[str, Any], seeds: int = 2) -> dict[str, float]:
    """The mean goodput of a flow of each group, bit/s."""
    flows = bufferlab.run(shared, seeds=seeds, progress=False).flows
    return dict(flows.group_by("group").agg(pl.col("goodput_bps").mean()).iter_rows())


def part(shared: dict[str, Any]) -> float:
    """What the update has of all goodput."""
    found = goodputs(shared)
    return found["update"] / sum(found.values())


@pytest.mark.parametrize(("rtt", "buffer"), [("40 ms", "3 bdp"), ("100 ms", "1 bdp"), ("20 ms", "200 ms")])
def test_it_gives_way_to_cubic_where_the_buffer_holds_the_target(rtt: str, buffer: str) -> None:
    """Section 1: without effect on the bandwidth of others."""
    assert part(scenario(CUBIC, UPDATE, rtt=rtt, link={"buffer": buffer})) < 0.02


@pytest.mark.parametrize(
    "link",
    [
        {"buffer": "1 bdp"},
        {"buffer": "1000 packets", "queue": "codel"},
        {"buffer": "1000 packets", "queue": "fq_codel"},
    ],
    ids=["40 ms of buffer", "codel", "fq_codel"],
)
def test_it_does_not_where_packets_never_wait_for_the_target(link: dict[str, object]) -> None:
    """Section 3.4: if the bottleneck's buffer is small, it "behaves just like an ordinary connection"."""
    assert 0.2 < part(scenario(CUBIC, UPDATE, rtt="40 ms", link=link)) < 0.5


@pytest.mark.parametrize(("rtt_ms", "gain"), [(20, 1 / 6), (40, 1 / 3), (60, 1 / 2), (120, 1.0)])
def test_with_losses_it_has_the_root_of_the_gain_of_renos_rate(rtt_ms: int, gain: float) -> None:
    """Section 4.2: "a fraction (1/SQRT(1/GAIN)) of the throughput of the regular connections".

    Slowdowns cost a tenth of that at most (section 4.4); 3,000 losses are known within a twentieth.
    """
    flows = [{"name": "reno", "count": 4, "congestion": "reno"}, {**UPDATE, "count": 4}]
    link = {"rate": "1 Gbps", "buffer": "10000 packets", "loss": 0.001}
    shared = scenario(*flows, rtt=f"{rtt_ms} ms", link=link, duration="300 s", stack="rfc")
    found = goodputs(shared, seeds=1)
    assert 0.85 < found["update"] / found["reno"] / sqrt(gain) < 1.05


@pytest.mark.parametrize("rtt", ["10 ms", "20 ms", "40 ms", "100 ms"])
def test_alone_it_takes_the_link_and_leaves_the_target_waiting(rtt: str) -> None:
    """Section 4.4: slowdowns do "not cause more than a 10% drop in the utilization"."""
    queue = bufferlab.run(scenario(UPDATE, rtt=rtt, link={"buffer": "400 ms"}), progress=False).summary()[
        "queues"
    ][0]
    assert queue["utilization"] > 0.9
    assert queue["wait_p95_ms"] == pytest.approx(TARGET_MS, abs=3.0)
    assert queue["wait_max_ms"] < 1.5 * TARGET_MS
    assert queue["dropped_packets"] == 0


def test_it_takes_the_link_when_the_others_are_done() -> None:
    shared = scenario({**CUBIC, "stop": "30 s"}, UPDATE, rtt="40 ms", link={"buffer": "3 bdp"}, warmup="60 s")
    assert goodputs(shared)["update"] > 0.9 * 20e6 * 0.95


def latecomer(rtt: str, *, slowdowns: bool) -> float:
    """What the second of two flows has of all, from a minute after its start on."""
    flows = [
        {"name": name, "congestion": "ledbat++", "start": start}
        for name, start in (("a", "0 s"), ("b", "20 s"))
    ]
    shared = scenario(*flows, rtt=rtt, link={"buffer": "400 ms"}, duration="260 s", warmup="80 s")
    parts = []
    for seed in (1, 2):
        plan = json.loads(Scenario.from_dict(shared).seeded(seed).plan_json())
        for group in plan["groups"]:
            group["source"]["congestion"]["slowdowns"] = slowdowns
        rows = pl.DataFrame(_core.simulate(json.dumps(plan)).flows())
        parts.append(rows["delivered_bytes"][1] / rows["delivered_bytes"].sum())
    return fmean(parts)


@pytest.mark.parametrize("rtt", ["20 ms", "40 ms", "100 ms"])
def test_slowdowns_take_the_latecomers_advantage(rtt: str) -> None:
    """Section 3.1, what LEDBAT suffers from; section 4.4, what slowdowns do about it."""
    assert latecomer(rtt, slowdowns=True) == pytest.approx(0.5, abs=0.06)
    assert latecomer(rtt, slowdowns=False) > 0.7
