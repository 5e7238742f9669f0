"""What becomes of queues where the traffic changes: by runs of the changed scenarios."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from bufferlab.experiment.runner import Runner
from bufferlab.scenario import Scenario
from bufferlab.stats import chance_of_mean
from bufferlab.studies.advise.advice import Advice, mean_values
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.question import Question
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.advise.rough import Rough, roughly
from bufferlab.studies.advise.sensitivity import (
    Broken,
    Sensitivity,
    Shaken,
    Variant,
    supposed_variants,
    variants,
)
from bufferlab.studies.choosing.choice import missed_targets
from bufferlab.studies.choosing.order import place
from bufferlab.studies.choosing.thresholds import noticed
from bufferlab.studies.least import Bench, Case, Goal
from bufferlab.studies.targets import Target, Values

MOST_RIVALS: Final = 3
"""The most equal queues that are tried where the answer misses a target once the traffic changes."""

LOOKS: Final = (4, 8, 16)
"""Seeds of a change with the answer's own setting: more, as long as fewer do not tell whether it holds."""

DOUBT: Final = 0.05
"""Chance to err below which runs of a change tell whether a target is met."""

ROUGH_LOOKS: Final = LOOKS[:2]
"""Seeds of a change with the settings about which it holds."""


def sturdy(others: Mapping[str, Shaken]) -> str | None:
    """The queue that misses a target in fewest changes, the first of several; `None` if the answer does."""
    fewest = min((len(each.broken) for each in others.values()), default=0)
    return next((name for name, each in others.items() if len(each.broken) == fewest < len(each.lost)), None)


