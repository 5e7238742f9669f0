"""The characteristic value of measured windows: mean and standard deviation over congestion epochs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bufferlab.theory.arrays import FloatArray

DEFAULT_DROP: Final = 0.05
"""A window that falls by more than this share from one sample to the next ends an epoch. It is less than any
protocol's 1 − beta (the least is Scalable TCP's, 0.125) and more than rounding."""


@dataclass(frozen=True)
class MeasuredCharacteristic:
    """The estimate from samples of one window.

    Attributes:
        characteristic: a, the standard deviation over the mean within an epoch, (5) over (4): the mean over
            epochs, weighted by their lengths.
        overall: The same over all complete epochs at once, which includes differences between epochs.
        mean: Time average of the window over complete epochs, in the samples' unit.
        beta: Mean of the window at an epoch's start over the one before the fall.
        epochs: Number of complete epochs.
        epoch_mean_s: Their mean length, s.
    """

    characteristic: float
    overall: float
    mean: float
    beta: float
    epochs: int
    epoch_mean_s: float


def measure_characteristic(
    times_s: ArrayLike, windows: ArrayLike, drop: float = DEFAULT_DROP
) -> MeasuredCharacteristic:
    """Estimate a from samples of one flow's congestion window.

    The window is assumed to be linear between samples, and to jump where an epoch ends. Samples before the
    first and after the last congestion event, slow start included, belong to no complete epoch and are
    ignored.

    Args:
        times_s: When the samples were taken, s; increasing.
        windows: The window at these times, any unit.
        drop: A fall by more than this share ends an epoch.

    Raises:
        ValueError: Samples that are not a series of positive numbers in order of time, or fewer than two
            congestion events in them.
    """
    when, size = np.asarray(times_s, dtype=np.float64), np.asarray(windows, dtype=np.float64)
    _check(when, size)
    peaks, starts = _falls(size, drop)
    if starts.size < 2:
        raise ValueError("a complete epoch needs two congestion events; the samples have fewer")
    spans = list(zip(starts[:-1], peaks[1:] + 1, strict=True))
    moments = np.array([_integrals(when[low:high], size[low:high]) for low, high in spans])
    moments = moments[moments[:, 0] > 0]
    if moments.shape[0] == 0:
        raise ValueError("no epoch has two samples: sample more often")
    length, first, second = moments.T
    mean = first / length
    deviation = np.sqrt(np.maximum(second / length - mean**2, 0.0))
    whole_mean = first.sum() / length.sum()
    whole_square = second.sum() / length.sum()
    return MeasuredCharacteristic(
        characteristic=float(np.average(deviation / mean, weights=length)),
        overall=float(np.sqrt(max(whole_square - whole_mean**2, 0.0)) / whole_mean),
        mean=float(whole_mean),
        beta=float(np.mean(size[starts] / size[peaks])),
        epochs=int(moments.shape[0]),
        epoch_mean_s=float(length.mean()),
    )


def _check(when: FloatArray, size: FloatArray) -> None:
    if when.ndim != 1 or when.shape != size.shape or when.size < 2:
        raise ValueError("times_s and windows must be series of the same length, 2 samples or more")
    if not np.all(np.diff(when) > 0):
        raise ValueError("times_s must increase")
    if not np.all(np.isfinite(size) & (size > 0)):
        raise ValueError("windows must be finite and positive")


def _falls(size: FloatArray, drop: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Last sample before and first after each congestion event; a fall in several steps is one event."""
    falls = np.concatenate([[False], size[1:] < size[:-1] * (1.0 - drop), [False]])
    before, after = falls[:-1], falls[1:]
    return np.flatnonzero(~before & after), np.flatnonzero(before & ~after)


def _integrals(when: FloatArray, size: FloatArray) -> tuple[float, float, float]:
    """Length, ∫ w dt and ∫ w² dt of samples joined by straight lines."""
    step, low, high = np.diff(when), size[:-1], size[1:]
    first = float(np.dot(step, low + high)) / 2.0
    second = float(np.dot(step, low**2 + low * high + high**2)) / 3.0
    return float(step.sum()), first, second
