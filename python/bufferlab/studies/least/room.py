"""Whether the sizes that are allowed leave too little room: larger ones come nearer to the targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from bufferlab.studies.least.answer import Ceiling
from bufferlab.studies.least.goal import Goal
from bufferlab.studies.least.lacking import Lack, lack, total
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target

NEARER: Final = 0.05
"""By this part of what it lacks a target comes nearer, or a larger size is no better."""

DOUBT: Final = 2.0
"""Standard errors within which a difference is noise: chance makes a larger one in 2 of 100 cases."""


def lacks_room(goal: Goal, memory: Memory, unsure: Sequence[Target] = ()) -> bool:
    """Whether more than the largest size may do what that does not.

    It may if it lacks less of all targets together than the size before, and misses no bound on what grows
    with the size, so that targets in conflict raise nothing. Few runs tell, so that it may be raised for
    nothing, which costs some more of them; that is better than to miss an answer.

    Args:
        goal: What is asked.
        memory: What was measured.
        unsure: Targets that the largest size may miss.
    """
    if goal.most is None or goal.upper >= goal.most:
        return False
    return _rising(goal, memory, unsure)


def _rising(goal: Goal, memory: Memory, unsure: Sequence[Target] = ()) -> bool:
    """Whether what the largest size misses is nearer there than at the size before, and does not grow."""
    if goal.largest or len(memory.sizes) < 2:
        return False
    before, last = memory.sizes[-2:]
    missed = [each for each in goal.targets if each in unsure or not memory.meets(last, each)]
    if any(each.wants_less for each in missed):
        return False
    one, two = (total(lack(each, memory.margins(size, each)) for each in missed) for size in (before, last))
    return comes_nearer(one, two)


def comes_nearer(one: Lack, two: Lack) -> bool:
    """Whether what lacks at a size is notably less at the next."""
    if one.unknown != two.unknown:
        return two < one
    return two < one and one.short - two.short >= NEARER * one.short


def in_doubt(memory: Memory) -> bool:
    """Whether chance may have made missed targets come nearer at the largest size; more runs will show."""
    before, last = memory.sizes[-2:]
    missed = [each for each in memory.targets if not memory.meets(last, each)]
    return not any(beyond_noise(memory, each, before, last) for each in missed)


def beyond_noise(memory: Memory, target: Target, size: int, other: int) -> bool:
    """Whether a target is notably nearer at the other size, by more than chance would make of it.

    Both sizes are taken to scatter as all their runs do together, since few of one tell little.
    """
    one, two = memory.margins(size, target), memory.margins(other, target)
    lacks = lack(target, one), lack(target, two)
    if not comes_nearer(*lacks):
        return False
    known = [each[np.isfinite(each)] for each in (one, two)]
    freedom = sum(each.size - 1 for each in known if each.size)
    if lacks[0].unknown != lacks[1].unknown or freedom < 1:
        return True
    variance = sum(float(((each - each.mean()) ** 2).sum()) for each in known) / freedom
    error = math.sqrt(variance * sum(1 / each.size for each in known))
    return abs(float(known[1].mean() - known[0].mean())) > DOUBT * error


def level_from(memory: Memory, target: Target) -> int | None:
    """The size from which on no larger one comes nearer beyond noise; `None` if that is the largest."""
    sizes = memory.sizes
    for at, size in enumerate(sizes[:-1]):
        if not any(beyond_noise(memory, target, size, other) for other in sizes[at + 1 :]):
            return size
    return None


def raised(goal: Goal) -> Goal:
    """These bounds with sizes up to twice as large."""
    return replace(goal, upper=min(2 * goal.upper, goal.most or goal.upper))


def ceiling_of(goal: Goal, memory: Memory) -> Ceiling:
    """Why nothing larger was tried."""
    if goal.most is None:
        return "given"
    return "most" if goal.upper >= goal.most and _rising(goal, memory) else "no nearer"
