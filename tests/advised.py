"""Advices by hand: queues whose runs gave what a test says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.scenario import QUEUE_WORDS, Scenario
from bufferlab.stats import Estimate
from bufferlab.studies.advise.advice import Advice, Stage
from bufferlab.studies.advise.advising import advise
from bufferlab.studies.advise.entry import Entry, Site, Users
from bufferlab.studies.advise.needs import Needs, Origin
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.advise.today import Today
from bufferlab.studies.choosing.choice import Rival, choose
from bufferlab.studies.choosing.objectives import Aspect, weights_for
from bufferlab.studies.least import Check, Least, Run, check
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target, Values, parse_targets

from .small import dumbbell

UPPER: Final = 200
JITTER: Final = (-1.0, 0.0, 1.0, 0.5, -0.5)
"""How runs differ, in parts of a thousand."""

DOWNLOADS: Final = Users("downloads", "bulk", 4, "reno")
CALL: Final = Users("call", "udp", 1, None)

ASPECTS: Final = (
    Aspect("latency", "round trip with the mean wait", "wait_mean_ms", "less", 40.0),
    Aspect("throughput", "downloads: goodput a flow", "downloads.goodput_bps", "more"),
    Aspect("calls", "call: rating R", "call.call_r", "more"),
)

RESOLVED: Final = Scenario.from_toml(dumbbell()).resolved

FIFO: Final[Values] = {
    "utilization": 0.994,
    "loss": 0.005,
    "wait_mean_ms": 20.0,
    "wait_p99_ms": 41.0,
    "throughput_bps": 19.9e6,
    "goodput_total_bps": 19e6,
    "downloads.goodput_bps": 4.7e6,
    "downloads.jain_index": 0.97,
    "call.call_r": 71.0,
    "call.call_mos": 3.6,
    "call.loss": 0.02,
}
FQ_CODEL: Final[Values] = {
    **FIFO,
    "utilization": 0.996,
    "wait_mean_ms": 4.0,
    "wait_p99_ms": 12.0,
    "call.call_r": 93.0,
    "call.call_mos": 4.4,
    "call.loss": 0.0,
}


def site(*users: Users) -> Site:
    """A link of 20 Mbps with a round-trip time of 40 ms."""
    return Site(
        "By hand",
        "west",
        20_000_000,
        40.0,
        1500,
        users or (DOWNLOADS, CALL),
        {"bdp": 67, "stanford": 33},
        UPPER,
    )


def runs(values: Values, *, identical: bool = False) -> list[dict[str, float | None]]:
    """Runs that gave about these values."""
    return [
        {name: value and value * (1 + (0 if identical else by) / 1000) for name, value in values.items()}
        for by in JITTER
    ]


def entry(
    word: str,
    setting: int,
    given: Sequence[Values],
    targets: Sequence[Target],
    *,
    other: Mapping[int, Values] | None = None,
) -> Entry:
    """A queue with a setting; with `other`, settings that its search has tried as well."""
    knob: Any = "limit" if word == "fifo" else "target"
    queue = Queue(word, dict(QUEUE_WORDS[word]), knob, 1, UPPER, 5000, UPPER)
    memory = Memory(targets)
    memory.add({Run(setting, seed): values for seed, values in enumerate(given)})
    checks = tuple(check(memory, setting, target, list(range(len(given)))) for target in targets)
    found = None
    if other is not None:
        memory.add({Run(size, 0): values for size, values in other.items()})
        found = least(setting, checks, memory)
    confidence = min(each.confidence for each in checks)
    return Entry(queue, setting, tuple(given), tuple(given), checks, confidence, found)


def least(setting: int, checks: tuple[Check, ...], memory: Memory) -> Least:
    """What a search came to that ended at a setting."""
    missed = tuple(each.target for each in checks if not each.met)
    return Least(
        size=None if missed else setting,
        checks=checks,
        closest=setting,
        confidence=min(each.confidence for each in checks),
        confirmed=not missed,
        beyond=None,
        conflict=missed,
        islands=(),
        lower=1,
        upper=UPPER,
        values={},
        memory=memory,
    )


def advised(
    given: Mapping[str, tuple[int, Sequence[Values]]],
    targets: Sequence[str] = ("utilization >= 99 %",),
    *,
    where: Site | None = None,
    aspects: Sequence[Aspect] = ASPECTS,
    stage: Stage = "final",
    finished: bool = True,
    sensitivity: Sequence[Sensitivity] = (),
    weights: Mapping[str, float] | None = None,
    origin: Origin = "asked",
) -> Advice:
    """An advice among queues, each with its setting and its runs; of fifo, two other buffers were tried.

    With an origin, that is where targets and weights come from.
    """
    place = where or site()
    asked = parse_targets(targets, [each.name for each in place.users])
    entries = {}
    for word, (setting, values) in given.items():
        low = {**values[0], "utilization": 0.9, "wait_mean_ms": 1.0}
        high = {**values[0], "utilization": 1.0, "wait_mean_ms": 90.0}
        other = {1: low, UPPER: high} if word == "fifo" else None
        made = entry(word, setting, values, asked, other=other)
        entries[made.name] = made
    weighed = weights_for(weights, aspects)
    contest = {name: each.values for name, each in entries.items()}
    missed = {name: tuple(c.target for c in each.checks if not c.met) for name, each in entries.items()}
    return Advice(
        site=place,
        resolved=RESOLVED,
        targets=asked,
        confidence=0.95,
        aspects=tuple(aspects),
        weights=weighed,
        needs=Needs(asked, weights, origin, origin),
        entries=entries,
        choice=choose(contest, aspects, weighed, missed=missed),
        stage=stage,
        sensitivity=tuple(sensitivity),
        runs=42,
        finished=finished,
    )


def fifo_today(values: Values, behind: float = 0.0) -> Today:
    """A FIFO of 64 packets that runs today and gave these values; users fare worse with it by that share."""
    same = not behind
    rival = Rival(
        "today, as it is",
        Estimate(behind, 0.001, 5),
        is_equal=same,
        is_open=False,
        is_alike=same,
        missed=(),
        worst=None,
    )
    return Today(rival, (), tuple(runs(values)), "fifo", "64 packets", 64, None)


def left_beside_today(scenario: Path, *, queues: str) -> Advice:
    """What is left of an answer that is stopped as soon as what runs today is beside it."""

    def stop(advice: Advice | None, note: str) -> None:
        del note
        if advice is not None and advice.today is not None:
            raise KeyboardInterrupt

    with pytest.raises(RunInterrupted) as interrupted:
        advise(scenario, ["utilization >= 90 %"], queues=queues, today="fifo:3 packets", watch=stop)
    left = interrupted.value.finished
    assert isinstance(left, Advice) and left.today is not None
    return left
