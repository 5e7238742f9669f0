"""Runs over seeds, with the real engine."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import bufferlab
from bufferlab import InputError, Result, RunSet
from bufferlab.experiment import job as jobs
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.local import processors
from bufferlab.experiment.run import run
from bufferlab.experiment.simulation import prepare, seed_list, simulate_plan
from bufferlab.plan import lower
from bufferlab.results.frames import NAMES


def two_groups(duration: str = "5 s", rate: str = "10 Mbps", **more: Any) -> dict[str, Any]:
    return {
        "run": {"duration": duration, "warmup": "1 s", "name": "two groups", "seed": 5},
        "bottleneck": {"rate": rate, "delay": "2 ms", "buffer": "40 packets"},
        "flows": [
            {"name": "near", "count": 2, "rtt": "20 ms", "start": "uniform(0 s, 100 ms)"},
            {"name": "far", "rtt": "80 ms", "start": "uniform(0 s, 100 ms)"},
        ],
        **more,
    }


def endless() -> dict[str, Any]:
    """A scenario that takes minutes if nothing ends it."""
    return two_groups("100000 s", "200 Mbps")


def same_measurements(one: Result, other: Result) -> bool:
    return all(getattr(one, name).equals(getattr(other, name)) for name in NAMES)


def test_the_package_offers_run_and_its_results() -> None:
    runs = bufferlab.run(two_groups())
    assert isinstance(runs, RunSet)
    assert runs.name == "two groups"
    assert runs.seeds == [5]
    assert bufferlab.run is run


def test_seeds_count_up_from_the_scenarios_and_differ() -> None:
    runs = run(two_groups(), seeds=3)
    assert runs.seeds == [5, 6, 7]
    assert not runs[0].flows.drop("seed").equals(runs[1].flows.drop("seed"))


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    scenario = two_groups(probes={"interval": "20 ms"})
    alone = [run(scenario, seeds=[seed])[0] for seed in (9, 2, 4)]
    together = run(scenario, seeds=[9, 2, 4], threads=3)
    assert together.seeds == [9, 2, 4]
    for one, other in zip(alone, together, strict=True):
        assert same_measurements(one, other)
        assert one.plan_hash == other.plan_hash


def test_overrides_change_the_run_and_are_remembered() -> None:
    runs = run(two_groups(), overrides={"bottleneck.rate": "5 Mbps"})
    queue = runs.queues.row(0, named=True)
    assert queue["rate_bps"] == 5_000_000
    assert runs[0].overrides == {"bottleneck.rate": "5 Mbps"}
    assert '"5 Mbps"' in runs[0].scenario


def test_a_file_is_kept_as_given(tmp_path: Path) -> None:
    text = '# mine\n[run]\nduration = "2 s"\n[bottleneck]\nrate = "1 Mbps"\nbuffer = "9 packets"\n'
    path = tmp_path / "small.toml"
    path.write_text(text + '[[flows]]\nrtt = "20 ms"\n')
    result = run(path)[0]
    assert result.scenario == path.read_text()
    assert result.name == "small"


def test_measurements_are_plausible() -> None:
    result = run(two_groups("20 s"))[0]
    queue = result.queues.filter(group="all").row(0, named=True)
    assert 0.9 < queue["utilization"] <= 1.001
    assert queue["wait_p50_ms"] <= queue["wait_p99_ms"] <= queue["wait_max_ms"]
    assert queue["backlog_max_packets"] <= 40
    assert result.flows["goodput_bps"].sum() < queue["throughput_bps"]
    assert result.reached_ps == 20 * 10**12
    assert result.cpu_s > 0
    assert result.packets > 10_000


@pytest.mark.parametrize("seeds", [0, -1, 10**7, [], [3, 3]])
def test_unusable_numbers_of_seeds_are_refused(seeds: Any) -> None:
    with pytest.raises(InputError, match="seeds: "):
        seed_list(seeds, 1)


@pytest.mark.parametrize("seed", [-1, 2**63, "1"])
def test_unusable_seeds_are_refused(seed: Any) -> None:
    with pytest.raises(InputError):
        run(two_groups(), seeds=[seed])


def test_unusable_numbers_of_threads_are_refused() -> None:
    with pytest.raises(InputError, match="threads: 0"):
        run(two_groups(), threads=0)


def test_no_group_may_be_called_as_all_of_them_are() -> None:
    with pytest.raises(InputError, match=r"flows\[1\]\.name: 'all'"):
        prepare(two_groups(), {"flows[1].name": "all"})


def test_a_plan_that_the_engine_refuses_is_bad_input() -> None:
    with pytest.raises(InputError, match="duration"):
        run(two_groups("900000 s"))


def test_unusable_output_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(jobs, "simulate_plan", lambda *_, **__: pytest.fail("work was begun"))
    with pytest.raises(InputError, match="other files"):
        run(endless(), out=tmp_path)


@contextmanager
def ctrl_c_after(seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def test_ctrl_c_cancels_runs_that_would_go_on_for_long() -> None:
    with pytest.raises(RunInterrupted) as caught, ctrl_c_after(1.0):
        run(endless(), seeds=4, threads=processors() + 1)
    assert caught.value.finished is None
    assert str(caught.value) == "interrupted: 0 of 4 seeds finished"


def test_ctrl_c_keeps_and_saves_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short, long = prepare(two_groups()), prepare(endless())

    def last_one_is_long(plan: Any, *rest: Any, **named: Any) -> Result | None:
        return simulate_plan(lower(long, 7) if plan["seed"] == 7 else plan, *rest, **named)

    monkeypatch.setattr(jobs, "simulate_plan", last_one_is_long)
    with pytest.raises(RunInterrupted) as caught, ctrl_c_after(1.5):
        run(short, seeds=3, threads=2, out=tmp_path / "out")
    assert str(caught.value) == "interrupted: 2 of 3 seeds finished"
    assert caught.value.finished is not None
    assert caught.value.finished.seeds == [5, 6]
    saved = RunSet.load(tmp_path / "out")
    assert all(same_measurements(*pair) for pair in zip(saved, caught.value.finished, strict=True))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_an_error_in_one_seed_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:

    def second_fails(plan: Any, *rest: Any, **named: Any) -> Result | None:
        if plan["seed"] == 6:
            raise InputError("is broken", key="seed", value=6)
        return simulate_plan(plan, *rest, **named)

    monkeypatch.setattr(jobs, "simulate_plan", second_fails)
    with pytest.raises(InputError, match="6 is broken"):
        run(endless(), seeds=2, threads=2)  # and not the other's 100,000 s


@pytest.mark.parametrize(
    ("scenario", "seeds", "says"),
    [(3, 1, "scenario: 3 is no scenario"), (two_groups(), 1.5, "seeds: 1.5 is no number of seeds")],
)
def test_an_argument_of_another_type_is_reported_in_words(scenario: Any, seeds: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        run(scenario, seeds=seeds)


def test_scenarios_and_runs_introduce_themselves() -> None:
    scenario = prepare(two_groups("2 s"))
    assert repr(scenario) == "<Scenario 'two groups', links bottleneck, flows near, far>"
    assert run(scenario).resolved == scenario.seeded().resolved


def test_what_the_engine_refuses_of_a_group_has_the_scenario_s_names() -> None:
    """A flow's sequence numbers count segments: 400 Gbps for three minutes are too many for one of 1 kB."""
    scenario = {
        "run": {"duration": "180 s"},
        "bottleneck": {"rate": "400 Gbps", "buffer": "10 packets"},
        "flows": [{"name": "huge", "congestion": "reno", "rtt": "40 ms", "segment": "1000 B"}],
    }
    with pytest.raises(InputError, match=r"flows\.huge\.segment: 1000 is not accepted; accepted: a run"):
        run(scenario)
