"""Whether the sizes that are allowed leave too little room: larger ones come nearer to the targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bufferlab.studies.least.answer import Ceiling
from bufferlab.studies.least.lacking import Lack, lack
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.least.plan import Plan
from bufferlab.studies.targets import Target

NEARER: Final = 0.05
"""By this part of what it lacks a target comes nearer, or a larger size is no better."""


def lacks_room(plan: Plan, memory: Memory, unsure: Sequence[Target] = ()) -> bool:
    """Whether more than the largest size may do what that does not.

    It may if each target that the largest size misses comes nearer there than at the size before. A bound on
    waits that it misses does not, so that targets in conflict raise nothing. Few runs tell, so that it may be
    raised in vain, which costs some more of them; that is better than to miss an answer.

    Args:
        plan: What is asked.
        memory: What was measured.
        unsure: Targets that the largest size may miss.
    """
    if plan.most is None or plan.upper >= plan.most:
        return False
    return _rising(plan, memory, unsure)


def _rising(plan: Plan, memory: Memory, unsure: Sequence[Target] = ()) -> bool:
    """Whether each target that the largest size misses comes nearer there than at the size before."""
    if plan.largest or len(memory.sizes) < 2:
        return False
    before, last = memory.sizes[-2:]
    missed = [each for each in plan.targets if each in unsure or not memory.meets(last, each)]
    lacks = [[lack(each, memory.margins(size, each)) for size in (before, last)] for each in missed]
    return all(comes_nearer(one, two) for one, two in lacks)


def comes_nearer(one: Lack, two: Lack) -> bool:
    """Whether what lacks at a size is notably less at the next."""
    if one.unknown != two.unknown:
        return two < one
    return two < one and one.short - two.short >= NEARER * one.short


def raised(plan: Plan) -> Plan:
    """The same with sizes up to twice as large."""
    return replace(plan, upper=min(2 * plan.upper, plan.most or plan.upper))


def ceiling_of(plan: Plan, memory: Memory) -> Ceiling:
    """Why nothing larger was tried."""
    if plan.most is None:
        return "given"
    return "most" if plan.upper >= plan.most and _rising(plan, memory) else "no nearer"
