"""A real kernel: its clock, its determinism, and one flow whose result is known; skipped without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bufferlab.errors import InputError
from bufferlab.experiment.simulation import simulate
from bufferlab.kernel.boot import boot
from bufferlab.kernel.cache import Kernel
from bufferlab.kernel.doctor import ping_ms
from bufferlab.kernel.emulate import emulate
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


def test_what_fails_inside_is_told(built: Kernel) -> None:
    job = job_of(lower(link())) | {"commands": [{"words": ["ip", "link", "add", "x"], "input": ""}]}
    with pytest.raises(InputError, match=r"failed in the kernel .*ip link add x"):
        boot(built, job, 1)


def test_a_kernel_that_does_not_start_is_told(tmp_path: Path) -> None:
    (tmp_path / "linux").write_text("#!/bin/sh\necho broken\nexit 1\n")
    (tmp_path / "linux").chmod(0o755)
    with pytest.raises(InputError, match="it did not start: broken"):
        boot(Kernel("x", tmp_path, {}), {}, 1)
