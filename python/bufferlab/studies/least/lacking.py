"""By how much targets are missed: one order for sizes, queues, and whether larger sizes come nearer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from bufferlab.results.metrics.metric import FRACTION
from bufferlab.studies.least.memory import FloatArray, margins_of
from bufferlab.studies.targets import Target, Values

_AS_NEAR: Final = math.log(1.25)
"""A bound exceeded this many times more is hardly noticed (our choice)."""


class Lack(NamedTuple):
    """By how much targets are missed; of two, the lesser is nearer to them.

    A run without a value has missed: no transfer came to its end, no packet of a call arrived, and what it
    would have measured is worse than whatever was. No share of the bound says how much worse, so such runs
    are counted, and however far the others are off, more of them are farther.

    Attributes:
        unknown: The share of runs without a value, summed over the targets.
        short: By which share of the bound the mean of the others misses it, summed over the targets.
    """

    unknown: float
    short: float

    def is_as_near(self, nearest: Lack) -> bool:
        """Whether it is nearly as near as the nearest, both by the logarithms of several targets."""
        return self.unknown == nearest.unknown and self.short <= nearest.short + _AS_NEAR


_LEAST: Final = 1e-3
"""Where a bound leaves nothing, what it is taken to leave: idle, or of a value."""

MET: Final = Lack(0.0, 0.0)
"""Of a target that is met."""


def lack(target: Target, margins: FloatArray) -> Lack:
    """By how much runs miss a target, at least one; negative if those with a value meet it.

    Args:
        target: The target.
        margins: How far each run is on the right side; NaN where it has no value.
    """
    known = margins[~np.isnan(margins)]
    short = -float(known.mean()) / (target.bound or 1.0) if known.size else 0.0
    return Lack(1.0 - known.size / margins.size, short)


def runs_lack(runs: Sequence[Values], targets: Iterable[Target]) -> Lack:
    """By how much runs miss several targets together, each by the logarithm of how many times its bound.

    Shares of the bounds would not do: the use of a link that shall be 99 % is short by at most that share of
    it, however idle the link is, while a wait may be many times its bound, so that a buffer of one packet
    would be nearest to most pairs. So a use is measured by what is idle: 5 % where 1 % may be is as far as
    a wait of five times its bound. What meets its bound adds nothing.

    Args:
        runs: What they measured, of at least one.
        targets: The targets.
    """
    lacks = [(target, max(lack(target, margins_of(runs, target)), MET)) for target in targets]
    return total(Lack(each.unknown, _times(target, max(each.short, 0.0))) for target, each in lacks)


def _times(target: Target, short: float) -> float:
    """The logarithm of how many times its bound something is that misses it by a share of it."""
    if not target.at_least:
        return math.log1p(short)
    if target.metric.unit is FRACTION:
        return math.log1p(short * target.bound / max(1.0 - target.bound, _LEAST))
    return -math.log(max(1.0 - short, _LEAST))


def total(lacks: Iterable[Lack]) -> Lack:
    """By how much several targets are missed."""
    every = list(lacks)
    return Lack(math.fsum(each.unknown for each in every), sum(each.short for each in every))
