"""This machine's own kernel, live: what it is given, how punctual it was, and that nothing is left of it."""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.kernel import captures, host
from bufferlab.kernel.emulate import emulate_live
from bufferlab.kernel.guest import capture as guest_capture
from bufferlab.kernel.guest.capture import Tap
from bufferlab.kernel.guest.live import punctuality
from bufferlab.kernel.host import Punctual
from bufferlab.kernel.job import live_job_of
from bufferlab.kernel.program import Program
from bufferlab.plan import lower

from .conftest import link

NEEDS_TUN = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.R_OK | os.W_OK),
    reason="the engine host is NOT tested here: it needs TUN devices, and this test is for root",
)
MS = 10**6


def processes(word: str) -> list[int]:
    """Those that have a word in their command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in words:
            found.append(int(folder.name))
    return found


def test_its_job_has_two_networks_and_answers_that_wait() -> None:
    plan = lower(link(flows__bulk__count=2, flows__bulk__rtt="uniform(40 ms, 80 ms)"), 3)
    job = live_job_of(plan, program=Program(("true",), at="receivers"))
    assert [command["tun"] for command in job["commands"] if "tun" in command] == job["tuns"]
    assert not [command for command in job["commands"] if "netem" in command.get("input", "")]
    assert len(job["delays_ns"]) == 2
    assert (
        {each["namespace"] for each in job["receivers"]}
        == {"beyond"}
        == {job["program"]["program"]["namespace"]}
    )
    waits = sorted(job["delays_ns"].values())
    assert 40 * MS <= waits[0] < waits[1] <= 80 * MS
    # what only the machine may set
    assert job["parameters"] == {}
    assert "congctl reno" in job["commands"][2]["input"]


def test_being_late_is_counted_packet_by_packet() -> None:
    due = [index * MS for index in range(1, 101)]
    left = [at + 20_000 for at in due]
    left[50] += 300_000  # two distances are off by 30 %
    reported = punctuality(due, left)
    assert (reported["packets"], reported["late_median_us"], reported["late_most_us"]) == (100, 20.0, 320.0)
    assert reported["within_10_percent"] == pytest.approx(100 * 97 / 99)
    assert punctuality([], []) == {"packets": 0}


def test_gaps_in_the_traffic_are_no_distances() -> None:
    due = [MS, 2 * MS, 3 * MS, 100 * MS, 101 * MS, 102 * MS]
    assert punctuality(due, due)["within_10_percent"] == 100


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, []),
        ({"late_p99_us": 1500.0}, ["1 % of packets left 1.5 ms late or later"]),
        ({"within_10_percent": 96.0}, ["only 96.0 % of distances were kept within 10 %"]),
        ({"steal_share": 0.02}, ["2.0 % of a processor were stolen by other machines"]),
    ],
)
def test_a_disturbed_run_is_marked(changed: dict[str, float], said: list[str]) -> None:
    values: dict[str, Any] = {
        "packets": 10, "late_median_us": 5.0, "late_p99_us": 50.0, "late_most_us": 70.0,
        "within_10_percent": 99.9, "steal_share": 0.0, "pressure_share": 0.5, "is_realtime": True,
    }  # fmt: skip
    assert Punctual(values | changed).disturbances == said
    assert "packets left late by median 5 us, 99 % 50 us, at most 0.1 ms" in str(Punctual(values))


@NEEDS_TUN
def test_what_the_machine_lacks_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    controls = tmp_path / "controls"
    controls.write_text("cubic reno\n")
    monkeypatch.setattr(host, "_CONTROLS", controls)
    with pytest.raises(InputError, match=r"congestion: 'westwood'.*cubic, reno"):
        host.check(live_job_of(lower(link(flows__bulk__congestion="westwood"))))
    file = tmp_path / "hystart"
    file.write_text("1\n")
    with pytest.raises(InputError, match="'0' is the machine's; accepted: 1"):
        host.check({"flows": [], "needs_parameters": {str(file): "0"}})


def test_a_capture_ends_with_the_run(tmp_path: Path) -> None:
    """A loop that is late at the end sees packets that the link's tables do not have."""
    seen = [(5, 0, 60, b"x"), (5, 900, 60, b"x"), (5, 901, 60, b"x")]
    tap = SimpleNamespace(direction="in", name="in.pcap", packets=seen)
    Tap.save(tap, tmp_path, began_ns=5 * 10**9, end_ns=900)  # type: ignore[arg-type]
    assert [at_ns for at_ns, _, _ in captures._read(tmp_path / "in.pcap")] == [0, 900]


