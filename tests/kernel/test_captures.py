"""What a kernel's hosts and link see of packets, as a run's capture."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from bufferlab.errors import InputError
from bufferlab.experiment import recording
from bufferlab.kernel import captures, network
from bufferlab.kernel.cache import Kernel
from bufferlab.kernel.emulate import emulate
from bufferlab.plan import lower

from .conftest import link

PLACES = ["senders", "receivers", "bottleneck"]
NEEDS_TSHARK = pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")


def packet(port: int, to_port: int, number: int, size: int = 1500) -> bytes:
    """A segment's headers."""
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, size, number, 0, 64, 6, 0, bytes((10, 0, 0, 2)), bytes(4))
    return ip + struct.pack(">HHIIBBHHH", port, to_port, number, 0, 0x50, 0x10, 0, 0, 0)


def seen(path: Path, packets: list[tuple[int, bytes, int]]) -> None:
    """A file as the kernel writes it."""
    head = struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 128, 101)
    rows = (
        struct.pack("=IIII", *divmod(at_ns, 10**9), len(data), size) + data for at_ns, data, size in packets
    )
    path.write_bytes(head + b"".join(rows))


def rows(path: Path) -> list[list[str]]:
    """Time, interface, number and source's port of each packet of a capture, as tshark reads it."""
    fields = ("frame.time_epoch", "frame.interface_name", "frame.packet_id", "tcp.srcport")
    words = ["tshark", "-r", str(path), "-T", "fields", *(word for name in fields for word in ("-e", name))]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


@NEEDS_TSHARK
@pytest.mark.parametrize("ours", [False, True])
def test_times_are_moved_to_where_the_scenario_has_its_delays(tmp_path: Path, ours: bool) -> None:
    """All of the round trip is on the way back in the kernel, and in its HTB no transmission."""
    scenario = link(bottleneck__delay="5 ms")
    plan = lower(scenario)
    asked = recording.request(
        scenario, pcap=tmp_path / "x.pcapng", pcap_at=PLACES, trace=None, groups=None, limit=100
    )
    assert asked is not None
    net = network.net(1, ours=ours)
    for tap in captures.taps(asked, "bottleneck", net):
        # sent at 1 ms, nothing waits; the answer is seen when it has waited for 40 ms and the transmission
        moments = {"answered": 41_000_000 + 1_200_000}
        is_answer = tap.sees == "answered" or (tap.place == "senders" and not tap.leaves)
        at_ns = 41_000_000 + 1_200_000 if is_answer else 1_000_000
        if tap.sees in {"crossed", "all"} and ours:
            at_ns += 1_200_000
        data = packet(5000, 10_000, 9, 52) if is_answer else packet(10_000, 5000, 1)
        seen(tmp_path / tap.file, [(moments.get(tap.sees, at_ns), data, 52 if is_answer else 1500)])
    (tmp_path / captures.LEFT_OUT).write_text(json.dumps({"a": 2}), "utf-8")
    finished = captures.save(asked, plan, net, tmp_path)
    assert (finished[0], finished[1], finished[3]) == (6, 2, None)
    found = [
        (round(float(at) * 1e3, 6), place, number) for at, place, number, _ in rows(tmp_path / "x.pcapng")
    ]
    source_ms = plan["flows"]["source_delay_ps"][0] / 1e9
    forward_ms = source_ms + 5 + plan["flows"]["sink_delay_ps"][0] / 1e9
    assert found == [
        (1.0, "senders", "0"),
        (1 + source_ms, "bottleneck.in", "0"),
        (1 + source_ms + 5 + 1.2, "bottleneck.out", "0"),
        (1 + forward_ms + 1.2, "receivers", "0"),
        (1 + forward_ms + 1.2, "receivers", "1"),
        (42.2, "senders", "1"),
    ]


@NEEDS_TSHARK
def test_only_the_groups_that_are_asked_for_are_in_it(tmp_path: Path) -> None:
    scenario = link(flows=[{"name": name, "rtt": "40 ms", "congestion": "reno"} for name in ("one", "other")])
    asked = recording.request(
        scenario, pcap=tmp_path / "x.pcapng", pcap_at="senders", trace=None, groups="other", limit=100
    )
    assert asked is not None
    seen(tmp_path / "senders-out.pcap", [(port, packet(port, 5000, 1), 1500) for port in (10_000, 10_001)])
    seen(tmp_path / "senders-in.pcap", [])
    (tmp_path / captures.LEFT_OUT).write_text("{}", "utf-8")
    captures.save(asked, lower(scenario), network.net(1, ours=False), tmp_path)
    assert [port for *_, port in rows(tmp_path / "x.pcapng")] == ["10001"]


def test_a_place_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="pcap_at: 'elsewhere'"):
        emulate(link(), pcap="x.pcapng", pcap_at="elsewhere")


@NEEDS_TSHARK
@pytest.mark.parametrize("queues", ["kernel", "bufferlab"])
def test_a_kernels_capture_is_its_run(built: Kernel, tmp_path: Path, queues: str) -> None:
    """What others read in it is what was counted; looking moves next to nothing."""
    scenario = link(run__duration="8 s", run__warmup="0 s", bottleneck__buffer="30 packets")
    file = tmp_path / "k.pcapng"
    (kernels,) = emulate(scenario, by=built, queues=queues, pcap=file, pcap_at=PLACES)
    (recorded,) = kernels.recordings
    assert (recorded.left_out, recorded.problem) == (0, None)
    places = Counter(place for _, place, _, _ in rows(file))
    sent = {number for _, place, number, port in rows(file) if (place, port[:1]) == ("senders", "1")}
    flow = kernels.flows.row(0, named=True)
    # segments, and those without data: of the handshake
    assert 0 <= len(sent) - flow["sent_packets"] <= 3
    assert places["bottleneck.in"] == len(sent)
    whole = kernels.queues.row(-1, named=True)
    assert whole["dropped_packets"] > 0
    assert (
        places["bottleneck.in"] - places["bottleneck.out"] == whole["dropped_packets"] + whole["left_packets"]
    )
    # a clock that is read takes 256 ns (docs/kernel.md), so that a packet more or less may fit
    (plain,) = emulate(scenario, by=built, queues=queues)
    moved = plain.queues["departed_packets"][-1] - whole["departed_packets"]
    assert abs(moved) <= 20
