"""Queues that share a memory, as scenarios write them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.render.scenario import ScenarioLines
from bufferlab.scenario import Scenario


def table(*memories: dict[str, Any], queue: str = "fifo") -> dict[str, Any]:
    link = {"rate": "10 Mbps", "buffer": "unlimited"}
    return {
        "run": {"duration": "10 s"},
        "links": [link | {"name": "east", "queue": queue}, link | {"name": "west"}, link | {"name": "rest"}],
        "memories": list(memories),
        "flows": [{"rtt": "20 ms", "path": [name]} for name in ("east", "west", "rest")],
    }


def test_links_of_a_memory_have_it_in_the_plan() -> None:
    seeded = Scenario.from_dict(table({"size": "60 KB", "alpha": 0.5, "links": ["east", "rest"]})).seeded()
    links = json.loads(seeded.plan_json())["links"]
    memory = {"number": 0, "bytes": 60_000, "alpha_ppm": 500_000}
    assert [link.get("memory") for link in links] == [memory, None, memory]
    lines = dict(ScenarioLines(seeded.resolved).terms().lines)
    assert lines["memory memory0"] == "60 KB shared by east, rest, Dynamic Threshold, alpha 0.5"


def test_alpha_may_be_shared_by_the_congested_queues() -> None:
    memory = {"size": "60 KB", "alpha": 0.5, "congested": "6 KB", "links": ["east", "rest"]}
    seeded = Scenario.from_dict(table(memory)).seeded()
    planned = json.loads(seeded.plan_json())["links"][0]["memory"]
    assert planned == {"number": 0, "bytes": 60_000, "alpha_ppm": 500_000, "congested_bytes": 6_000}
    rule = "Active Buffer Management, alpha 0.5 over the congested queues, those from 6 KB on"
    assert dict(ScenarioLines(seeded.resolved).terms().lines)["memory memory0"].endswith(rule)


def test_without_alpha_a_memory_is_shared_completely() -> None:
    seeded = Scenario.from_dict(table({"name": "chip", "size": "60 KB", "links": ["east"]})).seeded()
    assert json.loads(seeded.plan_json())["links"][0]["memory"]["alpha_ppm"] is None
    assert dict(ScenarioLines(seeded.resolved).terms().lines)["memory chip"].endswith("complete sharing")


@pytest.mark.parametrize(
    ("memories", "queue", "message"),
    [
        ([{"size": "1 MB", "links": ["north"]}], "fifo", r"memories\[0\]\.links\[0\]: 'north' names no link"),
        (
            [{"size": "1 MB", "links": ["east"]}, {"size": "1 MB", "links": ["west", "east"]}],
            "fifo",
            r"memories\[1\]\.links\[1\]: 'east' is in a memory already",
        ),
        ([{"size": "1 MB", "links": ["east"]}], "splitbuff", "'east' has a queue with classes"),
        (
            [{"size": "1 MB", "alpha": 0.0, "links": ["east"]}],
            "fifo",
            "'0' leaves room for nothing",
        ),
        (
            [{"size": "1 MB", "congested": "28 kB", "links": ["east"]}],
            "fifo",
            r"memories\[0\]\.congested: '28000 B' has no threshold to share; accepted: with `alpha`",
        ),
        ([{"links": ["east"]}], "fifo", r"memories\[0\]\.size: is required"),
    ],
)
def test_what_is_refused(memories: list[dict[str, Any]], queue: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Scenario.from_dict(table(*memories, queue=queue))


def test_a_twin_is_refused() -> None:
    scenario = Scenario.from_dict(table({"size": "1 MB", "links": ["east"]}))
    with pytest.raises(InputError, match="memories: do not scale"):
        scenario.twin(2)
