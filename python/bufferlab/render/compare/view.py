"""A comparison: the queue to run and why, then what users feel under each, and what the link does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from bufferlab.display import as_view
from bufferlab.render.advise.decided import edge_text
from bufferlab.render.advise.felt import (
    aspect_text,
    aspect_title,
    behind_text,
    fare_text,
    fare_title,
    gained,
    tie_text,
)
from bufferlab.render.advise.words import weights_text
from bufferlab.render.compare.answer import answer, apart_text, buffer_text, equal_text
from bufferlab.render.grid import Column, Grid
from bufferlab.render.scenario import ScenarioLines
from bufferlab.render.setting_text import setting_text
from bufferlab.render.summary import notes
from bufferlab.render.view import Heading, Terms, View
from bufferlab.render.words import cell, length_text, listed, metric_of, title_text
from bufferlab.stats import REMEDY
from bufferlab.studies.choosing.choice import Rival
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.choosing.thresholds import notable
from bufferlab.studies.compare.comparison import Comparison, Measured
from bufferlab.studies.words import OWN

OF_LINK: Final = ("utilization", "loss", "wait_mean_ms", "wait_p95_ms")
"""What is shown of the link under each queue."""

MOST_RIVALS: Final = 3
"""Queues that were not taken of which it is said why: the next best, and the worst; the table has all."""


@as_view.register
def comparison_view(comparison: Comparison, *, explain: bool = False) -> View:
    """The answer first, what it rests on, and what was run.

    Args:
        comparison: What was compared.
        explain: Also show the aspects in which all queues are alike, and intervals of what the link does.
    """
    varied = {comparison.link: ("buffer", "queue")}
    shown = comparison.aspects if explain else _deciding(comparison)
    grids = [_felt(comparison, shown), _link(comparison, has_intervals=explain)]
    return View(
        [
            _headline(comparison),
            Heading(answer(comparison)),
            Terms([*_lines(comparison), *_left(comparison, shown, explain=explain)]),
            *grids,
            *notes(grids),
            ScenarioLines(comparison.resolved, comparison.seeds, varied).terms(),
        ]
    )


def _headline(comparison: Comparison) -> str:
    count = len(comparison.seeds)
    seeds = f"{count} seeds" if count > 1 else f"seed {comparison.seeds[0]}"
    return f"{comparison.name}: queue of {comparison.link}; {length_text(comparison.resolved)}; {seeds}"


def _lines(comparison: Comparison) -> Iterator[tuple[str, str]]:
    if OWN in comparison.entries and isinstance(comparison.written, Mapping) and len(comparison.written) > 1:
        yield f"{OWN}'s", str(setting_text(json.dumps(comparison.written)))
    if (equal := equal_text(comparison)) is not None:
        yield "equal", equal
    if (apart := apart_text(comparison)) is not None:
        yield "waits", apart
    yield from _not_taken(comparison)
    if comparison.choice is not None and (edge := edge_text(comparison.choice)) is not None:
        yield "close", edge
    for warning in comparison.warnings:
        yield "beware", warning
    if comparison.choice is not None:
        decides = ", which decides between equal queues" if comparison.tied else ""
        does = f"tries other traffic (what-ifs){decides}, and searches buffers"
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


def _not_taken(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Why the scenario's own queue was not taken, the next best, and the worst.

    The first sentences have what is undecided, and another line the equal ones.
    """
    rivals = () if comparison.choice is None else comparison.choice.rivals
    decided = [rival for rival in rivals if not rival.is_open and rival.name != OWN]
    best = sorted(decided, key=lambda rival: rival.name in comparison.tied)
    named = [rival for rival in rivals if rival.name == OWN] + best
    if len(named) > MOST_RIVALS:
        worst = decided[-1]
        named = [*[rival for rival in named if rival is not worst][: MOST_RIVALS - 1], worst]
    for rival in named:
        yield f"not {comparison.called(rival.name)}", _why_not(comparison, rival)
    if (left := len(rivals) - len(named)) > 0:
        yield "and", f"{left} more in the tables"


