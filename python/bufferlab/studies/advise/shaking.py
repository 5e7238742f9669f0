"""What becomes of queues where the traffic changes: by runs of the changed scenarios."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from bufferlab.experiment.runner import Runner
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.advice import Advice, Broken, mean_values
from bufferlab.studies.advise.choice import missed_targets, simplicity
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.question import Question
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.advise.rough import roughly
from bufferlab.studies.advise.sensitivity import Sensitivity, Variant, variants
from bufferlab.studies.least import Bench, Case, Plan
from bufferlab.studies.targets import Target, Values, looser

MOST_RIVALS: Final = 3
"""So many equal queues are tried where the answer misses a target once the traffic changes."""


@dataclass(frozen=True)
class Shaking:
    """Runs queues with changed traffic, each queue, setting, change and seed once.

    Attributes:
        question: What is asked.
        runner: Runs the simulations.
        seeds: The seeds of each change.
        plan: Gives the bounds within which a queue's setting is searched.
        say: Told what is done now.
        tell_round: Told how many of a round of runs are left.
    """

    question: Question
    runner: Runner
    seeds: Sequence[int]
    plan: Callable[[Queue], Plan]
    say: Callable[[str], None]
    tell_round: Callable[[str], None]
    _benches: dict[tuple[str, str], Bench] = field(default_factory=dict)

    @cached_property
    def changes(self) -> list[Variant]:
        """The changes, each with its scenario prepared."""
        return variants(self.question.base)

    @property
    def runs(self) -> int:
        """How many runs were made."""
        return sum(bench.runs for bench in self._benches.values())

    def sensitivity(self, change: Variant, entry: Entry) -> Sensitivity:
        """What an entry's targets come to in a change, and about the least buffer that keeps them there."""
        queue = entry.queue
        before = self.runs

        def missed(size: int) -> tuple[Target, ...]:
            return missed_targets(self._measured(change, queue, size), self.question.targets_at(queue, size))

        searched = None
        if queue.knob == "limit":
            plan = self.plan(queue)
            upper = 2 * max(queue.upper, entry.setting)
            if self.question.site.allowed is not None:
                upper = min(upper, self.question.site.allowed.most)
            searched = roughly(dataclasses.replace(plan, upper=upper), entry.setting, missed)
        return Sensitivity(
            change.title,
            change.brief,
            mean_values(self._measured(change, queue, entry.setting)),
            missed(entry.setting),
            searched,
            self.runs - before,
            change.is_of_control,
        )

    def sturdier(self, advice: Advice) -> tuple[Entry, dict[str, tuple[Broken, ...]]] | None:
        """Of the queues that are as good as the answer, the simplest that keeps the targets in all changes.

        Both are held to the same: to what was asked for, not to the floor under the link's use beside it.

        Args:
            advice: The answer.

        Returns:
            The queue, and in which changes the answer misses a target, by its name; `None` if the answer
            keeps them as well, or no such queue does.
        """
        answer = advice.answer
        equal = {rival.name for rival in advice.choice.rivals if rival.is_equal and not rival.missed}
        # in the order of the entries, a queue's usual setting is before the one that was searched
        others = [advice.entries[name] for name in sorted(advice.entries, key=simplicity) if name in equal]
        for entry in [each for each in others if each.queue != answer.queue][:MOST_RIVALS]:
            targets = self._common_targets(answer, entry)
            broken = tuple(self.broken(answer, targets))
            if not broken:
                continue
            self.say(f"trying {entry.name} in the same changes")
            if not any(self.broken(entry, targets)):
                return entry, {answer.name: broken}
        return None

    def broken(self, entry: Entry, targets: Sequence[Target]) -> Iterator[Broken]:
        """The changes in which an entry misses a target in the mean, one after the other."""
        for change in self.changes:
            runs = self._measured(change, entry.queue, entry.setting)
            for target in missed_targets(runs, targets)[:1]:
                yield Broken(change.brief, target, mean_values(runs).get(target.name))

    def _common_targets(self, one: Entry, other: Entry) -> tuple[Target, ...]:
        """What both are held to: what was asked for; where nobody asked, the looser of their floors."""
        asked = tuple(target for target in self.question.targets if target != self.question.floor)
        return asked or tuple(map(looser, self._targets(one), self._targets(other)))

    def _targets(self, entry: Entry) -> tuple[Target, ...]:
        return self.question.targets_at(entry.queue, entry.setting)

    def _measured(self, change: Variant, queue: Queue, size: int) -> list[Values]:
        bench = self._bench(change, queue)
        return list(bench.measure({Case(queue.name, size): list(self.seeds)}).values())

    def _bench(self, change: Variant, queue: Queue) -> Bench:
        def scenario(case: Case) -> Scenario:
            return queue.scenario(change.scenario, self.question.index, case.size)

        key = (change.title, queue.name)
        if key not in self._benches:
            link = self.question.site.link
            self._benches[key] = Bench(link, scenario, self.runner, self.tell_round)
        return self._benches[key]
