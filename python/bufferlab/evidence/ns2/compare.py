"""Whether our runs of a setting agree with ns-2's, by the criterion of its class.

- `paired`: run by run, with ns-2's own start times; the worst run counts.
- `scatter`: the difference of the means is within the 99 % Student interval of such a difference, by the
  scatter of both sides. Where ns-2 ran one seed its scatter is taken to be ours.

A difference up to the class's floor never counts. No tolerance is wider than `CAP` of ns-2's value (of
utilization and shares, than `CAP_POINTS`): where the runs scatter so much that the interval is wider, the
comparison is undecided, unless the difference is wider still.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from bufferlab.evidence.ns2.classes import Metric, RowClass

CONFIDENCE: Final = 0.99
CAP: Final = 0.10
CAP_POINTS: Final = 0.02


class Verdict(StrEnum):
    """What a comparison came to."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Comparison:
    """One metric of one setting.

    Attributes:
        metric: What.
        ns2: ns-2's mean over its seeds.
        ours: Our mean over all runs.
        ns2_range: ns-2's least and most.
        ours_range: Our least and most.
        difference: What the criterion looks at: worst run's difference, or difference of the means.
        tolerance: What it may be.
        scatter: Half width of the interval of the difference; 0 where runs are compared one by one.
    """

    metric: Metric
    ns2: float
    ours: float
    ns2_range: tuple[float, float]
    ours_range: tuple[float, float]
    difference: float
    tolerance: float
    scatter: float

    @property
    def verdict(self) -> Verdict:
        """What it came to."""
        if abs(self.difference) > max(self.tolerance, self.scatter):
            return Verdict.DIFFERS
        return Verdict.UNDECIDED if self.scatter > self.tolerance else Verdict.AGREES

    @property
    def agrees(self) -> bool:
        """Whether the difference is within tolerance, and the runs scatter little enough to tell."""
        return self.verdict is Verdict.AGREES


def compare(
    row_class: RowClass, metric: Metric, ns2: Sequence[float], ours: Sequence[Sequence[float]]
) -> Comparison:
    """Compare one metric.

    Args:
        row_class: Gives criterion and floor.
        metric: Which.
        ns2: ns-2's values, one a seed, at least one.
        ours: Our values, for each seed one a variant; the first seeds are ns-2's.
    """
    theirs = np.asarray(ns2, dtype=np.float64)
    mine = np.asarray(ours, dtype=np.float64)
    scale = abs(float(theirs.mean())) if metric.relative else 1.0
    floor = max(row_class.floors[metric.name] * scale, metric.resolution)
    cap = max((CAP if metric.relative else CAP_POINTS) * scale, metric.resolution)
    difference, scatter = _JUDGES[row_class.criterion](theirs, mine)
    return Comparison(
        metric=metric,
        ns2=float(theirs.mean()),
        ours=float(mine.mean()),
        ns2_range=(float(theirs.min()), float(theirs.max())),
        ours_range=(float(mine.min()), float(mine.max())),
        difference=difference,
        tolerance=min(max(floor, scatter), cap),
        scatter=scatter,
    )


_Floats = NDArray[np.float64]


def _paired(theirs: _Floats, mine: _Floats) -> tuple[float, float]:
    apart = mine[: theirs.size, 0] - theirs
    return float(apart[np.argmax(np.abs(apart))]), 0.0


def _scatter(theirs: _Floats, mine: _Floats) -> tuple[float, float]:
    sample = mine.ravel()
    return float(sample.mean() - theirs.mean()), scatter_of_difference(theirs, sample)


_JUDGES = {"paired": _paired, "scatter": _scatter}


def scatter_of_difference(first: _Floats, second: _Floats) -> float:
    """Half width of the interval of the difference of two means, by Student's t with pooled variance.

    0 if neither side has two values, for nothing is known of the scatter then.
    """
    sides = [side for side in (first, second) if side.size > 1]
    freedom = sum(side.size - 1 for side in sides)
    if freedom == 0:
        return 0.0
    variance = sum(float(side.var(ddof=1)) * (side.size - 1) for side in sides) / freedom
    quantile = float(stdtrit(freedom, 0.5 + CONFIDENCE / 2))
    return quantile * math.sqrt(variance * (1 / first.size + 1 / second.size))
