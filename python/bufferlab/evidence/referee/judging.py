"""Whether two samples of a figure agree: an interval must fit into a margin that is stated beforehand.

The interval is Welch's, of the difference of two means whose samples scatter differently (B. L. Welch, "The
generalization of 'Student's' problem when several different population variances are involved",
Biometrika 34, 1947). To agree, all of it must lie within the margin (as in D. J. Schuirmann's two one-sided
tests, J. Pharmacokinetics and Biopharmaceutics 15(6), 1987). A sample that scatters widely shows nothing, so
it cannot agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from bufferlab.evidence.ns2.compare import CONFIDENCE
from bufferlab.evidence.referee.figures import Figure


class Verdict(StrEnum):
    """What a comparison came to."""

    SAME = "same"
    """The interval lies within the margin and holds zero."""
    SMALL = "small"
    """The interval lies within the margin, but there is a difference."""
    LARGE = "large"
    """The interval lies beyond the margin."""
    UNDECIDED = "undecided"
    """The interval crosses the margin."""


AGREE: Final = (Verdict.SAME, Verdict.SMALL)


@dataclass(frozen=True)
class Judgment:
    """One figure of one setting.

    Attributes:
        figure: Which.
        ns2: Mean of ns-2's runs.
        ours: Mean of ours.
        half_width: Of the interval of the difference.
        margin: How far they may be apart.
    """

    figure: Figure
    ns2: float
    ours: float
    half_width: float
    margin: float

    @property
    def verdict(self) -> Verdict:
        """What it came to."""
        apart = abs(self.ours - self.ns2)
        if apart + self.half_width <= self.margin:
            return Verdict.SAME if apart <= self.half_width else Verdict.SMALL
        return Verdict.LARGE if apart - self.half_width > self.margin else Verdict.UNDECIDED


def judged(figure: Figure, ns2: Sequence[float], ours: Sequence[float]) -> Judgment:
    """Compare two samples of at least two runs each."""
    theirs, mine = np.asarray(ns2, dtype=np.float64), np.asarray(ours, dtype=np.float64)
    return Judgment(
        figure=figure,
        ns2=float(theirs.mean()),
        ours=float(mine.mean()),
        half_width=welch_half_width(theirs, mine),
        margin=figure.margin(float(theirs.mean())),
    )


def welch_half_width(first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray) -> float:
    """Half the width of the interval of the difference of two means, by Welch's test."""
    sides = [np.asarray(side, dtype=np.float64) for side in (first, second)]
    squared = [float(side.var(ddof=1)) / side.size for side in sides]
    if sum(squared) == 0.0:
        return 0.0
    freedom = sum(squared) ** 2 / math.fsum(
        each**2 / (side.size - 1) for each, side in zip(squared, sides, strict=True)
    )
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    return float(stdtrit(freedom, 0.5 + CONFIDENCE / 2)) * math.sqrt(sum(squared))
