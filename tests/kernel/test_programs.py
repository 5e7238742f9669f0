"""A user's program as traffic."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.kernel.cache import Kernel
from bufferlab.kernel.emulate import emulate
from bufferlab.kernel.job import job_of
from bufferlab.kernel.program import Program
from bufferlab.plan import lower

from .conftest import link

SERVER = """
import socket
listening = socket.create_server(("0.0.0.0", 9000))
while True:
    it, _ = listening.accept()
    while it.recv(1 << 16):
        pass
    it.close()
"""
CLIENT = """
import os, socket, time
it = socket.create_connection((os.environ["BUFFERLAB_PEER"], 9000))
began = time.monotonic()
it.sendall(bytes(2_000_000))
it.shutdown(socket.SHUT_WR)
it.recv(1)
print(f"{time.monotonic() - began:.3f}")
open("left.txt", "w").write(os.environ["BUFFERLAB_HERE"])
"""
CROSSING: list[dict[str, Any]] = [
    {"name": "mine", "rtt": "40 ms", "congestion": "reno"},
    {"name": "others", "rtt": "80 ms", "congestion": "cubic"},
]


def of(script: str, **more: Any) -> Program:
    """A program in Python, whose output is kept."""
    return Program((sys.executable, "-c", script), output=io.StringIO(), errors=io.StringIO(), **more)


def test_a_program_takes_the_first_groups_place() -> None:
    scenario = of("", peer="true").prepared(link(flows=CROSSING))
    job = job_of(lower(scenario), program=of("", peer="true", at="receivers"))
    assert [flow.get("is_programs", False) for flow in job["flows"]] == [True, False]
    mine, peer = job["program"]["program"], job["program"]["peer"]
    # the group's own round trip is the shorter one, so its receivers are the first
    assert (mine["namespace"], mine["environment"]["BUFFERLAB_PEER"]) == ("home0", "10.0.0.2")
    assert (peer["namespace"], peer["environment"]["BUFFERLAB_PEER"]) == ("sending", "10.1.0.2")
    assert job["program"]["starts_ns"] == 5 * 10**9  # the warm-up's end
    controls = {values.get("net/ipv4/tcp_congestion_control") for values in job["sysctls"].values()}
    assert controls == {None, "reno"}


def test_alone_it_waits_for_a_second_and_not_for_a_warm_up() -> None:
    assert of("").prepared(link()).run["warmup_ps"] == 10**12
    assert of("").prepared(link(flows=CROSSING)).run["warmup_ps"] == 5 * 10**12


@pytest.mark.skipif(shutil.which("ping") is None, reason="needs ping")
def test_a_ping_takes_the_round_trip_and_a_transmission_and_waits_a_second(built: Kernel) -> None:
    program = Program(("ping", "-c", "3", "10.1.0.2"), output=io.StringIO(), errors=io.StringIO())
    emulate(link(), by=built, program=program)
    said = program.output.getvalue()  # type: ignore[attr-defined]
    assert said.count("time=41.2 ms") == 3
    assert program.endings[0].lasted_s == pytest.approx(2.04, abs=0.02)


def test_what_cannot_be_started_is_refused() -> None:
    with pytest.raises(InputError, match="COMMAND: 'no-such-program'"):
        Program(("no-such-program",)).check()
    with pytest.raises(InputError, match="--at: 'here'"):
        Program(("true",), at="here").check()


@pytest.mark.parametrize("queues", ["kernel", "bufferlab"])
def test_a_programs_bytes_take_their_time_and_end_the_run(
    built: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, queues: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server.py").write_text(SERVER)
    program = of(CLIENT, peer=f"exec {sys.executable} server.py")
    (result,) = emulate(link(), by=built, queues=queues, program=program)
    (ending,) = program.endings
    assert ending.status == 0
    taken_s = float(program.output.getvalue())  # type: ignore[attr-defined]
    # 2 MB at 10 Mbps are 1.66 s with headers; the handshake's round trip, slow start and the last answer
    assert 1.66 < taken_s < 2.2
    assert (tmp_path / "left.txt").read_text() == "10.0.0.2"
    assert result.reached_ps / 1e12 == pytest.approx(1 + ending.lasted_s, abs=0.01)
    whole = result.queues.filter(result.queues["group"] == "all")
    assert whole["departed_packets"][0] == pytest.approx(2_000_000 / 1448, rel=0.1)
    # the link is busy but for the handshake, slow start and the last answer
    assert 0.7 < whole["utilization"][0] < 0.95
    if queues == "bufferlab":
        assert result.queues.filter(result.queues["group"] == "bulk")["departed_packets"][0] > 1300


def test_a_program_that_goes_on_is_ended_with_the_run(built: Kernel) -> None:
    program = of("import time; print('it runs', flush=True); time.sleep(1000)")
    (result,) = emulate(link(flows=CROSSING, run__duration="8 s"), by=built, program=program)
    assert program.output.getvalue() == "it runs\n"  # type: ignore[attr-defined]
    assert program.endings[0].status is None
    assert program.endings[0].lasted_s == pytest.approx(3, abs=0.01)
    # the others' flow has the link
    assert result.flows.filter(result.flows["group"] == "others")["goodput_bps"][0] > 9e6


def test_a_programs_status_and_errors_are_passed_on(built: Kernel) -> None:
    program = of("import sys; sys.exit('it failed')")
    emulate(link(), by=built, program=program)
    assert program.endings[0].status == 1
    assert program.errors.getvalue() == "it failed\n"  # type: ignore[attr-defined]
