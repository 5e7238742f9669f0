"""What Wireshark's command-line twin makes of our captures, against our own figures."""

from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import bufferlab
from bufferlab import Result, Scenario

from .conftest import read, with_payload

pytestmark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is missing: sudo apt-get install tshark"
)

ROOT = Path(__file__).parents[2]
CLASSES = [
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order",
]
CHECKSUMS = ("ip", "tcp", "udp")


def tshark(path: Path, *arguments: str) -> str:
    command = ["tshark", "-n", "-r", str(path), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout


def fields(path: Path, *names: str, where: str = "") -> pl.DataFrame:
    """A table of fields, one row a packet."""
    asked = [argument for name in names for argument in ("-e", name)]
    text = tshark(path, "-Y", where or "frame", "-T", "fields", "-E", "separator=,", *asked)
    return pl.read_csv(io.StringIO(text), has_header=False, new_columns=list(names), infer_schema_length=None)


def count(path: Path, where: str) -> int:
    return len(tshark(path, "-Y", where).splitlines())


FILE, PAGES = 5, 6
"""Indices of groups in:"""


def everything() -> dict[str, Any]:
    """Every kind of packet that there is."""
    return {
        "run": {"duration": "6 s", "warmup": "1 s", "seed": 2},
        "links": [
            {
                "name": "there",
                "rate": "8 Mbps",
                "delay": "4 ms",
                "buffer": "20 packets",
                "mark_above": "9 packets",
            },
            {"name": "far", "rate": "6 Mbps", "delay": "1 ms", "buffer": "1000 packets", "queue": "fq_codel"},
            {"name": "back", "rate": "500 kbps", "delay": "4 ms", "buffer": "9 packets", "loss": 0.01},
        ],
        "flows": [
            {"name": "modern", "stack": "linux", "rtt": "30 ms", "path": ["there"], "reverse_path": ["back"]},
            {"name": "old", "stack": "inet-reno", "rtt": "40 ms", "path": ["there", "far"]},
            {"name": "ns", "stack": "ns2-sack1", "rtt": "20 ms", "path": ["there"], "handshake": False},
            {"name": "marked", "congestion": "dctcp", "rtt": "25 ms", "path": ["there", "far"]},
            {"name": "big", "stack": "linux", "rtt": "20 ms", "path": ["far"], "offload": "4 segments"},
            {
                "name": "file",
                "count": 2,
                "rtt": "20 ms",
                "path": ["far"],
                "application": {"kind": "transfer", "bytes": "100001 B"},
            },
            {
                "name": "pages",
                "rtt": "30 ms",
                "path": ["there"],
                "reverse_path": ["back"],
                "application": {"kind": "web", "size": "30000 B", "every": "500 ms"},
            },
            {
                "name": "voice",
                "rtt": "30 ms",
                "path": ["there", "far"],
                "application": {"kind": "udp", "packet": "201 B", "interval": "20 ms"},
            },
            {
                "name": "ping",
                "rtt": "30 ms",
                "path": ["there"],
                "reverse_path": ["back"],
                "application": {"kind": "ping", "interval": "100 ms"},
            },
            {"name": "quic", "stack": "quic", "rtt": "30 ms", "path": ["there"], "reverse_path": ["back"]},
        ],
    }


@pytest.fixture(scope="module")
def all_kinds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    path = tmp_path_factory.mktemp("capture") / "all.pcapng"
    places = ["senders", "receivers", "there", "far", "back"]
    return bufferlab.run(everything(), pcap=path, pcap_at=places, progress=False)[0], path


def test_no_packet_is_malformed_and_no_checksum_is_wrong(
    all_kinds: tuple[Result, Path], tmp_path: Path
) -> None:
    _, path = all_kinds
    whole = tmp_path / "whole.pcapng"
    with_payload(path, whole)
    verify = [word for name in CHECKSUMS for word in ("-o", f"{name}.check_checksum:TRUE")]
    bad = "_ws.malformed or ip.checksum.status==0 or tcp.checksum.status==0 or udp.checksum.status==0"
    bad += " or icmp.checksum.status==0 or _ws.expert.severity==error"
    assert tshark(path, *verify, "-Y", bad) == ""
    assert tshark(whole, *verify, "-Y", bad) == ""
    good = "(tcp.checksum.status==1 or udp.checksum.status==1 or icmp.checksum.status==1)"
    good += " and ip.checksum.status==1"
    assert len(tshark(whole, *verify, "-Y", good).splitlines()) == len(read(path).packets)


def test_every_interface_has_what_is_to_be_seen_there(all_kinds: tuple[Result, Path]) -> None:
    result, path = all_kinds
    seen = fields(path, "frame.interface_name", "ip.src").group_by("frame.interface_name").len()
    counted = dict(seen.iter_rows())
    assert set(read(path).interfaces) == {
        "senders", "receivers", "there.in", "there.out", "there.lost", "far.in", "far.out", "far.lost",
        "back.in", "back.out", "back.lost",
    }  # fmt: skip
    for row in result.queues.filter(group="all").iter_rows(named=True):
        link, lost = row["link"], row["whole_lost_packets"]
        assert counted[f"{link}.in"] == row["whole_arrived_packets"] + lost
        assert counted.get(f"{link}.lost", 0) == row["whole_dropped_packets"] + lost
    assert fields(path, "frame.time_epoch")["frame.time_epoch"].is_sorted()


def test_pings_are_asked_and_answered(all_kinds: tuple[Result, Path], tmp_path: Path) -> None:
    result, path = all_kinds
    senders = tmp_path / "senders.pcapng"
    tshark(path, "-Y", 'frame.interface_name=="senders" and icmp', "-w", str(senders))
    times = fields(senders, "icmp.seq", "icmp.resptime", where="icmp.type==0")
    pings = result.exchanges.filter(pl.col("group") == "ping").drop_nulls("end_s")
    assert len(times) == len(pings) > 40
    assert times["icmp.seq"].to_list() == (pings["number"] + 1).to_list()
    worst = (times["icmp.resptime"] - pings["duration_s"] * 1000).abs().max()
    assert isinstance(worst, float)
    assert worst < 0.001


def test_pages_are_connections_of_their_own(all_kinds: tuple[Result, Path], tmp_path: Path) -> None:
    result, path = all_kinds
    clients = tmp_path / "clients.pcapng"
    port = 50_001 + PAGES
    tshark(path, "-Y", f'frame.interface_name=="receivers" and tcp.port=={port}', "-w", str(clients))
    names = (
        "tcp.stream",
        "frame.time_epoch",
        "tcp.flags.syn",
        "tcp.flags.ack",
        "ip.src",
        "tcp.len",
        "tcp.nxtseq",
    )
    packets = fields(clients, *names).rename(lambda name: name.split(".")[-1])
    pages = result.exchanges.filter(pl.col("group") == "pages")
    first = packets.group_by("stream").first().sort("stream")
    assert len(first) == len(pages) > 5
    # each is asked for by the client's SYN, at the start that the table tells
    assert first["src"].unique().to_list() == ["10.128.0.8"]
    assert (first["time_epoch"] - pages["start_s"]).abs().max() == pytest.approx(0, abs=1e-8)
    done = pages["end_s"].is_not_null()
    last = packets.filter(pl.col("len") > 0).group_by("stream").agg(pl.col("nxtseq").max()).sort("stream")
    segments = -(-30_000 // 1448)
    assert set(last["nxtseq"].filter(done[: len(last)])) == {1 + segments * 1448}
    comments = {packet.comment for packet in read(clients).packets if packet.comment}
    assert comments == {"the model's client asks by a pure delay: this SYN waits in no queue"}


def test_a_transfer_ends_with_its_last_byte(all_kinds: tuple[Result, Path]) -> None:
    _, path = all_kinds
    port = 50_001 + FILE
    where = f'frame.interface_name=="receivers" and tcp.dstport=={port}'
    ends = (
        fields(path, "ip.dst", "tcp.nxtseq", where=where).group_by("ip.dst").agg(pl.col("tcp.nxtseq").max())
    )
    assert ends["tcp.nxtseq"].to_list() == [100_002, 100_002]


def test_without_a_handshake_the_first_segment_says_what_was_agreed(all_kinds: tuple[Result, Path]) -> None:
    _, path = all_kinds
    comments = {packet.comment for packet in read(path).at("senders") if packet.comment}
    assert "the scenario has no handshake; MSS 1000, window scale 11, SACK" in comments


def test_hosts_have_names(all_kinds: tuple[Result, Path]) -> None:
    _, path = all_kinds
    command = ["tshark", "-r", str(path), "-N", "n", "-Y", "icmp.type==8", "-c", "200", "-T", "fields"]
    command += ["-e", "ip.src_host", "-e", "ip.dst_host"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert set(text.splitlines()) == {"ping-9.sender\tping-9.receiver"}


def losses(stack: str, **more: Any) -> dict[str, Any]:
    return {
        "run": {"duration": "20 s", "warmup": "500 ms", "seed": 3, "stack": stack},
        "bottleneck": {"rate": "10 Mbps", "delay": "5 ms", "buffer": "40 packets"},
        "flows": [{"name": "long", "count": 3, "rtt": "40 ms", "rtt_spread": 0.3, **more}],
        "probes": {"interval": "10 ms"},
    }


@pytest.mark.parametrize("stack", ["rfc", "linux", "ns2-sack1", "inet-reno", "quic"])
def test_retransmissions_are_those_of_the_flows_table(stack: str, tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    content = losses(stack, window="2 MB", window_scaling=True)
    result = bufferlab.run(content, pcap=path, progress=False)[0]
    # a retransmission within 3 ms or a round trip of later data looks reordered to tshark
    found = fields(path, "ip.src", where=" or ".join(CLASSES)).group_by("ip.src").len().sort("ip.src")
    table = result.flows.filter(pl.col("whole_retransmissions") > 0)
    assert found["len"].to_list() == table["whole_retransmissions"].to_list()
    assert sum(found["len"]) > 30


def calm() -> dict[str, Any]:
    """Flows whose windows are full before the queue is: no losses, and each segment is acknowledged."""
    content = losses("rfc", window="30 segments", delayed_ack=False)
    content["bottleneck"]["buffer"] = "200 packets"
    return content


def test_round_trips_without_losses_are_ours(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    result = bufferlab.run(calm(), pcap=path, progress=False)[0]
    assert result.flows["whole_retransmissions"].sum() == 0
    where = "tcp.analysis.ack_rtt and ip.dst < 10.128.0.0 and frame.time_epoch >= 0.5"
    times = fields(path, "ip.dst", "tcp.analysis.ack_rtt", where=where)
    mean = times.group_by("ip.dst").agg(pl.col("tcp.analysis.ack_rtt").mean() * 1000, pl.len()).sort("ip.dst")
    assert mean["len"].to_list() == result.flows["rtt_samples"].to_list()
    # the capture's nanoseconds are cut off
    assert (mean["tcp.analysis.ack_rtt"] - result.flows["rtt_ms"]).abs().max() == pytest.approx(0, abs=2e-6)


def in_flight(path: Path, flow: int, samples: pl.DataFrame) -> pl.DataFrame:
    """Our samples, each beside what tshark says of the last segment before it."""
    names = ("frame.time_epoch", "tcp.len", "tcp.analysis.bytes_in_flight")
    theirs = fields(path, *names, where=f"ip.src==10.0.0.{flow + 1} and tcp.len > 0")
    theirs = theirs.rename(lambda name: name.split(".")[-1])
    ours = samples.filter(pl.col("flow") == flow).sort("time_s")
    both = ours.join_asof(
        theirs, left_on="time_s", right_on="time_epoch", allow_exact_matches=False
    ).drop_nulls()
    return both.with_columns(theirs=pl.col("bytes_in_flight") / pl.col("len"))


def test_what_is_in_flight_without_losses_is_ours(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    result = bufferlab.run(calm(), pcap=path, progress=False)[0]
    for flow in range(3):
        both = in_flight(path, flow, result.flow_samples)
        assert len(both) > 1900
        assert (both["theirs"] == both["inflight_segments"]).all()


def test_what_is_in_flight_with_losses_is_ours_but_while_they_are_repaired(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    content = losses("linux", delayed_ack=False)
    content["flows"][0]["count"] = 1
    result = bufferlab.run(content, pcap=path, progress=False)[0]
    assert result.flows["whole_recoveries"].sum() > 3
    both = in_flight(path, 0, result.flow_samples)
    same = both["theirs"] == both["inflight_segments"]
    # tshark counts what is lost or held by the receiver, our estimate of RFC 6675 does not
    assert 0.9 < same.sum() / len(both) < 1
    assert (both["theirs"] >= both["inflight_segments"] - 1).all()


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_captures_of_the_examples_are_sound(example: Path, tmp_path: Path) -> None:
    scenario = Scenario.load(example)
    # 10 Gbps fill files fast
    duration = "100 ms" if example.stem == "internet-exchange" else "1 s"
    cut = {"run.duration": duration, "run.warmup": "0 s"}
    starts = [f"flows[{index}].start" for index, flow in enumerate(scenario.flows)]
    cut |= dict.fromkeys(starts, "0 s")
    places = ["senders", "receivers", *(link["name"] for link in scenario.links)]
    path, trace = tmp_path / "a.pcapng", tmp_path / "a.tr"
    result = bufferlab.run(
        example, overrides=cut, pcap=path, pcap_at=places, trace=trace, record_limit=10_000, progress=False
    )[0]
    capture = read(path)
    assert len(capture.packets) == result.recordings[0].records > 0
    times = [packet.time_ns for packet in capture.packets]
    assert times == sorted(times)
    assert tshark(path, "-Y", "_ws.malformed or _ws.expert.severity==error") == ""
    seconds = [float(line.split()[1]) for line in trace.read_text().splitlines()]
    assert seconds == sorted(seconds)
    for row in result.queues.filter(group="all").iter_rows(named=True):
        lost = row["whole_dropped_packets"] + row["whole_lost_packets"]
        assert capture.counted[f"{row['link']}.lost"] == lost


def test_a_tuned_window_is_advertised(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    content = {
        "run": {"duration": "3 s", "warmup": "0 s", "stack": "linux"},
        "bottleneck": {"rate": "200 Mbps", "delay": "1 ms", "buffer": "1000 packets"},
        "flows": [{"name": "tuned", "rtt": "80 ms", "window": "auto(2 MB)"}],
        "probes": {"interval": "10 ms"},
    }
    result = bufferlab.run(content, pcap=path, progress=False)[0]
    theirs = fields(path, "tcp.window_size", where="ip.dst==10.0.0.1 and tcp.flags.syn==0")["tcp.window_size"]
    assert theirs.is_sorted()
    # from 45 whole segments to half of the buffer, in units of 32 bytes
    assert theirs[0] < 70_000
    assert theirs.max() == -(-690 * 1448 // 32) * 32
    # nothing but the window is a bound in the end
    assert result.flows["whole_retransmissions"].sum() == 0
    assert result.flow_samples["inflight_segments"].max() == 690
