"""A comparison: the queue to run and why, then what users feel under each, and what the link does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bufferlab.display import as_view
from bufferlab.render.advise.decided import edge_text, undecided_text
from bufferlab.render.advise.felt import (
    NOTICED,
    SHORTER,
    aspect_title,
    behind_text,
    fare_text,
    fare_title,
    gained,
)
from bufferlab.render.advise.reasons import much_lost
from bufferlab.render.advise.words import weights_text
from bufferlab.render.grid import Column, Grid
from bufferlab.render.scenario import ScenarioLines
from bufferlab.render.summary import notes
from bufferlab.render.view import Heading, Terms, View
from bufferlab.render.words import cell, listed, metric_of, of_classes_text, title_text
from bufferlab.stats import REMEDY
from bufferlab.studies.choosing.choice import Choice, Rival
from bufferlab.studies.choosing.order import keeps_apart, place, reason_of
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS
from bufferlab.studies.compare.comparison import Comparison, Measured
from bufferlab.studies.contenders import LLQ_CLASSES
from bufferlab.studies.targets import mean_over_runs
from bufferlab.studies.words import is_llq
from bufferlab.units import PS_PER_S

OF_LINK: Final = ("utilization", "loss", "wait_mean_ms", "wait_p95_ms")
"""What is shown of the link under each queue."""

MOST_RIVALS: Final = 3
"""Queues that were not taken of which it is said why: the next best, and the worst; the table has all."""

_SAME: Final = 1e-6
"""A difference of less than this share is rounding."""


_HEAVY: Final = f"{HEAVY_LOSS * 100:g} %"
"""A loss that hardly anybody would accept."""


@as_view.register
def comparison_view(comparison: Comparison) -> View:
    """The answer first, what it rests on, and what was run."""
    varied = {comparison.link: ("buffer", "queue")}
    grids = [_felt(comparison), _link(comparison)]
    return View(
        [
            _headline(comparison),
            Heading(answer(comparison)),
            Terms(list(_lines(comparison))),
            *grids,
            *notes(grids),
            ScenarioLines(comparison.resolved, comparison.seeds, varied).terms(),
        ]
    )


def answer(comparison: Comparison) -> str:
    """The queue to run, in a sentence."""
    choice = comparison.choice
    if choice is None:
        return "No queue can be recommended: no packet was measured."
    if not choice.rivals:
        return f"Only {choice.name} was run: there is nothing to choose from."
    lost = _lost(comparison, choice)
    if lost is None:
        return _choice(comparison, choice, f"Run {choice.name}")
    # what hardly anybody would accept is no advice to run it
    return f"{_choice(comparison, choice, f'The best of these is {choice.name}')} {lost} with it."


def _lost(comparison: Comparison, choice: Choice) -> str | None:
    """A loss of the recommended queue that hardly anybody would accept."""
    loss = mean_over_runs("loss", comparison.entries[choice.name].values).mean
    return much_lost(loss, comparison.needs.targets)


def _choice(comparison: Comparison, choice: Choice, begin: str) -> str:
    undecided = "" if (text := undecided_text(choice)) is None else f" {text} More --seeds may decide it."
    if not comparison.is_founded:
        why = f"No basis for a choice yet.{undecided}" if undecided else f"{_unfounded(comparison, choice)}."
        return f"{why} {_first(comparison, choice)}"
    if not choice.meets:
        return f"No queue meets all targets. {choice.name} misses the fewest{_of_those(choice)}."
    if (alone := _alone(choice)) is not None:
        return f"{begin}: {alone}."
    if choice.is_clear and not undecided:
        return f"{begin}: users fare better than under every other queue{_of_those_left(choice)}."
    if comparison.tied:
        return f"{_tied(comparison, choice)}.{undecided} {_first(comparison, choice)}"
    best = ": users fare best" if choice.best == choice.name else ""
    order = "" if best else f" {_first(comparison, choice)}"
    return f"{begin}{best}.{undecided}{order}"


def _alone(choice: Choice) -> str | None:
    """Why there was nothing to choose from, as a clause."""
    meeting = [rival for rival in choice.rivals if not rival.missed]
    if not meeting:
        return "it alone meets all targets"
    if all(rival.is_lossy for rival in meeting):
        return f"every other queue{_of_meeting(choice)} loses {_HEAVY} or more"
    return None


def _of_those_left(choice: Choice) -> str:
    """Among which other queues it was chosen, where some miss a target or lose much."""
    meeting = _of_meeting(choice)
    if not any(rival.is_lossy for rival in choice.rivals if not rival.missed):
        return meeting
    return f"{meeting} {'and' if meeting else 'that'} loses less than {_HEAVY}"


def _of_meeting(choice: Choice) -> str:
    """Which of the other queues are meant, where some miss a target."""
    return " that meets all targets" if any(rival.missed for rival in choice.rivals) else ""


def _tied(comparison: Comparison, choice: Choice) -> str:
    """That queues are equal, or not distinguished."""
    names = listed([choice.name, *comparison.tied])
    if choice.is_tie_shown:
        return f"{names} are equal for this traffic, to within {NOTICED}"
    return f"{_runs(comparison)} not tell {names} apart for this traffic ({NOTICED})"


def _unfounded(comparison: Comparison, choice: Choice) -> str:
    """Why nothing speaks for a queue."""
    queues = len(choice.rivals) + 1
    if not all(rival.is_alike for rival in choice.rivals):
        return f"No basis for a choice: {_runs(comparison).lower()} not tell the {queues} queues apart"
    if (better := _slightly_better(choice)) is not None:
        return f"{better}, but by less than {NOTICED}: all {queues} are equal for this traffic"
    return f"No basis for a choice: users fare alike under all {queues} queues, to within {NOTICED}"


def _runs(comparison: Comparison) -> str:
    count = len(comparison.seeds)
    return f"{count} runs do" if count > 1 else "One run does"


def _slightly_better(choice: Choice) -> str | None:
    """Which of equal queues is surely better than others all the same; `None` if none is."""
    best = min(choice.rivals, key=lambda rival: rival.behind.mean or 0.0)
    if _is_sure(best, -1):
        return f"{best.name} is better than {choice.name}"
    worse = [rival.name for rival in choice.rivals if _is_sure(rival, 1)]
    return f"{choice.name} is better than {', '.join(worse)}" if worse else None


def _is_sure(rival: Rival, sign: int) -> bool:
    """Whether users surely fare worse with a queue than with the chosen one; better, for a sign of -1."""
    mean, half_width = rival.behind.mean, rival.behind.half_width
    return mean is not None and half_width is not None and sign * mean > max(half_width, _SAME)


def _first(comparison: Comparison, choice: Choice) -> str:
    """Which of equal queues it is, and what may decide between them."""
    others = " Other traffic was not tried: advise does, and decides between them." if comparison.tied else ""
    as_good = {*choice.equals, *choice.open}
    usual = [each for each in choice.rivals if each.name in as_good and place(each.name) < place(choice.name)]
    quick = [each.name for each in usual if not each.is_standing]
    if usual and not quick:
        return f"{choice.name} is preferred: {SHORTER}.{others}"
    if quick and keeps_apart(choice.name):
        return f"{choice.name} is preferred: {reason_of(choice.name, choice.name, quick)}.{others}"
    return f"The first in our order is {choice.name}.{others}"


def _of_those(choice: Choice) -> str:
    """How the queue stands among those that miss no more."""
    if choice.best == choice.name:
        return ", and of those users fare best under it"
    return f"; of those users fare as well under {choice.best}"


def _headline(comparison: Comparison) -> str:
    run, count = comparison.resolved["run"], len(comparison.seeds)
    seeds = f"{count} seeds" if count > 1 else f"seed {comparison.seeds[0]}"
    duration, warmup = run["duration_ps"] / PS_PER_S, run["warmup_ps"] / PS_PER_S
    window = f"{duration:g} s, measured from {warmup:g} s"
    return f"{comparison.name}: queue of {comparison.link}; {window}; {seeds}"


def _lines(comparison: Comparison) -> Iterator[tuple[str, str]]:
    others = comparison.ranked[1:]
    for entry in others if len(others) <= MOST_RIVALS else [*others[: MOST_RIVALS - 1], others[-1]]:
        rival = comparison.rival(entry.name)
        if rival is not None:
            missed = ", ".join(title_text(each) for each in rival.missed)
            of_missed = "; ".join([f"missed: {missed}", *gained(rival, comparison.ranked[0])])
            why = of_missed if missed else behind_text(rival, entry, comparison.ranked[0])
            yield f"not {entry.name}", why
    if (left := len(others) - MOST_RIVALS) > 0:
        yield "and", f"{left} more in the tables"
    if comparison.choice is not None and (edge := edge_text(comparison.choice)) is not None:
        yield "close", edge
    for warning in comparison.warnings:
        yield "beware", warning
    if comparison.choice is not None:
        does = "tries other traffic (what-ifs), and searches buffers"
        yield "next", f"{comparison.advise}: {does}"
    yield from _asked(comparison)
    if comparison.identical:
        runs = "runs are identical, as nothing in the scenario is random: nothing is known about chance"
        yield "how sure", f"all {len(comparison.seeds)} {runs}; {REMEDY}"
    elif len(comparison.seeds) == 1:
        yield "how sure", "one seed, so nothing is known about chance"
    else:
        seeds = f"± are 95 % confidence intervals over {len(comparison.seeds)} common seeds"
        yield "how sure", f"{seeds}; how much worse users fare holds for all queues together"


def _asked(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """By what was judged."""
    if comparison.buffers:
        names = listed(comparison.buffers)
        reason = "no reason for a larger buffer of one queue; --for fairness makes it one"
        yield "judged", f"{names} without Jain's index, which is {reason}"
    if comparison.needs.targets:
        yield "targets", "; ".join([*map(str, comparison.needs.targets), "by [advise] of the scenario"])
    if comparison.needs.weights_from == "scenario":
        yield "weights", f"{weights_text(comparison.weights)}, by [advise] of the scenario"


def _felt(comparison: Comparison) -> Grid:
    """A row for each queue, a column for each aspect."""
    rows = []
    for entry in comparison.ranked:
        rival = comparison.rival(entry.name)
        fare = "" if rival is None else _fare(comparison, rival)
        rows.append([entry.name, fare, *(_cell(entry, each.metric) for each in comparison.aspects)])
    heads: list[str | Column] = [
        metric_of(each.metric).unit.label(aspect_title(each)) for each in comparison.aspects
    ]
    rivals = () if comparison.choice is None or comparison.identical else comparison.choice.rivals
    title = fare_title(rivals, "What users feel; they fare")
    return Grid(["queue"], ["users fare", *heads], rows, title)


def _fare(comparison: Comparison, rival: Rival) -> str:
    return fare_text(rival.behind._replace(half_width=None) if comparison.identical else rival.behind)


def _link(comparison: Comparison) -> Grid:
    """A row for each queue: its buffer, and what the link does."""
    rows = [
        [entry.name, _buffer(entry), *(_cell(entry, name) for name in OF_LINK)] for entry in comparison.ranked
    ]
    heads: list[str | Column] = [Column("buffer", "left"), *(metric_of(name).label for name in OF_LINK)]
    return Grid(["queue"], heads, rows, f"What {comparison.link} does")


def _buffer(entry: Measured) -> str:
    """A queue's buffer; of LLQ that of each of its classes, as `--queues` has it: "2 × 126 packets"."""
    packets, _, unit = entry.buffer.partition(" ")
    if not is_llq(entry.name.partition(":")[0]) or unit != "packets" or int(packets) % LLQ_CLASSES:
        return entry.buffer
    return of_classes_text(LLQ_CLASSES, int(packets) // LLQ_CLASSES)


def _cell(entry: Measured, name: str) -> str:
    return cell(entry.mean(name), metric_of(name).unit)
