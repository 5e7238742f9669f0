"""Each queue's setting: searched, enlarged where users fare better with more, checked, and made an entry."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from bufferlab.experiment.runner import Runner
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.around import Around, look_around
from bufferlab.studies.advise.checked import MOST_ASSURING, Checked, checks_at, runs_to_assure
from bufferlab.studies.advise.entry import Entry, Smaller
from bufferlab.studies.advise.floor import relaxed
from bufferlab.studies.advise.larger import Ladder, Larger, longest_bought_ms
from bufferlab.studies.advise.needs import Needs
from bufferlab.studies.advise.paused import Paused
from bufferlab.studies.advise.prospects import could_be_felt
from bufferlab.studies.advise.question import Question
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.advise.smaller import smaller
from bufferlab.studies.choosing.choice import LOOKS
from bufferlab.studies.choosing.closest import closest, off
from bufferlab.studies.choosing.objectives import Aspect, Kind, aspects_of, judged_by_buffers, mean_score
from bufferlab.studies.choosing.order import place
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS, MATERIAL, NOTED_LOSS
from bufferlab.studies.least import Bench, Case, Check, Goal, Least, Run, Search, Step, least, together
from bufferlab.studies.least.candidates import CHECK_SEEDS
from bufferlab.studies.targets import Target, Values, bounds_loss, make_target, want_largest
from bufferlab.studies.traffic import likely_packets
from bufferlab.units import packets_text

PILOTS: Final = 5
"""Seeds with which queues are compared at first: the fewest of which a sign test says anything with 95 %."""

CONTEST: Final = LOOKS[0]
"""Seeds with which they are compared once each has its own setting."""

DELAYS: Final = 0.25
"""How exactly a queue's delay is searched at best, as a share: nobody types 402 in place of 500 us."""

QUICK_RUNS: Final = 60
"""About the most runs of a search if only the first answer is asked for: it may be larger, not less sure."""


