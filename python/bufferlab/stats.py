"""Figures drawn from samples: fairness, confidence intervals over seeds, quantiles of histograms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

CONFIDENCE: Final = 0.95
"""Level of every confidence interval."""

REMEDY: Final = "a jitter of the flows, such as 'uniform(0 s, 50 us)', would let chance in"
"""What to do where all runs are identical, since nothing in the scenario is random."""

_ROUNDING: Final = 1e-9
"""Shares this close are equal."""

FloatArray = npt.NDArray[np.float64]


class Estimate(NamedTuple):
    """A mean over seeds and how sure it is.

    Attributes:
        mean: Mean of the values there are; `None` if there are none.
        half_width: Half the width of the 95 % confidence interval; `None` for fewer than two values.
        known: How many values there are.
        lacking: How many seeds have none.
    """

    mean: float | None
    half_width: float | None
    known: int = 0
    lacking: int = 0

    @property
    def is_partial(self) -> bool:
        """Whether some seeds have a value and others do not: the mean is one of those that have."""
        return self.known > 0 and self.lacking > 0

    @property
    def runs(self) -> int:
        """How many seeds there are."""
        return self.known + self.lacking


def estimate(values: Iterable[float | None]) -> Estimate:
    """Mean and 95 % confidence interval of independent values, by Student's t distribution.

    Values that are `None` or NaN (a figure that a seed does not have) are left out, and counted. Equal values
    are their own mean, and the width is exactly zero: their sum would round.

    The interval holds the true mean in 95 % of cases if values scatter normally. Where rare values are far
    off, it does so less often: with the skewness of an exponential variable in 88 to 90 % for 3 to 8 values,
    in 93 % for 30. Answers that are said to be sure do not rest on it, but on `chance_of_mean`.

    >>> estimate([1.0, 2.0, 3.0])
    Estimate(mean=2.0, half_width=2.48..., known=3, lacking=0)
    """
    every = list(values)
    known = [float(value) for value in every if value is not None and not math.isnan(value)]
    counts = (len(known), len(every) - len(known))
    if not known:
        return Estimate(None, None, *counts)
    if len(known) < 2:
        return Estimate(known[0], None, *counts)
    if min(known) == max(known):
        return Estimate(known[0], 0.0, *counts)
    mean = math.fsum(known) / len(known)
    variance = math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1)
    return Estimate(mean, t_quantile(len(known)) * math.sqrt(variance / len(known)), *counts)


def t_quantile(samples: int, claims: int = 2) -> float:
    """The factor of the standard error with which one-sided claims about means hold together with 95 %.

    Bonferroni's inequality: with m claims each may err with 1/m of the chance. An interval makes two claims,
    so that two give the factor of a plain 95 % interval.

    Args:
        samples: How many values each mean has, at least 2.
        claims: How many claims there are.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import, and needed for several seeds only

    return float(stdtrit(samples - 1, 1 - (1 - CONFIDENCE) / claims))