@dataclass(frozen=True)
class Shaking:
    """Runs queues with changed traffic, each queue, setting, change and seed once.

    Attributes:
        question: What is asked.
        runner: Runs the simulations.
        seeds: The seeds of each change, of which as many are run as it takes.
        goal: Gives the bounds within which a queue's setting is searched.
        say: Called with what is done now.
        tell_round: Called with how many of a round of runs are left.
        supposed: Scenarios with other controls that may be as true, by what is other in them.
    """

    question: Question
    runner: Runner
    seeds: Sequence[int]
    goal: Callable[[Queue], Goal]
    say: Callable[[str], None]
    tell_round: Callable[[str], None]
    supposed: Mapping[str, Scenario] = field(default_factory=dict)
    _benches: dict[tuple[str, str], Bench] = field(default_factory=dict)

    @cached_property
    def changes(self) -> list[Variant]:
        """The changes, each with its scenario prepared.

        Where other controls may be as true, no further ones are tried.
        """
        found = variants(self.question.base, self.question.index)
        if not self.as_true:
            return found
        return [*self.as_true, *(each for each in found if each.is_alone or not each.is_of_control)]

    @cached_property
    def as_true(self) -> list[Variant]:
        """The scenarios that may be as true."""
        return supposed_variants(self.question.base, self.supposed)

    @property
    def runs(self) -> int:
        """How many runs were made."""
        return sum(bench.runs for bench in self._benches.values())

    def sensitivity(self, change: Variant, entry: Entry) -> Sensitivity:
        """What an entry's targets come to in a change, and about the least setting that keeps them there.

        A buffer is searched in any case, for less of it may do; a delay only where it misses a target. A
        buffer that loses what hardly anybody would accept is named only where all do that meet the targets.
        """
        held_to = self._targets(entry)
        searched = None
        if entry.queue.knob == "limit" or self._missed(change, entry, held_to, entry.setting):
            shunned = self.goal(entry.queue).shunned
            if shunned is not None:
                searched = self._searched(change, entry, (*held_to, shunned))
            if searched is None or searched.size is None:  # all lose much there
                searched = self._searched(change, entry, held_to)
        found = dataclasses.replace(self.as_it_is(change, entry), least=searched)
        if searched is None or searched.size is None:
            return found
        runs = self._measured(change, entry.queue, searched.size, held_to, ROUGH_LOOKS)
        return dataclasses.replace(found, least_loss=mean_values(runs).get("loss"))

    def _searched(self, change: Variant, entry: Entry, held_to: Sequence[Target]) -> Rough:
        def missed(size: int) -> tuple[Target, ...]:
            return self._missed(change, entry, held_to, size)

        return roughly(self._widened(entry), entry.setting, missed)

    def _missed(
        self, change: Variant, entry: Entry, held_to: Sequence[Target], size: int
    ) -> tuple[Target, ...]:
        looks = LOOKS if size == entry.setting else ROUGH_LOOKS
        return missed_targets(self._measured(change, entry.queue, size, held_to, looks), held_to)

    def as_it_is(self, change: Variant, entry: Entry, looks: Sequence[int] = LOOKS) -> Sensitivity:
        """What an entry's targets come to in a change, without a search."""
        held_to = self._targets(entry)
        measured = self._measured(change, entry.queue, entry.setting, held_to, looks)
        return found_in(change, measured, held_to, self._bench(change, entry.queue).runs)

    def _widened(self, entry: Entry) -> Goal:
        """Within which bounds a setting is searched where the traffic is other."""
        goal = self.goal(entry.queue)
        if entry.queue.knob != "limit":
            return goal
        upper = 2 * max(entry.queue.upper, entry.setting)
        allowed = self.question.site.allowed
        return dataclasses.replace(goal, upper=upper if allowed is None else min(upper, allowed.most))

    def of_setting(self, change: Variant, queue: Queue, size: int, count: int) -> tuple[Values, ...]:
        """What a queue's setting measures in a change with the first seeds, as many as are asked for."""
        bench, case = self._bench(change, queue), Case(queue.name, size)
        measured = bench.measure({case: list(self.seeds[:count])})
        return tuple(measured[case, seed] for seed in self.seeds[:count])

    def others(self, advice: Advice) -> dict[str, Shaken]:
        """What becomes of the queues that are as good as the answer, where that misses a target.

        Both are held to the same, whether it was asked for or is our default. A miss counts from where users
        notice it: less than that is no reason to take another queue for traffic that is only supposed.

        Args:
            advice: The answer.

        Returns:
            In our order, of each such queue its usual setting, and others of it until one keeps all targets;
            none where the answer keeps what both are held to.
        """
        found: dict[str, Shaken] = {}
        tried: dict[str, bool] = {}
        # in the order of the entries, a queue's usual setting is before the one that was searched
        names = [name for name in sorted(advice.entries, key=place) if name in advice.choice.equals]
        lost = tuple(self.broken(advice.answer)) if names else ()
        if not lost:
            return {}
        for entry in (advice.entries[name] for name in names):
            queue = entry.queue.name
            if tried.get(queue) or (queue not in tried and len(tried) == MOST_RIVALS):
                continue
            self.say(f"trying {entry.title} in the same what-ifs, as the answer misses a target there")
            changed = tuple(self.as_it_is(change, entry) for change in self.changes)
            broken = tuple(self.broken(entry))
            tried[queue] = not broken
            found[entry.name] = Shaken(changed, broken, lost)
        return found

    def broken(self, entry: Entry) -> Iterator[Broken]:
        """The changes in which the mean misses a target so far that users notice, one after the other."""
        targets = {noticed(target): target for target in self.question.targets}
        for change in self.changes:
            runs = self._measured(change, entry.queue, entry.setting, tuple(targets))
            for target in missed_targets(runs, tuple(targets))[:1]:
                yield Broken(change.brief, targets[target], mean_values(runs).get(target.name))

    def _targets(self, entry: Entry) -> tuple[Target, ...]:
        return self.question.targets_at(entry.queue, entry.setting)

    def _measured(
        self,
        change: Variant,
        queue: Queue,
        size: int,
        targets: Sequence[Target],
        looks: Sequence[int] = LOOKS,
    ) -> list[Values]:
        """Runs of a setting in a change, until they tell of each target whether it is met."""
        bench, case = self._bench(change, queue), Case(queue.name, size)
        runs: list[Values] = []
        for count in looks:
            runs = list(bench.measure({case: list(self.seeds[:count])}).values())
            if all(_tells(runs, target) for target in targets):
                break
        return runs

    def _bench(self, change: Variant, queue: Queue) -> Bench:
        def scenario(case: Case) -> Scenario:
            return queue.scenario(change.scenario, self.question.index, case.size)

        key = (change.title, queue.name)
        if key not in self._benches:
            link = self.question.site.link
            self._benches[key] = Bench(link, scenario, self.runner, self.tell_round)
        return self._benches[key]


def found_in(
    change: Variant, measured: Sequence[Values], held_to: Sequence[Target], runs: int
) -> Sensitivity:
    """What targets come to in a change.

    Args:
        change: The change.
        measured: What runs of it measured.
        held_to: What is to be met.
        runs: How many runs of it were made in all.
    """
    missed = missed_targets(measured, held_to)
    return Sensitivity(
        change.title,
        change.brief,
        mean_values(measured),
        missed,
        None,
        runs,
        change.is_of_control,
        is_unsure=bool(missed) and not any(_surely_missed(measured, each) for each in missed),
        is_alone=change.is_alone,
        is_supposed=change.is_supposed,
        is_newer=change.is_newer,
    )


def _tells(runs: Sequence[Values], target: Target) -> bool:
    """Whether runs show that a target is met, or that it is not."""
    met = [target.margin(run.get(target.name)) for run in runs]
    return chance_of_mean(met) <= DOUBT or _surely_missed(runs, target)


def _surely_missed(runs: Sequence[Values], target: Target) -> bool:
    return chance_of_mean([-target.margin(run.get(target.name)) for run in runs]) <= DOUBT
