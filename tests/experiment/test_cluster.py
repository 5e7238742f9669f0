"""The engine "ray": the same results, and workers that die. A cluster is started on the loopback address."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.experiment import cluster
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.keeping import WorkerError
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import prepare
from bufferlab.experiment.store import open_store
from bufferlab.results.result import Result
from bufferlab.studies.sweep import sweep

WITHOUT_RAY = "Ray is not installed (pip install 'bufferlab[ray]'): the engine 'ray' is NOT tested here"

VARY = {"bottleneck.buffer": ["10 packets", "20 packets"], "flows.near.count": [1, 3]}


@pytest.fixture(scope="module", name="ray")
def a_cluster() -> Iterator[Any]:
    """A cluster for all tests of this module; Ray leaves files and warnings behind that are its own."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip(WITHOUT_RAY)
    started = cluster.import_ray(local=True)
    cluster.connect(started, None)
    yield started
    started.shutdown()


pytestmark = [
    pytest.mark.filterwarnings("default"),  # Ray's own
    pytest.mark.timeout(300),
]


def test_the_results_are_those_of_threads(ray: Any, scenario: Path, tmp_path: Path) -> None:
    varying = ["wall_s", "cpu_s", "packets_per_cpu_s", "finished_at"]
    here = sweep(scenario, VARY, store=tmp_path / "local", seeds=5)
    there = sweep(scenario, VARY, store=tmp_path / "ray", seeds=5, engine="ray", tables=True)
    assert (there.simulated, there.failed) == (20, 0)
    assert there.runs.drop(varying).equals(here.runs.drop(varying))
    kept = there.store.result(there.hashes[0])
    assert kept.flows.height == 2
    assert "near" in kept.scenario
    again = sweep(scenario, VARY, store=tmp_path / "ray", seeds=5, engine="ray")
    assert (again.simulated, again.stored) == (0, 20)
    assert ray.is_initialized()  # it was there before, so it stays


def goodput(factor: float, result: Result) -> dict[str, Any]:
    """A measure."""
    return {"goodput": factor * float(result.flows["goodput_bps"].sum()), "seed": result.seed}


def product(point: tuple[int, int], seed: int, control: _core.Control) -> int:
    """A procedure."""
    del control
    return point[0] * point[1] * seed


@pytest.mark.usefixtures("ray")
def test_measures_procedures_and_results_come_back(scenario: Path, tmp_path: Path) -> None:
    cases = {count: prepare(scenario, {"flows.near.count": count}) for count in (1, 3)}
    measured = Experiment("test", cases, partial(goodput, 2.0), seeds=3)
    procedures = Experiment("test", {"a": (2, 3)}, procedure=product, seeds=[5, 7])
    whole = Experiment("test", cases)
    with Runner(engine="ray", store=tmp_path / "runs") as there, Runner() as here:
        assert there.values(measured) == here.values(measured)
        assert there.values(procedures) == [30, 42]
        for one, other in zip(there.values(whole), here.values(whole), strict=True):
            assert one.flows.equals(other.flows)
            assert (one.name, one.scenario, one.plan) == (other.name, other.scenario, other.plan)
    assert there.simulated == 10
    again = Runner(store=tmp_path / "runs")
    assert again.values(measured) == here.values(measured)
    assert again.stored == 6


@pytest.mark.usefixtures("ray")
def test_a_run_that_fails_ends_an_experiment_with_its_error(scenario: Path) -> None:
    cases = {"bad": prepare(scenario, {"flows.near.start": "uniform(3 s, 4 s)"})}
    with pytest.raises(InputError, match="starts no flow"):
        Runner(engine="ray").values(Experiment("test", cases, partial(goodput, 1.0)))


@pytest.mark.usefixtures("ray")
def test_ctrl_c_ends_it(scenario: Path) -> None:
    long = {0: prepare(scenario, {"run.duration": "100000 s", "bottleneck.rate": "200 Mbps"})}
    threading.Timer(2.0, signal.raise_signal, [signal.SIGINT]).start()
    began_s = time.monotonic()
    with pytest.raises(RunInterrupted, match="interrupted: 0 of 1 simulations finished"):
        Runner(engine="ray").values(Experiment("test", long, partial(goodput, 1.0)))
    assert time.monotonic() - began_s < 10


def test_it_listens_on_this_machine_only(ray: Any) -> None:
    assert [node["NodeManagerAddress"] for node in ray.nodes()] == ["127.0.0.1"]


def test_a_node_without_the_package_is_named() -> None:
    ray_says = (
        "At least one of the input arguments could not be computed: System error: No module named 'bufferlab'"
    )
    cause = cluster._cause(RuntimeError(ray_says))
    assert isinstance(cause, InputError)
    assert "install it" in str(cause)
    other = RuntimeError("out of memory")
    assert cluster._cause(other) is other


def deadly(flows: int, once: Path | None = None) -> Any:
    """What a worker does, but some runs kill it, at their first try only if a file can remember that."""
    simulate = cluster._simulate

    def work(_engine: str, requests: Any) -> Any:
        replies = []
        for request in requests:
            if request.job.parameters["flows.near.count"] == flows:
                if once is None:
                    os.kill(os.getpid(), signal.SIGKILL)
                elif not once.exists():
                    once.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
            replies.append(simulate(request))
        return replies

    return work


@pytest.mark.usefixtures("ray")
def test_a_worker_that_dies_costs_its_run_only(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_simulate_batch", deadly(3))
    swept = sweep(scenario, VARY, store=tmp_path / "runs", seeds=3, engine="ray")
    assert (swept.simulated, swept.failed) == (6, 6)
    assert set(swept.failures["flows.near.count"]) == {3}
    assert all("its worker died twice" in error for error in swept.failures["error"])
    monkeypatch.undo()
    retried = sweep(scenario, VARY, store=tmp_path / "runs", seeds=3, engine="ray", retry_failed=True)
    assert (retried.simulated, retried.stored, retried.failed) == (6, 6, 0)


@pytest.mark.usefixtures("ray")
def test_a_worker_that_dies_once_costs_nothing(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_simulate_batch", deadly(3, tmp_path / "died"))
    swept = sweep(scenario, VARY, store=tmp_path / "runs", seeds=3, engine="ray")
    assert (swept.simulated, swept.failed) == (12, 0)
    assert (tmp_path / "died").exists()
    assert open_store(tmp_path / "runs").runs().height == 12


@pytest.mark.usefixtures("ray")
def test_failures_come_back(scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(_engine: str, requests: Any) -> Any:
        return [cluster._Reply(None, WorkerError("RuntimeError: odd"), 0.0) for _ in requests]

    monkeypatch.setattr(cluster, "_simulate_batch", work)
    swept = sweep(scenario, VARY, store=tmp_path / "runs", engine="ray")
    assert (swept.simulated, swept.failed) == (0, 4)
    assert set(swept.failures["error"]) == {"RuntimeError: odd"}


@pytest.mark.usefixtures("ray")
def test_workers_with_another_engine_are_refused(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "ENGINE", "9.9.9+other")
    with pytest.raises(
        InputError, match=r"runs on a worker with engine .* install the same Bufferlab on all"
    ):
        sweep(scenario, VARY, store=tmp_path / "runs", engine="ray")
    assert open_store(tmp_path / "runs").runs().height == 0


def test_without_ray_the_message_says_what_to_install(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"engine: 'ray' needs Ray .* pip install 'bufferlab\[ray\]'"):
        sweep(scenario, VARY, store=tmp_path / "runs", engine="ray")
