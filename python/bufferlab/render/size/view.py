"""A sizing: the buffer to take and how sure that is, then what runs say of the published rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bufferlab.display import as_view, significant
from bufferlab.errors import InputError
from bufferlab.render.advise.reasons import heavy_loss, long_wait
from bufferlab.render.advise.typed import Typed, after, amounts_to
from bufferlab.render.advise.words import START_MEASURED, size_text
from bufferlab.render.grid import Column, Grid
from bufferlab.render.least import (
    ceiling_text,
    checks_grid,
    gap,
    how_sure,
    is_sharp,
    neighbors,
    subject,
    target_text,
)
from bufferlab.render.scenario import ScenarioLines
from bufferlab.render.summary import NONE, notes
from bufferlab.render.view import Heading, Terms, Typing, View
from bufferlab.render.words import length_text, measured, metric_of, rate_text, seeds_text
from bufferlab.results.metrics.metric import FRACTION
from bufferlab.studies.advise.advice import mean_values
from bufferlab.studies.least import Check
from bufferlab.studies.size.sizing import METRICS, Sizing
from bufferlab.studies.targets import Values, mean_over_runs
from bufferlab.units import packets_text

ANSWER: Final = "this answer"

BY_SCENARIO: Final = "by [advise] of the scenario"
"""Where targets come from that the command's options do not name."""


@as_view.register
def sizing_view(sizing: Sizing, *, typed: Typed | None = None) -> View:
    """The answer first, what it rests on, the rules, and what was run.

    Args:
        sizing: The sizing.
        typed: Where lines are typed; `None` for no lines.
    """
    least, goal, site = sizing.least, sizing.goal, sizing.site
    asked = _asked(sizing)
    within = f"{goal.confidence * 100:.12g} % sure; {goal.lower} to {least.upper} packets{_raised(sizing)}"
    lines = [("asked", f"{asked}; {within}"), ("gives", _given(sizing))]
    if least.size is not None:
        lines.append(("how sure", how_sure(least.checks, least.confidence)))
        lines += neighbors(least, goal)
    lines += [("beware", text) for text in sizing.warnings]
    lines.append(("cost", f"{sizing.runs} runs of {length_text(sizing.resolved)}"))
    checks = checks_grid(least.checks, least.confidence, goal.confidence)
    return View(
        [
            f"{site.name}: {sizing.queue} at {site.link}, {rate_text(site.rate_bps)}, "
            f"RTT {significant(site.rtt_ms, 3)} ms",
            Heading(headline(sizing)),
            *_heavy_loss(sizing),
            *_long_wait(sizing),
            checks,
            *notes([checks]),
            Terms(lines),
            *(_to_type(sizing, typed) if typed is not None and least.size is not None else []),
            *_judged(sizing),
            ScenarioLines(sizing.resolved, varied={site.link: ("buffer",)}, assumed=sizing.assumed).terms(),
        ]
    )


def _heavy_loss(sizing: Sizing) -> Iterator[str]:
    """A loss that nobody has bounded and hardly anybody would accept."""
    loss = mean_over_runs("loss", sizing.least.values.values()).mean
    if (text := heavy_loss(loss, sizing.goal.targets, sizing.least.memory)) is not None:
        yield f"{text} bufferlab advise weighs larger buffers, and other queues, by what users feel."


def _long_wait(sizing: Sizing) -> Iterator[str]:
    """A wait that is longer than the path, where nobody has bounded it."""
    wait_ms = mean_over_runs("wait_mean_ms", sizing.least.values.values()).mean
    if (text := long_wait(wait_ms, sizing.site.rtt_ms, sizing.goal.targets)) is not None:
        yield text


def _to_type(sizing: Sizing, typed: Typed) -> Iterator[str | Heading | Typing | Terms]:
    """The lines for the answer, or why there are none."""
    try:
        made = sizing.configuration(typed.platform, typed.device, shape=typed.shape)
    except InputError as error:
        yield f"Nothing to type: {typed.platform} cannot take it ({error})."
        return
    if made is None or not made.lines:
        yield f"Nothing to type: {typed.platform} has no {sizing.queue}."
        return
    yield Heading(f"To type on {typed.platform}")
    yield Typing(typed.folded(made.lines))
    amount = amounts_to(made, sizing.least.size or 0)
    about = [("note", each) for each in (*([amount] if amount else []), *made.notes)]
    yield Terms([*about, *after(made)])


