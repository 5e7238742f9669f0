"""Where sizes that meet may lie, when no tried one does: between two targets, or on a hump."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from bufferlab.studies.least.fit import Crossing, crossing
from bufferlab.studies.least.goal import Goal
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target

HUMP: Final = 0.25
"""Sizes beside the best one are tried until they are this near to it, as shares."""


_NARROWEST, _WIDEST = 0.15, 0.85
"""Where in a bracket, by the logarithm, the next size may lie."""


def between(memory: Memory, targets: Sequence[Target], missed: int, met: int) -> int:
    """The size in a bracket at which the last of the targets is expected to be met, by interpolation."""
    shares = []
    for target in targets:
        lacking = float(memory.margins(missed, target).mean())
        left = float(memory.margins(met, target).mean())
        if lacking < 0 <= left:
            shares.append(-lacking / (left - lacking))
    share = min(max(max(shares, default=0.5), _NARROWEST), _WIDEST)
    low, high = sorted((missed, met))
    return min(max(round(missed * math.pow(met / missed, share)), low + 1), high - 1)


def ending(memory: Memory, goal: Goal, less: Sequence[Target]) -> Crossing | None:
    """Where targets that want bolder sizes begin to be missed; `None` if no tried size tells.

    Args:
        memory: What was measured.
        goal: What is asked.
        less: The targets that safer sizes miss, such as a mean wait for the least buffer.
    """
    ends = edge(memory, goal, less)
    return None if ends is None else crossing(memory, less, ends[1], ends[0])


def edge(memory: Memory, goal: Goal, less: Sequence[Target]) -> tuple[int, int] | None:
    """The safest tried size that meets targets which want bolder ones, and the next, which misses one.

    `None` if no tried size tells.
    """
    sizes = goal.ordered(memory.sizes)
    met = [place for place, size in enumerate(sizes) if memory.meets_all(size, less)]
    if not less or not met or met[-1] == len(sizes) - 1:
        return None
    return sizes[met[-1]], sizes[met[-1] + 1]


def within_edge(ends: tuple[int, int]) -> int | None:
    """A size between the two of an edge; `None` where they are near."""
    low, high = sorted(ends)
    return round(math.sqrt(low * high)) if high - low > 1 and high > low * (1.0 + HUMP) else None


def room(goal: Goal, begin: Crossing, end: Crossing) -> float:
    """How far it is from where some targets begin to be met to where others end, as a logarithm of the size.

    Negative if they exclude each other.
    """
    return math.log(end.size / begin.size) * (-1.0 if goal.largest else 1.0)


def middle(begin: Crossing, end: Crossing) -> int:
    """The size between that is as many standard deviations from the one as from the other."""
    scatter = begin.scatter + end.scatter
    part = begin.scatter / scatter if scatter > 0 else 0.5
    return round(float(begin.size * (end.size / begin.size) ** part))


def uphill(sizes: Sequence[int], best: int, safest: int) -> int | None:
    """A size beside the best one that was not tried; `None` if its neighbors are near, or it is the safest.

    Args:
        sizes: The tried sizes, rising.
        best: The one that misses by the least.
        safest: The one at the end where targets should be met.
    """
    if best == safest:
        return None
    at = sizes.index(best)
    gaps = [(low, high) for low, high in pairwise(sizes[max(at - 1, 0) : at + 2]) if high - low > 1]
    low, high = max(gaps, key=lambda gap: gap[1] / gap[0], default=(1, 1))
    return round(math.sqrt(low * high)) if high > low * (1.0 + HUMP) else None
