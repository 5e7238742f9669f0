"""Says how large a buffer must be: the search, and what runs say of the rules."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from bufferlab.errors import InputError
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import ScenarioLike
from bufferlab.experiment.store.studies import Study
from bufferlab.progress import Bar
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.floor import default_targets
from bufferlab.studies.advise.llq import of_classes
from bufferlab.studies.advise.needs import Needs, Origin
from bufferlab.studies.advise.question import Question, link_index, prepared
from bufferlab.studies.advise.queues import own_table
from bufferlab.studies.advise.tried import Attempt, Tried, tried
from bufferlab.studies.alone import refuse_impossible
from bufferlab.studies.buffers import buffer_text, with_buffer
from bufferlab.studies.least import Bench, Case, Goal, Least, Step, least, together
from bufferlab.studies.least.candidates import CHECK_SEEDS
from bufferlab.studies.settling import (
    MOST_LENGTHENED,
    Waiting,
    about_longer,
    has_start_measured,
    is_held,
    lengthened,
    short_runs,
)
from bufferlab.studies.size.judged import RUNS, Judged, judge
from bufferlab.studies.size.published import OPTIONS, Rules, in_theory, rules_of
from bufferlab.studies.size.sizing import Sizing
from bufferlab.studies.targets import Target, Values, want_largest
from bufferlab.studies.traffic import likely_packets
from bufferlab.studies.words import about_changes, about_rate
from bufferlab.theory.targets import Targets
from bufferlab.units import packets_text

MOST_RUNS: Final = Goal.runs
"""About the most runs of a search."""


def size(
    scenario: ScenarioLike,
    targets: Iterable[str | Target] = (),
    *,
    link: str | None = None,
    bounds: str | None = None,
    platform: str | None = None,
    confidence: float = Goal.confidence,
    resolution: float = Goal.resolution,
    runs: int = MOST_RUNS,
    with_rules: bool = True,
    conventions: Targets | None = None,
    measured: Mapping[str, float] | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    overrides: Mapping[str, Any] | None = None,
    assumed: Iterable[str] = (),
    lengthen: bool = False,
    runner: Runner | None = None,
) -> Sizing:
    """Measure the smallest buffer of a link that meets all targets; of bounds on waits alone, the largest.

    Args:
        scenario: A scenario, the path of its file, or its content as nested mappings.
        targets: What must be met, such as "utilization >= 99 %", "wait_p99 < 20 ms", "call.r > 80"; default
            those of the scenario, else a utilization of 99 %, which is asked for beside others that leave it
            open, too; or, where no flow is without end, a loss of at most 1 %.
        link: Whose buffer; default the slowest that data crosses.
        bounds: Where to search: two buffers with ".." between them, a number alone is packets; default one
            packet up to twice the bandwidth-delay product, and up to 16 times while all buffers miss a target
            and larger ones come nearer.
        platform: The router platform; buffers that it does not take are not tried.
        confidence: With which all targets must be met at the answer.
        resolution: The answer may differ from the best one by this share.
        runs: About the most runs of the search.
        with_rules: Simulate the buffers of the published rules, too.
        conventions: What the rules want to know beside the targets: confidence of the loss, z-scores.
        measured: Characteristic value by congestion control, for the rules; see `bufferlab.theory.measured`.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        overrides: Values that replace those of the scenario, by path.
        assumed: What the scenario takes for granted, for the answer to tell: sentences.
        lengthen: Begin again with longer runs where those of the scenario are too short to judge the answer;
            else a warning says so.
        runner: Runs the simulations; default a plain one with `threads` and `progress`.

    Raises:
        InputError: If the scenario or an argument cannot be used.
        RunInterrupted: At Ctrl-C, with the best answer so far, or a `Tried` without one.
    """
    base = prepared(scenario, overrides)
    index = link_index(base, link)
    needs = Needs.of(base, targets, None, default_targets(base, index)).with_floor(base, index)
    question = Question.of(base, index, needs.targets, needs.floor, bounds=bounds, platform=platform)
    found, warnings = _rules(question, conventions, measured or {})
    goal = Goal(
        targets=question.targets,
        lower=question.lower,
        upper=question.upper,
        most=question.most,
        first_seed=int(base.run["seed"]),
        confidence=confidence,
        resolution=resolution,
        guess=None if found is None else likely_packets(found.packets()),
        runs=runs,
        largest=want_largest(question.targets),
    )
    goal.check()
    assumed = (*assumed, *about_rate(base.links[index]), *about_changes(base.links[index]))
    about: list[str] = []
    shorter: Sizing | None = None
    with (
        runner or Runner(threads=threads, progress=progress) as keeping,
        keeping.study(Study.of("size", base)),
    ):
        refuse_impossible(base, question.site.link, question.targets, keeping)
        for left in reversed(range(MOST_LENGTHENED + 1)):
            course = _Course(
                question,
                goal,
                found,
                warnings,
                assumed=(*assumed, *needs.assumed(), *about),
                targets_from=needs.targets_from,
                lengthen=lengthen and left > 0,
                shorter=shorter,
            )
            sizing = course.run(keeping, with_rules=with_rules)
            if course.longer is None:
                break
            shorter = dataclasses.replace(sizing, finished=False)
            question, about = (
                dataclasses.replace(question, base=course.longer),
                [about_longer(base, course.longer)],
            )
    return sizing


class _Stages:
    """Shows a bar the stages, and the rounds of runs within them."""

    def __init__(self) -> None:
        self.bar: Bar | None = None
        self._share = 0.0
        self._note = ""

    def stage(self, share: float, note: str) -> None:
        """A stage begins, when so much of the whole is done."""
        self._share, self._note = share, note
        self._show(note)

    def round(self, progress: str) -> None:
        """A run ended."""
        self._show(f"{self._note}; {progress}")

    def _show(self, text: str) -> None:
        if self.bar is not None:
            self.bar.update(self._share, text)


class _Course:
    """The way to an answer."""

    def __init__(
        self,
        question: Question,
        goal: Goal,
        rules: Rules | None,
        warnings: Sequence[str],
        *,
        assumed: tuple[str, ...],
        targets_from: Origin,
        lengthen: bool,
        shorter: Sizing | None,
    ) -> None:
        self.question = question
        self.goal = goal
        self.rules = rules
        self.warnings = tuple(warnings)
        self.assumed = assumed
        self.targets_from = targets_from
        self.lengthen = lengthen
        self.shorter = shorter
        self.best: Least | None = None
        self.judged: tuple[Judged, ...] = ()

    def run(self, runner: Runner, *, with_rules: bool) -> Sizing:
        """Search, then judge the rules' buffers."""
        stages = _Stages()
        bench = Bench(self.question.site.link, self._scenario, runner, stages.round)
        try:
            # the bar's whole is the most runs of the search, which seldom takes all
            with runner.bar(self.question.site.name, left="all: at most about") as stages.bar:
                self.best = self._search(bench, stages)
                if self.longer is None and with_rules and self.rules is not None:
                    stages.stage(0.95, "simulating the rules' buffers")
                    self.judged = self._judge_rules(self.rules, self.best, bench)
        except KeyboardInterrupt as interrupt:
            made = bench.runs
            found = interrupt if isinstance(interrupt, RunInterrupted) else RunInterrupted(None, 0, 0)
            raise RunInterrupted(
                self._so_far(bench), made + found.done, made + found.asked, store=found.store
            ) from interrupt
        return self._sizing(self.best, bench, finished=True)

    def _search(self, bench: Bench, stages: _Stages) -> Least:
        return together({"": least(self.goal)}, bench, self._watch(bench, stages))[""]

    @property
    def longer(self) -> Scenario | None:
        """The scenario with runs long enough to judge what was found; `None` if its own are, or must do."""
        if self.best is None or not self.lengthen:
            return None
        return lengthened(*self._asked(_decisive(self.best)))

    def _so_far(self, bench: Bench) -> Sizing | Tried:
        """The best answer; without one, that of shorter runs, or what was tried."""
        if self.best is not None:
            return self._sizing(self.best, bench, finished=False)
        if self.shorter is not None:
            return self.shorter

        def attempt(case: Case, values: tuple[Values, ...]) -> Attempt:
            return Attempt(self._queue(), packets_text(case.size), case.size, self.goal.targets, values)

        return tried(self.question, bench.known, attempt)

    def _queue(self) -> str:
        return str(self.question.base.links[self.question.index]["queue"]["discipline"])

    def _scenario(self, case: Case) -> Scenario:
        buffer = buffer_text(case.size, self.question.site.counted_bytes)
        return with_buffer(self.question.base, self.question.index, buffer)

    def _watch(self, bench: Bench, stages: _Stages) -> Any:  # noqa: ANN401 - a closure
        def watch(steps: Mapping[str, Step]) -> None:
            (step,) = steps.values()
            self.best = step.answer or self.best
            stages.stage(min(bench.runs / self.goal.runs, 0.9), step.note)

        return watch

    def _judge_rules(self, rules: Rules, answer: Least, bench: Bench) -> tuple[Judged, ...]:
        seeds = list(answer.values)[:RUNS]
        if all(each.identical for each in answer.checks):
            seeds = seeds[:2]
        else:
            fresh = self.goal.first_seed + CHECK_SEEDS
            seeds += [seed for seed in range(fresh, fresh + RUNS) if seed not in seeds][: RUNS - len(seeds)]
        packets = rules.packets()
        measured = bench.measure({Case("", each): seeds for each in packets.values()})
        judged = []
        for rule, each in sorted(packets.items(), key=lambda item: item[1]):
            values = {seed: measured[Case("", each), seed] for seed in seeds}
            judged.append(judge(rule, each, values, self.goal.targets, self.goal.confidence))
        return tuple(judged)

    def _sizing(self, answer: Least, bench: Bench, *, finished: bool) -> Sizing:
        measured: dict[int, dict[int, Values]] = defaultdict(dict)
        for (case, seed), values in bench.known.items():
            measured[case.size][seed] = values
        table = own_table(self.question.base, self.question.index)
        short = short_runs(*self._asked(answer.closest))
        known = (None if short is None else str(short), of_classes(table, answer.size))
        return Sizing(
            site=self.question.site,
            resolved=self.question.base.seeded().resolved,
            table=table,
            goal=self.goal,
            least=dataclasses.replace(answer, finished=finished),
            measured=measured,
            rules=self.rules,
            judged=self.judged,
            assumed=self.assumed,
            warnings=(*self.warnings, *filter(None, known)),
            start_measured=has_start_measured(*self._asked(_decisive(answer))),
            targets_from=self.targets_from,
            floor=self.question.floor,
            finished=finished,
        )

    def _asked(self, packets: int) -> tuple[Scenario, int, Waiting]:
        """The scenario, the link, and what waits there at most in a buffer."""
        question = self.question
        queue = question.base.resolved["links"][question.index]["queue"]
        return question.base, question.index, Waiting(packets, question.site.packet_bytes, is_held(queue))


def _decisive(found: Least) -> int:
    """The largest buffer that decides what the answer is, packets."""
    return found.upper if found.size is None else found.size


def _rules(
    question: Question, conventions: Targets | None, measured: Mapping[str, float]
) -> tuple[Rules | None, list[str]]:
    """What the rules say, and a warning if none applies: runs do without."""
    try:
        asked = in_theory(question.targets, conventions)
        return rules_of(question.base, question.index, asked, measured), []
    except InputError as error:
        if (error.key or "").partition(".")[0] in OPTIONS:
            raise
        return None, [f"no published rule applies: {error}"]
