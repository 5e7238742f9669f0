"""Seeds run as those of other studies: kept in a store, ended by Ctrl-C without a loss."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bufferlab.experiment.inline import CanceledError
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner
from bufferlab.kernel import emulate as module
from bufferlab.kernel.boot import Report, boot
from bufferlab.kernel.cache import Kernel, keep

from .record import recorded, scenario

CASE = "reno-fifo"


@pytest.fixture(name="stand_in")
def a_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """A kernel by name only."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    return keep("stand-in", program, {"release": "6.12.117", "hz": 1000, "built": "2026-01-01"})


def test_what_is_in_the_store_is_not_run_again(
    stand_in: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = []

    def report(_kernel: Kernel, _job: object, seed: int, _is_canceled: object) -> Report:
        seeds.append(seed)
        return Report(recorded(CASE)["rows"], 1.5)

    monkeypatch.setattr(module, "boot", report)
    first = module.emulate(scenario(CASE), seeds=[1, 2], runner=Runner(store=tmp_path / "runs"))
    again = module.emulate(scenario(CASE), seeds=[1, 2, 3], runner=Runner(store=tmp_path / "runs"))
    assert sorted(seeds) == [1, 2, 3]
    assert [result.seed for result in again] == [1, 2, 3]
    assert again[0].queues.equals(first[0].queues)
    assert (again[0].cpu_s, again[0].version) == (1.5, stand_in.title)


def test_ctrl_c_keeps_the_seeds_that_were_finished(
    stand_in: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def report(_kernel: Kernel, _job: object, seed: int, is_canceled: Callable[[], bool]) -> Report:
        if seed > 1:
            os.kill(os.getpid(), signal.SIGINT)
            while not is_canceled():
                time.sleep(0.01)
            raise CanceledError
        return Report(recorded(CASE)["rows"], 1.5)

    monkeypatch.setattr(module, "boot", report)
    runner = Runner(store=tmp_path / "runs", threads=1)
    with pytest.raises(RunInterrupted, match=r"interrupted: 1 of 3 seeds finished; .* keeps them") as ended:
        module.emulate(scenario(CASE), seeds=3, by=stand_in, runner=runner)
    assert [result.seed for result in ended.value.finished] == [1]


def test_who_cancels_ends_the_kernel_at_once(tmp_path: Path) -> None:
    program = tmp_path / "linux"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 600\n")
    program.chmod(0o755)
    began_s = time.monotonic()

    def is_canceled() -> bool:
        return (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n")

    with pytest.raises(CanceledError):
        boot(Kernel("x", tmp_path, {}), {}, 1, is_canceled)
    assert time.monotonic() - began_s < 60
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_mistake_is_reported_before_any_kernel_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    overrides: dict[str, Any] = {"bottleneck.queue": "drr"}
    with pytest.raises(ValueError, match=r"links\.bottleneck\.queue"):
        module.emulate(scenario(CASE).with_overrides(overrides))