class Settings:
    """The settings of all queues, as far as they are known.

    Args:
        question: What is asked.
        field: The queues to choose from.
        needs: What users need.
        confidence: How sure a setting has to be.
        resolution: How exactly it is searched, as a share.
        runner: Runs the simulations.
        say: Called with what is done now.
        tell_round: Called with how many of a round of runs are left.
        today: The buffer of the FIFO that the link runs now, packets; `None` if it runs none, or unknown.
    """

    def __init__(
        self,
        question: Question,
        field: Iterable[Queue],
        *,
        needs: Needs,
        confidence: float,
        resolution: float,
        runner: Runner,
        say: Callable[[str], None],
        tell_round: Callable[[str], None],
        today: int | None = None,
    ) -> None:
        self.question = question
        self.today = today
        self.queues = {queue.name: queue for queue in field}
        self.needs = needs
        self.confidence = confidence
        self.resolution = resolution
        self.quick = False
        first = int(question.base.run["seed"]) + CHECK_SEEDS
        self.seeds = [first + index for index in range(LOOKS[-1])]
        """With which the queues are compared."""
        self.found: dict[str, Least] = {}
        self.bench = Bench(question.site.link, self._scenario, runner, tell_round)
        self._say = say
        self._searches: dict[str, Paused] = {}
        self._larger: dict[str, Larger | None] = {}
        self._above: dict[str, dict[Run, Values]] = {}
        """What larger buffers than the least came to, whether one was taken or not."""
        self._before: dict[str, Larger | None] = {}
        """What `_larger` had of a queue before a buffer that may hold in more traffic."""
        self._smaller: dict[str, Smaller] = {}
        """Of queues that were searched a smaller buffer, which is as good."""
        self._checked: dict[Case, Checked] = {}
        self._around: dict[str, Around] = {}
        """Of queues whose delay is not searched, what a few delays came to."""

    def _scenario(self, case: Case) -> Scenario:
        return self.queues[case.name].scenario(self.question.base, self.question.index, case.size)

    def goal(self, queue: Queue) -> Goal:
        """How a queue's setting is searched."""
        return Goal(
            targets=self.question.targets,
            lower=queue.lower,
            upper=queue.upper,
            first_seed=int(self.question.base.run["seed"]),
            confidence=self.confidence,
            resolution=self.resolution if queue.knob == "limit" else max(self.resolution, DELAYS),
            guess=likely_packets(self.question.site.rules) if queue.knob == "limit" else None,
            edges=tuple(self._edges(queue)),
            runs=QUICK_RUNS if self.quick else Goal.runs,
            largest=want_largest(self.question.targets),
            most=self.question.most if queue.knob == "limit" else None,
            unit="packets" if queue.knob == "limit" else "us",
            shunned=self._shunned(queue),
        )

    def _edges(self, queue: Queue) -> Iterator[int]:
        """The buffers that drain within a wait that is asked for, and what a FIFO runs today."""
        if queue.knob != "limit":
            return
        for target in self.question.targets:
            if target.wants_less and target.metric.name.startswith("wait_"):
                yield max(math.floor(self.question.site.packets_of_ms(target.bound)), 1)
        if self.today is not None and queue.lower <= self.today <= queue.upper:
            yield self.today

    def _shunned(self, queue: Queue) -> Target | None:
        """The loss that hardly anybody would accept, where nobody bounds it.

        The least buffer that meets the targets may lose that much, and would not be taken: to narrow it down
        would be for nothing.
        """
        targets = self.question.targets
        if queue.knob != "limit" or want_largest(targets) or bounds_loss(targets):
            return None
        return make_target("loss", HEAVY_LOSS)

    def search(self, queues: Iterable[Queue], why: str) -> None:
        """Search each queue's setting until one is confirmed."""
        searches = {queue.name: Paused(least(self.goal(queue))) for queue in queues}
        self._searches |= searches
        self._together({name: search.first() for name, search in searches.items()}, why)

    def tune(self, queues: Iterable[Queue]) -> None:
        """Search queues' own delays, and take all searches to their ends."""
        for queue in (queues := list(queues)):
            self._around.pop(queue.name, None)
        self.search(queues, "searching whether another delay does better")
        self.narrow()
        self.enlarge()

    def narrow(self) -> bool:
        """Take searches to their ends that may go on from a confirmed setting; whether there were any."""
        rest = {name: each.rest() for name, each in self._searches.items() if not each.ended}
        self._together(rest, "searching whether less does")
        return bool(rest)

    def is_promising(self, queue: Queue, advice: Advice) -> bool:
        """Whether some delay of a queue may do better than the answer; if not, it is kept why."""
        if not advice.met or place(queue.name) < place(advice.choice.name):
            return True
        self._say(f"looking whether another delay of {queue.title} does better")
        runs = Paused(least(self.goal(queue))).asks
        found = look_around(queue, advice, runs, self.bench, self.question)
        usual = next(
            each for each in advice.entries.values() if case_of(each) == Case(queue.name, queue.usual)
        )
        if found.is_promising(usual_meets=all(each.met for each in usual.checks)):
            return True
        is_answer = queue == advice.answer.queue  # which is at least as good already
        self._around[queue.name] = dataclasses.replace(found, best=None) if is_answer else found
        return False

    def _together(self, searches: Mapping[str, Search], why: str) -> None:
        def watch(steps: Mapping[str, Step]) -> None:
            made = sum(case.name in searches for case, _ in self.bench.known)
            most = sum(self.goal(self.queues[name]).runs for name in searches)
            self._say(f"{why}: {_note(steps)} ({made} runs of about {most} at most)")

        self.found |= together(searches, self.bench, watch)

    def enlarge(self) -> None:
        """Take a larger buffer than the least of each queue, where users fare better with it."""
        for name, found in self.found.items():
            known = self._larger.pop(name, None)
            is_same = known is not None and known.least == found.size
            self._smaller.pop(name, None)
            self._larger[name] = known if is_same else self._climbed(self.queues[name], found)

    def _climbed(self, queue: Queue, found: Least) -> Larger | None:
        if queue.knob != "limit" or found.size is None or want_largest(self.question.targets):
            return None
        is_bounded = any(each.wants_less for each in self.question.targets)
        noted = NOTED_LOSS if is_bounded else HEAVY_LOSS
        is_lossy = not bounds_loss(self.question.targets) and found.memory.loss(found.size) >= noted
        if not found.confirmed and not is_lossy:
            return None
        aspects = self.aspects(found.values.values())
        weights = self.needs.weights(aspects, self.question.base)
        entry = self.entry(queue, found.closest, found.values, found)
        if not is_lossy and not could_be_felt(entry, aspects, weights, groups=len(self.question.site.users)):
            return None

        return self._ladder(queue, aspects, weights, "as users may fare better").climb(found)

    def _ladder(
        self, queue: Queue, aspects: Sequence[Aspect], weights: Mapping[Kind, float], why: str
    ) -> Ladder:
        """What larger buffers of a queue are scored by; why they are tried is said before each runs."""

        def measure(size: int, seeds: Sequence[int]) -> list[Values]:
            self._say(f"larger buffers of {queue.title}: {packets_text(size)}, {why}")
            values = list(self.bench.measure({Case(queue.name, size): [*seeds]}).values())
            runs = (Run(size, seed) for seed in seeds)
            self._above.setdefault(queue.name, {}).update(zip(runs, values, strict=True))
            return values

        return Ladder(
            *judged_by_buffers(aspects, weights, self.needs.emphasis),
            measure,
            self.seeds[:PILOTS],
            self.seeds[:CONTEST],
            self.confidence,
            self.question.most,
            longest_bought_ms(self.question.site.rtt_ms, self.question.targets, self.needs.emphasis),
        )

    def step_up(self, advice: Advice, size: int, broken: int) -> bool:
        """Take a larger buffer than the answer's, if users fare no worse; whether it is taken.

        Args:
            advice: The answer.
            size: The larger buffer, packets.
            broken: In how many changes of the traffic the answer misses a target.
        """
        queue, found = advice.answer.queue, advice.answer.least
        if found is None:
            return False
        why = "which may hold in more traffic"
        ladder = self._ladder(queue, advice.aspects, advice.weights, why)
        larger = ladder.step(found, advice.answer.setting, size, broken=broken)
        if larger is None:
            return False
        self._before[queue.name] = self._larger.get(queue.name)
        self._larger[queue.name] = larger
        return True

    def step_back(self, advice: Advice) -> None:
        """Take the buffer again that was the answer's before a larger one."""
        name = advice.answer.queue.name
        self._larger[name] = self._before.pop(name)

    def aspects(self, runs: Iterable[Values]) -> list[Aspect]:
        """What users feel in runs."""
        return aspects_of(self.question.base, [*runs], self.question.site.rtt_ms, self.needs.emphasis)

    def cases(self, *, searched: bool = False) -> dict[Case, Least | None]:
        """What is compared: each queue as it is usual, where that is known, and as the searches left it.

        Args:
            searched: Without what no search has led to.
        """
        cases: dict[Case, Least | None] = {}
        for queue in self.queues.values():
            found = self.found.get(queue.name)
            if queue.knob == "target" and not searched:
                cases[Case(queue.name, queue.usual)] = None
                around = self._around.get(queue.name)
                if around is not None and around.best is not None:
                    cases[Case(queue.name, around.best)] = None
            if found is not None:
                cases[Case(queue.name, self._size_of(queue.name, found))] = found
        return cases

    def _size_of(self, name: str, found: Least) -> int:
        """The setting of a queue that the search came to, or another one that is taken in its place."""
        other = self._smaller.get(name) or self._larger.get(name)
        return self._nearest(found) if other is None else other.size

    def _nearest(self, found: Least) -> int:
        """The setting that a search came to, or of those that miss targets what is nearest."""
        if found.size is not None:
            return found.closest
        memory = found.memory
        aspects = self.aspects(run for size in memory.sizes for run in memory.values(size))
        weights = self.needs.weights(aspects, self.question.base)
        long_wait_ms = longest_bought_ms(
            self.question.site.rtt_ms, self.question.targets, self.needs.emphasis
        )
        return nearest(found, *judged_by_buffers(aspects, weights, self.needs.emphasis), long_wait_ms)

    def step_down(self, advice: Advice) -> bool:
        """Take a smaller buffer than the answer's that is as good for users; whether there is one.

        Args:
            advice: The answer.
        """
        queue, seeds = advice.answer.queue, self.seeds[: len(advice.answer.values)]

        def measure(case: Case) -> list[Values]:
            self._say(f"smaller buffers of {queue.title}: {packets_text(case.size)}, as users may fare alike")
            values = list(self.bench.measure({case: [*seeds]}).values())
            if (memory := advice.answer.buffers) is not None:
                memory.add({Run(case.size, seed): each for seed, each in zip(seeds, values, strict=True)})
            return values

        judged = judged_by_buffers(advice.aspects, advice.weights, self.needs.emphasis)
        found = smaller(advice, judged, measure)
        if found is None:
            return False
        self._smaller[queue.name] = found
        if found.is_eased:
            self._ease(queue, found.size)
        return True

    def _misses_default_alone(self, queue: Queue, checks: Sequence[Check]) -> bool:
        """Whether of what is asked a buffer misses our default alone, or keeps it least surely.

        What is asked of a usual setting it must meet.
        """
        floor = self.question.floor
        if floor is None or queue.knob != "limit":
            return False
        others = [each for each in checks if each.target != floor]
        (use,) = (each for each in checks if each.target == floor)
        (usual,) = relaxed([floor], floor)
        return (
            all(each.met for each in others)
            and use.confidence < min([self.confidence, *(each.confidence for each in others)])
            and use.found.mean is not None
            and usual.margin(use.found.mean) >= 0
        )

    def _ease(self, queue: Queue, setting: int, *, is_eased: bool = True) -> None:
        """Ask less of our default of a queue with a setting, or all again."""
        case = {(queue.name, setting)}
        eased = self.question.eased | case if is_eased else self.question.eased - case
        self.question = dataclasses.replace(self.question, eased=eased)

    def step_up_again(self, advice: Advice) -> None:
        """Take the buffer again that was the answer's before a smaller one."""
        self._smaller.pop(advice.answer.queue.name)

    def check(self, entry: Entry, attempt: int) -> None:
        """Run an entry's setting with fresh seeds.

        Args:
            entry: The entry.
            attempt: How many checks there were before, of any entry.
        """
        case = case_of(entry)
        again = self._checked.get(case)
        first = self.seeds[0] + CHECK_SEEDS // 2 + (0 if again is None else MOST_ASSURING)
        seeds = [first + index for index in range(runs_to_assure(entry))]
        measured = self.bench.measure({case: seeds})
        values = {seed: measured[case, seed] for seed in seeds}
        # the first check may err with half of what is allowed, the next with half of that
        self._checked[case] = Checked(values, chances=2 ** (attempt + 1), is_last=again is not None)

    def missed(self, entries: Mapping[str, Entry]) -> dict[str, tuple[Target, ...]]:
        """The targets that each entry misses, or, once that was checked twice by more runs, may miss."""
        found = {}
        for name, entry in entries.items():
            missed = tuple(each.target for each in entry.checks if not each.met)
            checked = self._checked.get(case_of(entry))
            if not missed and checked is not None and checked.is_last:
                missed = tuple(each.target for each in entry.checks if each.confidence < self.confidence)
            found[name] = missed
        return found

    def entry(self, queue: Queue, setting: int, values: Mapping[int, Values], found: Least | None) -> Entry:
        """A queue at a setting, with the runs that judge it: fresh ones of a check, or those that found it.

        Args:
            queue: The queue.
            setting: Its setting.
            values: What the runs measured by which it is compared, by seed.
            found: What the search came to.
        """
        runs, confidence, chances = values, None, 1
        checked, larger = self._checked.get(Case(queue.name, setting)), self._larger.get(queue.name)
        if larger is not None and larger.size != setting:
            larger = None
        if checked is not None:
            runs, chances = checked.values, checked.chances
        elif larger is not None:
            runs = larger.values
        elif found is not None and found.closest == setting:
            runs = found.values
            confidence = found.confidence if found.size == setting else None
        if found is not None and not found.confirmed:
            asked = checks_at(self.question.targets, setting, runs, chances)
            is_eased = self._misses_default_alone(queue, asked)
            self._ease(queue, setting, is_eased=is_eased)
            confidence = None if is_eased else confidence
        checks = checks_at(self.question.targets_at(queue, setting), setting, runs, chances)
        if confidence is None:
            confidence = min(each.confidence for each in checks)
        less = self._smaller.get(queue.name)
        if found is not None and queue.name in self._above:
            memory = found.memory.copy()
            memory.add(self._above[queue.name])
            found = dataclasses.replace(found, memory=memory)
        around = self._around.get(queue.name)
        return Entry(
            queue,
            setting,
            tuple(values.values()),
            tuple(runs.values()),
            checks,
            confidence,
            found,
            None if larger is None else larger.behind,
            0 if around is None else around.tried,
            None if larger is None else larger.broken,
            less if less is not None and less.size == setting else None,
        )


