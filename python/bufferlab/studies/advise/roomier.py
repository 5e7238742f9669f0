"""A larger buffer than the least that holds in more traffic, where something says how much larger it may be.

Who bounds waits beside the link's use has room for more than the least: several buffers meet all targets.
The least is then the one that other traffic breaks first. And what a FIFO runs today is a size that need not
change where its queue does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target, bounds_loss, want_largest

LARGER: Final = 1.25
"""How many times as large as the answer a buffer is at least: changes are searched as roughly."""


def are_two_sided(targets: Sequence[Target]) -> bool:
    """Whether some targets bound waits and others want more than the largest buffer that keeps those."""
    waits = [each for each in targets if each.wants_less and not bounds_loss([each])]
    return bool(waits) and not want_largest(targets)


def largest_that_meets(memory: Memory, size: int) -> int:
    """The largest size from one on, up to which each that was tried meets all targets."""
    for each in memory.sizes:
        if each > size:
            if not memory.meets_all(each):
                break
            size = each
    return size


def edges_that_meet(memory: Memory, size: int) -> tuple[int, int] | None:
    """About the least and the largest size around one between which all targets are met.

    Between a size that meets them and the next one that does not, what targets bound is taken as linear.

    Args:
        memory: The runs of a search.
        size: A size that meets all targets.

    Returns:
        Both; `None` where no smaller or no larger size that was tried misses a target.
    """
    if size not in memory.sizes or not memory.meets_all(size):
        return None
    low, high = (
        _edge(memory, [each for each in turn if (each - size) * sign >= 0])
        for turn, sign in ((memory.sizes[::-1], -1), (memory.sizes, 1))
    )
    return None if low is None or high is None else (math.ceil(low), math.floor(high))


def _edge(memory: Memory, sizes: Sequence[int]) -> float | None:
    """Where the first of the targets is missed that all are met with the first size; `None` if none is."""
    for inner, outer in pairwise(sizes):
        shares = []
        for target in memory.targets:
            near, far = (float(memory.margins(each, target).mean()) for each in (inner, outer))
            if not far >= 0:
                shares.append(near / (near - far) if math.isfinite(far) else 0.0)
        if shares:
            return inner + (outer - inner) * min(shares)
    return None


def broken(advice: Advice) -> int:
    """In how many changes of the traffic the answer misses a target in the mean."""
    return sum(not each.holds for each in advice.sensitivity)


def roomier_size(advice: Advice, today: int | None = None) -> int | None:
    """The buffer that may hold in more changes of the traffic than the answer does; `None` if there is none.

    Between two bounds it is what the most demanding change takes. Else it is what a FIFO runs today, where
    another queue is the answer: of what can be left as it is, nothing has to be explained.

    Args:
        advice: The answer, and about the least buffer of each change of the traffic.
        today: The buffer of the FIFO that the link runs now, packets; `None` if it runs none, or unknown.
    """
    answer = advice.answer
    memory = answer.buffers
    if memory is None or not advice.met or not broken(advice):
        return None
    if not are_two_sided(advice.targets):
        is_other = answer.queue.kind != "fifo" and not want_largest(advice.targets)
        return today if today is not None and is_other and LARGER * answer.setting <= today else None
    most = largest_that_meets(memory, answer.setting)
    wanted = [
        each.least.size
        for each in advice.sensitivity
        if not each.holds and each.least is not None and each.least.size is not None
    ]
    return max((size for size in wanted if LARGER * answer.setting <= size <= most), default=None)
