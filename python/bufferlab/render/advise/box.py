"""The answer at a glance, in a box of 24 lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bufferlab.configure import PLATFORMS
from bufferlab.display import significant
from bufferlab.render.advise.felt import behind_text, users_lines
from bufferlab.render.advise.reasons import helps, idle_note, loss_note
from bufferlab.render.advise.typed import LINUX, Typed
from bufferlab.render.advise.words import (
    check_text,
    confidence_text,
    entry_text,
    measured,
    needs_text,
    queue_text,
    rate_text,
    size_text,
    title_text,
)
from bufferlab.render.least import ceiling_text
from bufferlab.render.view import Box, Line
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.choice import Rival, simplicity
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.queues import OWN
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.least import Check
from bufferlab.studies.targets import Target

MOST_TYPED: Final = 4
"""Lines to type that are in the box; more of them follow it."""


def box_of(advice: Advice, typed: Typed = LINUX) -> Box:
    """The answer: what to run, what it gives, how sure, what would change it, what to type."""
    site = advice.site
    title = f"{site.name}: {site.link}, {rate_text(site.rate_bps)}, RTT {significant(site.rtt_ms, 3)} ms"
    return Box(title, list(_head(advice)), list(_lines(advice, typed)))


def headline(advice: Advice) -> str:
    """The answer in one sentence: what to run, or that nothing meets the targets."""
    return next(_head(advice))


def verdict(advice: Advice) -> str:
    """The answer in a line: what to run, and whether it meets the targets."""
    return " ".join(_head(advice))


def _head(advice: Advice) -> Iterator[str]:
    entry, checks = advice.answer, advice.answer.checks
    what = _what(advice)
    them = {1: "the target", 2: "both targets"}.get(len(checks), f"all {len(checks)} targets")
    if advice.choice.meets:
        yield f"Run {what}"
        if entry.identical:
            yield f"It meets {them}. All {len(entry.runs)} runs are the same: nothing is random here."
        elif advice.met:
            yield f"It meets {them}, {confidence_text(entry.confidence)} ({len(entry.runs)} runs)."
        else:
            yield f"Not confirmed: it meets {them} in the mean, {_unsure(advice)}."
        return
    if all(any(not check.met for check in each.checks) for each in advice.entries.values()):
        yield f"No setting that was tried meets {them}."
    else:
        yield f"No setting is sure to meet {them}: {confidence_text(advice.confidence)} is asked for."
    yield f"Closest: {what}"


def _what(advice: Advice) -> str:
    entry = advice.answer
    size = size_text(advice.site, entry.packets)
    if entry.queue.knob == "limit":
        return f"{queue_text(entry.queue)} with a buffer of {size}."
    return f"{queue_text(entry.queue)}: {entry.queue.show(entry.setting)}, room for {size}."


def _unsure(advice: Advice) -> str:
    return f"{confidence_text(advice.answer.confidence)} of {advice.confidence * 100:g} %"


def _lines(advice: Advice, typed: Typed) -> Iterator[Line]:
    yield Line("link", _used(advice.answer), 1)
    yield Line("wait", _wait(advice.answer), 1)
    for name, felt in users_lines(advice, advice.answer):
        yield Line(name[:9], felt, 1)
    several = len(advice.answer.checks) > 1
    for each in advice.answer.checks:
        yield Line("target", check_text(each) + _sure(each, several=several), 1)
    if (asked := needs_text(advice)) is not None:
        yield Line("asked", asked)
    yield from _notes(advice)
    if advice.sensitivity and advice.choice.meets:
        long, short = _changes(advice, sizes=True), _changes(advice, sizes=False)
        yield Line("changes", long, 4, shorter=[short, _counted(advice)])
    yield from _others(advice)
    yield from _typed(advice, typed)


def _used(entry: Entry) -> str:
    used, lost = entry.checked("utilization"), entry.checked("loss")
    return f"utilization {measured(used, FRACTION)}, loss {measured(lost, FRACTION)}"


def _wait(entry: Entry) -> str:
    mean, late = entry.checked("wait_mean_ms"), entry.checked("wait_p99_ms")
    return f"mean {measured(mean, MILLISECONDS)}, 99th percentile {measured(late, MILLISECONDS)}"


def _sure(check: Check, *, several: bool) -> str:
    return f", {confidence_text(check.confidence)}" if several and check.met and not check.identical else ""


def _notes(advice: Advice) -> Iterator[Line]:
    if not advice.choice.meets and (text := helps(advice)) is not None:
        yield Line("helps", text, 3)
    if not advice.choice.meets and (text := _searched(advice)) is not None:
        yield Line("searched", text, 3)
    if (text := idle_note(advice)) is not None:
        yield Line("idle", text, 2)
    if (text := loss_note(advice)) is not None:
        yield Line("loss", text, 2)
    if advice.stage == "first":
        yield Line("so far", "usual targets of delay only, and 3 seeds to compare queues", 1)
    elif not advice.finished:
        tried = "not everything" if advice.sensitivity else "nothing"
        yield Line("so far", f"{tried} that could change the answer was tried", 1)


def _searched(advice: Advice) -> str | None:
    """Up to which buffer was searched, and why no further."""
    for entry in advice.entries.values():
        if entry.queue.knob == "limit" and entry.least is not None and entry.least.size is None:
            return f"{queue_text(entry.queue)} up to {entry.least.upper} packets{ceiling_text(entry.least)}."
    return None


def _changes(advice: Advice, *, sizes: bool) -> str:
    """Where the answer still meets all targets, and where it misses which; which sizes do there."""
    holding = [_kept(each) if sizes else each.brief for each in advice.sensitivity if each.holds]
    parts = [f"Still meets with {', '.join(holding)}."] if holding else []
    missing: dict[Target, list[str]] = {}
    for each in advice.sensitivity:
        for target in each.missed[:1]:
            missing.setdefault(target, []).append(_broken(each, target) if sizes else each.brief)
    parts += [f"Misses {title_text(target)} with {', '.join(found)}." for target, found in missing.items()]
    return " ".join(parts)


def _counted(advice: Advice) -> str:
    """In how many changes the answer meets all targets."""
    holding, total = sum(each.holds for each in advice.sensitivity), len(advice.sensitivity)
    return f"Still meets in {holding} of {total} changes of the scenario; the last table has each."


def _kept(each: Sensitivity) -> str:
    size = None if each.least is None else each.least.size
    return each.brief if size is None else f"{each.brief} (about {size} suffice)"


def _broken(each: Sensitivity, target: Target) -> str:
    found = target.show(each.values.get(target.name))
    if each.least is None or len(each.least.tried) < 2:
        return f"{each.brief} ({found})"
    if each.least.size is None:
        return f"{each.brief} ({found}; none tried from {each.least.tried[0]} to {each.least.tried[-1]} does)"
    return f"{each.brief} ({found}; about {each.least.size} do)"


def _others(advice: Advice) -> Iterator[Line]:
    """The runner-up, and what plain FIFO comes to, which many routers have alone."""
    fifo = advice.best_fifo()
    rivals = {each.name: each for each in advice.choice.rivals}
    second = next(
        (each for each in advice.choice.rivals if advice.entries[each.name].queue != advice.answer.queue),
        None,
    )
    if second is not None and (fifo is None or second.name != fifo.name):
        entry = advice.entries[second.name]
        yield Line("runner-up", f"{entry_text(entry)}: {_lost(advice, second)}.")
    if fifo is not None and fifo.name in rivals:
        label = "runner-up" if second is not None and second.name == fifo.name else "fifo only"
        start = "fifo, " if label == "runner-up" else ""
        text = f"{start}{size_text(advice.site, fifo.packets)}: {_lost(advice, rivals[fifo.name])}."
        yield Line(label, text)


def _lost(advice: Advice, rival: Rival) -> str:
    """Why a queue was not taken."""
    entry, chosen = advice.entries[rival.name], advice.answer
    if rival.missed:
        checks = {each.target: each for each in entry.checks}
        missed = [checks[target] for target in rival.missed]
        first = missed[0]
        return check_text(first) if not first.met else f"{check_text(first)}, but not confirmed"
    behind = behind_text(rival, entry, chosen)
    if rival.is_equal and simplicity(rival.name) > simplicity(chosen.name):
        kept = "the scenario's own is kept" if chosen.queue.name == OWN else f"{chosen.queue.name} is simpler"
        return f"{behind}; {kept}"
    return behind


def _typed(advice: Advice, typed: Typed) -> Iterator[Line]:
    made = typed.lines(advice)
    entry, lines = made.entry, made.lines
    if entry is None:
        yield Line("type", f"{made.problem}, nor is there another of these queues, as far as is known.", 3)
        return
    label = "type"
    if entry is not advice.answer:
        missed = {each.name: each.missed for each in advice.choice.rivals}[entry.name]
        but = ", which misses a target" if missed else ""
        yield Line("type", f"{made.problem}; for {entry_text(entry)}{but}:", 2)
        label = ""
    if len(lines) > MOST_TYPED:
        yield Line(label, f"the lines for {typed.platform} are below the tables", 1)
    else:
        yield Line(label, "\n".join(lines), verbatim=True)
    if not typed.shape and PLATFORMS[typed.platform].shapes:
        rate = rate_text(advice.site.rate_bps)
        yield Line("", f"Add --shape if the interface itself is faster than {rate}.", 1)
