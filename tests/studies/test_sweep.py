"""Sweeps: what runs, what is kept, and that being killed costs nothing that was finished."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import bufferlab
from bufferlab import _core
from bufferlab.errors import InputError, OutputError
from bufferlab.experiment import job as jobs
from bufferlab.experiment import simulation
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.store import ENGINE, StoreFullError, open_store
from bufferlab.experiment.store.writer import Writer
from bufferlab.plan import plan_hash
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario
from bufferlab.stats import estimate
from bufferlab.studies.sweep import Sweep, sweep

from ..small import start

BUFFERS = ["10 packets", "20 packets"]
COUNTS = [1, 3]
VARY = {"bottleneck.buffer": BUFFERS, "flows.near.count": COUNTS}


def test_a_grid_with_seeds(scenario: Path, tmp_path: Path) -> None:
    swept = sweep(scenario, VARY, store=tmp_path / "runs", seeds=2)
    assert (swept.simulated, swept.stored, swept.failed) == (8, 0, 0)
    runs = swept.runs
    assert runs.select("bottleneck.buffer", "flows.near.count", "seed").rows() == [
        (buffer, count, seed) for buffer in BUFFERS for count in COUNTS for seed in (1, 2)
    ]
    alone = bufferlab.run(
        scenario, seeds=[2], overrides={"bottleneck.buffer": "20 packets", "flows.near.count": 3}
    )
    last = runs.row(-1, named=True)
    assert last["plan_hash"] == alone[0].plan_hash
    queue = alone.queue_means.row(0, named=True)
    flows = alone.flow_means.row(-1, named=True)
    assert last["utilization"] == queue["utilization"]
    assert last["wait_p95_ms"] == queue["wait_p95_ms"]
    assert last["goodput_total_bps"] == flows["goodput_total_bps"]
    assert last["jain_index"] == flows["jain_index"]
    assert (last["packets"], last["events"]) == (alone[0].packets, alone[0].events)
    per_group = open_store(tmp_path / "runs").flows().filter(plan_hash=last["plan_hash"])
    assert per_group["group"].to_list() == ["near", "far", "all"]
    assert per_group["goodput_bps"].to_list() == alone.flow_means["goodput_bps"].to_list()
    assert "4 points × 2 seeds; 8 simulated" in str(swept)
    assert "20 packets" in str(swept)


def test_means_are_those_of_estimate(scenario: Path, tmp_path: Path) -> None:
    swept = sweep(scenario, VARY, store=tmp_path / "runs", seeds=3)
    first = swept.runs.head(3)
    mean = swept.means.row(0, named=True)
    for figure in ("utilization", "goodput_total_bps", "timeouts", "completion_s"):
        expected = estimate(first[figure].to_list())
        assert mean[figure] == (None if expected.mean is None else pytest.approx(expected.mean, rel=1e-12))
        width = expected.half_width
        assert mean[f"{figure}_ci95"] == (None if width is None else pytest.approx(width, rel=1e-9))


def test_nothing_is_simulated_twice(scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = sweep(scenario, VARY, store=tmp_path / "runs", seeds=2)
    monkeypatch.setattr(jobs, "simulate_plan", None)
    again = sweep(scenario, VARY, store=tmp_path / "runs", seeds=2)
    assert (again.simulated, again.stored) == (0, 8)
    assert again.runs.equals(first.runs)


def test_a_sweep_grows(scenario: Path, tmp_path: Path) -> None:
    sweep(scenario, {"flows.near.count": [1, 3]}, store=tmp_path / "runs")
    grown = sweep(scenario, {"flows.near.count": [1, 2, 3]}, store=tmp_path / "runs", seeds=2)
    # the scenario's own count is 2: varied or not, that is one run
    sweep(scenario, store=tmp_path / "runs")
    assert (grown.simulated, grown.stored) == (4, 2)
    assert open_store(tmp_path / "runs").runs().height == 6


def test_equal_points_run_once(scenario: Path, tmp_path: Path) -> None:
    swept = sweep(scenario, {"bottleneck.buffer": ["1500 B", "1.5 KB"]}, store=tmp_path / "runs", threads=2)
    assert (swept.simulated, swept.stored, swept.repeated) == (1, 0, 1)
    assert "1 simulated, 0 in the store before, 1 the same as others, 0 failed" in str(swept)
    assert swept.runs["bottleneck.buffer"].to_list() == ["1500 B", "1.5 KB"]


def test_threads_make_no_difference(scenario: Path, tmp_path: Path) -> None:
    varying = ["wall_s", "cpu_s", "packets_per_cpu_s", "finished_at"]
    runs = [
        sweep(scenario, VARY, store=tmp_path / f"runs-{threads}", seeds=3, threads=threads).runs.drop(varying)
        for threads in (1, 4)
    ]
    assert runs[0].equals(runs[1])


def test_lists_and_samples(scenario: Path, tmp_path: Path) -> None:
    points: list[dict[str, Any]] = [{"bottleneck.buffer": "10 packets"}, {"flows.near.count": 3}]
    swept = sweep(scenario, store=tmp_path / "runs", points=points)
    assert swept.runs.select("bottleneck.buffer", "flows.near.count").rows() == [
        ("10 packets", None),
        (None, 3),
    ]
    vary = {"bottleneck.rate": "log(1..10 Mbps)", "bottleneck.buffer": "5..50 packets"}
    sampled = sweep(scenario, vary, store=tmp_path / "runs", samples=6)
    again = sweep(scenario, vary, store=tmp_path / "runs", samples=6)
    assert (sampled.simulated, again.stored) == (6, 6)
    other = sweep(scenario, vary, store=tmp_path / "runs", samples=6, overrides={"run.seed": 2})
    assert other.simulated == 6


def test_full_tables_are_kept_on_request(scenario: Path, tmp_path: Path) -> None:
    swept = sweep(scenario, {"flows.near.count": [1]}, store=tmp_path / "runs", tables=True)
    kept = swept.store.result(swept.hashes[0])
    (alone,) = bufferlab.run(scenario, overrides={"flows.near.count": 1})
    assert kept.flows.equals(alone.flows)
    assert Scenario.from_toml(kept.scenario).flows[0]["count"] == 1
    with pytest.raises(InputError, match="has no tables of this run"):
        swept.store.result("0123")


def test_a_run_whose_tables_find_no_room_is_not_done(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OutputError("tables: cannot be written (No space left on device)")

    with monkeypatch.context() as patch:
        patch.setattr("bufferlab.results.folder.save", full)
        with pytest.raises(OutputError, match="No space left"):
            sweep(scenario, store=tmp_path / "runs", seeds=5, threads=1, tables=True)
    assert open_store(tmp_path / "runs").runs().height == 0
    again = sweep(scenario, store=tmp_path / "runs", seeds=5, tables=True)
    assert again.simulated == 5
    assert all(again.store.result(name).plan_hash == name for name in again.hashes)


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException, when: Any) -> None:
    simulate_plan = simulation.simulate_plan

    def fail(plan: dict[str, Any], *rest: Any, **named: Any) -> Result | None:
        if when(plan):
            raise error
        return simulate_plan(plan, *rest, **named)

    monkeypatch.setattr(jobs, "simulate_plan", fail)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (RuntimeError("the engine failed:\nat once"), "RuntimeError: the engine failed: at once"),
        (MemoryError(), "out of memory"),
        (InputError("is odd", key="links[0]"), "links[0]: is odd"),
    ],
)
def test_a_failed_run_is_recorded_and_no_more(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, says: str
) -> None:
    with monkeypatch.context() as patch:
        failing(patch, error, lambda plan: len(plan["flows"]["group"]) == 4)
        swept = sweep(scenario, VARY, store=tmp_path / "runs")
    assert (swept.simulated, swept.failed) == (2, 2)
    assert swept.failures.rows() == [("10 packets", 3, 1, says), ("20 packets", 3, 1, says)]
    assert swept.means["flows.near.count"].to_list() == [1, 1]
    again = sweep(scenario, VARY, store=tmp_path / "runs")
    assert (again.simulated, again.stored) == (0, 4)
    retried = sweep(scenario, VARY, store=tmp_path / "runs", retry_failed=True)
    assert (retried.simulated, retried.stored, retried.failed) == (2, 2, 0)
    assert retried.failures.height == 0


def test_points_that_do_not_fit_together_are_failures(scenario: Path, tmp_path: Path) -> None:
    vary = {"bottleneck.delay": ["1 ms", "30 ms"], "flows.near.rtt": ["20 ms", "90 ms"]}
    swept = sweep(scenario, vary, store=tmp_path / "runs", seeds=2)
    assert (swept.simulated, swept.failed) == (6, 2)
    assert all("rtt" in error for error in swept.failures["error"])
    again = sweep(scenario, vary, store=tmp_path / "runs", seeds=2)
    assert again.simulated == 0
    assert open_store(tmp_path / "runs").runs().height == 8


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"vary": {"bottleneck.rte": ["1 Mbps"]}}, "bottleneck.rte: is not a known key"),
        ({"vary": {"flows.nearer.count": [1]}}, "names nothing called 'nearer'"),
        (
            {"vary": {"bottleneck.rate": ["1 Mbps", "5"]}},
            "bottleneck.rate: '?5'? is not a text with a number",
        ),
        ({"points": []}, "names no point"),
        ({"points": [{"run.seed": -1}]}, "run.seed"),
        ({"points": [{}], "samples": 3}, "points: cannot be sampled"),
        ({"samples": 3}, "has nothing to sample"),
        ({"seeds": 0}, "seeds: 0 is not a usable number of seeds"),
        ({"engine": "cloud"}, "engine: 'cloud' is no engine; accepted: local, ray"),
        ({"threads": 0}, "threads: 0 is too small"),
        ({"vary": {"bottleneck.rate": "1..9 foo"}, "samples": 5}, "has a wrong unit"),
    ],
)
def test_bad_arguments_are_reported_before_any_work(
    scenario: Path, tmp_path: Path, arguments: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        sweep(scenario, store=tmp_path / "runs", **arguments)
    assert not (tmp_path / "runs" / "segments").exists() or not open_store(tmp_path / "runs").runs().height


def test_two_sweeps_share_the_work(scenario: Path, tmp_path: Path) -> None:
    ended: list[Sweep] = []

    def work() -> None:
        ended.append(sweep(scenario, VARY, store=tmp_path / "runs", seeds=10, threads=2))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(each.simulated for each in ended) == 40
    assert [each.simulated + each.stored for each in ended] == [40] * 3
    store = open_store(tmp_path / "runs")
    stored = [row for path in store.segment_paths() for row in pl.read_parquet(path)["plan_hash"]]
    assert len(stored) == len(set(stored)) == 40


def start_sweep(scenario: Path, store: Path, seeds: int) -> subprocess.Popen[str]:
    asked = ["--vary", "flows.near.count=1,3", "--seeds", str(seeds), "--threads", "2"]
    return start("sweep", str(scenario), "--store", str(store), *asked)


def rows_written(store: Path) -> list[str]:
    """Every row in every file, also those that are there twice."""
    opened = open_store(store)
    found = [
        entry["run"]["plan_hash"] for path in opened.journal_paths() for entry in read(path) if "run" in entry
    ]
    return found + [name for path in opened.segment_paths() for name in pl.read_parquet(path)["plan_hash"]]


def rows_so_far(store: Path) -> int:
    """How many rows a sweep that may be running has written; 0 if a file has just become part of another."""
    if not (store / "store.json").exists():
        return 0
    try:
        return len(set(rows_written(store)))
    except FileNotFoundError:
        return 0


def read(path: Path) -> list[dict[str, Any]]:
    from bufferlab.experiment.store.journal import read as read_journal  # noqa: PLC0415

    return read_journal(path)[0]


def test_killed_again_and_again_it_loses_and_repeats_nothing(scenario: Path, tmp_path: Path) -> None:
    store, seeds = tmp_path / "runs", 150
    chance = random.Random(5)
    finished: set[str] = set()
    for _ in range(5):
        process = start_sweep(scenario, store, seeds)
        until = len(finished) + chance.randint(1, 30)
        while process.poll() is None:
            if rows_so_far(store) >= until:
                break
            time.sleep(chance.random() * 0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        written = rows_written(store)
        assert len(written) == len(set(written))
        assert finished <= set(written)
        finished = set(written)
    assert 0 < len(finished) < 2 * seeds
    last = start_sweep(scenario, store, seeds)
    out, err = last.communicate()
    assert last.returncode == 0, err
    assert f"{2 * seeds - len(finished)} simulated, {len(finished)} in the store before, 0 failed" in out
    written = rows_written(store)
    assert len(written) == len(set(written)) == 2 * seeds
    base = Scenario.load(scenario)
    expected = {
        plan_hash(base.with_overrides({"flows.near.count": count}).seeded(seed).plan_json())
        for count in (1, 3)
        for seed in range(1, seeds + 1)
    }
    assert set(written) == expected


def test_ctrl_c_keeps_what_is_finished(scenario: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs"
    process = start_sweep(scenario, store, 3000)
    while rows_so_far(store) < 20:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    kept = open_store(store).runs().height
    assert kept >= 20
    assert err == (
        f"bufferlab: interrupted: {kept} of 6000 simulations finished; {store} keeps them; the same "
        "command continues from there\n"
    )
    assert not open_store(store).journal_paths()


def test_ctrl_c_in_python(scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, KeyboardInterrupt(), lambda plan: plan["seed"] == 5)
    with pytest.raises(RunInterrupted, match=r"interrupted: 4 of 20 simulations finished; .*runs keeps them"):
        sweep(scenario, store=tmp_path / "runs", seeds=20, threads=1)
    assert sorted(open_store(tmp_path / "runs").runs()["seed"]) == [1, 2, 3, 4]


def test_a_disk_that_fills_up_ends_the_sweep_and_keeps_all(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = Writer.claim

    def full_at_last(self: Writer, name: str, measure: str | None = None) -> Any:
        if len(self._finished) >= 5:
            raise StoreFullError("there is no room left")
        return claim(self, name, measure)

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "claim", full_at_last)
        with pytest.raises(StoreFullError):
            sweep(scenario, store=tmp_path / "runs", seeds=20, threads=2)
    kept = open_store(tmp_path / "runs").runs().height
    assert kept in (5, 6)
    rest = sweep(scenario, store=tmp_path / "runs", seeds=20)
    assert (rest.simulated, rest.stored) == (20 - kept, kept)


def test_runs_under_way_are_finished_when_the_disk_is_full(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = Writer.claim

    def full_at_the_third(self: Writer, name: str, measure: str | None = None) -> Any:
        if len(self._mine) + len(self._finished) >= 2:
            raise StoreFullError("there is no room left")
        return claim(self, name, measure)

    monkeypatch.setattr(Writer, "claim", full_at_the_third)
    with pytest.raises(StoreFullError):
        sweep(scenario, {"run.duration": ["2000 s", "2 s", "3 s"]}, store=tmp_path / "runs", threads=2)
    assert sorted(open_store(tmp_path / "runs").runs()["duration_s"]) == [2, 2000]


def test_the_engine_has_a_fingerprint() -> None:
    """It is the FNV-1a hash of the sources, computed here once more."""
    crates = Path(__file__).parents[2] / "crates"
    value = 0xCBF29CE484222325
    names = ("congestion", "estimator", "forwarder", "qdisc", "simulator", "transport", "units")
    for name in names:
        for path in sorted((crates / name / "src").rglob("*.rs"), key=lambda file: file.as_posix()):
            for byte in path.relative_to(crates).as_posix().encode() + b"\0" + path.read_bytes() + b"\0":
                value = (value ^ byte) * 0x100000001B3 % 2**64
    assert _core.engine_fingerprint == f"{value:016x}", "compile the extension, it is older than the sources"
    assert ENGINE.startswith(f"{_core.engine_version}+{_core.engine_fingerprint}.")
