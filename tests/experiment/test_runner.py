"""One runner: the same values with any number of threads, with a store and without, after interruptions."""

from __future__ import annotations

import math
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from queue import Queue
from typing import Any

import polars as pl
import pytest

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.experiment import runner, work
from bufferlab.experiment.experiment import Done, Experiment
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import prepare
from bufferlab.experiment.store import Store, open_store
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario

LONG = {"run.duration": "100000 s", "bottleneck.rate": "200 Mbps"}
"""Runs that no test waits for."""


def measure(result: Result) -> dict[str, Any]:
    """What the tests measure."""
    goodput = result.flows["goodput_bps"].to_list()
    return {"total": sum(goodput), "each": tuple(goodput), "nan": math.nan, "none": None}


def scaled(factor: float, result: Result) -> float:
    """A measure with an argument."""
    return factor * float(result.flows["goodput_bps"].sum())


def framed(result: Result) -> pl.DataFrame:
    """A measure that returns a frame."""
    return result.flows.select("flow", "goodput_bps", pl.lit(1, dtype=pl.UInt8).alias("small"))


def procedure(point: tuple[str, int], seed: int, control: _core.Control) -> dict[str, Any]:
    """A procedure over points that are no scenarios."""
    del control
    return {"name": point[0], "product": point[1] * seed}


def points(path: Path) -> dict[int, Scenario]:
    return {count: prepare(path, {"flows.near.count": count}) for count in (1, 3)}


def same(first: list[Any], second: list[Any]) -> bool:
    return repr(first) == repr(second)


def test_values_are_the_same_however_they_are_made(scenario: Path, tmp_path: Path) -> None:
    experiment = Experiment("test", points(scenario), measure, seeds=3)
    alone = Runner(threads=1).values(experiment)
    assert len(alone) == 6
    assert isinstance(alone[0]["each"], list)
    assert same(alone, Runner(threads=3).values(experiment))
    first, second = Runner(store=tmp_path / "runs"), Runner(store=tmp_path / "runs")
    assert same(alone, first.values(experiment))
    assert same(alone, second.values(experiment))
    assert (first.simulated, first.stored) == (6, 0)
    assert (second.simulated, second.stored) == (0, 6)


def test_more_seeds_and_points_are_added_to_what_is_there(scenario: Path, tmp_path: Path) -> None:
    cases = points(scenario)
    with Runner(store=tmp_path / "runs") as runner:
        runner.values(Experiment("test", {1: cases[1]}, measure))
        runner.values(Experiment("test", cases, measure, seeds=lambda count: count))
    assert (runner.simulated, runner.stored) == (4, 1)


def test_fresh_simulates_again_and_stores_anew(scenario: Path, tmp_path: Path) -> None:
    experiment = Experiment("test", points(scenario), measure)
    before = Runner(store=tmp_path / "runs").values(experiment)
    fresh = Runner(store=tmp_path / "runs", fresh=True)
    assert same(fresh.values(experiment), before)
    assert (fresh.simulated, fresh.stored) == (2, 0)
    after = Runner(store=tmp_path / "runs")
    assert same(after.values(experiment), before)
    assert after.stored == 2


def test_measures_and_their_arguments_are_distinguished(scenario: Path, tmp_path: Path) -> None:
    with Runner(store=tmp_path / "runs") as runner:
        values = [
            runner.values(Experiment("test", points(scenario), partial(scaled, factor)))[0]
            for factor in (1.0, 2.0, 1.0)
        ]
        frame = runner.values(Experiment("test", points(scenario), framed))[0]
    again = Runner(store=tmp_path / "runs").values(Experiment("test", points(scenario), framed))[0]
    assert values == [values[0], 2 * values[0], values[0]]
    assert (runner.simulated, runner.stored) == (6, 2)
    assert frame.equals(again)
    assert frame.schema == again.schema
    assert frame.schema["small"] == pl.UInt8


