"""Every congestion control runs, from the word in a scenario to the tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bufferlab
from bufferlab.render.summary import summary_view
from bufferlab.results.summary import Document

_SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "scenario.schema.json").read_text())
CONGESTIONS = _SCHEMA["$defs"]["Flow"]["properties"]["congestion"]["anyOf"][0]["enum"]


def measured(*words: str, mark_above: str | None = None, **keys: object) -> Document:
    """The summary of a dumbbell with a flow of each congestion control."""
    link = {"rate": "20 Mbps", "buffer": "1 bdp"} | ({"mark_above": mark_above} if mark_above else {})
    flows: list[dict[str, Any]] = [
        {"name": f"f{index}", "rtt": f"{36 + 8 * index} ms", "congestion": word, **keys}
        for index, word in enumerate(words)
    ]
    scenario = {"run": {"duration": "10 s"}, "bottleneck": link, "flows": flows}
    return bufferlab.run(scenario, progress=False).summary()


@pytest.mark.parametrize("word", [word for word in CONGESTIONS if word not in {"tahoe", "newreno"}])
def test_two_flows_fill_the_link(word: str) -> None:
    queue = measured(word, word)["queues"][0]
    assert queue["utilization"] > 0.8
    assert queue["marked_packets"] == 0


def test_versions_and_options_are_different_controls() -> None:
    words = ["reno", "bic", "cubic", "cubic-0.8", "cubic-0.7", "cubic-linux", "ctcp", "scalable", "htcp"]
    packets = {word: measured(word, word)["queues"][0]["wait_mean_ms"] for word in words}
    assert len(set(packets.values())) == len(words), packets


def test_fast_convergence_can_be_turned_off() -> None:
    for word in ("bic", "cubic", "cubic-0.7"):
        assert measured(word, word) != measured(word, word, fast_convergence=False)


def test_a_lone_flow_of_dctcp_uses_what_linux_uses_where_single_packets_are_marked() -> None:
    """Linux 6.12 by `emulate`: 0.89, and 0.855 if its program writes more at once (docs/validation-ns3.md).

    A window with fractions, which falls at once, gave 0.53.
    """
    queue = {"discipline": "codel", "target": "2.12 ms", "ecn": True, "ce_threshold": "2.43 ms"}
    scenario = {
        "run": {"duration": "60 s", "warmup": "15 s", "stack": "linux"},
        "bottleneck": {"rate": "7.705 Mbps", "buffer": "1000 packets", "queue": queue},
        "flows": [{"rtt": "90.6562 ms", "congestion": "dctcp", "segment": "1446 B", "jitter": "0 s"}],
    }
    used = bufferlab.run(scenario, progress=False).summary()["queues"][0]["utilization"]
    assert 0.82 < used < 0.92


def test_marks_replace_losses_of_dctcp_only() -> None:
    marked = measured("dctcp", mark_above="15 packets")
    queue = marked["queues"][0]
    assert queue["marked_packets"] > 0 and queue["dropped_packets"] == 0
    assert queue["utilization"] > 0.99 and queue["backlog_max_packets"] < 30
    assert "packets marked" in summary_view(marked).text()
    both = measured("dctcp", "reno", mark_above="15 packets")
    marks = {queue["group"]: queue["marked_packets"] for queue in both["queues"]}
    assert marks["f0"] > 0 and marks["f1"] == 0
    deaf = measured("reno", mark_above="15 packets")
    assert deaf["queues"][0]["marked_packets"] == 0
    assert "packets marked" not in summary_view(deaf).text()


def test_the_codepoint_decides_which_queue_of_dualpi2_a_flow_is_in() -> None:
    """Bytes that left, by class: 0 is for L4S."""

    def departed(**flow: object) -> list[int]:
        scenario = {
            "run": {"duration": "5 s"},
            "bottleneck": {"rate": "20 Mbps", "buffer": "1 bdp", "queue": "dualpi2"},
            "flows": [{"rtt": "20 ms", **flow}],
        }
        classes = bufferlab.run(scenario, progress=False).classes.sort("class")
        return [int(size) for size in classes["departed_bytes"]]

    for flow in ({"congestion": "prague"}, {"congestion": "dctcp", "ecn": "l4s"}):
        l4s, others = departed(**flow)
        # the SYN and nothing else
        assert l4s > 5_000_000 and others < 100
    for flow in ({"congestion": "reno"}, {"congestion": "reno", "ecn": "classic"}):
        l4s, others = departed(**flow)
        assert l4s == 0 and others > 5_000_000
