"""The way to an answer: each queue's setting is searched, queues are compared, and the answer is shaken."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from bufferlab.experiment.runner import Runner
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.advice import Advice, Stage
from bufferlab.studies.advise.around import Around, in_reach, look_around
from bufferlab.studies.advise.checked import MOST_ASSURING, Checked, checks_at, runs_to_assure
from bufferlab.studies.advise.choice import LOOKS, choose
from bufferlab.studies.advise.entry import Entry, warnings_about
from bufferlab.studies.advise.larger import Ladder, Larger
from bufferlab.studies.advise.lengths import long_enough
from bufferlab.studies.advise.needs import Needs
from bufferlab.studies.advise.objectives import Aspect, aspects_of
from bufferlab.studies.advise.paused import Paused
from bufferlab.studies.advise.prospects import could_be_felt
from bufferlab.studies.advise.question import Question
from bufferlab.studies.advise.queues import Queue, place
from bufferlab.studies.advise.sensitivity import Shaken
from bufferlab.studies.advise.shaking import Shaking, sturdy
from bufferlab.studies.least import Bench, Case, Least, Plan, Search, Step, least, together
from bufferlab.studies.least.candidates import CHECK_SEEDS
from bufferlab.studies.least.lacking import Lack, lack, total
from bufferlab.studies.settling import has_start_measured, short_runs
from bufferlab.studies.targets import Target, Values, want_largest
from bufferlab.studies.traffic import likely_packets

PILOTS: Final = 3
"""Seeds with which queues are compared at first."""

CONTEST: Final = LOOKS[0]
"""Seeds with which they are compared once each has its own setting."""

MOST_CHECKS: Final = 6
"""Checks of answers until it is left unconfirmed."""

QUICK_RUNS: Final = 60
"""About the most runs of a search if only the first answer is asked for: it may be larger, not less sure."""

SENSITIVITY_SEEDS: Final = 4
"""Seeds of what would change the answer."""

Watch = Callable[[Advice | None, str], None]
"""Called with the best answer so far, and what is done now."""


class Course:
    """The way to an answer."""

    def __init__(
        self,
        question: Question,
        field: Sequence[Queue],
        *,
        needs: Needs,
        confidence: float,
        resolution: float,
        assumed: Iterable[str],
        runner: Runner,
        watch: Watch,
        lengthen: bool = False,
        best: Advice | None = None,
    ) -> None:
        self.lengthen = lengthen
        self.question = question
        self.queues = {queue.name: queue for queue in field}
        self.needs = needs
        self.confidence = confidence
        self.resolution = resolution
        self.assumed = tuple(assumed)
        self.runner = runner
        self.watch = watch
        self.quick = False
        self.best = best
        self.searches: dict[str, Paused] = {}
        self.found: dict[str, Least] = {}
        self.larger: dict[str, Larger | None] = {}
        self.checked: dict[Case, Checked] = {}
        self.contested: dict[Case, int] = {}
        """How many seeds the entries have that are compared with more of them than the others."""
        self.around: dict[str, Around] = {}
        """Of queues whose delay is not searched, what a few delays came to."""
        self.sturdy: set[str] = set()
        """Entries that keep their targets in all changes of the traffic."""
        self.bench = Bench(question.site.link, self._scenario, runner, self._tell_round)
        self._doing = ""
        first = int(question.base.run["seed"]) + CHECK_SEEDS
        self.seeds = [first + index for index in range(LOOKS[-1])]
        changed = self.seeds[:SENSITIVITY_SEEDS]
        self.shaking = Shaking(question, runner, changed, self._plan, self._say, self._tell_round)

    def run(self, *, quick: bool, sensitivity: bool) -> Advice:
        """Answer, better and better.

        Args:
            quick: End with the first answer.
            sensitivity: Ask also what would change it.
        """
        self.quick = quick
        limits = [queue for queue in self.queues.values() if queue.knob == "limit"]
        targets = [queue for queue in self.queues.values() if queue.knob == "target"]
        pilots = self.seeds[:PILOTS]
        usual = {Case(queue.name, queue.usual): pilots for queue in targets}
        self._search(limits, "searching the buffers", also=usual)
        self._enlarge()
        advice = self._conclude("first")
        if self._is_short(advice):
            return advice
        if quick:
            advice = self._decided(advice, LOOKS[:1])
            return self._tell(dataclasses.replace(advice, finished=True))
        may_win = [queue for queue in targets if self._may_win(queue, advice)]
        self._tune([queue for queue in may_win if self._is_promising(queue, advice)])
        advice = self._conclude("tuned")
        if near := in_reach(advice):
            self._tune(near)
            advice = self._conclude("tuned")
        advice = self._assured(self._decided(advice, LOOKS[1:]))
        if sensitivity and not self._is_short(advice):
            advice = self._sturdier(self._shaken(advice))
        return self._tell(dataclasses.replace(advice, stage="final", finished=True))

    def _is_short(self, advice: Advice) -> bool:
        """Whether longer runs are to be made before anything else."""
        return self.lengthen and long_enough(self.question, advice) is not None

    def _tell(self, advice: Advice) -> Advice:
        self.best = advice
        self.watch(advice, "")
        return advice

    def _say(self, note: str) -> None:
        """Tell what is done now."""
        self._doing = note
        self.watch(self.best, note)

    def _tell_round(self, progress: str) -> None:
        self.watch(self.best, f"{self._doing}; {progress}")

    def _scenario(self, case: Case) -> Scenario:
        return self.queues[case.name].scenario(self.question.base, self.question.index, case.size)

    def _plan(self, queue: Queue) -> Plan:
        return Plan(
            targets=self.question.targets,
            lower=queue.lower,
            upper=queue.upper,
            first_seed=int(self.question.base.run["seed"]),
            confidence=self.confidence,
            resolution=self.resolution,
            guess=likely_packets(self.question.site.rules) if queue.knob == "limit" else None,
            runs=QUICK_RUNS if self.quick else Plan.runs,
            largest=want_largest(self.question.targets),
            most=self.question.most if queue.knob == "limit" else None,
            unit="packets" if queue.knob == "limit" else "us",
        )

    def _search(
        self, queues: Iterable[Queue], why: str, also: Mapping[Case, list[int]] | None = None
    ) -> None:
        """Search each queue's setting until one is confirmed."""
        searches = {queue.name: Paused(least(self._plan(queue))) for queue in queues}
        self.searches |= searches
        self._together({name: search.first() for name, search in searches.items()}, why, also)

    def _tune(self, queues: Iterable[Queue]) -> None:
        """Search queues' own delays, and take all searches to their ends."""
        for queue in (queues := list(queues)):
            self.around.pop(queue.name, None)
        self._search(queues, "searching whether another delay does better")
        # a search may go on from a confirmed setting to a better one
        rest = {name: each.rest() for name, each in self.searches.items() if not each.ended}
        self._together(rest, "searching whether less does")
        self._enlarge()

    def _is_promising(self, queue: Queue, advice: Advice) -> bool:
        """Whether some delay of a queue may do better than the answer; if not, it is kept why."""
        if not advice.met or place(queue.name) < place(advice.choice.name):
            return True
        self._say(f"looking whether another delay of {queue.title} does better")
        runs = Paused(least(self._plan(queue))).asks
        found = look_around(queue, advice, runs, self.bench, self.question)
        usual = next(each for each in advice.entries.values() if _case(each) == Case(queue.name, queue.usual))
        if found.is_promising(usual_meets=all(each.met for each in usual.checks)):
            return True
        is_answer = queue == advice.answer.queue  # which is at least as good already
        self.around[queue.name] = dataclasses.replace(found, best=None) if is_answer else found
        return False

    def _together(
        self, searches: Mapping[str, Search], why: str, also: Mapping[Case, list[int]] | None = None
    ) -> None:
        def watch(steps: Mapping[str, Step]) -> None:
            self._say(f"{why}: {_note(steps)}")

        self.found |= together(searches, self.bench, watch, also=also)

    def _enlarge(self) -> None:
        """Take a larger buffer than the least of each queue, where users fare better with it."""
        for name, found in self.found.items():
            known = self.larger.pop(name, None)
            is_same = known is not None and known.least == found.size
            self.larger[name] = known if is_same else self._larger(self.queues[name], found)

    def _larger(self, queue: Queue, found: Least) -> Larger | None:
        if queue.knob != "limit" or not found.confirmed or want_largest(self.question.targets):
            return None
        aspects = self._aspects(found.values.values())
        weights = self.needs.weights(aspects, self.question.base)
        entry = self._entry(queue, found.closest, found.values, found)
        if not could_be_felt(entry, aspects, weights, groups=len(self.question.site.users)):
            return None

        def measure(size: int, seeds: Sequence[int]) -> list[Values]:
            self._say(f"larger buffers of {queue.title}: {size} packets, as users may fare better")
            return list(self.bench.measure({Case(queue.name, size): [*seeds]}).values())

        return Ladder(
            aspects,
            weights,
            measure,
            self.seeds[:PILOTS],
            self.seeds[:CONTEST],
            self.confidence,
            self.question.most,
        ).climb(found)

    def _aspects(self, runs: Iterable[Values]) -> list[Aspect]:
        return aspects_of(self.question.base, [*runs], self.question.site.rtt_ms, self.needs.emphasis)

    def _may_win(self, queue: Queue, advice: Advice) -> bool:
        """Whether a setting of a queue that was not tried may be taken in place of the answer."""
        answer = advice.answer
        if not advice.met or answer.queue.knob != "limit" or place(queue.name) < place(answer.name):
            return True
        return could_be_felt(answer, advice.aspects, advice.weights, groups=len(self.question.site.users))

    def _conclude(self, stage: Stage) -> Advice:
        """Compare what is known, and tell who watches."""
        cases: dict[Case, Least | None] = {}
        for queue in self.queues.values():
            found = self.found.get(queue.name)
            if queue.knob == "target":
                cases[Case(queue.name, queue.usual)] = None
                around = self.around.get(queue.name)
                if around is not None and around.best is not None:
                    cases[Case(queue.name, around.best)] = None
            if found is not None:
                larger = self.larger.get(queue.name)
                cases[Case(queue.name, found.closest if larger is None else larger.size)] = found
        least = PILOTS if stage == "first" else CONTEST
        more = max(self.contested.values(), default=0)
        why = ", as fewer do not tell them apart" if more > least else ""
        self._say(f"comparing the queues with {max(least, more)} runs each{why}")
        seeds = {case: self.seeds[: max(least, self.contested.get(case, 0))] for case in cases}
        measured = self.bench.measure(seeds)
        entries = {}
        for case, found in cases.items():
            values = {seed: measured[case, seed] for seed in seeds[case]}
            entry = self._entry(self.queues[case.name], case.size, values, found)
            entries[entry.name] = entry
        contest = {name: entry.values for name, entry in entries.items()}
        runs = [values for each in contest.values() for values in each]
        aspects = self._aspects(runs)
        weights = self.needs.weights(aspects, self.question.base)
        choice = choose(
            contest,
            aspects,
            weights,
            missed=self._missed(entries),
            lacking={name: _lacking(entry) for name, entry in entries.items()},
            looks=len(LOOKS),
            sturdy=self.sturdy,
        )
        site = self.question.site
        filled = (self.question.base, self.question.index, entries[choice.name].waiting(site))
        advice = Advice(
            site=site,
            resolved=self.question.base.resolved,
            targets=self.question.targets,
            confidence=self.confidence,
            aspects=tuple(aspects),
            weights=weights,
            needs=self.needs,
            entries=entries,
            choice=choice,
            stage=stage,
            assumed=self.assumed,
            warnings=tuple(warnings_about(self.found, entries)),
            short_runs=tuple(short_runs(*filled)),
            start_measured=has_start_measured(*filled),
            runs=self.bench.runs,
            changes=len(self.shaking.changes),
            is_sturdy=bool(self.sturdy),
        )
        return self._tell(advice)

    def _decided(self, advice: Advice, looks: Sequence[int]) -> Advice:
        """Compare with more and more seeds what few of them do not tell apart."""
        for count in looks:
            if not advice.choice.open:
                break
            between = {advice.choice.name, advice.choice.best, *advice.choice.open}
            self.contested |= {_case(advice.entries[name]): count for name in between}
            advice = self._conclude(advice.stage)
        return advice

    def _assured(self, advice: Advice) -> Advice:
        """Run the answer's setting with more seeds until its targets are sure, or another one is chosen."""
        for attempt in range(MOST_CHECKS):
            entry = advice.answer
            if not advice.choice.meets or entry.confidence >= self.confidence:
                break
            self._say(f"checking {entry.title} with fresh runs, to be {self.confidence * 100:g} % sure")
            case = _case(entry)
            again = self.checked.get(case)
            first = self.seeds[0] + CHECK_SEEDS // 2 + (0 if again is None else MOST_ASSURING)
            seeds = [first + index for index in range(runs_to_assure(entry))]
            measured = self.bench.measure({case: seeds})
            values = {seed: measured[case, seed] for seed in seeds}
            # the first check may err with half of what is allowed, the next with half of that
            self.checked[case] = Checked(values, chances=2 ** (attempt + 1), is_last=again is not None)
            advice = self._decided(self._conclude("tuned"), LOOKS[1:])
        return advice

    def _missed(self, entries: Mapping[str, Entry]) -> dict[str, tuple[Target, ...]]:
        """The targets that each entry misses, or, once that was checked twice by more runs, may miss."""
        found = {}
        for name, entry in entries.items():
            missed = tuple(each.target for each in entry.checks if not each.met)
            checked = self.checked.get(_case(entry))
            if not missed and checked is not None and checked.is_last:
                missed = tuple(each.target for each in entry.checks if each.confidence < self.confidence)
            found[name] = missed
        return found

    def _entry(self, queue: Queue, setting: int, values: Mapping[int, Values], found: Least | None) -> Entry:
        runs, confidence, chances = values, None, 1
        checked, larger = self.checked.get(Case(queue.name, setting)), self.larger.get(queue.name)
        if larger is not None and larger.size != setting:
            larger = None
        if checked is not None:
            runs, chances = checked.values, checked.chances
        elif larger is not None:
            runs = larger.values
        elif found is not None and found.closest == setting:
            runs = found.values
            confidence = found.confidence if found.size == setting else None
        checks = checks_at(self.question.targets_at(queue, setting), setting, runs, chances)
        if confidence is None:
            confidence = min(each.confidence for each in checks)
        behind = None
        if found is not None and larger is not None:
            found, behind = dataclasses.replace(found, memory=larger.memory), larger.behind
        around = self.around.get(queue.name)
        return Entry(
            queue,
            setting,
            tuple(values.values()),
            tuple(runs.values()),
            checks,
            confidence,
            found,
            behind,
            0 if around is None else around.tried,
        )

    def _shaken(self, advice: Advice) -> Advice:
        """Ask what the answer comes to where something is other."""
        every = self.shaking.changes
        for number, change in enumerate(every, 1):
            self._say(f"trying {change.title} ({number} of {len(every)})")
            found = self.shaking.sensitivity(change, advice.answer)
            runs = self.bench.runs + self.shaking.runs
            self.best = advice = dataclasses.replace(
                advice, sensitivity=(*advice.sensitivity, found), runs=runs
            )
        return advice

    def _sturdier(self, advice: Advice) -> Advice:
        """Of equal queues take one that keeps the targets in all changes, if the answer does not."""
        if not advice.met or all(each.holds for each in advice.sensitivity):
            return advice
        others = self.shaking.others(advice)
        shaken = dataclasses.replace(advice, others=others, runs=self.bench.runs + self.shaking.runs)
        first = sturdy(others)
        if first is None:
            return shaken
        self.sturdy.add(first)
        other = self._assured(self._conclude("tuned"))
        if other.choice.name != first:
            self.sturdy.clear()
            return shaken
        lost = Shaken(advice.sensitivity, others.pop(first).lost)
        others = {advice.choice.name: lost, **others}
        runs = self.bench.runs + self.shaking.runs
        return self._shaken(dataclasses.replace(other, others=others, runs=runs))


def _case(entry: Entry) -> Case:
    return Case(entry.queue.name, entry.setting)


def _lacking(entry: Entry) -> Lack:
    """By how much an entry misses targets."""
    missed = [each.target for each in entry.checks if not each.met]
    return total(lack(target, entry.margins(target)) for target in missed)


def _note(steps: Mapping[str, Step]) -> str:
    return ", ".join(f"{name} {step.note}" for name, step in steps.items())