def test_each_point_may_have_its_own_measure(scenario: Path) -> None:
    cases = points(scenario)
    one, other = Runner().values(Experiment("test", cases, {1: partial(scaled, 0.0), 3: measure}))
    assert one == 0.0
    assert other["total"] > 0


def test_procedures_run_over_anything_plain(tmp_path: Path) -> None:
    experiment = Experiment("test", {"a": ("x", 2), "b": ("y", 3)}, procedure=procedure, seeds=[5, 7])
    expected = [{"name": name, "product": n * seed} for name, n in (("x", 2), ("y", 3)) for seed in (5, 7)]
    assert Runner(store=tmp_path / "runs").values(experiment) == expected
    again = Runner(store=tmp_path / "runs")
    assert again.values(experiment) == expected
    assert again.stored == 4


def test_whole_results_are_kept_where_they_are_wanted(scenario: Path, tmp_path: Path) -> None:
    experiment = Experiment("test", points(scenario))
    plain = Runner().values(experiment)
    Runner(store=tmp_path / "runs").values(experiment)
    again = Runner(store=tmp_path / "runs")
    for fresh, stored in zip(plain, again.values(experiment), strict=True):
        assert fresh.flows.equals(stored.flows)
        assert (fresh.name, fresh.scenario, fresh.plan) == (stored.name, stored.scenario, stored.plan)
    assert again.stored == 2


def test_a_table_has_the_points_the_seeds_and_the_measures(scenario: Path) -> None:
    cases = {("near", count): case for count, case in points(scenario).items()}

    def columns(key: tuple[str, int]) -> Mapping[str, Any]:
        return {"group": key[0], "count": key[1]}

    table = Runner().table(Experiment("test", cases, measure, seeds=2, parameters=columns))
    assert table.columns == ["group", "count", "seed", "total", "each", "nan", "none"]
    assert table.select("count", "seed").rows() == [(1, 1), (1, 2), (3, 1), (3, 2)]


def test_runs_come_as_they_finish_and_heavy_ones_start_first(scenario: Path) -> None:
    cases = points(scenario)
    experiment = Experiment("test", cases, measure, weight=float)
    done = list(Runner(threads=1).runs(experiment))
    assert [each.key for each in done] == [3, 1]
    assert [each.number for each in done] == [1, 0]