def _asked(sizing: Sizing) -> str:
    """The targets, and who asked for them."""
    texts = [target_text(each) for each in sizing.goal.targets if each != sizing.floor]
    by = {"scenario": f", {BY_SCENARIO}", "default": "", "asked": ""}[sizing.targets_from]
    asked = ["; ".join(texts) + by] if texts else []
    if sizing.floor is not None:
        asked.append(f"{target_text(sizing.floor)}, assumed")
    return "; ".join(asked)


def headline(sizing: Sizing) -> str:
    """The answer in a sentence."""
    least, goal = sizing.least, sizing.goal
    early = "" if sizing.finished else " This is the best answer so far: the search was interrupted."
    if least.size is None:
        return f"{no_buffer(sizing)}.{early}"
    if sizing.start_measured:
        early = f" Longer runs may say otherwise: {START_MEASURED} (beware has how to lengthen them).{early}"
    buffer, what = size_text(sizing.site, least.size), _what(sizing)
    if not sizing.met:
        unsure = "but that is not proven. Allow more --runs, or longer runs."
        return f"Perhaps {buffer}: the mean meets {what}, {unsure}{early}"
    kind = "largest" if goal.largest else "smallest"
    take = "Take" if next(_heavy_loss(sizing), None) is None else "By the target alone,"
    if is_sharp(least, goal):
        exact = f"to within {FRACTION.quantity(goal.resolution)}"
        return f"{take} {buffer}: the {kind} buffer that meets {what}, {exact}.{early}"
    return f"{take} {buffer}: it meets {what}. The {kind} buffer that does is {gap(least, goal)}.{early}"


def no_buffer(sizing: Sizing) -> str:
    """Why there is no answer, and what comes closest."""
    least, goal = sizing.least, sizing.goal
    kept = [target_text(target) for target in goal.targets if target not in least.conflict]
    but = f"meets {' and '.join(kept)}, but " if kept else ""
    missed = [_result(each) for each in least.checks if not each.met]
    none = f"No buffer from {goal.lower} to {packets_text(least.upper)} meets {_what(sizing)}"
    closest = size_text(sizing.site, least.closest)
    if sizing.start_measured:
        none = f"Not known yet: {START_MEASURED}. Run it again as beware says; in these runs: {none}"
    return f"{none}. The closest buffer, {closest}, {but}still {' and '.join(missed)}{ceiling_text(least)}"


def _raised(sizing: Sizing) -> str:
    """That the search has gone beyond where it was to end."""
    first = sizing.goal.upper
    return f", as all up to {first} miss and larger ones come nearer" if sizing.least.upper > first else ""


def _result(check: Check) -> str:
    """What a buffer does that misses a target: "loses 1.524 %"."""
    found = check.target.show(check.mean)
    return f"loses {found}" if check.target.name == "loss" else f"has {subject(check.target)} {found}"


def _what(sizing: Sizing) -> str:
    return "the target" if len(sizing.goal.targets) == 1 else "all targets"


def _given(sizing: Sizing) -> str:
    """What the link does with the buffer, whatever was asked for."""
    runs = sizing.least.values.values()
    parts = []
    for name in METRICS:
        metric = metric_of(name)
        parts.append(f"{metric.words} {measured(mean_over_runs(name, runs), metric.unit)}")
    seeds = [*sizing.least.values]
    many = f"means of {len(seeds)} runs with " if len(seeds) > 1 else ""
    return f"{', '.join(parts)}; {many}{seeds_text(seeds)}"


def _judged(sizing: Sizing) -> Iterator[Grid]:
    """A row a rule, and one for the answer."""
    if not sizing.judged:
        return
    names = sizing.metrics()
    rows: list[tuple[str, int, str, Values]] = [
        (each.rule, each.packets, each.verdict, each.values) for each in sizing.judged
    ]
    if sizing.least.size is not None:
        verdict = "met" if sizing.met else "not proven"
        rows.append((ANSWER, sizing.least.size, verdict, mean_values(list(sizing.least.values.values()))))
    rows.sort(key=lambda row: row[1])
    yield Grid(
        ["rule", Column("packets")],
        [Column("targets", "left"), *map(_label, names)],
        [
            [rule, str(packets), verdict, *(_cell(name, values.get(name)) for name in names)]
            for rule, packets, verdict, values in rows
        ],
        "What the published rules say, and what runs say of it",
    )


def _cell(name: str, value: float | None) -> str:
    return NONE if value is None else metric_of(name).unit.text(value)


def _label(name: str) -> str:
    group, label = name.rpartition(".")[0], metric_of(name).label
    return f"{group}: {label.removeprefix(f'{group}: ')}" if group else label
