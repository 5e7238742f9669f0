"""A real kernel: its clock, its determinism, and one flow whose result is known; skipped without one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.experiment.simulation import simulate
from bufferlab.kernel.boot import boot
from bufferlab.kernel.cache import Kernel
from bufferlab.kernel.doctor import ping_ms
from bufferlab.kernel.emulate import emulate
from bufferlab.kernel.guest.tcp_info import FIELDS
from bufferlab.kernel.job import job_of
from bufferlab.plan import lower

from .conftest import link


def test_a_ping_over_40_ms_takes_40_ms(built: Kernel) -> None:
    assert ping_ms(built) == pytest.approx(40, abs=0.001)


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(built: Kernel) -> None:
    scenario = link(
        run__duration="6 s",
        run__warmup="2 s",
        bottleneck__queue="pie",
        flows__bulk__count=3,
        flows__bulk__congestion="cubic",
        flows__bulk__start="uniform(0 s, 1 s)",
    )
    first, again = (boot(built, job_of(lower(scenario, 1)), 1).rows for _ in range(2))
    assert first == again
    # the same draws, but the kernel's own random numbers are others: those of PIE
    assert boot(built, job_of(lower(scenario, 1)), 2).rows != first


def test_a_reno_flow_through_a_fifo_is_the_simulators(built: Kernel) -> None:
    scenario = link()
    (kernels,) = emulate(scenario, by=built)
    ours = simulate(scenario, scenario.run["seed"])
    assert ours is not None
    here, there = (result.queues.row(0, named=True) for result in (ours, kernels))
    assert there["utilization"] == pytest.approx(here["utilization"], abs=0.01)
    assert there["wait_mean_ms"] == pytest.approx(here["wait_mean_ms"], rel=0.03)
    assert there["backlog_max_packets"] == 100
    assert kernels.flows["goodput_bps"][0] == pytest.approx(ours.flows["goodput_bps"][0], rel=0.01)
    assert kernels.version == built.title


def test_hosts_do_what_the_scenario_says(built: Kernel) -> None:
    """A first window of 3 segments, each acknowledged at once; after a drop no timeout before a second."""
    given = {
        "rtt": "200 ms", "initial_window": 3, "delayed_ack": False, "min_rto": "1 s", "rto_margin": "1 s",
        "fast_convergence": False, "congestion": "cubic-linux",
    }  # fmt: skip
    overrides = {f"flows__bulk__{key}": value for key, value in given.items()}
    scenario = link(run__duration="1 s", run__warmup="500 ms", **overrides)
    rows = [row for row in boot(built, job_of(lower(scenario)), 1).rows if "flows" in row]
    sent = {row["due_ns"] // 10**8: dict(zip(FIELDS, row["flows"][0][2:], strict=True)) for row in rows}
    # the handshake takes a round trip of 201 ms; then 3 segments leave, and each acknowledgment frees two
    assert [sent[at]["cwnd_segments"] for at in (3, 5, 7)] == [3, 6, 12]
    usual = boot(
        built, job_of(lower(link(run__duration="1 s", run__warmup="500 ms", flows__bulk__rtt="200 ms"))), 1
    )
    (row,) = [row for row in usual.rows if row["due_ns"] == 3 * 10**8 and "flows" in row]
    assert dict(zip(FIELDS, row["flows"][0][2:], strict=True))["cwnd_segments"] == 10


def test_a_paced_flow_leaves_evenly(built: Kernel) -> None:
    """While two windows a round trip are less than the link's rate, nothing waits; else something does."""
    waits = []
    for paced in (True, False):
        scenario = link(
            flows__bulk__paced=paced, flows__bulk__rtt="100 ms", run__duration="2 s", run__warmup="200 ms",
            bottleneck__rate="50 Mbps", bottleneck__buffer="1000 packets",
        )  # fmt: skip
        waits.append(
            max(
                row["queue"][2]
                for row in boot(built, job_of(lower(scenario)), 1).rows
                if row["due_ns"] < 35 * 10**7
            )
        )
    assert waits[0] <= 10 < waits[1], waits


def test_a_thousand_flows_have_their_sockets(built: Kernel) -> None:
    scenario = link(
        flows__bulk__count=1000, flows__bulk__start="uniform(0 s, 500 ms)", bottleneck__rate="200 Mbps",
        bottleneck__buffer="100000 packets", run__duration="2 s", run__warmup="600 ms",
        flows__bulk__initial_window=2,
    )  # fmt: skip
    last = boot(built, job_of(lower(scenario, 1)), 1).rows[-1]
    assert len(last["flows"]) == 1000
    assert sum(received > 0 for _, received, *_ in last["flows"]) == 1000


def test_what_fails_inside_is_reported(built: Kernel) -> None:
    job = job_of(lower(link())) | {"commands": [{"words": ["ip", "link", "add", "x"], "input": ""}]}
    with pytest.raises(InputError, match=r"failed in the kernel .*ip link add x"):
        boot(built, job, 1)


def test_a_kernel_that_does_not_start_is_reported(tmp_path: Path) -> None:
    (tmp_path / "linux").write_text("#!/bin/sh\necho broken\nexit 1\n")
    (tmp_path / "linux").chmod(0o755)
    with pytest.raises(InputError, match="it did not start: broken"):
        boot(Kernel("x", tmp_path, {}), {}, 1)


def test_a_kernel_ends_with_who_started_it(built: Kernel, tmp_path: Path) -> None:
    """Also when that is killed, and cannot clean up."""
    job = tmp_path / "job.json"
    job.write_text(json.dumps(job_of(lower(link(run__duration="3600 s", run__warmup="20 s"), 1))))
    program = (
        "import json, sys; from bufferlab.kernel.boot import boot; "
        "from bufferlab.kernel.cache import kernel; "
        "boot(kernel(sys.argv[1]), json.load(open(sys.argv[2])), 1)"
    )
    words = [sys.executable, "-c", program, built.name, str(job)]
    with subprocess.Popen(words, env={**os.environ, "TMPDIR": str(tmp_path)}) as starter:
        children = Path(f"/proc/{starter.pid}/task/{starter.pid}/children")
        kernels = until(lambda: [pid for pid in children.read_text().split() if is_kernel(built, pid)])
        starter.kill()
    assert kernels
    assert until(lambda: not any(is_kernel(built, pid) for pid in kernels))


def is_kernel(built: Kernel, pid: str) -> bool:
    """Whether a process runs this kernel."""
    try:
        return Path(f"/proc/{pid}/exe").resolve() == built.program.resolve()
    except OSError:
        return False


def until(found: Callable[[], Any], most_s: float = 20.0) -> Any:
    """What is found once it is true, or after this long."""
    end = time.monotonic() + most_s
    while not (value := found()) and time.monotonic() < end:
        time.sleep(0.05)
    return value
