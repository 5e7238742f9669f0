"""Answers from runs of a length that nobody has chosen: made longer where they are too short."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bufferlab.experiment.experiment import Done, Experiment
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.advising import advise
from bufferlab.studies.compare import compare
from bufferlab.studies.internet import CALL
from bufferlab.studies.size import size
from bufferlab.studies.size.quick import quick_scenario
from bufferlab.studies.size.sizing import Sizing

TARGET = ["loss <= 1 %"]


@pytest.fixture(scope="module")
def started() -> Scenario:
    """Flows of BBR that lose a tenth when they start; what they lose later takes a BDP or two."""
    given = quick_scenario("5 Mbps", "40 ms", [("bbr", 4)], duration="60 s")
    return Scenario.from_dict(given)


@pytest.fixture(scope="module")
def answered(started: Scenario) -> Advice:
    return advise(started, TARGET, queues="fifo", quick=True, lengthen=True, progress=False)


def test_an_answer_does_not_rest_on_how_bbr_starts(started: Scenario, answered: Advice) -> None:
    assert answered.short_runs is None and not answered.start_measured
    assert answered.assumed[0].startswith(
        "runs of 100 s, measured from 52 s on, as those of 60 s were too short"
    )
    short = advise(started, TARGET, queues="fifo", quick=True, progress=False)
    assert short.start_measured and "BBR fills this buffer" in str(short.short_runs)
    assert short.answer.packets >= 2 * answered.answer.packets
    sized = size(started, TARGET, lengthen=True, with_rules=False, progress=False)
    assert sized.warnings == () and not sized.start_measured
    assert sized.packets == pytest.approx(answered.answer.packets, rel=0.2)
    assert sized.resolved["run"]["warmup_ps"] > started.run["warmup_ps"]


def test_runs_of_both_lengths_are_counted(started: Scenario, answered: Advice) -> None:
    last = advise(
        started.with_overrides({"run.warmup": "52 s", "run.duration": "100 s"}),
        TARGET,
        queues="fifo",
        quick=True,
        progress=False,
    )
    assert last.answer.packets == answered.answer.packets
    assert answered.runs > last.runs


def test_a_stop_in_the_longer_runs_leaves_the_answer_of_the_shorter(
    started: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Runner.runs

    def interrupted(self: Runner, experiment: Experiment[Any], *rest: Any) -> Iterator[Done[Any]]:
        if any(point.run["duration_ps"] > started.run["duration_ps"] for point in experiment.points.values()):
            raise KeyboardInterrupt
        return whole(self, experiment, *rest)

    monkeypatch.setattr(Runner, "runs", interrupted)
    with pytest.raises(RunInterrupted) as stopped:
        advise(started, TARGET, queues="fifo", quick=True, lengthen=True, progress=False)
    best = stopped.value.finished
    assert isinstance(best, Advice) and not best.finished and best.start_measured
    with pytest.raises(RunInterrupted) as stopped:
        size(started, TARGET, lengthen=True, with_rules=False, progress=False)
    sizing = stopped.value.finished
    assert isinstance(sizing, Sizing) and not sizing.finished and sizing.start_measured
    assert sizing.resolved["run"]["duration_ps"] == started.run["duration_ps"]


def test_compare_warns_of_what_waits_in_the_largest_queue(started: Scenario) -> None:
    short = started.with_overrides({"run.duration": "20 s"})
    found = compare(short, "fifo:8 bdp,fq_codel", seeds=1, progress=False)
    assert found.warnings[0].startswith("under fifo:8 bdp, BBR fills this buffer when it starts")
    assert "beware" in str(found) and found.to_dict()["warnings"] == list(found.warnings)
    small = compare(short, "fifo:1 bdp", seeds=1, progress=False)
    assert not any("BBR" in each for each in small.warnings)


def test_runs_that_are_too_short_for_what_the_answer_was_compared_with_are_said() -> None:
    """Under fq_codel packets hardly wait; the fifo beside it takes many round trips longer to settle."""
    line = {
        "run": {"duration": "16 s", "warmup": "3 s"},
        "bottleneck": {"rate": "10 Mbps", "delay": "1 ms", "buffer": "150 packets"},
        "flows": [{"count": 4, "rtt": "20 ms"}, {"name": "call", "application": dict(CALL), "rtt": "20 ms"}],
    }
    found = advise(line, queues="fq_codel,fifo", bounds="150..160", quick=True, threads=1, progress=False)
    assert found.answer.queue.kind == "fq_codel" and found.short_runs is not None
    assert str(found.short_runs).startswith("under fifo, 15")
