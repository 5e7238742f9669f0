"""The answer for one link of a scenario, once it is clear what is asked of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bufferlab.configure import find_platform
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.absent import ASKED, Absent
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.beside import Judged, rival_of
from bufferlab.studies.advise.budget import QUICK_S, Budget
from bufferlab.studies.advise.course import Course, Watch
from bufferlab.studies.advise.elsewhere import spoiled
from bufferlab.studies.advise.entry import Entry, Site, warns_of_bytes
from bufferlab.studies.advise.floor import is_home
from bufferlab.studies.advise.lengths import long_enough
from bufferlab.studies.advise.llq import about_llq
from bufferlab.studies.advise.nearest_alone import SEEDS as NEAREST_SEEDS
from bufferlab.studies.advise.nearest_alone import nearest_alone
from bufferlab.studies.advise.needs import Needs
from bufferlab.studies.advise.question import Question
from bufferlab.studies.advise.queues import Queue, queues_for
from bufferlab.studies.advise.runnable import about_kind, about_queues
from bufferlab.studies.advise.shaking import found_in
from bufferlab.studies.advise.staying import keeps, runs_today
from bufferlab.studies.advise.today import (
    OTHER_TRAFFIC,
    TODAY,
    Today,
    default_of,
    label_of,
    todays,
    with_default,
)
from bufferlab.studies.advise.tried import Tried, tried_queues
from bufferlab.studies.advise.unmixed import SEEDS, change_of, newer_of, unmixed
from bufferlab.studies.alone import refuse_impossible
from bufferlab.studies.choosing.closest import off
from bufferlab.studies.choosing.objectives import judged_by_buffers, possible_aspects
from bufferlab.studies.contenders import LLQ_CLASSES
from bufferlab.studies.least import Bench, Case, Goal
from bufferlab.studies.settling import MOST_LENGTHENED, about_longer
from bufferlab.studies.targets import Values
from bufferlab.studies.words import LLQ, about_changes, about_rate, is_llq
from bufferlab.units import PS_PER_MS

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedBuffer


@dataclass(frozen=True)
class Manner:
    """How an answer is sought.

    Attributes:
        queues: Words of `queue` to choose from; `None` for those that routers have.
        platform: On what it shall run; `None` takes all queues.
        bounds: Where buffers are searched; `None` for the default.
        confidence: With which all targets shall be met at the answer.
        resolution: The buffer may be larger than the least by this share.
        quick: End with the first answer.
        sensitivity: Ask also what would change the answer.
        today: What the link runs now, which is run beside the answer: "fifo:64 packets"; "default", or
            `None`, for what the platform runs by default.
        default: Run what the platform runs by default beside the answer, if nobody says what runs today.
        usual: Try only queues with a target of delay, at the usual one, if there are any: no search.
        lengthen: Begin again with longer runs where those of the scenario are too short to judge the answer.
        supposed: Scenarios with other controls that may be as true, by what is other in them: the answer is
            tried in each.
        kind: The discipline of both directions of a line, where the platform has one for both: no other is
            tried, if there is one of it.
    """

    queues: str | Sequence[str] | None = None
    platform: str | None = None
    bounds: str | None = None
    confidence: float = 0.95
    resolution: float = 0.1
    quick: bool = False
    sensitivity: bool = True
    today: str | None = None
    default: bool = True
    usual: bool = False
    lengthen: bool = False
    supposed: Mapping[str, Scenario] = field(default_factory=dict)
    kind: str | None = None


def answer_link(
    base: Scenario,
    index: int,
    needs: Needs,
    manner: Manner,
    *,
    runner: Runner,
    assumed: Iterable[str] = (),
    settled: Collection[str] = (),
    known: Advice | None = None,
    watch: Watch | None = None,
) -> Advice:
    """Say which queue a link should run and how large its buffer should be.

    Args:
        base: The scenario, prepared.
        index: Index of the link.
        needs: What shall be met, and what matters.
        manner: How the answer is sought.
        runner: Runs the simulations.
        assumed: What the scenario takes for granted.
        settled: Links that have answers of their own in place.
        known: An earlier answer, which is the best so far until another one is of all queues.
        watch: Called with the best answer so far.

    Raises:
        InputError: An argument cannot be used.
        RunInterrupted: At Ctrl-C, with the best answer so far, or a `Tried` without one.
    """
    check(base, index, needs, manner)
    with runner as keeping:
        answering = _Answering(
            base, index, needs, manner, assumed=assumed, runner=keeping, known=known, watch=watch
        )
        try:
            advice = answering.run()
            if manner.usual:
                return advice
            found = spoiled(answering.base, index, advice.answer, settled, runner=keeping)
            return dataclasses.replace(advice, elsewhere=found)
        except RunInterrupted as interrupted:
            made, left = answering.runs, answering.so_far()
            raise RunInterrupted(
                left, made + interrupted.done, made + interrupted.asked, store=interrupted.store
            ) from interrupted
        except KeyboardInterrupt as interrupt:  # it came between simulations
            raise RunInterrupted(answering.so_far(), answering.runs, answering.runs) from interrupt


class _Answering:
    """The course to an answer, and again with longer runs if they were too short to judge it."""

    def __init__(
        self,
        base: Scenario,
        index: int,
        needs: Needs,
        manner: Manner,
        *,
        assumed: Iterable[str],
        runner: Runner,
        known: Advice | None,
        watch: Watch | None,
    ) -> None:
        self.base = base
        self.index = index
        self.needs = needs
        self.manner = manner
        self.assumed = tuple(assumed)
        self.runner = runner
        self.watch = watch or (lambda _advice, _note: None)
        self.made = 0
        self.budget = Budget(QUICK_S if manner.quick else None)
        self.besides: dict[str, Bench] = {}
        """What measures what is beside the answer, by its name."""
        self.course = self._course(known, lengthen=manner.lengthen)

    @property
    def runs(self) -> int:
        """How many runs were made."""
        return self.made + self.course.settings.bench.runs

    def run(self) -> Advice:
        """Go the course, again with longer runs where it takes them."""
        first, assumed, manner = self.base, self.assumed, self.manner
        question = self.course.question
        self.made += refuse_impossible(first, question.site.link, question.targets, self.runner)
        for left in range(MOST_LENGTHENED if manner.lengthen else 0, -1, -1):
            advice = self.course.run(quick=manner.quick, sensitivity=manner.sensitivity)
            longer = long_enough(self.course.question, advice) if left else None
            if longer is None:
                break
            self.watch(advice, f"beginning again with {about_longer(first, longer).partition(',')[0]}")
            self.assumed = (*assumed, about_longer(first, longer))
            self.made, self.base = self.runs, longer
            self.besides.clear()
            self.course = self._course(dataclasses.replace(advice, finished=False), lengthen=left > 1)
        now = 0 if advice.today is None else len(advice.today.values)
        advice = dataclasses.replace(advice, runs=advice.runs + self.made + now)
        if change_of(self.course.shaking.changes) is None or self.budget.allows(
            "one control of the mix alone"
        ):
            advice = self._nearest_alone(self._without_mix(advice))
        advice = dataclasses.replace(self._today_shaken(advice), left_out=self.budget.left_out)
        return advice if manner.quick else self._beside_absent(self._with_newer_least(advice))

    def _beside_today(self, advice: Advice) -> Advice:
        """With what the link runs today, or what the platform runs by default."""
        found = self._today(self.base, advice.answer, advice)
        if found is not None and found.default_of is None:
            found = dataclasses.replace(found, alone=self._today_alone())
        if found is None:
            return advice
        is_other = self._kind_today() in {"bytes", "time"} and not advice.site.counts_bytes
        if is_other and not found.missed and warns_of_bytes(advice.entries.values(), found.queue):
            advice = dataclasses.replace(advice, warnings=(*advice.warnings, _counts_no_packets(found)))
        return self._with_its_limit(dataclasses.replace(advice, today=found))

    def _with_its_limit(self, advice: Advice) -> Advice:
        """Where what runs today is the answer, with the limit that it has: runs with it were the same.

        The limit of a queue that aims at a delay is not searched, and no reason to change what runs.
        """
        now = now_at(self.base, self.index, self.needs, self.manner)
        if now is None or not runs_today(advice) or advice.answer.queue.knob != "target":
            return advice
        limit = now[0].seeded().resolved["links"][self.index]["buffer"]["limit"]
        if not isinstance(limit, dict) or "packets" not in limit:
            return advice
        queue = dataclasses.replace(advice.answer.queue, ample=limit["packets"] // advice.answer.queue.parts)
        entries = {**advice.entries, advice.choice.name: dataclasses.replace(advice.answer, queue=queue)}
        return dataclasses.replace(advice, entries=entries)

    def _kind_today(self) -> str | None:
        """What the buffer of what runs today counts; `None` if nobody said what runs."""
        now = now_at(self.base, self.index, self.needs, self.manner)
        return None if now is None else now[0].links[self.index]["buffer"]["kind"]

    def _today_alone(self) -> tuple[Values, ...]:
        """What is measured of what runs today with a mix's most frequent control alone, if it is known.

        Its loss tells which of the two a link has, before any other traffic is tried with the answer.
        """
        change = change_of(self.course.shaking.changes)
        now = None if change is None else now_at(change.scenario, self.index, self.needs, self.manner)
        return () if now is None else self._measured(now[0], OTHER_TRAFFIC, count=SEEDS)

    def _today(self, base: Scenario, entry: Entry, advice: Advice) -> Today | None:
        """What the link runs today beside an entry, with as many seeds; `None` if nobody said it.

        Args:
            base: The scenario, or a changed one.
            entry: The answer, with what it measures there.
            advice: By what users are judged.
        """
        now = now_at(base, self.index, self.needs, self.manner)
        if now is None:
            return None
        scenario, of = now
        self.course.say("running what runs today" if of is None else f"running the default of {of}")
        name = TODAY if base is self.base else OTHER_TRAFFIC
        values = self._measured(scenario, name, count=len(entry.values))
        link = scenario.links[self.course.question.index]
        judged: Judged = advice.aspects, advice.weights
        if entry.queue.knob == "limit" and link["queue"]["discipline"] in _alike(entry.queue):
            judged = judged_by_buffers(*judged, self.needs.emphasis)
        # what nobody asked for is no reason to change what runs: how its users fare is judged in any case
        targets = self.course.question.usual_targets
        rival, missed = rival_of(entry, f"{TODAY}, as it is", values, targets, judged)
        buffer = link["buffer"]
        packets, called = _in_packets(buffer), label_of(self.manner.today)
        if called and packets is not None:
            packets //= LLQ_CLASSES  # as it was said
        kind, shaped = str(link["queue"]["discipline"]), is_home(self.base)
        named, presumed = (of, None) if self.manner.today is None else (None, of)
        return Today(rival, missed, values, kind, buffer["text"], packets, named, shaped, presumed, called)

    def _today_shaken(self, advice: Advice) -> Advice:
        """With what becomes of today's queue in the changes in which the answer was tried, if it is kept."""
        now, tried = advice.today, {each.title for each in advice.sensitivity}
        if now is None or not keeps(advice):
            return advice
        found, held_to = [], self.course.question.usual_targets
        for change in (each for each in self.course.shaking.changes if each.title in tried):
            there = now_at(change.scenario, self.index, self.needs, self.manner)
            if there is None:
                continue
            self.course.say(f"running what runs today with {change.title}")
            values = self._measured(there[0], f"{TODAY}, {change.title}", count=SEEDS)
            found.append(found_in(change, values, held_to, len(values)))
        runs = advice.runs + sum(each.runs for each in found)
        return dataclasses.replace(
            advice, today=dataclasses.replace(now, sensitivity=tuple(found)), runs=runs
        )

    def _measured(self, scenario: Scenario, name: str, *, count: int) -> tuple[Values, ...]:
        """What a scenario measures with the first seeds of the comparison, as many as are asked for.

        A name stands for one scenario: its runs are made once.
        """
        course, case = self.course, Case(name, 0)
        seeds = course.settings.seeds[:count]
        if name not in self.besides:
            self.besides[name] = Bench(course.question.site.link, lambda _: scenario, self.runner)
        measured = self.besides[name].measure({case: list(seeds)})
        return tuple(measured[case, seed] for seed in seeds)

    def _without_mix(self, advice: Advice) -> Advice:
        """With the answer, and what runs today, where the most frequent control of a mix is alone."""
        course, answer = self.course, advice.answer
        shaking, question = course.shaking, course.question
        change = change_of(shaking.changes)
        if change is None or not advice.choice.meets or advice.unmixed is not None:  # what-ifs begin with it
            return advice
        self.course.say(f"running what is beside the answer with {change.title}")

        def measure(case: Case) -> tuple[Values, ...]:
            return shaking.of_setting(change, answer.queue, case.size, SEEDS)

        there = dataclasses.replace(answer, values=measure(Case(answer.queue.name, answer.setting)))
        today = self._today(change.scenario, there, advice)
        found = unmixed(
            self.base,
            change,
            there,
            next((each for each in advice.sensitivity if each.is_alone), None),
            targets=question.targets_at(answer.queue, answer.setting),
            judged=judged_by_buffers(advice.aspects, advice.weights, self.needs.emphasis),
            measure=measure,
            today=today,
            newer=self._today_newer(),
            rule=question.site.rules.get("stanford"),
        )
        return dataclasses.replace(advice, unmixed=found)

    def _nearest_alone(self, advice: Advice) -> Advice:
        """With what is nearest to targets that nothing meets, where one control of the mix is alone."""
        shaking, question, answer = self.course.shaking, self.course.question, advice.answer
        change = change_of(shaking.changes)
        is_known = any(
            each.is_alone and each.least is not None and each.least.size for each in advice.sensitivity
        )
        if change is None or advice.choice.meets or answer.queue.knob != "limit" or is_known:
            return advice
        self.course.say(f"looking for what is closest with {change.title}")
        targets, users = question.targets_at(answer.queue, answer.setting), question.site.users
        found = nearest_alone(
            change.title,
            answer.setting,
            (answer.queue.lower, max(question.upper, answer.setting)),
            targets,
            measure=lambda size: shaking.of_setting(change, answer.queue, size, NEAREST_SEEDS),
            off=lambda runs: off(runs, targets, users),
        )
        runs = self.course.settings.bench.runs + shaking.runs
        return dataclasses.replace(advice, nearest_alone=found, runs=max(advice.runs, runs))

    def _today_newer(self) -> tuple[Values, ...]:
        """What is measured of what runs today with the newer version of a control of the mix, if it is known.

        Its loss tells which version a link has. `--quick` leaves it out, as it asks for no buffer there.
        """
        change, manner = newer_of(self.course.shaking.changes), self.manner
        if change is None or manner.quick or manner.today is None:
            return ()
        now = now_at(change.scenario, self.index, self.needs, manner)
        return () if now is None else self._measured(now[0], f"{TODAY}, {change.title}", count=SEEDS)

    def _with_newer_least(self, advice: Advice) -> Advice:
        """With what about the least buffer does where a control of a mix has its newer version."""
        change = newer_of(self.course.shaking.changes)
        found = next((each for each in advice.sensitivity if each.is_newer), None)
        size = None if found is None or found.least is None else found.least.size
        if change is None or size is None or advice.unmixed is None:
            return advice
        self.course.say(f"running about the least buffer with {change.title}")
        values = self.course.shaking.of_setting(change, advice.answer.queue, size, SEEDS)
        return dataclasses.replace(
            advice, unmixed=dataclasses.replace(advice.unmixed, newer_least=tuple(values))
        )

    def _beside_absent(self, advice: Advice) -> Advice:
        """With what a queue would do that the platform lacks, or that the queues to choose from leave out."""
        platform, course = self.manner.platform, self.course
        there = {queue.kind for queue in course.settings.queues.values()}
        if ASKED in there or self.manner.kind is not None:
            return advice
        if platform is not None and ASKED in find_platform(platform).disciplines:
            platform = None  # it was left out
        _, (queue,) = asked(
            self.base, self.index, self.needs, dataclasses.replace(self.manner, queues=ASKED, platform=None)
        )
        question = course.question
        scenario = queue.scenario(question.base, question.index, queue.usual)
        values = self._measured(scenario, queue.name, count=len(advice.answer.values))
        name, judged = f"{queue.name}, {queue.show(queue.usual)}", (advice.aspects, advice.weights)
        rival, missed = rival_of(advice.answer, name, values, advice.targets, judged)
        found = Absent(rival, missed, values, platform, queue)
        return dataclasses.replace(advice, absent=found, runs=advice.runs + len(values))

    def so_far(self) -> Advice | Tried:
        """The best answer so far; without one, what was tried."""
        course = self.course
        return course.best or tried_queues(
            course.question, course.settings.bench.known, course.settings.queues
        )

    def _course(self, best: Advice | None, *, lengthen: bool) -> Course:
        question, field = asked(self.base, self.index, self.needs, self.manner)
        link = self.base.links[self.index]
        about = [*about_rate(link), *about_changes(link)]
        if self.manner.platform is not None and self.manner.kind is not None:
            about += [about_kind(self.manner.platform, self.manner.kind)]
        elif self.manner.queues is None:
            about += [about_queues(self.manner.platform, [queue.name for queue in field])]
        llq = (queue.table for queue in field if is_llq(queue.name))
        about += about_llq(self.base, self.index, self.manner.platform, llq)
        eases = any(queue.knob == "target" for queue in field)
        return Course(
            question,
            field,
            needs=self.needs,
            confidence=self.manner.confidence,
            resolution=self.manner.resolution,
            assumed=(*self.assumed, *about, *self.needs.assumed(eases=eases)),
            runner=self.runner,
            watch=self.watch,
            lengthen=lengthen,
            best=best,
            today=self._fifo_today(question.site),
            beside=self._beside_today,
            unmixed=self._without_mix,
            supposed=self.manner.supposed,
            budget=self.budget,
        )

    def _fifo_today(self, site: Site) -> int | None:
        """The buffer of the FIFO that the link runs now, packets; `None` if it runs none, or unknown."""
        if self.manner.today is None:
            return None
        now = now_at(self.base, self.index, self.needs, self.manner)
        link = None if now is None else now[0].links[self.index]
        if link is None or link["queue"]["discipline"] != "fifo":
            return None
        buffer = link["buffer"]
        if buffer["kind"] == "time":
            return round(site.packets_of_ms(buffer["amount"] / PS_PER_MS))
        return _in_packets(buffer)


