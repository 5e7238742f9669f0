"""Compares queues: which runs, and what follows from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from bufferlab.errors import InputError
from bufferlab.experiment.experiment import Done, Experiment
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import ScenarioLike, prepare, seed_list
from bufferlab.experiment.store.studies import Study
from bufferlab.scenario import QUEUE_WORDS, Scenario
from bufferlab.studies.advise.llq import known_queues
from bufferlab.studies.advise.needs import Needs
from bufferlab.studies.advise.question import Question, link_index, prepared
from bufferlab.studies.advise.queues import AMPLE
from bufferlab.studies.advise.runnable import runnable
from bufferlab.studies.buffers import written_link
from bufferlab.studies.choosing.choice import Choice, apart, choose, losses_of, missed_targets, standing
from bufferlab.studies.choosing.objectives import (
    Emphasis,
    aspects_of,
    is_emphasized,
    judged_by_buffers,
    possible_aspects,
)
from bufferlab.studies.compare.comparison import Comparison, Measured
from bufferlab.studies.compare.further import advise_command
from bufferlab.studies.contenders import Contender, changes, default_queues, parse_contenders
from bufferlab.studies.settling import Waiting, is_held, short_for_any
from bufferlab.studies.targets import Values, values_of_run
from bufferlab.studies.words import LLQ, OWN, about_changes
from bufferlab.units import PS_PER_MS

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedBuffer

DEFAULT_SEEDS: Final = 5

_FILLED: Final = 0.5
"""A buffer may have been full if one packet in a hundred waited for more than this part of it. Our choice."""


def compare(
    scenario: ScenarioLike,
    queues: str | Sequence[str] | None = None,
    *,
    seeds: int | Sequence[int] = DEFAULT_SEEDS,
    link: str | None = None,
    emphasis: Emphasis | None = None,
    platform: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    overrides: Mapping[str, Any] | None = None,
    runner: Runner | None = None,
) -> Comparison:
    """Run a scenario with its bottleneck's queue replaced by each of several, all with the same seeds.

    Args:
        scenario: A scenario, the path of its file, or its content as nested mappings.
        queues: Words of `queue`, each with a buffer after a colon if wanted: "fifo:bdp,splitbuff", or a list.
            "scenario" is the scenario's own, "llq" and "llq-fair" have its marked calls go first; default its
            own and all there are.
        seeds: How many seeds, counted up from the scenario's own, or a list of seeds.
        link: Whose queue; default the slowest that data crosses.
        emphasis: The kind of aspect that matters most: "throughput", "fairness", "latency", "calls", "pages"
            or "transfers"; or the weights of some, such as {"calls": 10}, where the others have 1; default
            what the scenario says, else all alike.
        platform: On what they shall run, as `advise` has it: default all that this has, with LLQ where calls
            are marked; one that it lacks is an error.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        overrides: Values that replace those of the scenario, by path.
        runner: Runs the simulations; default a plain one with `threads` and `progress`.

    Raises:
        InputError: If the scenario or an argument cannot be used.
        RunInterrupted: At Ctrl-C, with the comparison over the seeds that all queues had finished.
    """
    base, lacking = _opened(scenario, overrides)
    wanted = seed_list(seeds, base.run["seed"])
    needs = Needs.of(base, (), emphasis, ())
    question = Question.of(base, link_index(base, link), needs.targets, None)
    needs.weights(
        possible_aspects(base, question.site.rtt_ms, needs.emphasis), base
    )  # raises before any work
    index, name = question.index, question.site.link
    contenders = _contenders(queues, base, index, platform)
    if lacking is not None and any(each.word == OWN and each.buffer is None for each in contenders):
        raise lacking
    cases = {each.name: prepare(base, changes(each, base, index)) for each in contenders}
    if queues is None and lacking is None:
        cases = _beside_own(base, index, cases)
    for case in (base, *cases.values()):
        case.seeded(wanted[0])  # errors come before any work is wasted
    experiment = Experiment(
        base.title,
        cases,
        partial(values_of_run, name),
        seeds=wanted,
        seed_by_seed=True,
        parameters=lambda queue: {"queue": queue},
        brief=True,
    )
    changed = {
        path: value for path, value in base.overrides.items() if lacking is None or path != lacking.key
    }
    further = partial(advise_command, base.file, changed, link=link, emphasis=emphasis, platform=platform)
    conclude = partial(_conclude, question, cases, needs, further)
    try:
        keeping = runner or Runner(threads=threads, progress=progress)
        with keeping.study(Study.of("compare", base)):
            runs = keeping.all(experiment)
    except RunInterrupted as interrupted:
        seeds_done = common_seeds(interrupted.finished, len(cases))
        comparison = None
        if seeds_done:
            comparison = conclude([done for done in interrupted.finished if done.seed in seeds_done])
        raise RunInterrupted(
            comparison,
            len(seeds_done),
            len(wanted),
            what="seeds finished under every queue",
            store=interrupted.store,
        ) from interrupted
    return conclude(runs)


def _opened(
    scenario: ScenarioLike, overrides: Mapping[str, Any] | None
) -> tuple[Scenario, InputError | None]:
    """The scenario; and the error that its own queue is, if the file leaves the buffer of that open.

    Raises:
        InputError: It cannot be used whatever its buffer.
    """
    base = prepared(scenario, overrides)
    try:
        prepare(scenario, overrides)
    except InputError as error:
        return base, error
    return base, None


def _contenders(
    queues: str | Sequence[str] | None, base: Scenario, index: int, platform: str | None
) -> list[Contender]:
    """The queues to compare at a link.

    Raises:
        InputError: One is none, or the platform lacks it.
    """
    tables = known_queues(base, index)
    has_buffer = "buffer" in (written_link(base, index) or {})
    on = partial(runnable, rate_bps=base.links[index]["rate_bps"] or 1)
    if queues is None:
        words = list(tables) if platform is None else on(tables, platform, asked=False)
        return parse_contenders(default_queues(words, has_buffer=has_buffer), tables)
    contenders = parse_contenders(queues, tables)
    if platform is not None:
        on({each.word: each.table for each in contenders if each.table is not None}, platform, asked=True)
    return contenders


def common_seeds(runs: Sequence[Done[str]], queues: int) -> list[int | None]:
    """The seeds that all queues have finished."""
    counts = Counter(done.seed for done in runs)
    return [seed for seed, count in counts.items() if count == queues]


def _conclude(
    question: Question,
    cases: Mapping[str, Scenario],
    needs: Needs,
    further: Callable[[Choice | None], str],
    runs: Sequence[Done[str]],
) -> Comparison:
    """Compare what was measured: as many runs of each queue, in order of the seeds."""
    measured: dict[str, list[Values]] = {queue: [] for queue in cases}
    seeds = list(dict.fromkeys(done.seed for done in runs if done.seed is not None))
    for done in runs:
        measured[done.key].append(done.value)
    entries = {
        queue: _entry(queue, case.links[question.index]["buffer"], measured[queue])
        for queue, case in cases.items()
    }
    every = [values for found in measured.values() for values in found]
    aspects = aspects_of(question.base, every, question.site.rtt_ms, needs.emphasis)
    weights = needs.weights(aspects, question.base)
    missed = {queue: missed_targets(values, question.targets) for queue, values in measured.items()}
    late = standing(measured, question.site.rtt_ms, question.targets, question.site.users)
    separate = apart(
        {
            name: question.base.links[question.index]["queue"]["discipline"] if name == OWN else name
            for name in measured
        },
        aspects,
        is_filled=question.is_filled,
    )
    queues = {} if is_emphasized("fairness", needs.emphasis) else _queues(question, cases)
    judged, counted = aspects, weights
    if len(set(queues.values())) == 1:
        judged, counted = judged_by_buffers(aspects, weights, needs.emphasis)
    choice = (
        choose(
            measured,
            judged,
            counted,
            missed=missed,
            standing=late,
            losses=losses_of(measured, question.targets, question.site.users),
            apart=separate,
            queues=queues,
        )
        if judged
        else None
    )
    return Comparison(
        name=question.site.name,
        site=question.site,
        resolved=question.base.seeded(seeds[0]).resolved,
        seeds=seeds,
        entries=entries,
        aspects=tuple(aspects),
        buffers=_buffers(choice, queues) if any(each.kind == "fairness" for each in aspects) else (),
        weights=weights,
        choice=choice,
        missed=missed,
        needs=needs,
        advise=further(choice),
        warnings=(
            *_left_out(question, cases),
            *_short_runs(question, cases, entries),
            *_small_limits(question, cases, entries),
        ),
        written=(written_link(question.base, question.index) or {}).get("queue"),
    )


def _entry(queue: str, buffer: ResolvedBuffer, values: Sequence[Values]) -> Measured:
    """What a queue measured, with its buffer as the scenario resolves it."""
    kind, amount = buffer["kind"], buffer["amount"]
    packets = int(amount) if kind == "packets" and amount is not None else None
    time_ms = amount / PS_PER_MS if kind == "time" and amount is not None else None
    return Measured(queue, buffer["text"], tuple(values), packets, time_ms)


def _queues(question: Question, cases: Mapping[str, Scenario]) -> dict[str, str]:
    """Which queue each is, whatever its buffer: of LLQ that of what is not a call, as `advise` has it."""
    links = {name: case.links[question.index] for name, case in cases.items()}
    tables = {
        name: QUEUE_WORDS["fifo"] if name.partition(":")[0] == LLQ else link["queue"]
        for name, link in links.items()
    }
    return {name: f"{table}, {links[name]['mark_above']}" for name, table in tables.items()}


def _buffers(choice: Choice | None, queues: Mapping[str, str]) -> tuple[str, ...]:
    """The queues that differ from the chosen one in the buffer alone."""
    if choice is None or not queues:
        return ()
    return tuple(name for name in queues if name != choice.name and queues[name] == queues[choice.name])


def _beside_own(base: Scenario, index: int, cases: Mapping[str, Scenario]) -> dict[str, Scenario]:
    """The cases with the scenario's own queue first, and without another one that is the same."""
    if "buffer" not in (written_link(base, index) or {}):
        return dict(cases)

    def runs(scenario: Scenario) -> tuple[object, object]:
        link = scenario.links[index]
        return link["queue"], link["buffer"]

    own = runs(base)
    return {OWN: base, **{name: case for name, case in cases.items() if runs(case) != own}}


