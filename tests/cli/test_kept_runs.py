"""Commands keep finished runs where the user expects them, and work without a place to keep them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bufferlab.cli import running
from bufferlab.cli.running import CACHE_VARIABLE
from bufferlab.experiment.store import StoreFullError, open_store
from bufferlab.experiment.store.writer import Writer

from .conftest import Command

COMPARE = ("compare", "small.toml", "--queues", "fifo,codel", "--json")


def test_a_repeated_command_takes_its_runs_from_the_cache(
    bufferlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    first = bufferlab(*COMPARE, "--seeds", "2")
    again = bufferlab(*COMPARE, "--seeds", "2")
    more = bufferlab(*COMPARE, "--seeds", "3")
    fresh = bufferlab(*COMPARE, "--seeds", "2", "--fresh")
    assert (first.err, fresh.err) == ("", "")
    assert first.out == again.out == fresh.out
    assert again.line() == (
        f"bufferlab: 4 of 4 simulations were already in {tmp_path / 'cache'}; --fresh repeats them"
    )
    assert more.line().startswith("bufferlab: 4 of 6 simulations were already in")
    assert open_store(tmp_path / "cache").runs().height == 6


def test_runs_that_the_command_itself_has_kept_are_no_saving(bufferlab: Command) -> None:
    """A search comes back to settings that it has run; a first screen said that they were in the cache."""
    brief = ("--set", "run.duration=8 s", "--set", "run.warmup=4 s")
    line = ("advise", "--home", "20/4Mbps", "--quick", *brief)
    first = bufferlab(*line)
    assert "already in" not in first.err
    assert "simulations were already in" in bufferlab(*line).err


def test_the_bytes_are_those_without_a_cache(bufferlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = bufferlab(*COMPARE)
    monkeypatch.setenv(CACHE_VARIABLE, "")
    assert bufferlab(*COMPARE).out == kept.out


def test_the_user_s_cache_follows_the_environment(
    bufferlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert bufferlab(*COMPARE, "--seeds", "1").status == 0
    assert open_store(tmp_path / "xdg" / "bufferlab" / "runs").runs().height == 2


def test_the_cache_forgets_what_is_old_and_a_store_does_not(
    bufferlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(running, "CACHE_DAYS", 0)
    for store in ([], ["--store", "runs"]):
        for _ in range(2):
            ended = bufferlab(*COMPARE, "--seeds", "1", *store)
        assert ("already in" in ended.err) == bool(store)


def test_without_a_place_the_command_goes_on(
    bufferlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file" / "runs"))
    ended = bufferlab(*COMPARE, "--seeds", "1")
    assert ended.status == 0
    assert ended.line().startswith("bufferlab: finished runs are not kept: ")


def test_a_cache_that_fills_up_ends_nothing_and_a_store_does(
    bufferlab: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreFullError("no space left")

    monkeypatch.setattr(Writer, "put", full)
    assert bufferlab(*COMPARE, "--seeds", "2").status == 0
    ended = bufferlab(*COMPARE, "--seeds", "2", "--store", "runs")
    assert (ended.status, ended.line()) == (1, "bufferlab: no space left")


def test_run_keeps_whole_results_if_it_is_asked_to(bufferlab: Command, tmp_path: Path) -> None:
    plain = bufferlab("run", "small.toml", "--seeds", "2")
    assert not list(tmp_path.glob("*run*"))
    for _ in range(2):
        kept = bufferlab("run", "small.toml", "--seeds", "2", "--store", "runs", "--out", "out")
        assert kept.status == 0
    assert "2 of 2 simulations were already in runs" in kept.err
    rows = [line for line in plain.out.splitlines() if "CPU" not in line]
    assert rows == [line for line in kept.out.splitlines() if "CPU" not in line]
