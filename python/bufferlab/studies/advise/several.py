"""Answers for several links of a scenario, such as both directions of a home's line.

Links share nothing but the flows that cross several of them, with data or with acknowledgments. So each link
is answered by itself, with the others' answers in place as far as they are known: first each with the usual
settings of queues that aim at a delay, which takes few runs; then each in full. At last all answers are run
together, and each link's targets are checked there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from bufferlab.configure import find_platform
from bufferlab.errors import InputError, did_you_mean
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import ScenarioLike
from bufferlab.experiment.store.studies import Study
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.answering import Manner, answer_link, check, now_at
from bufferlab.studies.advise.checked import checks_at
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.floor import default_targets
from bufferlab.studies.advise.joint import LinksAdvice, Shaped, are_directions
from bufferlab.studies.advise.needs import Needs
from bufferlab.studies.advise.question import prepared
from bufferlab.studies.advise.settings import CONTEST, PILOTS
from bufferlab.studies.advise.unshaped import MODEM, Unshaped, at_line_rates
from bufferlab.studies.choosing.objectives import Emphasis
from bufferlab.studies.least.candidates import CHECK_SEEDS
from bufferlab.studies.targets import Target, Values, values_of_run
from bufferlab.studies.words import EACH

WatchLinks = Callable[[Advice | None, str], None]
"""Called with the best answer so far for the link that is answered now, and what is done."""


def advise_links(
    scenario: ScenarioLike,
    links: str | Sequence[str] = EACH,
    targets: Iterable[str | Target] = (),
    *,
    queues: str | Sequence[str] | None = None,
    platform: str | None = None,
    bounds: str | None = None,
    emphasis: Emphasis | None = None,
    confidence: float = 0.95,
    resolution: float = 0.1,
    quick: bool = False,
    sensitivity: bool = True,
    today: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    overrides: Mapping[str, Any] | None = None,
    assumed: Iterable[str] = (),
    shaped: Shaped | None = None,
    runner: Runner | None = None,
    watch: WatchLinks | None = None,
) -> LinksAdvice:
    """Say which queues several links of a scenario should run and how large their buffers should be.

    Each link is answered with the others' answers in place; links that are not asked about keep what the
    scenario says. At last all answers are run together.

    Args:
        scenario: A scenario, the path of its file, or its content as nested mappings.
        links: Names of links, also as one text with commas; "each" for all that data crosses.
        targets: What shall be met; one about a group is asked for at the links that its data crosses. Default
            as for one link.
        queues: Words of `queue` to choose from.
        platform: On what it shall run.
        bounds: Where buffers are searched.
        emphasis: The kind of aspect that matters most, or the weights of some.
        confidence: With which all targets shall be met at each answer.
        resolution: The buffers may be larger than the least by this share.
        quick: End with the first answer for each link.
        sensitivity: Ask also what would change the answers.
        today: What each of the links runs now, which is run beside its answer: "fifo:64 packets". If they are
            shaped, it is what the modem has at the line's own rates; default a FIFO of 250 ms, our choice.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        overrides: Values that replace those of the scenario, by path.
        assumed: What the scenario takes for granted, for the answer to tell: sentences.
        shaped: By which share the links' rates are below those of a line, if they are.
        runner: Runs the simulations; default a plain one with `threads` and `progress`.
        watch: Called with the best answer so far for a link whenever something new is known.

    Raises:
        InputError: If the scenario or an argument cannot be used.
        RunInterrupted: At Ctrl-C, with the best answers so far, or a `Tried` without one.
    """
    base = prepared(scenario, overrides)
    indices = link_indices(base, links)
    manner = Manner(
        queues,
        platform,
        bounds,
        confidence,
        resolution,
        quick=quick,
        sensitivity=sensitivity,
        today=today,
        default=False,  # a home's lines are shaped, which no default is
    )
    needs = _needs(base, indices, tuple(targets), emphasis)
    modem = _modem(base, shaped, needs, manner)
    if shaped is not None:
        manner = dataclasses.replace(manner, today=None)  # it is in the modem
    for index in indices:
        check(base, index, needs[index], manner)
    with (
        runner or Runner(threads=threads, progress=progress) as keeping,
        keeping.study(Study.of("advise", base)),
    ):
        course = _Course(
            base,
            needs,
            manner,
            assumed=tuple(assumed),
            shaped=shaped,
            modem=modem,
            runner=keeping,
            watch=watch or (lambda _advice, _note: None),
        )
        try:
            return course.run()
        except RunInterrupted as interrupted:
            raise interrupted.concluded(course.so_far() or interrupted.finished) from interrupted
        except KeyboardInterrupt as interrupt:  # it came between simulations
            raise RunInterrupted(course.so_far(), course.runs, course.runs) from interrupt


def link_indices(base: Scenario, links: str | Sequence[str]) -> list[int]:
    """The links that are asked about, in the order of the asking; "each" takes the scenario's order.

    Raises:
        InputError: There is no such link, or no data crosses it.
    """
    names = [link["name"] for link in base.links]
    crossed = [name for name in names if any(name in flow["path"] for flow in base.flows)]
    words = [word.strip() for word in (links.split(",") if isinstance(links, str) else links)]
    if words == [EACH]:
        if not crossed:
            raise InputError("no flow crosses a link, so there is no buffer to size", key="flows")
        return [names.index(name) for name in crossed]
    accepted = f"{', '.join(crossed)}, with commas between them; or {EACH}"
    for word in words:
        if word not in names:
            problem = (
                "stands for all links, and goes alone"
                if word == EACH
                else f"is not a link of the scenario{did_you_mean(word, [*names, EACH])}"
            )
            raise InputError(problem, key="link", value=word, accepted=accepted)
        if word not in crossed:
            raise InputError("is crossed by no flow", key="link", value=word, accepted=accepted)
    return list(dict.fromkeys(names.index(word) for word in words))


def values_at_links(links: Sequence[str], result: Result) -> dict[str, dict[str, float | None]]:
    """Everything that targets and objectives may ask of a run, by link.

    Args:
        links: Names of the links.
        result: The run.
    """
    return {link: values_of_run(link, result) for link in links}


def with_answers(base: Scenario, answers: Mapping[int, Entry]) -> Scenario:
    """The scenario with answers in place, by the links' indices."""
    for index, entry in answers.items():
        base = entry.queue.scenario(base, index, entry.setting)
    return base


