"""Characteristic values: the standard deviation over the mean of a flow's window in a congestion epoch.

P. Yang, E. Zhang and L. Xu, Sizing Router Buffer for the Internet with Heterogeneous TCP (2013), section
IV-A: from the growth function w(t) of an epoch of length T, (4) mu = ∫ w dt / T, (5) sigma = sqrt(∫ (w −
mu)² dt / T), and a = sigma / mu. This module has (4) and (5) by numeric integration of any growth function,
and closed forms for the families of growth functions. `protocols` names the growth functions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bufferlab.theory.arrays import FloatArray

Growth = Callable[[float], float]
"""Window (any unit) at a time since the epoch's start, s."""


@dataclass(frozen=True)
class Moments:
    """Mean and standard deviation of a window over an epoch.

    Attributes:
        mean: (4), in the window's unit.
        sd: (5), in the same unit.
    """

    mean: float
    sd: float

    @property
    def characteristic(self) -> float:
        """A = sd / mean."""
        return self.sd / self.mean


def integrate_growth(growth: Growth, duration_s: float, breaks_s: tuple[float, ...] = ()) -> Moments:
    """(4) and (5) for any growth function, by adaptive quadrature.

    Args:
        growth: w(t) in any unit, t in s from 0 to `duration_s`.
        duration_s: T, s.
        breaks_s: Times at which w or its slope jumps; they help the quadrature.

    Raises:
        ValueError: A duration that is not positive, or a window whose mean is not.
    """
    if not (math.isfinite(duration_s) and duration_s > 0):
        raise ValueError(f"duration_s must be finite and positive, not {duration_s!r}")
    edges = [0.0, *sorted(time for time in breaks_s if 0 < time < duration_s), duration_s]
    mean = _integral(growth, edges) / duration_s
    if not (math.isfinite(mean) and mean > 0):
        raise ValueError(f"the window's mean must be finite and positive, not {mean!r}")
    variance = _integral(lambda time: (growth(time) - mean) ** 2, edges) / duration_s
    return Moments(mean, math.sqrt(max(variance, 0.0)))


def linear(low: ArrayLike, high: ArrayLike = 1.0) -> FloatArray:
    """The a of linear growth from `low` to `high`: a = (high − low) / (sqrt 3 · (high + low)).

    RENO is `linear(0.5)` = 1/(3 sqrt 3); BIC with Table II's growth and T = R is `linear(0.8, 0.9)`.
    """
    start, end = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    return np.asarray((end - start) / (math.sqrt(3.0) * (end + start)), dtype=np.float64)


def cubic(beta: ArrayLike) -> FloatArray:
    """The a of C(t − T)³ + w_max from beta·w_max: a = (1 − beta)·sqrt(9/112) / ((3 + beta)/4) for any C.

    With x = t/T the window is w_max·(1 − (1 − beta)(1 − x)³); (1 − x)³ has mean 1/4 and variance 1/7 − 1/16.
    """
    kept = np.asarray(beta, dtype=np.float64)
    return np.asarray((1.0 - kept) * math.sqrt(9.0 / 112.0) / ((3.0 + kept) / 4.0), dtype=np.float64)


def quartic(beta: ArrayLike) -> FloatArray:
    """The a of (k·t + (beta·w_max)^¼)⁴ up to w_max, CTCP's growth; k and w_max do not matter.

    With c = beta^¼ the window is w_max·(c + (1 − c)x)⁴; its m-th power has the mean (1 − c^(4m+1)) /
    ((4m+1)(1 − c)).
    """
    root = np.asarray(beta, dtype=np.float64) ** 0.25
    mean = (1.0 - root**5) / (5.0 * (1.0 - root))
    square = (1.0 - root**9) / (9.0 * (1.0 - root))
    return np.asarray(np.sqrt(square - mean**2) / mean, dtype=np.float64)


def exponential(beta: ArrayLike) -> FloatArray:
    """The a of exponential growth from beta·w_max to w_max, as in Scalable TCP.

    The m-th power of the window has the mean w_max^m·(1 − beta^m) / (m·ln(1/beta)).
    """
    kept = np.asarray(beta, dtype=np.float64)
    rounds = np.log(1.0 / kept)
    mean = (1.0 - kept) / rounds
    square = (1.0 - kept**2) / (2.0 * rounds)
    return np.asarray(np.sqrt(square - mean**2) / mean, dtype=np.float64)


def _integral(function: Growth, edges: list[float]) -> float:
    from scipy import integrate  # noqa: PLC0415 - slow to import, and needed for few controls only

    pieces = [integrate.quad(function, low, high, limit=200)[0] for low, high in itertools.pairwise(edges)]
    return float(math.fsum(pieces))