def chance_of_mean(values: Sequence[float] | FloatArray) -> float:
    """Chance of a mean this high or higher if the true mean were zero; 1 where the mean is not above zero.

    Student's t test with Hall's correction for skewness (P. Hall, "On the removal of skewness by
    transformation", J. R. Statist. Soc. B 54(1), 1992, section 2): the plain test claims too much where rare
    values are far below the others, as a link's utilization has them. A small sample often has none of the
    rare ones and looks symmetrical, so that Hall's test of eight values that are skewed like 1 - an
    exponential variable still errs twice as often as it says. The skewness is therefore taken to be one
    standard error lower than the sample's (G1 and its error, (6/n)^1/2, as in D. N. Joanes, C. A. Gill,
    "Comparing measures of sample skewness and kurtosis", The Statistician 47(1), 1998). That errs no more
    often than it says down to a skewness of -2 (tested from 8 values on), and asks somewhat more of others.

    Values that are all the same tell nothing of their scatter: the chance is then 0 or 1 by their sign. A
    single value is no sample, and one that is NaN spoils it: the chance is 1.

    Args:
        values: Independent values.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.size < 2 or not np.isfinite(sample).all():
        return 1.0
    if np.ptp(sample) == 0:
        return 0.0 if sample[0] >= 0 else 1.0
    if sample.mean() <= 0:
        return 1.0
    sample = sample / np.abs(sample).max()  # squares of small values would vanish
    mean, deviation = float(sample.mean()), float(sample.std(ddof=1))
    from scipy.special import stdtr  # noqa: PLC0415 - slow to import, and needed for several seeds only

    root = math.sqrt(sample.size)
    t = root * mean / deviation
    skew = (_skewness(sample) - math.sqrt(6.0) / root) / root
    return float(stdtr(sample.size - 1, -(t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6)))


def _skewness(sample: FloatArray) -> float:
    """The sample skewness G1; 0 of two values."""
    if sample.size < 3:
        return 0.0
    away = sample - sample.mean()
    unadjusted = float((away**3).mean() / (away**2).mean() ** 1.5)
    return unadjusted * math.sqrt(sample.size * (sample.size - 1)) / (sample.size - 2)


def jain_index(shares: Sequence[float]) -> float | None:
    """Jain's fairness index, (sum x)^2 / (n sum x^2): 1 for equal shares, 1/n if one takes all.

    `None` if there are no shares or all are zero.

    Source: R. Jain, D.-M. Chiu, W. Hawe, "A quantitative measure of fairness and discrimination for resource
    allocation in shared computer systems", DEC-TR-301, 1984.

    >>> jain_index([1.0, 0.0])
    0.5
    """
    largest = max(shares, default=0.0)
    if largest <= 0:
        return None
    scaled = [
        share / largest for share in shares
    ]  # squares of small rates would vanish, of large ones overflow
    return math.fsum(scaled) ** 2 / (len(scaled) * math.fsum(share**2 for share in scaled))


def histogram_quantiles(
    lower: Sequence[float] | FloatArray,
    upper: Sequence[float] | FloatArray,
    count: Sequence[int] | npt.NDArray[np.uint64],
    quantiles: Sequence[float],
    *,
    largest: float = math.inf,
) -> list[float | None]:
    """Quantiles of a histogram, values taken as spread evenly within each bucket.

    Args:
        lower: Least value of each bucket, ascending.
        upper: Greatest value of each bucket.
        count: Values in each bucket.
        quantiles: Which, from 0 to 1.
        largest: The largest value, if known; no quantile is above it.

    Returns:
        One number a quantile, in the buckets' unit; `None` for all if the histogram is empty.
    """
    counts = np.asarray(count, dtype=np.float64)
    cumulative = np.cumsum(counts)
    if cumulative.size == 0 or cumulative[-1] == 0:
        return [None] * len(quantiles)
    ranks = np.asarray(quantiles) * cumulative[-1]
    buckets = np.minimum(np.searchsorted(cumulative, ranks), counts.size - 1)
    held = counts[buckets]
    within = (ranks - (cumulative[buckets] - held)) / np.where(held, held, np.inf)
    least, most = (np.asarray(bounds)[buckets].astype(np.float64) for bounds in (lower, upper))
    found: list[float | None] = np.minimum(least + within * (most - least), largest).tolist()
    return found


class Survival:
    """Durations, some of which were cut off by the end of observation (Kaplan and Meier).

    A duration that was cut off counts as longer than observed; leaving it out would hide the slowest. If all
    have ended, quantiles are the sample's: the least value that a share of at least the quantile does not
    exceed.

    Source: E. L. Kaplan, P. Meier, "Nonparametric estimation from incomplete observations", Journal of the
    American Statistical Association 53(282), 1958, section 2. (scipy.stats has it, too, but takes longer to
    import than a small run takes in total; a test compares the two.)

    Attributes:
        ended: Number of durations that had ended.
        censored: Number of durations that were cut off.

    >>> Survival(np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, True, False])).quantile(0.5)
    2.0
    """

    def __init__(self, durations: FloatArray, ended: npt.NDArray[np.bool_]) -> None:
        self.ended = int(ended.sum())
        self.censored = int(ended.size) - self.ended
        self._durations = durations
        self._has_ended = ended

    @cached_property
    def _curve(self) -> tuple[FloatArray, FloatArray]:
        """The durations in order, and the share that lasts longer than each."""
        times, which = np.unique(self._durations, return_inverse=True)
        ends = np.bincount(which, weights=self._has_ended)
        gone = np.cumsum(np.bincount(which))
        at_risk = self._durations.size - np.concatenate([[0], gone[:-1]])
        return times, np.cumprod(1 - ends / at_risk)

    def quantile(self, quantile: float) -> float | None:
        """A quantile above 0 and below 1, in the durations' unit; `None` if too few have ended to tell."""
        if not self.ended:
            return None
        times, lasting = self._curve
        reached = np.flatnonzero(lasting <= (1 - quantile) * (1 + _ROUNDING))
        return float(times[reached[0]]) if reached.size else None
