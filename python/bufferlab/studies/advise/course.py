"""The way to an answer: each queue's setting is searched, queues are compared, and the answer is shaken."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from bufferlab.experiment.runner import Runner
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.advice import Advice, Stage
from bufferlab.studies.advise.around import in_reach
from bufferlab.studies.advise.beyond import beyond, edged
from bufferlab.studies.advise.budget import Budget
from bufferlab.studies.advise.entry import Entry, superseded, warnings_about
from bufferlab.studies.advise.halved import compared, half_of, plain_of
from bufferlab.studies.advise.larger import NEAR
from bufferlab.studies.advise.lengths import long_enough
from bufferlab.studies.advise.needs import Needs
from bufferlab.studies.advise.prospects import could_be_felt
from bufferlab.studies.advise.question import Question
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.advise.roomier import broken, roomier_size
from bufferlab.studies.advise.sensitivity import Shaken
from bufferlab.studies.advise.settings import CONTEST, PILOTS, Settings, case_of
from bufferlab.studies.advise.shaking import LOOKS as SHAKEN
from bufferlab.studies.advise.shaking import Shaking, sturdy
from bufferlab.studies.choosing.choice import LOOKS, Rival, apart, choose, loses_too_much, losses_of, standing
from bufferlab.studies.choosing.closest import off
from bufferlab.studies.choosing.objectives import judged_by_buffers
from bufferlab.studies.choosing.order import place
from bufferlab.studies.choosing.thresholds import MATERIAL
from bufferlab.studies.least import Case, Run
from bufferlab.studies.settling import ShortRuns, Waiting, has_start_measured, short_for_any, short_runs
from bufferlab.studies.targets import Values
from bufferlab.studies.words import FIFO, is_llq

MOST_CHECKS: Final = 6
"""Checks of answers until it is left unconfirmed."""

ALONE_SEEDS: Final = 4
"""Seeds with which larger buffers are tried for one of several targets: enough for about where."""

BDPS: Final = (0.5, 1.0, 2.0)
"""Buffers that are measured whatever the search has tried, bandwidth-delay products."""

DEEP: Final = (4.0, 8.0)
"""Those that are, besides, where the answer loses what hardly anybody would accept: what would not?"""

RULES: Final = ("stanford",)
"""Published rules whose buffers are, besides."""

BESIDE_SEEDS: Final = 4
"""Seeds with which they are."""

BRIEF_SEEDS: Final = 2
"""Seeds with which `--quick` measures one bandwidth-delay product alone."""

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
        today: int | None = None,
        beside: Callable[[Advice], Advice] = lambda advice: advice,
        unmixed: Callable[[Advice], Advice] = lambda advice: advice,
        supposed: Mapping[str, Scenario] | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.lengthen = lengthen
        self.today = today
        """The buffer of the FIFO that the link runs now, packets; `None` if it runs none, or unknown."""
        self.beside = beside
        """Gives an answer with what the link runs today beside it."""
        self.unmixed = unmixed
        """Gives an answer with what is beside it where one control of a mix is alone."""
        self.question = question
        self.needs = needs
        self.confidence = confidence
        self.assumed = tuple(assumed)
        self.watch = watch
        self.best = best
        self.budget = budget or Budget(None)
        """How long it may take until what only refines the answer is left out."""
        self.settings = Settings(
            question,
            field,
            needs=needs,
            confidence=confidence,
            resolution=resolution,
            runner=runner,
            say=self.say,
            tell_round=self._tell_round,
            today=today,
        )
        self.contested: dict[Case, int] = {}
        """How many seeds the entries have that are compared with more of them than the others."""
        self.sturdy: set[str] = set()
        """Entries that miss their targets in fewest changes of the traffic."""
        self._doing = ""
        seeds = self.settings.seeds
        self.shaking = Shaking(
            question, runner, seeds, self.settings.goal, self.say, self._tell_round, dict(supposed or {})
        )

    def run(self, *, quick: bool, sensitivity: bool) -> Advice:
        """Answer, better and better.

        Args:
            quick: End with the first answer.
            sensitivity: Ask also what would change it.
        """
        settings = self.settings
        settings.quick = quick
        limits = [queue for queue in settings.queues.values() if queue.knob == "limit"]
        targets = [queue for queue in settings.queues.values() if queue.knob == "target"]
        self._begin(limits)
        settings.enlarge()
        advice = self._conclude("first")
        if self._is_short(advice):
            return advice
        if quick:
            advice = self._quick(advice, targets)
            advice = self._supposed(advice) if sensitivity else advice
            if self.budget.allows("half of the buffer"):
                advice = self._besides(advice)
            return self._tell(dataclasses.replace(advice, finished=True))
        advice = self._spared(advice, most=0)  # who ends here has no standing queue for nothing
        settings.tune(self._promising(targets, advice))
        advice = self._conclude("tuned")
        if near := in_reach(advice):
            settings.tune(near)
            advice = self._conclude("tuned")
        advice = self._edged(
            self._spared(self._assured(self._reconsidered(self._decided(advice, LOOKS[1:]))))
        )
        if sensitivity and not self._is_short(advice):
            advice = self._sturdier(self._roomier(self._shaken(advice)))
        return self._tell(dataclasses.replace(self._besides(advice), stage="final", finished=True))

    def _quick(self, advice: Advice, targets: Iterable[Queue]) -> Advice:
        """The answer of `--quick`: delays are searched where packets would wait long else."""
        allows = self.budget.allows
        if allows("buffers below the first that does") and self.settings.narrow():
            self.settings.enlarge()
            advice = self._conclude("first")
        advice = self._quickly_sure(advice)
        if self._is_standing(advice) and allows("other delays"):
            near = self._promising(targets, advice)
            if near:
                self.settings.tune(near)
                advice = self._quickly_sure(self._conclude("first"))
        is_open = not advice.choice.meets and len(advice.targets) > 1
        return self._edged(advice) if is_open and allows("buffers for each target alone") else advice

    def _quickly_sure(self, advice: Advice) -> Advice:
        """The answer compared with few more seeds, and checked once."""
        if advice.choice.open and self.budget.allows("more runs of queues that few do not tell apart"):
            advice = self._decided(advice, LOOKS[:1])
        return self._spared(self._assured(self._reconsidered(advice), most=1), most=1)

    def _reconsidered(self, advice: Advice) -> Advice:
        """Run with fresh seeds what users fare better with, if it misses its targets maybe by chance.

        The means of the few common runs scatter: 6.08 ms are no proof that 6 ms are missed.
        """
        better = [
            advice.entries[each.name]
            for each in advice.choice.rivals
            if each.missed and each.most_behind < -MATERIAL and not self._surely_misses(advice, each)
        ]
        if not better:
            return advice
        self.say(f"checking {better[0].title} with fresh runs, as it may meet the targets")
        self.settings.check(better[0], 0)
        return self._conclude(advice.stage)

    @staticmethod
    def _surely_misses(advice: Advice, rival: Rival) -> bool:
        """Whether runs show that a queue misses a target."""
        known = advice.verdicts(advice.entries[rival.name])
        return any(known[target] == "missed" for target in rival.missed)

    def _is_standing(self, advice: Advice) -> bool:
        """Whether packets wait longer with the answer than their path takes: some delay may do better."""
        answer, site = advice.answer, self.question.site
        return bool(standing({answer.name: answer.values}, site.rtt_ms, self.question.targets, site.users))

    def _promising(self, targets: Iterable[Queue], advice: Advice) -> list[Queue]:
        """The queues with a target of delay of which another delay than the usual one may be taken."""
        may_win = [queue for queue in targets if self._may_win(queue, advice)]
        return [queue for queue in may_win if self.settings.is_promising(queue, advice)]

    def _begin(self, limits: Sequence[Queue]) -> None:
        """Search the buffers, and say what the first came to before anything else takes its time.

        That is FIFO; where calls are marked for LLQ, and the platform has it, what is likely to be taken.
        """
        is_alone = len(self.settings.queues) == 1
        first = [queue for queue in limits if is_llq(queue.name)]
        first = first or [queue for queue in limits if queue.kind == FIFO]
        for those in (first, [queue for queue in limits if queue not in first]):
            if those:
                self.settings.search(those, "searching the buffers")
                self._conclude("first" if is_alone else "begun")

    def _besides(self, advice: Advice) -> Advice:
        """What else is asked of every answer: half of the buffer; where nothing meets, each target alone."""
        advice = self._beside(advice)
        if not advice.choice.meets:
            return advice
        self.say("measuring half of the buffer")
        answer, bench = advice.answer, self.settings.bench
        targets = [each.target for each in answer.checks]  # less than asked, where less is asked of it
        seeds = self.settings.seeds[: len(answer.values)]

        def measure(case: Case) -> tuple[Values, ...]:
            measured = bench.measure({case: list(seeds)})
            return tuple(measured[case, seed] for seed in seeds)

        by_buffers = judged_by_buffers(advice.aspects, advice.weights, self.needs.emphasis)
        found = compared(answer, half_of(answer), targets, by_buffers, measure)
        large = plain_of(answer) if FIFO in self.settings.queues else None
        level = compared(answer, large, targets, (advice.aspects, advice.weights), measure)
        runs = bench.runs + self.shaking.runs
        return dataclasses.replace(advice, half=found, plain=level, runs=runs)

    def _beside(self, advice: Advice) -> Advice:
        """With runs of FIFO with half, one and two bandwidth-delay products and by rule, as all ask."""
        entry, site, answer = advice.searched_buffer(), self.question.site, advice.answer
        lost = loses_too_much(answer.values, self.question.targets, site.users)
        if entry is None or entry.buffers is None:
            return advice
        is_brief = self.settings.quick and not lost
        name, memory = entry.queue.name, entry.buffers
        most = (self.question.most if lost else None) or self.question.upper
        wanted = {max(round(site.bdp_packets * part), 1) for part in (*BDPS, *(DEEP if lost else ()))}
        wanted |= {site.rules[name] for name in RULES if name in site.rules}
        wanted = {max(round(site.bdp_packets), 1)} if is_brief else wanted
        sizes = [
            size
            for size in sorted(wanted)
            if size <= most and all(max(size, known) / min(size, known) > NEAR for known in memory.sizes)
        ]
        sizes += [size for size in self._may_stay(answer) if size not in {*sizes, *memory.sizes}]
        if not sizes:
            return advice
        self.say(f"measuring usual buffers of {name}")
        seeds = self.settings.seeds[: BRIEF_SEEDS if is_brief else BESIDE_SEEDS]
        measured = self.settings.bench.measure({Case(name, size): list(seeds) for size in sizes})
        memory.add({Run(case.size, seed): values for (case, seed), values in measured.items()})
        return dataclasses.replace(advice, runs=self.settings.bench.runs + self.shaking.runs)

    def _may_stay(self, answer: Entry) -> Iterator[int]:
        """The size of the FIFO that runs today, where a smaller buffer of another queue is the answer."""
        is_other = answer.queue.knob == "limit" and answer.queue.kind != FIFO
        if is_other and self.today is not None and self.today > answer.setting:
            yield self.today

    def _edged(self, advice: Advice) -> Advice:
        """Where several targets are not met together: which buffers meet each, and what is nearest."""
        if advice.choice.meets or len(advice.targets) < 2:
            return advice
        settings, found = self.settings, {}
        most, seeds = self.question.most or self.question.upper, settings.seeds[:ALONE_SEEDS]
        for name, least in list(settings.found.items()):
            if settings.queues[name].knob == "limit" and least.size is None:
                self.say(f"trying other buffers of {name} for each target")
                settings.found[name] = known = edged(name, least, settings.bench, seeds=seeds)
                found[name] = beyond(name, known, settings.bench, seeds=seeds, most=most)
        return dataclasses.replace(self._conclude(advice.stage), beyond=found) if found else advice

    def _is_short(self, advice: Advice) -> bool:
        """Whether longer runs are to be made before anything else."""
        return self.lengthen and long_enough(self.question, advice) is not None

    def _tell(self, advice: Advice) -> Advice:
        """Tell who watches, and keep the answer, unless it is of few queues and one of all is known."""
        if advice.stage != "begun" or self.best is None or self.best.stage == "begun":
            self.best = advice
        self.watch(self.best, "")
        return advice

    def say(self, note: str) -> None:
        """Tell what is done now."""
        self._doing = note
        self.watch(self.best, note)

    def _tell_round(self, progress: str) -> None:
        self.watch(self.best, f"{self._doing}; {progress}")

    def _may_win(self, queue: Queue, advice: Advice) -> bool:
        """Whether a setting of a queue that was not tried may be taken in place of the answer."""
        answer = advice.answer
        if not advice.met or answer.queue.knob != "limit" or place(queue.name) < place(answer.name):
            return True
        return could_be_felt(answer, advice.aspects, advice.weights, groups=len(self.question.site.users))

    def _conclude(self, stage: Stage) -> Advice:
        """Compare what is known, and tell who watches."""
        cases = self.settings.cases(searched=stage == "begun")
        least = PILOTS if stage in {"begun", "first"} else CONTEST
        more = max(self.contested.values(), default=0)
        why = ", as fewer do not tell them apart" if more > least else ""
        self.say(f"comparing the queues with {max(least, more)} runs each{why}")
        seeds = {case: self.settings.seeds[: max(least, self.contested.get(case, 0))] for case in cases}
        measured = self.settings.bench.measure(seeds)
        entries = {}
        for case, found in cases.items():
            values = {seed: measured[case, seed] for seed in seeds[case]}
            entry = self.settings.entry(self.settings.queues[case.name], case.size, values, found)
            entries[entry.name] = entry
        self.question = self.settings.question  # less may be asked of some entries
        self.shaking = dataclasses.replace(self.shaking, question=self.question)
        site = self.question.site
        contest = {name: entry.values for name, entry in entries.items()}
        runs = [values for each in contest.values() for values in each]
        aspects = self.settings.aspects(runs)
        weights = self.needs.weights(aspects, self.question.base)
        kinds = {name: entry.queue.kind for name, entry in entries.items()}
        separate = apart(kinds, aspects, is_filled=self.question.is_filled)
        choice = choose(
            contest,
            aspects,
            weights,
            missed=self.settings.missed(entries),
            lacking={
                name: off(entry.runs, [each.target for each in entry.checks], site.users)
                for name, entry in entries.items()
            },
            looks=len(LOOKS),
            sturdy=self.sturdy,
            standing=standing(contest, site.rtt_ms, self.question.targets, site.users),
            losses=losses_of(contest, self.question.targets, site.users),
            apart=separate,
            superseded=superseded(entries.values()),
        )
        filled = (self.question.base, self.question.index, self._filled(entries[choice.name]))
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
            warnings=tuple(warnings_about(self.settings.found, entries)),
            short_runs=short_runs(*filled) or self._short_for_others(entries),
            start_measured=has_start_measured(*filled),
            runs=self.settings.bench.runs,
            changes=len(self.shaking.changes),
            apart=frozenset(separate),
            is_sturdy=bool(self.sturdy),
        )
        self._tell(advice)
        whole = advice if stage == "begun" else self.beside(advice)
        return advice if whole is advice else self._tell(whole)

    def _short_for_others(self, entries: Mapping[str, Entry]) -> ShortRuns | None:
        """Why runs may be too short for what the answer was compared with."""
        site = self.question.site
        waits = {}
        for each in entries.values():
            late = round(site.packets_of_ms(each.mean("wait_p99_ms").mean or 0.0))
            waits[f"{each.title}, {each.queue.show(each.setting)}"] = Waiting(
                late, site.packet_bytes, each.queue.knob == "target"
            )
        return short_for_any(self.question.base, self.question.index, waits)

    def _filled(self, entry: Entry) -> Waiting:
        """What waits at most in the runs that decide: where the answer loses much, also in larger buffers."""
        site = self.question.site
        if entry.buffers is None or not loses_too_much(entry.values, self.question.targets, site.users):
            return entry.waiting(site)
        return Waiting(max(entry.packets, *entry.buffers.sizes), site.packet_bytes)

    def _decided(self, advice: Advice, looks: Sequence[int]) -> Advice:
        """Compare with more and more seeds what few of them do not tell apart."""
        for count in looks:
            if not advice.choice.open:
                break
            between = {advice.choice.name, advice.choice.best, *advice.choice.open}
            self.contested |= {case_of(advice.entries[name]): count for name in between}
            advice = self._conclude(advice.stage)
        return advice

    def _assured(self, advice: Advice, most: int = MOST_CHECKS) -> Advice:
        """Run the answer's setting with more seeds until its targets are sure, or another one is chosen."""
        for attempt in range(most):
            entry = advice.answer
            if not advice.choice.meets or entry.confidence >= self.confidence:
                break
            self.say(f"checking {entry.title} with fresh runs, to be {self.confidence * 100:g} % sure")
            self.settings.check(entry, attempt)
            looks = LOOKS[:1] if advice.stage == "first" else LOOKS[1:]
            advice = self._decided(self._conclude(advice.stage), looks)
        return advice

    def _spared(self, advice: Advice, most: int = MOST_CHECKS) -> Advice:
        """Take a smaller buffer that is as good for users, where nobody asked for what more brings."""
        if not self.settings.step_down(advice):
            return advice
        other = self._assured(self._conclude(advice.stage), most)
        if other.choice.meets and other.answer.smaller is not None:
            return other
        self.settings.step_up_again(advice)
        return self._tell(advice)

    def _shaken(self, advice: Advice) -> Advice:
        """Ask what the answer comes to where something is other."""
        every = self.shaking.changes
        for number, change in enumerate(every, 1):
            self.say(f"trying {change.title} ({number} of {len(every)})")
            found = self.shaking.sensitivity(change, advice.answer)
            runs = self.settings.bench.runs + self.shaking.runs
            advice = dataclasses.replace(advice, sensitivity=(*advice.sensitivity, found), runs=runs)
            self.best = advice = self.unmixed(advice) if change.is_alone else advice
        return advice

    def _supposed(self, advice: Advice) -> Advice:
        """Ask what the answer comes to in scenarios that may be as true, without a search."""
        for change in self.shaking.as_true:
            self.say(f"trying {change.title}, which may be as true")
            found = self.shaking.as_it_is(change, advice.answer, SHAKEN[:1])
            advice = dataclasses.replace(advice, sensitivity=(*advice.sensitivity, found))
        return dataclasses.replace(advice, runs=self.settings.bench.runs + self.shaking.runs)

    def _roomier(self, advice: Advice) -> Advice:
        """Take a larger buffer that holds in more changes, where there is one that suggests itself."""
        size, before = roomier_size(advice, self.today), broken(advice)
        if size is None or not self.settings.step_up(advice, size, before):
            return advice
        other = self._assured(self._conclude("tuned"))
        if other.met and other.answer.broken is not None:
            other = self._shaken(other)
            if broken(other) < before:
                return other
        self.settings.step_back(advice)
        return self._tell(advice)

    def _sturdier(self, advice: Advice) -> Advice:
        """Of equal queues take one that misses a target in fewer changes, if there is one."""
        if not advice.met or all(each.holds for each in advice.sensitivity):
            return advice
        others = self.shaking.others(advice)
        shaken = dataclasses.replace(advice, others=others, runs=self.settings.bench.runs + self.shaking.runs)
        first = sturdy(others)
        if first is None:
            return shaken
        self.sturdy.add(first)
        other = self._assured(self._conclude("tuned"))
        if other.choice.name != first:
            self.sturdy.clear()
            return shaken
        taken = others.pop(first)
        others = {advice.choice.name: Shaken(advice.sensitivity, taken.lost), **others}
        runs = self.settings.bench.runs + self.shaking.runs
        return self._shaken(dataclasses.replace(other, others=others, breaks=len(taken.broken), runs=runs))
