"""Which of equal queues keeps the targets where the traffic changes, from made-up runs of the changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import pytest

from bufferlab.experiment.runner import Runner
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.question import Question, prepared
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.advise.sensitivity import Broken, Variant
from bufferlab.studies.advise.shaking import Shaking, sturdy
from bufferlab.studies.least import Bench, Case, Goal
from bufferlab.studies.targets import Target, Values, make_target

from ...advised import FIFO, advised, runs
from ...small import dumbbell

BUSY = make_target("utilization", 0.99)
LOST = make_target("loss", 0.01)
FINE: Values = {"utilization": 0.995, "loss": 0.001}
IDLE: Values = {"utilization": 0.92, "loss": 0.001}
LOSSY: Values = {"utilization": 1.0, "loss": 0.05}

Changed = Mapping[tuple[str, str], Values]
"""What a queue measures in a change, where it is not fine, by the queue's name and the change's title."""


@dataclass(frozen=True)
class MadeUp(Shaking):
    """Two changes, whose runs are made up."""

    changed: Changed = field(default_factory=dict)

    @cached_property
    def changes(self) -> list[Variant]:
        base = self.question.base
        return [Variant("twice the flows", "9 flows", base), Variant("half the RTT", "half the RTT", base)]

    def _measured(self, change: Variant, queue: Queue, size: int, *_: object) -> list[Values]:  # noqa: ARG002
        return [self.changed.get((queue.name, change.title), FINE)] * 2


def equals() -> Advice:
    """An answer, FIFO, and two queues that are as good."""
    settings = {"fifo": 14, "fq_codel": 5000, "codel": 5000}
    return advised({name: (setting, runs(FIFO)) for name, setting in settings.items()})


def shaking(changed: Changed, targets: tuple[Target, ...], floor: Target | None = None) -> MadeUp:
    question = Question.of(prepared(Scenario.from_toml(dumbbell()), None), 0, targets, floor)

    def nothing(_: str) -> None: ...

    runner, goal = cast(Runner, None), cast(Goal, None)  # no run is made, and no buffer searched
    return MadeUp(question, runner, (1, 2), lambda _: goal, nothing, nothing, changed=changed)


def test_the_first_equal_that_keeps_all_targets_is_found_and_why_the_others_lost() -> None:
    changed = {("fifo", "twice the flows"): LOSSY, ("fq_codel", "half the RTT"): LOSSY}
    found = shaking(changed, (BUSY, LOST)).others(equals())
    assert sturdy(found) == "codel, target 5 ms"
    fq_codel, codel = found.values()
    assert fq_codel.broken == (Broken("half the RTT", LOST, LOSSY["loss"]),) and not codel.broken
    assert codel.lost == fq_codel.lost == (Broken("9 flows", LOST, LOSSY["loss"]),)
    assert [each.missed for each in fq_codel.changed] == [(), (LOST,)]
    found = shaking(dict(list(changed.items())[:1]), (BUSY, LOST)).others(equals())
    assert sturdy(found) == "fq_codel, target 5 ms"
    assert [name.partition(",")[0] for name in found] == ["fq_codel", "codel"]


def with_another_delay() -> tuple[Advice, str, str]:
    """Those, and FQ-CoDel with another delay; its usual entry's name, and the other's."""
    advice = equals()
    usual = next(entry for entry in advice.entries.values() if entry.queue.name == "fq_codel")
    searched = dataclasses.replace(usual, setting=200)
    better = next(rival for rival in advice.choice.rivals if rival.name == usual.name)
    rivals = (dataclasses.replace(better, name=searched.name), *advice.choice.rivals)
    advice = dataclasses.replace(
        advice,
        entries={**advice.entries, searched.name: searched},
        choice=dataclasses.replace(advice.choice, rivals=rivals),
    )
    return advice, usual.name, searched.name


def test_of_a_queues_settings_the_usual_one_is_found_first() -> None:
    advice, usual, searched = with_another_delay()
    found = shaking({("fifo", "twice the flows"): LOSSY}, (BUSY, LOST)).others(advice)
    assert sturdy(found) == usual and searched not in found
    broken = {("fifo", "twice the flows"): LOSSY, ("fq_codel", "half the RTT"): LOSSY}
    found = shaking(broken, (BUSY, LOST)).others(advice)
    assert usual in found and searched in found


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {("fq_codel", "half the RTT"): LOSSY},
        {(name, "half the RTT"): LOSSY for name in ("fifo", "fq_codel", "codel")},
    ],
)
def test_an_answer_that_no_equal_outlasts_is_kept(changed: Changed) -> None:
    assert sturdy(shaking(changed, (BUSY, LOST)).others(equals())) is None


@pytest.mark.parametrize("floor", [None, BUSY], ids=["asked", "default"])
def test_a_target_decides_from_where_users_notice_it_whoever_named_it(floor: Target | None) -> None:
    slightly = shaking({("fifo", "half the RTT"): IDLE}, (BUSY,), floor)
    assert slightly.as_it_is(slightly.changes[1], equals().answer).missed == (BUSY,)
    assert slightly.others(equals()) == {}
    idler: Values = {**IDLE, "utilization": 0.88}
    found = shaking({("fifo", "half the RTT"): idler}, (BUSY,), floor).others(equals())
    assert sturdy(found) == "fq_codel, target 5 ms"
    assert found["fq_codel, target 5 ms"].lost == (Broken("half the RTT", BUSY, 0.88),)


@pytest.mark.parametrize(("enough_us", "found"), [(9000, True), (10**9, False)])
def test_a_longer_delay_is_searched_only_where_the_usual_one_misses(enough_us: int, *, found: bool) -> None:
    @dataclass(frozen=True)
    class Slow(MadeUp):
        """Long delays keep the link busy with half the round-trip time."""

        def _measured(self, change: Variant, queue: Queue, size: int, *_: object) -> list[Values]:  # noqa: ARG002
            is_idle = change.title == "half the RTT" and size < enough_us
            return [IDLE if is_idle else FINE] * 2

    made = shaking({}, (BUSY,))
    goal = Goal((BUSY,), 50, 60_000)
    slow = Slow(made.question, made.runner, (1, 2), lambda _: goal, made.say, made.tell_round)
    entry = next(entry for entry in equals().entries.values() if entry.queue.name == "codel")
    more, half = (slow.sensitivity(change, entry) for change in slow.changes)
    assert more.holds and more.least is None
    assert half.missed == (BUSY,) and half.least is not None
    assert (half.least.size is not None) == found
    if half.least.size is not None:
        assert enough_us <= half.least.size <= 1.25 * enough_us


@pytest.mark.parametrize(("calm", "least"), [(400, 400), (10**9, 25)])
def test_a_buffer_that_loses_much_is_named_only_where_all_do(calm: int, least: int) -> None:
    @dataclass(frozen=True)
    class Lossy(MadeUp):
        """25 packets keep the link busy; from `calm` on little is lost."""

        def _measured(self, change: Variant, queue: Queue, size: int, *_: object) -> list[Values]:  # noqa: ARG002
            return [{"utilization": 1.0 if size >= 25 else 0.9, "loss": 0.01 if size >= calm else 0.12}] * 2

    made = shaking({}, (BUSY,))
    goal = Goal((BUSY,), 1, 2000, shunned=make_target("loss", 0.05))
    lossy = Lossy(made.question, made.runner, (1, 2), lambda _: goal, made.say, made.tell_round)
    entry = next(entry for entry in equals().entries.values() if entry.queue.name == "fifo")
    found = lossy.sensitivity(lossy.changes[0], dataclasses.replace(entry, setting=1000)).least
    assert found is not None and found.size is not None
    assert least <= found.size <= 1.25 * least


@pytest.mark.parametrize(
    ("given", "asked", "known"),
    [
        ([0.995, 0.996, 0.995, 0.997], 4, "holds"),
        ([0.90, 0.91, 0.90, 0.92], 4, "breaks"),
        ([0.985, 0.994, 0.984, 0.995], 16, "unsure"),
    ],
)
def test_a_change_is_run_until_it_is_known_whether_the_answer_holds(
    given: list[float], asked: int, known: str
) -> None:
    class Made:
        """Gives the same values again and again."""

        runs = 0

        def measure(self, wanted: Mapping[Case, list[int]]) -> dict[tuple[Case, int], Values]:
            ((case, seeds),) = wanted.items()
            self.runs = len(seeds)
            return {(case, seed): {"utilization": given[seed % 4], "loss": 0.0} for seed in seeds}

    bench = Made()
    made = shaking({}, (BUSY,))
    change, entry = made.changes[0], equals().answer
    plain = Shaking(made.question, made.runner, range(16), made.goal, made.say, made.tell_round)
    plain._benches[change.title, entry.queue.name] = cast(Bench, bench)
    found = plain.as_it_is(change, entry)
    assert bench.runs == asked
    assert found.holds == (known == "holds")
    assert found.surely_breaks == (known == "breaks") and found.is_unsure == (known == "unsure")
