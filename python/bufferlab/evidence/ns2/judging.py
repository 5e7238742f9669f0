"""Whether two samples of a figure agree: an interval must fit into a margin that is stated beforehand.

The interval is Welch's, of the difference of two means whose samples scatter differently (B. L. Welch, "The
generalization of 'Student's' problem when several different population variances are involved",
Biometrika 34, 1947). To agree, all of it must lie within the margin (as in D. J. Schuirmann's two one-sided
tests, J. Pharmacokinetics and Biopharmaceutics 15(6), 1987). A sample that scatters widely shows nothing, so
it cannot agree. Where ns-2 ran once, its scatter is taken to be ours.

Runs of both sides with the same draws are compared in pairs: what a draw does to both cancels, and the
interval is Student's, of the mean of the differences.

Runs that chance cannot tell apart are compared one by one: the worst must lie within a margin of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from bufferlab.evidence.ns2.criteria import criteria

_TOLERANCE: Final = criteria()["tolerance"]

CONFIDENCE: Final[float] = _TOLERANCE["confidence"]
CAP: Final[float] = _TOLERANCE["relative"]
CAP_POINTS: Final[float] = _TOLERANCE["points"]


@dataclass(frozen=True)
class Figure:
    """A figure that is compared, and how far two simulators that agree may be apart.

    Attributes:
        name: Column.
        label: For tables.
        relative: Whether the margin is `CAP` of ns-2's mean; else it is `CAP_POINTS`.
        resolution: The margin is at least this, in the figure's unit.
        unit: Of the resolution.
    """

    name: str
    label: str
    relative: bool = True
    resolution: float = 0.0
    unit: str = ""

    def margin(self, reference: float) -> float:
        """How far ours may be from a mean of ns-2's."""
        return max(CAP * abs(reference), self.resolution) if self.relative else CAP_POINTS


class Verdict(StrEnum):
    """What a comparison with ns-2 came to."""

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
    """One figure of one setting: ns-2's and ours.

    Attributes:
        figure: Which.
        theirs: Mean of the other simulator's runs.
        ours: Mean of ours.
        difference: Of the means, or of the worst run if runs are compared one by one.
        half_width: Of the interval of the difference.
        margin: How far they may be apart.
    """

    figure: Figure
    theirs: float
    ours: float
    difference: float
    half_width: float
    margin: float

    @property
    def verdict(self) -> Verdict:
        """What it came to."""
        apart = abs(self.difference)
        if apart + self.half_width <= self.margin:
            return Verdict.SAME if apart <= self.half_width else Verdict.SMALL
        return Verdict.LARGE if apart - self.half_width > self.margin else Verdict.UNDECIDED

    @property
    def agrees(self) -> bool:
        """Whether it is sure that the difference is within the margin."""
        return self.verdict in AGREE


def judged(figure: Figure, ns2: Sequence[float], ours: Sequence[float]) -> Judgment:
    """Compare two samples; those of one run each are undecided."""
    theirs, mine = (float(np.mean(side)) for side in (ns2, ours))
    return Judgment(figure, theirs, mine, mine - theirs, welch_half_width(ns2, ours), figure.margin(theirs))


def judged_in_pairs(
    figure: Figure, ns2: Sequence[float], ours: Sequence[float], confidence: float = CONFIDENCE
) -> Judgment:
    """Compare two samples whose runs belong together, in the same order."""
    apart = np.subtract(ours, ns2)
    theirs, mine = (float(np.mean(side)) for side in (ns2, ours))
    half_width = student_half_width(apart, confidence)
    return Judgment(figure, theirs, mine, float(apart.mean()), half_width, figure.margin(theirs))


def judged_by_run(figure: Figure, ns2: Sequence[float], ours: Sequence[float], margin: float) -> Judgment:
    """Compare run by run; `margin` is a part of ns-2's mean, or in the figure's unit if not relative."""
    theirs, mine = (float(np.mean(side)) for side in (ns2, ours))
    worst = max((one - other for one, other in zip(ours, ns2, strict=True)), key=abs)
    scale = abs(theirs) if figure.relative else 1.0
    return Judgment(figure, theirs, mine, worst, 0.0, max(margin * scale, figure.resolution))


def welch_half_width(first: ArrayLike, second: ArrayLike) -> float:
    """Half the width of the interval of the difference of two means, by Welch's test.

    A sample of one is taken to scatter as the other does; the degrees of freedom are then the other's. Of two
    such samples nothing is known.
    """
    sides = [np.asarray(side, dtype=np.float64) for side in (first, second)]
    known = [side for side in sides if side.size > 1]
    if not known:
        return math.inf
    variances = [float((side if side.size > 1 else known[0]).var(ddof=1)) for side in sides]
    squared = [variance / side.size for variance, side in zip(variances, sides, strict=True)]
    if sum(squared) == 0.0:
        return 0.0
    if len(known) == 1:
        freedom = float(known[0].size - 1)
    else:
        freedom = sum(squared) ** 2 / math.fsum(
            each**2 / (side.size - 1) for each, side in zip(squared, sides, strict=True)
        )
    return _quantile(freedom, CONFIDENCE) * math.sqrt(sum(squared))


def student_half_width(sample: ArrayLike, confidence: float = CONFIDENCE) -> float:
    """Half the width of the interval of a mean; nothing is known of the mean of one."""
    values = np.asarray(sample, dtype=np.float64)
    if values.size < 2:
        return math.inf
    return _quantile(values.size - 1, confidence) * float(values.std(ddof=1)) / math.sqrt(values.size)


def _quantile(freedom: float, confidence: float) -> float:
    """How many standard errors half an interval of Student's distribution is wide."""
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    return float(stdtrit(freedom, 0.5 + confidence / 2))


def resolutions(figures: Iterable[Figure]) -> str:
    """The least margins, for readers."""
    return "; ".join(
        f"{each.label} at least {each.resolution:g} {each.unit}".rstrip()
        for each in figures
        if each.resolution
    )