def _why_not(comparison: Comparison, rival: Rival) -> str:
    chosen = comparison.ranked[0]
    if rival.missed:
        missed = ", ".join(title_text(each) for each in rival.missed)
        return "; ".join([f"missed: {missed}", *gained(rival, chosen)])
    text = behind_text(rival, comparison.entries[rival.name], chosen)
    is_as_good = rival.name in comparison.tied and (rival.behind.mean or 0.0) >= 0
    return text + tie_text(rival, chosen) if rival.name == OWN and is_as_good else text


def _deciding(comparison: Comparison) -> tuple[Aspect, ...]:
    """The aspects in which users would notice one queue beside another, whatever they weigh; else all."""

    def is_felt(aspect: Aspect) -> bool:
        metric = aspect.metric
        utilities = [aspect.utility({metric: each.mean(metric).mean}) for each in comparison.ranked]
        return max(utilities) / min(utilities) - 1.0 >= notable(aspect, {aspect.kind: 1.0})

    return tuple(filter(is_felt, comparison.aspects)) or comparison.aspects


def _left(comparison: Comparison, shown: Sequence[Aspect], *, explain: bool) -> Iterator[tuple[str, str]]:
    """What the tables leave out."""
    left = [each for each in comparison.aspects if each not in shown]
    if left:
        yield "alike", "; ".join(_range_text(comparison, each) for each in left)
    if not explain:
        yield "more", "--explain has all aspects and intervals, --json all that was measured"


def _range_text(comparison: Comparison, aspect: Aspect) -> str:
    """The least and the most that queues have of an aspect: "bulk: Jain's index 0.98 to 0.99"."""
    known = [entry for entry in comparison.ranked if entry.mean(aspect.metric).mean is not None]
    ends = [
        aspect_text(aspect, end(known, key=lambda entry: entry.mean(aspect.metric).mean or 0.0))
        for end in (min, max)
    ]
    return f"{aspect_title(aspect)} {' to '.join(dict.fromkeys(ends))}"


def _asked(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """By what was judged."""
    if comparison.buffers:
        names = listed([*map(comparison.called, comparison.buffers)])
        reason = "no reason for a larger buffer of one queue; --for fairness makes it one"
        yield "judged", f"{names} without Jain's index, which is {reason}"
    if comparison.needs.targets:
        yield "targets", "; ".join([*map(str, comparison.needs.targets), "by [advise] of the scenario"])
    if comparison.needs.weights_from == "scenario":
        yield "weights", f"{weights_text(comparison.weights)}, by [advise] of the scenario"


def _felt(comparison: Comparison, aspects: Sequence[Aspect]) -> Grid:
    """A row for each queue, a column for each of some aspects."""
    rows = []
    for entry in comparison.ranked:
        rival = comparison.rival(entry.name)
        fare = "" if rival is None else _fare(comparison, rival)
        rows.append([comparison.called(entry.name), fare, *(_cell(entry, each.metric) for each in aspects)])
    heads: list[str | Column] = [metric_of(each.metric).unit.label(aspect_title(each)) for each in aspects]
    rivals = () if comparison.choice is None or comparison.identical else comparison.choice.rivals
    title = fare_title(rivals, "What users feel; they fare")
    return Grid(["queue"], ["users fare", *heads], rows, title)


def _fare(comparison: Comparison, rival: Rival) -> str:
    return fare_text(rival.behind._replace(half_width=None) if comparison.identical else rival.behind)


def _link(comparison: Comparison, *, has_intervals: bool) -> Grid:
    """A row for each queue: its buffer, and what the link does."""
    rows = [
        [
            comparison.called(entry.name),
            buffer_text(entry),
            *(_cell(entry, name, has_intervals=has_intervals) for name in OF_LINK),
        ]
        for entry in comparison.ranked
    ]
    heads: list[str | Column] = [Column("buffer", "left"), *(metric_of(name).label for name in OF_LINK)]
    means = "" if has_intervals or len(comparison.seeds) == 1 else ", in the mean"
    return Grid(["queue"], heads, rows, f"What {comparison.link} does{means}")


def _cell(entry: Measured, name: str, *, has_intervals: bool = True) -> str:
    found = entry.mean(name)
    return cell(found if has_intervals else found._replace(half_width=None), metric_of(name).unit)