def _needs(
    base: Scenario, indices: Sequence[int], targets: Sequence[str | Target], emphasis: Emphasis | None
) -> dict[int, Needs]:
    """What is asked of each link; what is asked about a group, of the links that its data crosses.

    Raises:
        InputError: A target is none, or is about a group that crosses no link that is asked about.
    """
    paths = {flow["name"]: flow["path"] for flow in base.flows}
    found: dict[int, Needs] = {}
    lost: set[Target] = set()
    for index in indices:
        name = base.links[index]["name"]
        everything = Needs.of(base, targets, emphasis, default_targets(base, index))
        here = tuple(each for each in everything.targets if each.group is None or name in paths[each.group])
        if here:
            needs = dataclasses.replace(everything, targets=here)
        else:
            needs = dataclasses.replace(
                everything, targets=default_targets(base, index), targets_from="default"
            )
        missing = set(everything.targets) - set(here)
        lost = missing if not found else lost & missing
        found[index] = needs.with_floor(base, index)
    for target in lost:
        names = ", ".join(base.links[index]["name"] for index in indices)
        raise InputError(
            f"is about a group whose data crosses no link that is asked about ({names})",
            key="target",
            value=str(target),
            accepted=f"one of --link {','.join(paths[target.group or ''])}",
        )
    return found


def _modem(
    base: Scenario, shaped: Shaped | None, needs: Mapping[int, Needs], manner: Manner
) -> tuple[Scenario, Unshaped] | None:
    """The line at its own rates, and what its modem runs; `None` if it has no shaper, or that is unknown.

    Raises:
        InputError: What was said of it cannot be used.
    """
    if shaped is None or (shaped.share >= 1.0 and manner.today is None):
        return None
    asked = dataclasses.replace(manner, today=manner.today or MODEM)
    line = at_line_rates(base, shaped.line_bps)
    for index, each in needs.items():
        if (now := now_at(line, index, each, asked)) is not None:
            line = now[0]
    link = line.links[next(iter(needs))]
    queue, buffer = str(link["queue"]["discipline"]), str(link["buffer"]["text"])
    return line, Unshaped(queue, buffer, is_assumed=manner.today is None)