def nearest(
    found: Least, aspects: Sequence[Aspect], weights: Mapping[Kind, float], long_wait_ms: float | None
) -> int:
    """Where a search found nothing that meets all targets: of the sizes that are as close, users decide.

    Of those with which they fare alike it is the largest in which packets do not wait long. A smaller one
    would use less of what the bounds allow, and few runs of many sizes favor one by chance. Where packets
    wait long in all, it is the smallest.

    Args:
        found: The search.
        aspects: What users feel.
        weights: How much each kind of aspect weighs.
        long_wait_ms: From which mean wait on packets wait long; `None` if nobody calls that long.
    """
    memory = found.memory
    sizes = [found.closest, *memory.sizes]
    near = closest({size: off(memory.values(size), memory.targets) for size in sizes})
    shared = [seed for seed in memory.seeds(near[0]) if all(seed in memory.seeds(size) for size in near)]
    scores = {size: mean_score(memory.values(size, shared or None), aspects, weights) for size in near}
    good = max(scores.values()) + math.log1p(-MATERIAL)
    alike = [size for size in near if scores[size] >= good]
    brief = [
        size for size in alike if (memory.mean(size, "wait_mean_ms") or 0.0) < (long_wait_ms or math.inf)
    ]
    return max(brief) if brief else min(alike)


def case_of(entry: Entry) -> Case:
    """The queue and the setting of an entry."""
    return Case(entry.queue.name, entry.setting)


def _note(steps: Mapping[str, Step]) -> str:
    return ", ".join(f"{name} {step.note}" for name, step in steps.items())