def test_no_run_is_lost_whose_thread_is_slow_to_hand_it_over(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(Queue[Any]):
        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
            time.sleep(0.3)
            super().put(item, block, timeout)

    monkeypatch.setattr(work, "Queue", Slow)
    experiment = Experiment("test", points(scenario), measure, seeds=2)
    assert len(list(Runner(threads=1).runs(experiment))) == 4


def test_equal_runs_are_simulated_once(scenario: Path, tmp_path: Path) -> None:
    case = prepare(scenario)
    with Runner(store=tmp_path / "runs", threads=2) as runner:
        one, other = runner.values(Experiment("test", {"a": case, "b": case}, measure))
    assert same([one], [other])
    assert (runner.simulated, runner.stored) == (1, 1)


def test_the_runs_are_listed_with_their_figures(scenario: Path, tmp_path: Path) -> None:
    Runner(store=tmp_path / "runs").values(Experiment("test", points(scenario), measure, seeds=2))
    runs = open_store(tmp_path / "runs").runs()
    assert runs.height == 4
    assert runs["utilization"].null_count() == 0


def test_what_cannot_be_distinguished_is_refused(scenario: Path, tmp_path: Path) -> None:
    factor = 2.0
    experiment = Experiment("test", points(scenario), lambda result: scaled(factor, result))
    with pytest.raises(TypeError, match=r"functools\.partial"):
        Runner(store=tmp_path / "runs").values(experiment)
    assert len(Runner().values(experiment)) == 2


def test_an_error_ends_all_and_keeps_what_finished(scenario: Path, tmp_path: Path) -> None:
    cases = {"good": prepare(scenario), "bad": prepare(scenario, {"flows.near.start": "uniform(3 s, 4 s)"})}
    with pytest.raises(InputError, match="starts no flow"):
        Runner(store=tmp_path / "runs", threads=1).values(Experiment("test", cases, measure))
    assert open_store(tmp_path / "runs").runs().height == 1


def test_too_few_threads_are_refused() -> None:
    with pytest.raises(InputError, match="threads: 0 is too small"):
        Runner(threads=0)


def test_ctrl_c_carries_what_finished(scenario: Path) -> None:
    long = {seconds: prepare(scenario, LONG | {"run.duration": f"{seconds} s"}) for seconds in (2, 100_000)}
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    began_s = time.monotonic()
    with pytest.raises(RunInterrupted, match=r"interrupted: 1 of 2 simulations finished$") as caught:
        Runner(threads=2).values(Experiment("test", long, measure))
    assert time.monotonic() - began_s < 5
    (done,) = caught.value.finished
    assert isinstance(done, Done)
    assert done.key == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_the_store_is_opened_ends_it_as_later(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(directory: Path, *, create: bool) -> Store:
        store = open_store(directory, create=create)
        signal.raise_signal(signal.SIGINT)
        return store

    monkeypatch.setattr(runner, "open_store", opened)
    with pytest.raises(RunInterrupted, match=r"^interrupted: 0 of 2 simulations finished$"):
        Runner(store=tmp_path / "runs").values(Experiment("test", points(scenario), measure))
    assert open_store(tmp_path / "runs").runs().height == 0


def test_a_slow_handler_does_not_keep_it_waiting(scenario: Path) -> None:
    def slow(_number: int, _frame: object) -> None:
        time.sleep(0.5)  # longer than the runner waits for a run to finish
        raise KeyboardInterrupt

    long = {0: prepare(scenario, LONG)}
    before = signal.signal(signal.SIGINT, slow)
    try:
        threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
        with pytest.raises(RunInterrupted):
            Runner(threads=1).values(Experiment("test", long, measure))
    finally:
        signal.signal(signal.SIGINT, before)


PROGRAM = """
    import sys
    from bufferlab.experiment.experiment import Experiment
    from bufferlab.experiment.interruption import RunInterrupted
    from bufferlab.experiment.runner import Runner
    from bufferlab.experiment.simulation import prepare

    def measure(result):
        return {"goodput": float(result.flows["goodput_bps"].sum())}

    cases = {n: prepare(sys.argv[1], {"run.duration": f"{2 + n % 7 * 40}.{n:03} s"}) for n in range(200)}
    count = 0
    try:
        print("ready", flush=True)
        for done in Runner(threads=2, store=sys.argv[2]).runs(Experiment("test", cases, measure, seeds=10)):
            count += 1
            print("done", flush=True)
    except KeyboardInterrupt as error:
        assert not isinstance(error, RunInterrupted) or error.done >= count
        sys.exit(130)
"""


@pytest.mark.parametrize("turn", range(6))
def test_signals_at_any_moment_end_it_soon(scenario: Path, tmp_path: Path, turn: int) -> None:
    """Every finished run that was reported is in the store, and no thread keeps the process."""
    store = tmp_path / "runs"
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), str(scenario), str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(random.Random(turn).random() * (0.02 if turn < 3 else 1.0))
    process.send_signal(signal.SIGINT)
    began_s = time.monotonic()
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - began_s < 5
    assert process.returncode == 130, err
    reported = out.count("done")
    kept = open_store(store).runs().height if (store / "store.json").exists() else 0
    assert kept >= reported


def test_threads_end_when_the_consumer_goes_away(scenario: Path) -> None:
    cases = {seconds: prepare(scenario, LONG | {"run.duration": f"{seconds} s"}) for seconds in (2, 100_000)}
    runs = Runner(threads=2).runs(Experiment("test", cases, measure))
    assert next(runs).key == 2
    runs.close()  # type: ignore[attr-defined]
    assert "simulation" not in {thread.name for thread in threading.enumerate()}
