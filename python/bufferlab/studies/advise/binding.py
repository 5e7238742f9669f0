"""Which targets decide an answer: what nobody has asked for is not named where something else binds."""

from __future__ import annotations

from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.targets import Target, want_largest


def binds(advice: Advice, target: Target) -> bool:
    """Whether a target may decide the answer.

    One that nobody has asked for does not, beside others, if the answer meets it, and the nearest buffer on
    the preferred side that misses something misses what somebody asked for, or no buffer was searched.

    Args:
        advice: The advice.
        target: The target, as the answer is held to it.
    """
    held = [each.target for each in advice.answer.checks]
    is_beside = any(not advice.needs.is_assumed(each) for each in held)
    if not is_beside or not advice.choice.meets or not advice.needs.is_assumed(target):
        return True
    memory, setting = advice.answer.buffers, advice.answer.setting
    if memory is None:
        return False
    is_largest = want_largest(advice.targets)
    for size in memory.sizes if is_largest else reversed(memory.sizes):
        missed = [each for each in held if not memory.meets(size, each)]
        if missed and (size > setting if is_largest else size < setting):
            return all(map(advice.needs.is_assumed, missed))
    return False
