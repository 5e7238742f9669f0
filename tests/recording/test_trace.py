"""Traces of packets' events, against the tables of the same run."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

import bufferlab
from bufferlab import Result


class Line(NamedTuple):
    event: str
    time_s: float
    source: int
    target: int
    kind: str
    size: int
    flags: str
    flow: int
    number: int
    packet: int


def read(path: Path) -> list[Line]:
    lines = []
    for text in path.read_text().splitlines():
        event, time, source, target, kind, size, flags, flow, sender, receiver, number, packet = text.split()
        assert sender.endswith(".0")
        assert receiver.endswith(".0")
        numbers = (int(flow), int(number), int(packet))
        lines.append(Line(event, float(time), int(source), int(target), kind, int(size), flags, *numbers))
    return lines


def scenario(**more: Any) -> dict[str, Any]:
    return {
        "run": {"duration": "3 s", "warmup": "0 s", "seed": 3},
        "bottleneck": {"rate": "5 Mbps", "delay": "3 ms", "buffer": "20 packets"},
        "flows": [{"name": "long", "count": 2, "rtt": "30 ms", "rtt_spread": 0.2}],
        **more,
    }


def run(content: dict[str, Any], **more: Any) -> Result:
    return bufferlab.run(content, progress=False, **more)[0]


@pytest.fixture
def traced(tmp_path: Path) -> tuple[Result, list[Line]]:
    path = tmp_path / "a.tr"
    result = run(scenario(), trace=path)
    return result, read(path)


def test_the_link_s_lines_are_its_counters(traced: tuple[Result, list[Line]]) -> None:
    result, lines = traced
    counted = Counter(line.event for line in lines if (line.source, line.target) == (0, 1))
    queue = result.queues.filter(group="all").row(0, named=True)
    assert counted["+"] == queue["whole_arrived_packets"]
    assert counted["d"] == queue["whole_dropped_packets"] > 0
    # at the end one may be in transmission, and some are on the link
    assert 0 <= counted["+"] - counted["d"] - counted["-"] <= queue["left_packets"]
    assert 0 <= queue["whole_departed_packets"] - counted["r"] <= 2
    assert [line.time_s for line in lines] == sorted(line.time_s for line in lines)


def test_the_queue_that_lines_show_is_the_queue(traced: tuple[Result, list[Line]]) -> None:
    result, lines = traced
    at_link = [line for line in lines if (line.source, line.target) == (0, 1)]
    dropped = {line.packet for line in at_link if line.event == "d"}
    change: defaultdict[float, int] = defaultdict(int)
    for line in at_link:
        if line.packet not in dropped:
            change[round(line.time_s, 9)] += {"+": 1, "-": -1, "r": 0}[line.event]
    waiting, most = 0, 0
    for time in sorted(change):
        waiting += change[time]
        assert waiting >= 0
        most = max(most, waiting)
    assert most == result.queues.filter(group="all")["backlog_max_packets"][0] == 20


def test_a_packet_s_lines_are_its_way(traced: tuple[Result, list[Line]]) -> None:
    _, lines = traced
    ways: defaultdict[int, list[str]] = defaultdict(list)
    for line in lines:
        ways[line.packet].append(f"{line.event}{line.source}{line.target}")
    data = next(line.packet for line in lines if line.flow == 1 and line.number == 0)
    assert ways[data] == ["+40", "-40", "r40", "+01", "-01", "r01", "+15", "-15", "r15"]
    answer = next(line.packet for line in lines if line.flow == 1 and line.kind == "ack")
    assert ways[answer] == ["+54", "-54", "r54"]


def test_links_in_a_row_share_their_nodes(tmp_path: Path) -> None:
    link = {"rate": "5 Mbps", "delay": "1 ms", "buffer": "20 packets"}
    content = scenario(
        links=[{"name": "first", **link}, {"name": "second", **link}, {"name": "back", **link}],
        flows=[
            {"rtt": "30 ms", "path": ["first", "second"], "reverse_path": ["back"], "congestion": "dctcp"}
        ],
    )
    del content["bottleneck"]
    content["links"][1] |= {"rate": "4 Mbps", "mark_above": "3 packets"}
    run(content, trace=tmp_path / "a.tr")
    lines = read(tmp_path / "a.tr")
    hops = {(line.source, line.target) for line in lines}
    assert hops == {(5, 0), (0, 1), (1, 2), (2, 6), (6, 3), (3, 4), (4, 5)}
    flags = {(line.kind, line.flags) for line in lines}
    expected = {
        ("tcp", "-------"),
        ("tcp", "------N"),
        ("tcp", "----E-N"),
        ("ack", "-------"),
        ("ack", "C------"),
    }
    assert flags == expected
    assert not any(line.flags == "----E-N" for line in lines if (line.source, line.target) == (0, 1))


def test_a_table_has_the_same_events_with_names(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    content = scenario()
    content["bottleneck"] |= {"loss": 0.01}
    result = run(content, trace=path)
    table = pl.read_csv(path)
    assert table.columns == [
        "time_s", "event", "place", "type", "bytes", "flow", "group", "from", "number", "packet", "reason",
    ]  # fmt: skip
    queue = result.queues.filter(group="all").row(0, named=True)
    lost = table.filter(pl.col("event") == "lost")["reason"].value_counts().sort("reason")
    assert dict(lost.iter_rows()) == {
        "buffer full": queue["whole_dropped_packets"],
        "random loss before the queue": queue["whole_lost_packets"],
    }
    sent = table.filter(pl.col("from") == "sender", event="leaves", flow=0)
    assert len(sent) == 1 + result.flows["whole_sent_packets"][0]
    assert sent["number"].to_list()[:3] == [-1, 0, 1]
    places = table.group_by("event").agg(pl.col("place").unique().sort()).sort("event")
    assert dict(places.iter_rows()) == {
        "arrives": ["receivers", "senders"],
        "joins": ["bottleneck"],
        "leaves": ["receivers", "senders"],
        "lost": ["bottleneck"],
        "reaches": ["bottleneck"],
        "starts": ["bottleneck"],
    }
    (recording,) = result.recordings
    assert (recording.records, recording.unit) == (len(table), "lines")


def test_datagrams_have_numbers(tmp_path: Path) -> None:
    application = {"kind": "ping", "interval": "500 ms"}
    content = scenario(flows=[{"rtt": "30 ms", "application": application}])
    run(content, trace=tmp_path / "a.tr")
    arrived = [line for line in read(tmp_path / "a.tr") if line.event == "r" and line.target == 2]
    assert [(line.kind, line.number) for line in arrived] == [("ping", number) for number in range(6)]
    # six round trips of two ends and a transmission of 84 bytes
    assert arrived[0].time_s == pytest.approx(0.03 + 84 * 8 / 5e6)
