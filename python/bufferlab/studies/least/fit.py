"""Where targets begin to be met: straight lines through margins near the bracket."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from bufferlab.studies.least.memory import FloatArray, Memory
from bufferlab.studies.targets import Target

REACH: Final = 1.6
"""The line is fitted to runs from the bracket's lower end over this to its upper end times this."""

POWER: Final = 5.0
"""Standard errors between the expected margin and zero, so that nine of ten good candidates are confirmed:
the quantiles 0.9875 and 0.9 of the normal distribution are 3.5 together, and the test asks for more where
values are skewed."""


class Crossing(NamedTuple):
    """Where a fitted line crosses zero.

    Attributes:
        size: The size, not rounded.
        scatter: Standard deviation of one run's margin over the line's slope: how far, as a logarithm of the
            size, one run may mislead.
        error: Standard error of the crossing, as a logarithm of the size.
    """

    size: float
    scatter: float
    error: float


def crossing(memory: Memory, targets: Sequence[Target], missed: int, met: int) -> Crossing | None:
    """The crossing of the targets' lines within the bracket that is nearest to the end where they are met.

    `None` if no line crosses.
    """
    low, high = sorted((missed, met))
    sizes = [size for size in memory.sizes if low / REACH <= size <= high * REACH]
    found = [_crossing(memory, target, sizes, (missed, met)) for target in targets]
    nearest = max if met > missed else min
    return nearest((each for each in found if each is not None), default=None)


def runs_to_show(margins: FloatArray) -> int:
    """Runs that would confirm a target if its margins were what they seem; 0 where they do not tell."""
    mean = float(margins.mean())
    if mean <= 0 or math.isnan(mean) or len(margins) < 2:
        return 0
    return math.ceil((POWER * float(margins.std(ddof=1)) / mean) ** 2)


def _crossing(memory: Memory, target: Target, sizes: Sequence[int], ends: tuple[int, int]) -> Crossing | None:
    missed, met = ends
    low, high = sorted(ends)
    margins = [memory.margins(size, target) for size in sizes]
    places = np.concatenate(
        [np.full(len(each), math.log(size)) for size, each in zip(sizes, margins, strict=True)]
    )
    values = np.concatenate(margins)
    if not np.isfinite(values).all() or np.ptp(places) == 0:
        return None
    slope, level = np.polyfit(places, values, 1)
    if slope * (met - missed) <= 0 or memory.margins(missed, target).mean() >= 0:
        return None
    size = math.exp(min(max(-level / slope, math.log(low)), math.log(high)))
    scatter = _within(margins) / abs(float(slope))
    near = sum(len(memory.margins(size, target)) for size in sizes if low <= size <= high)
    return Crossing(size, scatter, scatter / math.sqrt(near))


def _within(margins: Sequence[FloatArray]) -> float:
    """Standard deviation of margins about their size's mean, which the line's curvature leaves alone."""
    squares = sum(float(((each - each.mean()) ** 2).sum()) for each in margins)
    freedom = sum(len(each) - 1 for each in margins)
    return math.sqrt(squares / freedom) if freedom > 0 else 0.0
