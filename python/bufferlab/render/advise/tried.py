"""What was tried before there is an answer, for people: a table, and that it is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from bufferlab.display import as_view
from bufferlab.render.advise.words import place_text, size_text
from bufferlab.render.grid import Column, Grid
from bufferlab.render.summary import NONE, notes
from bufferlab.render.view import Heading, View
from bufferlab.render.words import listed, title_text
from bufferlab.results.metrics.metric import FRACTION, Unit
from bufferlab.results.metrics.registry import QUEUE_SUMMARY
from bufferlab.studies.advise.entry import Site
from bufferlab.studies.advise.tried import Attempt, Tried
from bufferlab.studies.choosing.thresholds import loses_heavily
from bufferlab.studies.heavy import smaller_by, sooner
from bufferlab.studies.targets import Target, Values, mean_over_runs

_RULES: Final = {"stanford": "BDP/√n", "bdp": "a BDP"}
"""Published rules that are named before there is a run."""

_LINK: Final = ("utilization", "loss", "wait_mean_ms")


@as_view.register
def tried_view(tried: Tried) -> View:
    """That there is no answer yet, and what was tried."""
    where = place_text(tried.site)
    if not tried.attempts:
        heading = Heading("No answer yet: interrupted before the first simulation had ended.")
        return View([where, heading, *_unmeasured(tried.site)])
    runs = f"{tried.runs} {'simulation' if tried.runs == 1 else 'simulations'}"
    grid = _grid(tried)
    return View(
        [
            where,
            Heading(f"No answer yet: interrupted after {runs}."),
            f"Targets: {'; '.join(map(str, tried.targets))}.",
            *_met(tried),
            *_never_met(tried),
            grid,
            *notes([grid]),
        ]
    )


def _unmeasured(site: Site) -> Iterator[str]:
    """What rules say, and how to have an answer sooner."""
    known = [
        f"{words} is {size_text(site, site.rules[name])}"
        for name, words in _RULES.items()
        if name in site.rules
    ]
    if known:
        yield f"Published rules, which no run has checked here: {listed(known)}."
    factor = smaller_by(each.flows for each in site.users if each.control is not None)
    if factor is not None:
        yield f"{sooner(factor)}."


def _met(tried: Tried) -> Iterator[str]:
    """Which queues seem to meet the targets, each with the first setting that does and does not lose much."""
    met = [each for each in tried.attempts if not each.missed]
    light = [each for each in met if not loses_heavily(_loss(each), tried.targets)]
    first = {each.queue: each.setting for each in reversed(light)}
    order = dict.fromkeys(each.queue for each in tried.attempts)
    known = [f"{queue} ({first[queue]})" for queue in order if queue in first]
    if known:
        yield f"In the mean of the runs so far this is met by {listed(known)}: the best guess, and no answer."
    elif met:
        least = min(_loss(each) or 0.0 for each in met)
        yield (
            "What meets the targets so far loses much, "
            f"{FRACTION.quantity(least)} of the packets or more, so it is no guess worth trying."
        )


def _never_met(tried: Tried) -> Iterator[str]:
    """Of each target that all miss, what comes nearest."""
    for target in tried.targets:
        means = [(mean_over_runs(target.name, each.values).mean, each) for each in tried.attempts]
        known = [(mean, each) for mean, each in means if mean is not None]
        if len(known) < 2 or any(target in each.targets and target not in each.missed for _, each in known):
            continue
        nearest, at = max(known, key=lambda each: target.margin(each[0]))
        setting = f"{at.queue}, {at.setting}"
        if target.margin(nearest) < 0:
            shown = target.show_measured(nearest)
            yield f"All {len(known)} settings tried so far miss {target}: nearest {shown} ({setting})."


def _loss(attempt: Attempt) -> float | None:
    return mean_over_runs("loss", attempt.values).mean


def _grid(tried: Tried) -> Grid:
    known = [(QUEUE_SUMMARY[name].label, name, QUEUE_SUMMARY[name].unit) for name in _LINK]
    known += [
        (each.metric.unit.label(title_text(each)), each.name, each.metric.unit)
        for each in {each.name: each for each in tried.targets}.values()
        if each.name not in _LINK
    ]
    heads: list[str | Column] = [
        "runs",
        Column("targets so far", "left", wraps=True),
        *(head for head, _, _ in known),
    ]
    rows = [
        [
            each.queue,
            each.setting,
            str(len(each.values)),
            _missed_text(each.missed),
            *(_mean(name, unit, each.values) for _, name, unit in known),
        ]
        for each in tried.attempts
    ]
    return Grid(["queue", "setting"], heads, rows, "What was tried so far, in means; nothing is decided yet")


def _missed_text(missed: Iterable[Target]) -> str:
    names = ", ".join(map(title_text, missed))
    return f"missed: {names}" if names else "met"


def _mean(name: str, unit: Unit, runs: Iterable[Values]) -> str:
    mean = mean_over_runs(name, runs).mean
    return NONE if mean is None else unit.text(mean, digits=4 if unit is FRACTION else 3)