class _Course:
    """The way to the answers."""

    def __init__(
        self,
        base: Scenario,
        needs: Mapping[int, Needs],
        manner: Manner,
        *,
        assumed: tuple[str, ...],
        shaped: Shaped | None,
        modem: tuple[Scenario, Unshaped] | None,
        runner: Runner,
        watch: WatchLinks,
    ) -> None:
        self.base = base
        self.needs = needs
        self.manner = manner
        self.assumed = assumed
        self.shaped = shaped
        self.modem = modem
        self.runner = runner
        self.watch = watch
        self.found: dict[int, Advice] = {}
        self.joint: tuple[Entry, ...] = ()
        self.unshaped: Unshaped | None = None
        self.runs = 0
        self.others: dict[tuple[str, ...], dict[int, dict[str, Values]]] = {}
        """What all answers together measure at the links by seed, and the line without a shaper."""

    def run(self) -> LinksAdvice:
        """Answer each link, with the usual settings first, and run the answers together after each round."""
        first = dataclasses.replace(self.manner, quick=True, usual=True, today=None)
        for manner, count in ((first, PILOTS), (self.manner, PILOTS if self.manner.quick else CONTEST)):
            self._answer_all(manner)
            self.watch(None, "running all answers together")
            self.joint = self._joint(count)
            self.unshaped = self._unshaped(count)
        return dataclasses.replace(self._conclusion(), finished=True)

    def so_far(self) -> LinksAdvice | None:
        """What is known; `None` if nothing is."""
        return self._conclusion() if self.found else None

    def _conclusion(self) -> LinksAdvice:
        links = tuple(self.found[index] for index in self.needs if index in self.found)
        together = [entry.name for entry in self.joint] == [each.answer.name for each in links]
        return LinksAdvice(
            title=self.base.title,
            links=links,
            joint=self.joint if together else (),  # else an answer has changed since
            unshaped=self.unshaped,
            wanted=tuple(str(self.base.links[index]["name"]) for index in self.needs),
            resolved=self.base.resolved,
            assumed=self.assumed,
            shaped=self.shaped,
            runs=self.runs + sum(map(len, self.others.values())),
        )

    def _answer_all(self, manner: Manner) -> None:
        """Answer each link; where a line's platform has one queue for both directions, both with the same.

        That is the best for both by first answers among all queues.
        """
        if not self._has_one_queue:
            for index in self.needs:
                self._answer(index, manner)
            return
        for index in self.needs:
            self._answer(index, dataclasses.replace(manner, quick=True))
        kind = _common_kind(*(self.found[index] for index in self.needs))
        for index in self.needs:
            if self._kind(index) == kind and not manner.quick:
                self._answer(index, manner)  # with the others, to be compared
            if self._kind(index) != kind:
                self._answer(index, dataclasses.replace(manner, kind=kind))

    def _kind(self, index: int) -> str:
        """The discipline of a link's answer."""
        return self.found[index].answer.queue.kind

    @property
    def _has_one_queue(self) -> bool:
        """Whether the links are a line's two directions, and the platform has one queue for both."""
        platform = self.manner.platform
        is_line = are_directions([self.base.links[index]["name"] for index in self.needs])
        return is_line and platform is not None and find_platform(platform).has_one_queue

    def _answer(self, index: int, manner: Manner) -> None:
        """Answer one link, with the others' answers in place."""
        name = self.base.links[index]["name"]

        def watch(advice: Advice | None, note: str) -> None:
            what, semicolon, far = note.partition(";")
            text = f"{what} ({name}){semicolon}{far}" if note else ""
            self.watch(advice or known, text)

        known = self.found.get(index)
        if known is not None:  # there is more to come
            known = self.found[index] = dataclasses.replace(known, finished=False)
        try:
            advice = answer_link(
                with_answers(self.base, {i: each.answer for i, each in self.found.items() if i != index}),
                index,
                self.needs[index],
                manner,
                runner=self.runner,
                settled=[self.base.links[each]["name"] for each in self.needs],
                known=known,
                watch=watch,
            )
        except RunInterrupted as interrupted:
            if isinstance(interrupted.finished, Advice) and interrupted.finished is not known:
                self._keep(index, interrupted.finished)
            raise
        self._keep(index, dataclasses.replace(advice, finished=advice.finished and not manner.usual))

    def _keep(self, index: int, advice: Advice) -> None:
        """Keep a link's answer, with the users whose data crosses it."""
        groups = {flow["name"] for flow in self.base.flows if advice.site.link in flow["path"]}
        users = tuple(each for each in advice.site.users if each.name in groups)
        self.runs += advice.runs
        self.found[index] = dataclasses.replace(advice, site=dataclasses.replace(advice.site, users=users))

    def _joint(self, runs: int) -> tuple[Entry, ...]:
        """What each link's answer measures with all of them in place."""
        answers = {index: advice.answer for index, advice in self.found.items()}
        names = (entry.name for entry in answers.values())
        done = self._measured(("together", *names), with_answers(self.base, answers), runs)
        return tuple(
            _together(advice.answer, {seed: each[advice.site.link] for seed, each in done.items()})
            for advice in self.found.values()
        )

    def _unshaped(self, runs: int) -> Unshaped | None:
        """What the line does at its own rates, with the modem's queues; `None` if it is not shaped."""
        if self.modem is None:
            return None
        self.watch(None, "running the line without a shaper")
        scenario, modem = self.modem
        done = self._measured(("unshaped",), scenario, runs)
        names = [advice.site.link for advice in self.found.values()]
        values = {name: tuple(each[name] for each in done.values()) for name in names}
        return dataclasses.replace(modem, values=values)

    def _measured(self, case: tuple[str, ...], scenario: Scenario, runs: int) -> dict[int, dict[str, Values]]:
        """What a scenario measures at the links, by seed; a run that was made before is not made again."""
        names = tuple(advice.site.link for advice in self.found.values())
        first = int(self.base.run["seed"]) + CHECK_SEEDS
        known = self.others.setdefault(case, {})
        experiment = Experiment(
            "",
            {case[0]: scenario},
            partial(values_at_links, names),
            seeds=lambda _key: [seed for seed in range(first, first + runs) if seed not in known],
            parameters=lambda key: {"case": key},
        )
        known |= {each.seed: each.value for each in self.runner.all(experiment) if each.seed is not None}
        return known


