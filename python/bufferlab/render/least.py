"""How sure an answer is, in words and as a table: for all that search a buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bufferlab.render.grid import Column, Grid
from bufferlab.render.words import value_text
from bufferlab.stats import REMEDY
from bufferlab.studies.least import Check, Goal, Least, lowered, verdicts
from bufferlab.studies.least.answer import RARE
from bufferlab.studies.least.lacking import lack
from bufferlab.studies.least.room import comes_nearer, level_from
from bufferlab.studies.least.search import SURE
from bufferlab.studies.targets import Target
from bufferlab.units import packets_text

_SUREST: Final = 0.999

_RARELY: Final = 0.34
"""Up to this chance it is said once in how many times, and as a share above."""


def checks_grid(checks: Sequence[Check], confidence: float, wanted: float) -> Grid:
    """Each target, what the runs measured that check it, and what is known of it.

    Args:
        checks: The targets.
        confidence: That all are met, candidates that were refused accounted for.
        wanted: The confidence that was asked for.
    """
    rows = [
        [
            target_text(each.target),
            value_text(each.target, each.found),
            verdict,
            percent(each.refuted if verdict == "missed" else level),
        ]
        for each, verdict, level in zip(
            checks, verdicts(checks, confidence, wanted), lowered(checks, confidence), strict=True
        )
    ]
    heads: list[str | Column] = ["measured", Column("", "left"), "sure"]
    return Grid([Column("target", "left", wraps=True)], heads, rows)


def target_text(target: Target) -> str:
    """A target in words: "call: mean wait at most 20 ms"."""
    relation = "at least" if target.at_least else "at most"
    bound = target.metric.unit.quantity(target.bound, digits=10)
    return f"{subject(target)} {relation} {bound}"


def subject(target: Target) -> str:
    """What a target is about: "mean wait", "call: rating R"."""
    metric = target.metric
    if target.group is None:
        return metric.words
    return f"{target.group}: {metric.statistic if metric.what == target.group else metric.words}"


def how_sure(checks: Sequence[Check], confidence: float) -> str:
    """What the confidence means, in plain words."""
    runs = max(check.runs for check in checks)
    if all(check.identical for check in checks):
        return (
            f"all {runs} runs are identical, as nothing in the scenario is random; that is sure of this "
            f"scenario as it is written, and says nothing about chance; {REMEDY}"
        )
    if any(check.saturated for check in checks):
        return (
            f"{percent(confidence)} that fewer than {RARE * 100:g} % of runs miss: all {runs} fresh runs met "
            "a target exactly, so that their scatter tells no more"
        )
    chance = max(1.0 - confidence, 1.0 - _SUREST)
    often = (
        f"at most once in {1.0 / chance:.0f} times" if chance <= _RARELY else f"in {percent(chance)} of cases"
    )
    return (
        f"{percent(confidence)}: if a target were missed in the long run, {runs} fresh runs would look this "
        f"good by chance {often}"
    )


def neighbors(least: Least, goal: Goal) -> Iterator[tuple[str, str]]:
    """What buffers do that are not the answer, each line behind its question."""
    if least.size is None:
        return
    sides = ("larger", "smaller") if goal.largest else ("smaller", "larger")
    yield f"why not {sides[0]}", "; ".join([*_unproven(least, goal), _beyond(least, goal)])
    if (end := _end(least, goal)) is not None:
        yield f"why not {sides[1]}", _misses(least, end, least.memory.surely_fails(end, SURE))
    if least.islands:
        sizes = ", ".join(map(str, least.islands))
        yield "beware", f"{sides[1]} buffers may miss a target again: {sizes} packets do"


def is_sharp(least: Least, goal: Goal) -> bool:
    """Whether runs show that the answer is the least, or the largest, to within the resolution."""
    if least.size is None:
        return False
    step = goal.bolder(least.size, goal.resolution)
    return step == least.size or (least.beyond is not None and not goal.preferred(least.beyond, step))


def gap(least: Least, goal: Goal) -> str:
    """Between which buffers the least one, or the largest, is: "between 3 and 14 packets"."""
    first, last = ends(least, goal)
    return f"between {first} and {last} packets"


def ends(least: Least, goal: Goal) -> tuple[int, int]:
    """The same as numbers."""
    end = goal.ordered((goal.lower, goal.upper))[0]
    beyond = end if least.beyond is None else least.beyond + (-1 if goal.largest else 1)
    size = least.size or least.closest
    return min(beyond, size), max(beyond, size)


def _unproven(least: Least, goal: Goal) -> Iterator[str]:
    """A size that would be a better answer, and is not proven to miss a target."""
    better = [size for size in least.memory.sizes if goal.preferred(size, least.closest)]
    nearest = goal.ordered(better)[-1] if better else None
    if nearest is not None and nearest != least.beyond and not is_sharp(least, goal):
        given = [
            f"{subject(target)} {target.show(_measured(least, nearest, target))}" for target in goal.targets
        ]
        runs = len(least.memory.values(nearest))
        yield f"{packets_text(nearest)}: not proven to miss ({', '.join(given)}; {runs} runs)"


def _end(least: Least, goal: Goal) -> int | None:
    """The nearest buffer on the other side that misses a target, as is expected; `None` if none does."""
    tried = [size for size in least.memory.sizes if goal.preferred(least.closest, size)]
    expected = [size for size in tried if size not in least.islands and least.memory.surely_fails(size, SURE)]
    return goal.ordered(expected)[0] if expected else None


def _beyond(least: Least, goal: Goal) -> str:
    """What a buffer does that would be a better answer."""
    if least.beyond is None:
        end = goal.upper if goal.largest else goal.lower
        return "none was allowed" if least.size == end else "none that was tried misses a target"
    missed = [target for target in goal.targets if not least.memory.meets(least.beyond, target)]
    return _misses(least, least.beyond, missed)


def _misses(least: Least, packets: int, missed: Sequence[Target]) -> str:
    given = [
        f"{subject(target)} {target.show_measured(_measured(least, packets, target))}" for target in missed
    ]
    return f"{packets_text(packets)} {'misses' if packets == 1 else 'miss'}: {', '.join(given)}"


def ceiling_text(least: Least) -> str:
    """Why no larger buffer was tried where none meets, to follow a sentence without its stop."""
    if least.ceiling == "most":
        further = f"--bounds {least.upper}..{4 * least.upper} goes further"
        return f". Larger buffers come nearer, but none above {least.upper} packets was tried: {further}"
    if least.ceiling == "given":
        return ""
    texts = [
        _growing(least, target) or _level(least, target) or _last_step(least, target)
        for target in _missed_last(least)
    ]
    return f". {'; '.join(texts)}" if texts else ""


def _growing(least: Least, target: Target) -> str:
    """That what a target bounds grows with the buffer, if a smaller one meets it."""
    sizes = least.memory.sizes
    if not target.wants_less or not any(least.memory.meets(size, target) for size in sizes):
        return ""
    value = target.show(_measured(least, sizes[-1], target))
    return f"{subject(target).capitalize()} grows with the buffer: {value} at {packets_text(sizes[-1])}"


def _level(least: Least, target: Target) -> str:
    """From where on larger sizes are no better, if that is over more than the last step."""
    memory, sizes = least.memory, least.memory.sizes
    start = level_from(memory, target)
    if start is None or start >= sizes[-2] or lack(target, memory.margins(start, target)).unknown:
        return ""
    means = [_measured(least, size, target) for size in sizes if size >= start]
    low, high = target.show(min(means)), target.show(max(means))
    if low == high:
        return ""
    said = "no larger buffer comes notably nearer"
    return f"From {packets_text(start)} on, {said}: {subject(target)} is {low} to {high}"


def _missed_last(least: Least) -> list[Target]:
    """The targets that the largest size misses, if there is another one to compare it with."""
    sizes, memory = least.memory.sizes, least.memory
    return [each for each in memory.targets if not memory.meets(sizes[-1], each)] if len(sizes) > 1 else []


def _last_step(least: Least, target: Target) -> str:
    """Where a target went from the last size but one to the largest."""
    before, last = least.memory.sizes[-2:]
    step = f"From {before} to {packets_text(last)}, {subject(target)}"
    one, two = (lack(target, least.memory.margins(size, target)) for size in (before, last))
    way = "farther off" if two > one else "nearer" if comes_nearer(one, two) else "hardly nearer"
    if one.unknown or two.unknown:
        shares = f"{one.unknown * 100:.0f}, then {two.unknown * 100:.0f} %"
        return f"{step} is unknown in {shares} of the runs"
    start, end = (target.show(_measured(least, size, target)) for size in (before, last))
    if start == end:
        return f"{step} stays at {start}"
    return f"{step} goes from {start} to {end} ({way})"


def _measured(least: Least, packets: int, target: Target) -> float:
    """The mean of a target's metric over a size's runs."""
    margin = float(least.memory.margins(packets, target).mean())
    return target.bound + (margin if target.at_least else -margin)


def percent(confidence: float) -> str:
    """A confidence, rounded down, so that it claims no more than is known."""
    if confidence > _SUREST:
        return f"> {_SUREST * 100:g} %"
    return f"{int(confidence * 1000) / 10:g} %"