def _counts_no_packets(found: Today) -> str:
    """Why today's buffer need not miss what as many full packets miss, as a clause."""
    return (
        f"today's {found.queue}, {found.buffer}, does not count packets: it has room for small ones where a "
        "limit in packets is full, and need not miss what as many full packets miss"
    )


def _in_packets(buffer: ResolvedBuffer) -> int | None:
    """A buffer's packets; `None` where it is no number of them."""
    return round(buffer["amount"] or 0) if buffer["kind"] == "packets" else None


def _alike(queue: Queue) -> set[str]:
    """The disciplines that differ from a queue in their buffer alone; of LLQ, that of what is not a call."""
    return {queue.kind, "fifo"} if queue.name == LLQ else {queue.kind}


def check(base: Scenario, index: int, needs: Needs, manner: Manner) -> None:
    """Report before any work what of a question cannot be used.

    Raises:
        InputError: Something cannot.
    """
    asked(base, index, needs, manner)
    now_at(base, index, needs, manner)


def asked(base: Scenario, index: int, needs: Needs, manner: Manner) -> tuple[Question, list[Queue]]:
    """The question about a link, and the queues to choose from; whatever cannot be used is reported here.

    Raises:
        InputError: An argument cannot be used.
    """
    question = Question.of(
        base, index, needs.targets, needs.floor, bounds=manner.bounds, platform=manner.platform
    )
    Goal(
        question.targets, 1, question.upper, confidence=manner.confidence, resolution=manner.resolution
    ).check()
    needs.weights(possible_aspects(base, question.site.rtt_ms, needs.emphasis), base)
    field = queues_for(
        manner.queues,
        base,
        question.index,
        lower=question.lower,
        upper=question.upper,
        ample=question.ample,
        most=question.room,
        packet_us=question.site.packet_bytes * 8e6 / question.site.rate_bps,
        rtt_us=question.site.rtt_ms * 1e3,
        platform=manner.platform,
        counted_bytes=question.site.counted_bytes,
    )
    field = [queue for queue in field if manner.kind in {None, queue.kind}] or field
    usual = [queue for queue in field if queue.knob == "target"] if manner.usual else []
    return question, usual or field


def now_at(base: Scenario, index: int, needs: Needs, manner: Manner) -> tuple[Scenario, str | None] | None:
    """The scenario with what runs today at the link, and of what that is the default; `None` if unknown.

    Raises:
        InputError: What was said of it cannot be used.
    """
    if manner.today is None and not manner.default:
        return None
    default = default_of(manner.today, manner.platform)
    if default is not None:
        return with_default(base, index, default), default.of
    if manner.today is None:
        return None
    return todays(manner.today, base, index, _queues(base, index, needs, manner)), None


def _queues(base: Scenario, index: int, needs: Needs, manner: Manner) -> Callable[[str], Queue]:
    """What gives a queue by its word, whatever the platform has."""

    def queue_of(word: str) -> Queue:
        alone = dataclasses.replace(manner, queues=word, platform=None, today=None)
        return asked(base, index, needs, alone)[1][0]

    return queue_of