@NEEDS_TUN
def test_a_capture_takes_what_a_late_loop_has_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop never reads here: 200 packets were once missing of a run on a busy machine."""
    monkeypatch.setattr(guest_capture, "enter", lambda _namespace: None)
    loop = SimpleNamespace(watch=lambda *_: None)
    place = {"name": "in.pcap", "namespace": "", "devices": ["lo"], "direction": "in"}
    tap = Tap(loop, place)  # type: ignore[arg-type]
    monkeypatch.setattr(guest_capture, "_MEMORY_BYTES", 1)  # the kernel makes it the least that it allows
    small = Tap(loop, place)  # type: ignore[arg-type]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as it:
        it.bind(("127.0.0.1", 0))
        for _ in range(20):
            it.sendto(b"packet of a late loop", it.getsockname())
    tap.finish()
    assert sum(b"packet of a late loop" in kept for *_, kept in tap.packets) == 20
    with pytest.raises(RuntimeError, match="packets found no room on their way to the capture"):
        small.finish()
    for it in (*tap.sockets, *small.sockets):
        it.close()


@NEEDS_TUN
def test_a_live_link_is_busy_while_packets_wait_and_none_is_unaccounted(tmp_path: Path) -> None:
    scenario = link(run__duration="4 s", run__warmup="2 s", bottleneck__buffer="60 packets")
    punctual: list[Punctual] = []
    (result,) = emulate_live(scenario, punctual=punctual, pcap=tmp_path / "x.pcapng", pcap_at="bottleneck")
    row = result.queues.row(-1, named=True)
    assert row["whole_arrived_packets"] == (
        row["whole_departed_packets"] + row["whole_dropped_packets"] + row["left_packets"]
    )
    assert row["backlog_max_packets"] <= 60
    assert row["utilization"] <= 1
    # who looks and the link see one packet apart by how late the link is, on its way in and on its way out
    crossed = row["whole_arrived_packets"] + row["whole_departed_packets"]
    each_s = result.reached_ps / 1e12 / row["whole_departed_packets"]
    late_packets = punctual[0].values["late_most_us"] / 1e6 / each_s
    assert abs(result.recordings[0].records - crossed) <= 5 + 2 * late_packets
    assert 0 <= punctual[0].values["packets"] - row["whole_departed_packets"] <= 2
    assert ("disturbed" in result.version) == bool(punctual[0].disturbances)
    # how much there is to send is TCP's matter: a retransmission that is lost, too, halves the window twice
    assert row["utilization"] > 0.5
    if not punctual[0].disturbances:
        assert row["utilization"] + row["empty_fraction"] > 0.97


@NEEDS_TUN
def test_a_program_may_be_live_traffic() -> None:
    script = "import os, socket; it = socket.socket(); it.settimeout(3)\n" + (
        "try:\n    it.connect((os.environ['BUFFERLAB_PEER'], 1))\n"
        "except ConnectionRefusedError:\n    print('refused')"
    )
    program = Program((sys.executable, "-c", script), output=io.StringIO(), errors=io.StringIO())
    began_s = time.monotonic()
    (result,) = emulate_live(link(run__duration="20 s"), program=program)
    assert program.output.getvalue() == "refused\n"  # type: ignore[attr-defined]
    assert program.endings[0].status == 0
    assert program.endings[0].lasted_s >= 0.04  # the round trip of the SYN
    assert time.monotonic() - began_s < 15
    assert result.reached_ps < 15 * 10**12


@NEEDS_TUN
@pytest.mark.parametrize("engine", ["host", "uml"])
def test_nothing_is_left_after_a_kill(tmp_path: Path, engine: str, request: pytest.FixtureRequest) -> None:
    """Neither processes, though they left their group, nor networks, nor folders."""
    if engine == "uml":
        request.getfixturevalue("built")
    mark = f"left-{os.getpid()}-{engine}"
    (tmp_path / "x.toml").write_text(link().to_toml())
    words = [sys.executable, "-m", "bufferlab", "emulate", "x.toml", "--engine", engine, "--"]
    words += ["sh", "-c", f"setsid sh -c 'sleep 600 # {mark}' & while true; do sleep 0.1; done # {mark}"]
    folder = tmp_path / "tmp"
    folder.mkdir()
    environment = os.environ | {"TMPDIR": str(folder)}
    for wait_s in (0.7, 2.5):
        command = subprocess.Popen(
            words, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(wait_s)
        command.send_signal(signal.SIGKILL)
        command.wait()
        until_s = time.monotonic() + 10
        while time.monotonic() < until_s and (processes(mark) or any(folder.iterdir())):
            time.sleep(0.05)
        assert not processes(mark)
        assert not list(folder.iterdir())
    assert not Path("/run/netns/sending").exists()
