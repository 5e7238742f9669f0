"""Captures and traces that runs write."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import bufferlab
from bufferlab import InputError, OutputError, Result
from bufferlab.experiment.recording import RecordingWarning
from bufferlab.results.frames import NAMES

from .conftest import read


def scenario(**more: Any) -> dict[str, Any]:
    return {
        "run": {"duration": "4 s", "warmup": "1 s", "seed": 3},
        "bottleneck": {"rate": "5 Mbps", "delay": "3 ms", "buffer": "20 packets"},
        "flows": [{"name": "long", "count": 2, "rtt": "30 ms", "rtt_spread": 0.2}],
        "probes": {"interval": "10 ms"},
        **more,
    }


def run(content: dict[str, Any], **more: Any) -> Result:
    return bufferlab.run(content, progress=False, **more)[0]


def test_recording_changes_no_result(tmp_path: Path) -> None:
    plain = run(scenario())
    recorded = run(
        scenario(), pcap=tmp_path / "a.pcapng", pcap_at=["senders", "bottleneck"], trace=tmp_path / "a.tr"
    )
    assert plain.plan_hash == recorded.plan_hash
    assert (plain.events, plain.packets) == (recorded.events, recorded.packets)
    for name in NAMES:
        assert getattr(plain.frames, name).equals(getattr(recorded.frames, name)), name


def test_the_senders_see_what_the_flows_table_counts(tmp_path: Path) -> None:
    result = run(scenario(), pcap=tmp_path / "a.pcapng")
    capture = read(tmp_path / "a.pcapng")
    assert capture.interfaces == ["senders"]
    sent = [packet for packet in capture.packets if packet.outbound and packet.headers[33] & 2 == 0]
    assert len(sent) == result.flows["whole_sent_packets"].sum()
    numbers = Counter((packet.headers[12:16], packet.headers[24:28]) for packet in sent)
    again = sum(count - 1 for count in numbers.values())
    assert again == result.flows["whole_retransmissions"].sum() > 0
    times = [packet.time_ns for packet in capture.packets]
    assert times == sorted(times)
    assert times[-1] < 4_000_000_000
    (recording,) = result.recordings
    assert (recording.records, recording.left_out) == (len(capture.packets), 0)
    assert recording.size_bytes == (tmp_path / "a.pcapng").stat().st_size
    assert capture.counted == {"senders": len(capture.packets)}


def test_a_packet_of_several_segments_is_one_with_all_their_bytes(tmp_path: Path) -> None:
    flows = [{"name": "long", "rtt": "30 ms", "offload": "6 segments"}]
    result = run(scenario(flows=flows), pcap=tmp_path / "a.pcapng")
    sent = [packet for packet in read(tmp_path / "a.pcapng").packets if packet.outbound]
    # the IP header's total length, less 52 bytes of headers
    payloads = Counter(
        int.from_bytes(packet.headers[2:4]) - 52 for packet in sent if packet.headers[33] & 2 == 0
    )
    assert set(payloads) <= {segments * 1448 for segments in range(1, 7)}
    assert max(payloads) == 6 * 1448
    bytes_sent = sum(payload * count for payload, count in payloads.items())
    assert bytes_sent == result.flows["whole_sent_packets"].sum() * 1448


def test_acknowledgments_show_the_window_that_is_tuned(tmp_path: Path) -> None:
    flow = {"name": "long", "rtt": "100 ms", "stack": "linux", "window": "auto(1 MiB)"}
    run(scenario(flows=[flow]), pcap=tmp_path / "a.pcapng")
    answers = [packet.headers for packet in read(tmp_path / "a.pcapng").packets if not packet.outbound]
    fields = [int.from_bytes(headers[34:36]) for headers in answers]
    # the SYN's answer is not scaled: 45 segments; a buffer of 1 MiB has a shift of 5, as in Linux
    assert fields[0] == 45 * 1448
    windows = [field << 5 for field in fields[1:]]
    assert windows == sorted(windows)
    assert 65_000 < windows[0] < 66_000
    assert 2 * windows[0] < windows[-1] <= 1 << 19


def test_a_link_shows_what_comes_what_crosses_and_what_is_lost(tmp_path: Path) -> None:
    content = scenario()
    content["bottleneck"] |= {"loss": 0.01}
    result = run(content, pcap=tmp_path / "a.pcapng", pcap_at="bottleneck")
    capture = read(tmp_path / "a.pcapng")
    assert capture.interfaces == ["bottleneck.in", "bottleneck.out", "bottleneck.lost"]
    queue = result.queues.filter(group="all").row(0, named=True)
    comments = Counter(packet.comment for packet in capture.at("bottleneck.lost"))
    assert comments == {
        "lost at bottleneck: buffer full": queue["whole_dropped_packets"],
        "lost at bottleneck: random loss before the queue": queue["whole_lost_packets"],
    }
    arrived = queue["whole_arrived_packets"] + queue["whole_lost_packets"]
    assert len(capture.at("bottleneck.in")) == arrived
    crossed = {packet.packet_id: packet for packet in capture.at("bottleneck.out")}
    lost = {packet.packet_id for packet in capture.at("bottleneck.lost")}
    waiting = 0
    for packet in capture.at("bottleneck.in"):
        if packet.packet_id in crossed:
            out = crossed[packet.packet_id]
            # its own transmission and the link's delay at least; the model's SYN is smaller than a real one
            wire_bytes = 52 if packet.headers[33] & 2 else packet.original_bytes
            assert out.time_ns - packet.time_ns >= wire_bytes * 8 * 200 + 3_000_000 - 1
            assert out.headers == packet.headers
        elif packet.packet_id not in lost:
            waiting += 1
    # what is in the queue, in transmission, or on the link at the end
    assert waiting <= 20 + 1 + 2


def test_a_discipline_s_drops_are_recorded_when_they_happen(tmp_path: Path) -> None:
    content = scenario()
    content["bottleneck"] |= {"queue": "codel", "buffer": "1000 packets"}
    result = run(content, pcap=tmp_path / "a.pcapng", pcap_at="bottleneck")
    lost = read(tmp_path / "a.pcapng").at("bottleneck.lost")
    dropped = result.queues.filter(group="all")["whole_dropped_packets"][0]
    assert Counter(packet.comment for packet in lost) == {"lost at bottleneck: standing queue": dropped}
    assert dropped > 0


def test_marks_are_seen_behind_the_queue_and_echoed_to_the_sender(tmp_path: Path) -> None:
    content = scenario(flows=[{"name": "marked", "rtt": "20 ms", "congestion": "dctcp"}])
    content["bottleneck"] |= {"mark_above": "5 packets", "buffer": "100 packets"}
    result = run(content, pcap=tmp_path / "a.pcapng", pcap_at=["senders", "bottleneck"])
    capture = read(tmp_path / "a.pcapng")
    marked = [packet for packet in capture.at("bottleneck.out") if packet.headers[1] & 3 == 3]
    total = result.queues.filter(group="all")["marked_packets"][0]
    assert 0 < total <= len(marked)
    assert {packet.headers[1] & 3 for packet in capture.at("bottleneck.in")} == {0, 2}
    echoes = [packet for packet in capture.at("senders") if not packet.outbound and packet.headers[33] & 0x40]
    assert echoes


def test_several_seeds_have_a_file_each(tmp_path: Path) -> None:
    runs = bufferlab.run(
        scenario(), seeds=2, pcap=tmp_path / "a.pcapng", trace=tmp_path / "a.csv", progress=False
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a-3.csv",
        "a-3.pcapng",
        "a-4.csv",
        "a-4.pcapng",
    ]
    for result in runs:
        assert [recording.path.stem for recording in result.recordings] == [f"a-{result.seed}"] * 2


def test_groups_and_a_limit_keep_files_small(tmp_path: Path) -> None:
    content = scenario()
    content["flows"].append({"name": "other", "rtt": "20 ms"})
    run(content, pcap=tmp_path / "a.pcapng", record_flows="other")
    sources = {packet.headers[12:16] for packet in read(tmp_path / "a.pcapng").packets if packet.outbound}
    assert sources == {bytes([10, 0, 0, 3])}
    result = run(content, pcap=tmp_path / "b.pcapng", record_limit=100)
    (recording,) = result.recordings
    assert len(read(tmp_path / "b.pcapng").packets) == recording.records == 100
    assert recording.left_out > 0
    assert "left out" in str(recording)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pcap_at": "nowhere"}, "pcap_at: 'nowhere' is unknown; accepted: senders, receivers, bottleneck"),
        ({"pcap_at": []}, "pcap_at: '' names nothing; accepted: senders, receivers, bottleneck"),
        ({"record_flows": "short"}, "record_flows: 'short' is unknown; accepted: long"),
        ({"record_limit": 0}, "record_limit: 0 is not a usable limit; accepted: 1 or more"),
    ],
)
def test_what_cannot_be_recorded_is_an_error(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        run(scenario(), pcap=tmp_path / "a.pcapng", **arguments)
    assert str(error.value) == message
    assert not list(tmp_path.iterdir())


def test_capture_and_trace_need_two_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is the capture's file, too"):
        run(scenario(), pcap=tmp_path / "a", trace=tmp_path / "a")


def test_a_file_that_cannot_be_opened_is_named_before_the_run(tmp_path: Path) -> None:
    content = scenario(run={"duration": "100000 s"})
    path = tmp_path / "missing" / "a.pcapng"
    with pytest.raises(OutputError, match=f"{path}: cannot be written"):
        run(content, pcap=path)
    with pytest.raises(OutputError, match=f"{tmp_path}: cannot be written"):
        run(content, trace=tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_keeps_the_result() -> None:
    with pytest.warns(RecordingWarning, match="/dev/full: 0 packets, 0 bytes, cut off there"):
        result = run(scenario(), pcap="/dev/full")
    assert result.flows.equals(run(scenario()).flows)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_may_be_read_while_the_run_goes(tmp_path: Path) -> None:
    pipe, copy = tmp_path / "pipe", tmp_path / "a.pcapng"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: copy.write_bytes(pipe.read_bytes()))
    reader.start()
    result = run(scenario(), pcap=pipe)
    reader.join()
    assert len(read(copy).packets) == result.recordings[0].records


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
def test_a_file_that_cannot_grow_ends_with_a_whole_block(tmp_path: Path) -> None:
    code = (
        "import resource, sys, warnings, bufferlab\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_001, 300_001))\n"
        "warnings.simplefilter('ignore')\n"
        "result = bufferlab.run(eval(sys.argv[1]), pcap=sys.argv[2], trace=sys.argv[3], progress=False)[0]\n"
        "for one in result.recordings: print(one.records, one.size_bytes, one.problem is None)\n"
    )
    pcap, trace = tmp_path / "a.pcapng", tmp_path / "a.tr"
    done = subprocess.run(
        [sys.executable, "-c", code, repr(scenario()), str(pcap), str(trace)],
        check=True,
        capture_output=True,
        text=True,
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[2] for line in lines] == ["False", "False"]
    capture = read(pcap)
    assert (len(capture.packets), pcap.stat().st_size) == (int(lines[0][0]), int(lines[0][1]))
    assert 299_000 < pcap.stat().st_size <= 300_001
    text = trace.read_text()
    assert text.endswith("\n")
    assert len(text.splitlines()) == int(lines[1][0])
    assert {len(line.split()) for line in text.splitlines()} == {12}
