"""What was run, in lines: of every example, of what a seed settles, of every output."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Final

import pytest

import bufferlab
from bufferlab.render.scenario import MOST_LINES, ScenarioLines
from bufferlab.render.view import Terms, View
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario

EXAMPLES: Final = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
FILE: Final = Path(__file__).parent / "scenario_lines.txt"
"""The lines of every example."""

REWRITE: Final = "REWRITE=1 pytest tests/render/test_scenario_lines.py"
"""Writes the file anew."""


def lines(scenario: Scenario, seeds: tuple[int, ...] = (), **varied: tuple[str, ...]) -> dict[str, str]:
    return dict(ScenarioLines(scenario.seeded().resolved, seeds, varied).terms().lines)


def dumbbell(link: dict[str, Any], *flows: dict[str, Any]) -> Scenario:
    bottleneck = {"rate": "12 Mbps", "buffer": "100 packets"} | link
    listed = [{"rtt": "100 ms"} | flow for flow in flows or ({},)]
    return Scenario.from_dict({"run": {"duration": "10 s"}, "bottleneck": bottleneck, "flows": listed})


def shown(path: Path) -> str:
    terms = ScenarioLines(Scenario.load(path).seeded().resolved).terms()
    return f"{path.name}\n{View([terms]).text(80)}\n"


def test_lines_of_every_example() -> None:
    written = re.sub(r" +\n", "\n", "\n".join(shown(path) for path in EXAMPLES))
    if os.environ.get("REWRITE"):
        FILE.write_text(written)
    assert written == FILE.read_text(), f"if that is meant: {REWRITE}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_eighty_columns_are_enough(path: Path) -> None:
    assert max(map(len, shown(path).splitlines())) <= 80


@pytest.mark.parametrize(
    ("link", "text"),
    [
        ({"delay": "20 ms"}, "12 Mbps, delay 20 ms, buffer 100 packets (150 KB, 100 ms), fifo"),
        ({"buffer": "150 KB"}, "12 Mbps, buffer 150 KB (100 ms), fifo"),
        ({"buffer": "50 ms"}, "12 Mbps, buffer 50 ms: 50 packets (75 KB), fifo"),
        ({"buffer": "0.5 bdp"}, "12 Mbps, buffer 0.5 bdp: 50 packets (75 KB, 50 ms), fifo"),
        ({"buffer": "unlimited"}, "12 Mbps, unlimited buffer, fifo"),
        ({"buffer": "99999999999 packets"}, "12 Mbps, buffer 99999999999 packets (150000 GB, 1e+08 s), fifo"),
        ({"queue": "codel"}, "12 Mbps, buffer 100 packets (150 KB, 100 ms), codel (target 5 ms)"),
        (
            {"mark_above": "20 packets", "loss": 0.001},
            "12 Mbps, buffer 100 packets (150 KB, 100 ms), fifo (marks above 20 packets), loss 0.1 %",
        ),
        (
            {"changes": [{"at": "5 s", "buffer": "50 packets"}]},
            "12 Mbps, buffer 100 packets (150 KB, 100 ms), fifo, buffer 50 packets from 5 s on",
        ),
    ],
)
def test_links(link: dict[str, Any], text: str) -> None:
    assert lines(dumbbell(link))["link bottleneck"] == text


@pytest.mark.parametrize(
    ("queue", "text"),
    [
        ("splitbuff", "splitbuff"),
        ("splitbuff-weighted", "splitbuff-weighted"),
        (
            {"discipline": "splitbuff", "hysteresis": 0.3, "sub_buffers": 5},
            "splitbuff (hysteresis 0.3, sub_buffers 5)",
        ),
        (
            {
                "discipline": "splitbuff",
                "weighted": True,
                "thresholds": "gaps",
                "sub_buffers": 4,
                "update": "1 s",
            },
            "splitbuff-weighted (first_update 125 ms, update 1 s)",
        ),
        ({"discipline": "splitbuff", "weighted": True}, "splitbuff (weighted)"),
        ({"discipline": "splitbuff", "rtt": "header(4 bits)"}, "splitbuff (rtt header 4 bits)"),
        ({"discipline": "pie", "alpha": 3}, "pie (target 15 ms, alpha 3)"),
        ({"discipline": "pie", "update": "20 ms"}, "pie (target 15 ms, update 20 ms)"),
        (
            {"discipline": "fq_codel", "ecn": False, "quantum": "300 B"},
            "fq_codel (target 5 ms, no ecn, quantum 300 B)",
        ),
        (
            {"discipline": "fq_codel", "drop_batch": 1, "flows": 8},
            "fq_codel (target 5 ms, ecn, drop_batch 1 packet, flows 8 queues)",
        ),
        ({"discipline": "codel", "ce_threshold": "1 ms"}, "codel (target 5 ms, ce_threshold 1 ms)"),
        ("red", "red"),
        (
            {"discipline": "red", "min_threshold": "20 packets", "max_p": 0.2},
            "red (max_p 0.2, max_threshold 60 packets, min_threshold 20 packets)",
        ),
        ("drr", "drr"),
        ({"discipline": "splitbuff-blind", "sub_buffers": 3}, "splitbuff-blind (sub_buffers 3)"),
    ],
)
def test_a_queue_tells_what_differs_from_its_default(queue: object, text: str) -> None:
    start = "12 Mbps, buffer 100 packets (150 KB, 100 ms), "
    assert lines(dumbbell({"queue": queue}))["link bottleneck"] == start + text


@pytest.mark.parametrize(
    ("flow", "text"),
    [
        ({"count": 10, "congestion": "cubic", "rtt": "uniform(40 ms, 80 ms)"}, "10 × cubic, RTT 40 to 80 ms"),
        ({"rtt": "uniform(500 ms, 2 s)"}, "1 × reno, RTT 500 ms to 2 s"),
        ({"rtt_spread": 0.2, "count": 2}, "2 × reno, RTT 100 ms ± 20 %"),
        ({"application": {"kind": "transfer", "bytes": "2 MB"}}, "1 × reno, 2 MB each, RTT 100 ms"),
        (
            {"application": {"kind": "web", "size": "30 KB", "every": "2 s"}},
            "1 × reno, pages of 30 KB every 2 s, RTT 100 ms",
        ),
        (
            {"application": {"kind": "short-flows", "size": "30 KB", "interval": "25 ms"}},
            "reno short flows, 30 KB each, one every 25 ms on average, RTT 100 ms",
        ),
        (
            {"application": {"kind": "on-off", "size": "1 MB", "off": "4 s"}, "stop": "8 s"},
            "1 × reno, on for 1 MB, off for 4 s, RTT 100 ms, stop 8 s",
        ),
        (
            {"application": {"kind": "short-flows", "size": "30 KB", "load": "9.6 Mbps"}},
            "reno short flows, 30 KB each, one every 25 ms on average (load 9.6 Mbps), RTT 100 ms",
        ),
        ({"access_rate": "1 Gbps", "start": "1 s"}, "1 × reno, RTT 100 ms, access 1 Gbps, start 1 s"),
    ],
)
def test_flows(flow: dict[str, Any], text: str) -> None:
    assert lines(dumbbell({}, flow))["flows"] == f"{text}, stack rfc"


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (
            {"delayed_ack": False, "segment": "500 B", "window": "20 KB"},
            "stack rfc, segment 500 B, no delayed_ack, window 20000 B",
        ),
        ({"stack": "linux", "recovery": "sack", "paced": True}, "stack linux, recovery sack, paced"),
        ({"stack": "linux", "congestion": "bbr"}, "stack linux"),
        (
            {"offload": "6 segments", "initial_window": 1, "recovery": "sack-ns2"},
            "stack rfc, recovery sack-ns2, initial_window 1 segment, offload 6 segments",
        ),
        ({"stack": "inet-reno", "initial_ssthresh": "none"}, "stack inet-reno, no initial_ssthresh"),
        ({"stack": "linux", "jitter": "none", "stop": "5 s"}, "no jitter, stop 5 s, stack linux"),
        ({"host": "linux-10g"}, "stack rfc, host linux-10g"),
    ],
)
def test_keys_of_tcp_that_differ_from_the_stack_are_shown(keys: dict[str, Any], text: str) -> None:
    assert lines(dumbbell({}, keys))["flows"].endswith(f", {text}")


def test_keys_of_hosts_that_differ_from_the_preset_are_shown() -> None:
    host = {"line_rate": "25 Gbps", "noise": "exponential(mean=5 us)"}
    scenario = Scenario.from_dict(dumbbell({}, {"host": "linux-1g"}).to_dict() | {"host": host})
    assert lines(scenario)["flows"].endswith(
        "stack rfc, host linux-1g (line_rate 25 Gbps, noise exponential(mean=5 us))"
    )


def test_datagrams_have_no_stack() -> None:
    udp = {"name": "call", "application": {"kind": "udp", "packet": "200 B", "interval": "20 ms"}}
    ping = {"application": {"kind": "ping", "interval": "100 ms"}}
    keys = {"rate": "80 kbps", "sizes": "exponential", "arrivals": "poisson", "header": "8 B", "record": True}
    noted = {"name": "noted", "application": {"kind": "udp", "packet": "100 B", **keys}}
    found = lines(dumbbell({}, udp, ping, noted))
    assert found["flows noted"] == (
        "1 × udp, 100 B (exponential) every 10 ms on average (80 kbps), header 8 B, recorded, RTT 100 ms"
    )
    assert found["flows call"] == "1 × udp, 200 B every 20 ms, recorded, RTT 100 ms"
    assert found["flows flows1"] == "1 × ping, 84 B every 100 ms, RTT 100 ms"


def test_a_key_of_a_link_without_words_of_its_own_is_shown_where_it_is_on() -> None:
    resolved = dumbbell({}).seeded().resolved
    link: Any = resolved["links"][0]
    usual = ScenarioLines(resolved).terms().lines[0][1]
    link.update({"hold_ps": 2_000_000_000, "never_ps": 0, "blocked": False})
    assert ScenarioLines(resolved).terms().lines[0][1] == f"{usual}, hold 2 ms"


def test_what_is_varied_is_left_out() -> None:
    scenario = dumbbell({"queue": "codel"})
    assert lines(scenario, bottleneck=("buffer", "queue"))["link bottleneck"] == (
        "12 Mbps, buffer and queue as below"
    )


def test_a_buffer_that_each_seed_draws_names_the_seed() -> None:
    drawn = dumbbell({"buffer": "1 bdp"}, {"rtt": "uniform(50 ms, 150 ms)"})
    assert " packets with seed 1 (" in lines(drawn, (1, 2))["link bottleneck"]
    assert "seed" not in lines(drawn, (1,))["link bottleneck"]
    fixed = dumbbell({"buffer": "1 bdp"})
    assert "seed" not in lines(fixed, (1, 2))["link bottleneck"]


def test_the_number_of_others_is_shown() -> None:
    many = dumbbell({}, *({"name": f"group-{index}"} for index in range(MOST_LINES + 3)))
    terms = ScenarioLines(many.seeded().resolved).terms()
    assert len(terms.lines) == 1 + MOST_LINES + 1
    assert terms.lines[-1] == ("", "and 3 more groups of flows")


def test_a_result_shows_them_below_its_headline(result: Result) -> None:
    text, page = re.sub(" +", " ", str(result)).splitlines(), result._repr_html_()
    assert text[1].strip() == "link west 8 kbps, buffer 10 packets (1 KB, 1 s), fifo"
    assert (
        text[2].strip()
        == "flows near 2 × reno, 2.5 KB each, RTT 10 ms, stack rfc, segment 90 B, header 10 B, ack 10 B"
    )
    assert "buffer 10 packets (1 KB, 1 s), fifo</td>" in page


def test_a_sizing_says_what_was_simulated() -> None:
    scenario = dumbbell({"delay": "1 ms"}, {"count": 4, "rtt": "20 ms"})
    sizing = bufferlab.size(scenario, with_rules=False, resolution=0.5, progress=False)
    assert "link bottleneck  12 Mbps, delay 1 ms, fifo, buffer as below" in str(sizing)
    assert sizing.to_dict()["resolved"]["flows"][0]["count"] == 4


def test_names_are_escaped_in_notebooks() -> None:
    assert '<td style="text-align:left">&lt;b&gt;</td>' in Terms([("<b>", "x")]).html()