def _common_kind(down: Advice, up: Advice) -> str:
    """The discipline that both have tried that misses fewest targets, and with which users lose least."""
    first, other = _costs(down), _costs(up)
    both = [kind for kind in first if kind in other]
    if not both:
        return down.answer.queue.kind
    return min(both, key=lambda kind: [sum(pair) for pair in zip(first[kind], other[kind], strict=True)])


def _costs(advice: Advice) -> dict[str, tuple[int, float]]:
    """How many targets each discipline misses at best, and how much worse users fare than with the answer."""
    answer = advice.answer
    found = {answer.queue.kind: (sum(not each.met for each in answer.checks), 0.0)}
    for rival in advice.choice.rivals:  # the best first
        behind = 0.0 if rival.is_equal else rival.behind.mean or 0.0
        kind = advice.entries[rival.name].queue.kind
        found.setdefault(kind, (len(rival.missed) + rival.is_lossy, behind))
    return found


def _together(entry: Entry, values: Mapping[int, Values]) -> Entry:
    """An answer with what it measures beside the others."""
    targets = [each.target for each in entry.checks]
    checks = checks_at(targets, entry.setting, values, 1)
    return dataclasses.replace(
        entry,
        values=tuple(values.values()),
        runs=tuple(values.values()),
        checks=checks,
        confidence=min(each.confidence for each in checks),
    )
