"""By how much targets are missed: one order for sizes, queues, and whether larger sizes come nearer."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from bufferlab.studies.least.memory import FloatArray
from bufferlab.studies.targets import Target


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


def total(lacks: Iterable[Lack]) -> Lack:
    """By how much several targets are missed."""
    every = list(lacks)
    return Lack(math.fsum(each.unknown for each in every), sum(each.short for each in every))