def _left_out(question: Question, cases: Mapping[str, Scenario]) -> tuple[str, ...]:
    """Of which queues changes of the buffer are left out, as they have a buffer of their own."""
    link = question.base.links[question.index]
    those = [
        name
        for name, case in cases.items()
        if all(each["buffer"] is None for each in case.links[question.index]["changes"])
    ]
    return about_changes(link, of=", ".join(those)) if those else ()


def _small_limits(
    question: Question, cases: Mapping[str, Scenario], entries: Mapping[str, Measured]
) -> Iterator[str]:
    """That queues with a target of delay fill a buffer that was meant for another queue."""
    links = {name: case.links[question.index] for name, case in cases.items() if name != OWN}
    small = []
    for name, link in links.items():
        packets = (link["buffer"]["amount"] or 0) if link["buffer"]["kind"] == "packets" else AMPLE
        late = question.site.packets_of_ms(entries[name].mean("wait_p99_ms").mean or 0.0)
        if is_held(link["queue"]) and ":" not in name and late / _FILLED > packets < AMPLE:
            small.append(name)
    if small:
        held = links[small[0]]["buffer"]["text"]
        yield (
            f"with the scenario's buffer of {held} these may drop before their target of delay does: "
            f"{', '.join(small)}; advise gives them at least {AMPLE} packets, as {small[0]}:{AMPLE} does here"
        )


def _short_runs(
    question: Question, cases: Mapping[str, Scenario], entries: Mapping[str, Measured]
) -> list[str]:
    """Why the runs may be too short for the queue in which most waits; BBR's start above all."""
    waits = {
        entry.title: Waiting(
            round(question.site.packets_of_ms(entry.mean("wait_p99_ms").mean or 0.0)),
            question.site.packet_bytes,
            is_held(cases[name].resolved["links"][question.index]["queue"]),
        )
        for name, entry in entries.items()
    }
    found = short_for_any(question.base, question.index, waits)
    return [] if found is None else [str(found)]
