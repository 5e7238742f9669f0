"""Plain bisection: what is right where there is no noise, and what testbeds did although there was."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from bufferlab.studies.search.goal import Sample
from bufferlab.studies.search.live import Engine, Timing, measure


def interpolated(measure: Callable[[int], float], grid: Sequence[int], target: float) -> float:
    """The least size that keeps `target`, by bisection of `grid` and interpolation between its values.

    For a measure without noise, such as the mean over given seeds, that grows with the size. Infinite if
    the largest of the grid does not do.
    """
    first = bisect.bisect_left(grid, True, key=lambda size: measure(size) >= target)
    if first == len(grid):
        return math.inf
    if first == 0:
        return float(grid[0])
    below, above = grid[first - 1], grid[first]
    low, high = measure(below), measure(above)
    share = (target - low) / (high - low)
    return float(below * (above / below) ** share)


@dataclass(frozen=True)
class Procedure:
    """How a testbed's script bisects while its flows run.

    Attributes:
        target: Share of the calibrated rate that a buffer must keep.
        trial: Timing of a trial.
        pause_s: Waited after a trial, s.
        calibration: Timing of the calibration.
        skip: Its first readings are left out.
    """

    target: float
    trial: Timing
    pause_s: float
    calibration: Timing
    skip: int


@dataclass(frozen=True)
class Bisected:
    """What a script found.

    Attributes:
        packets: Its answer.
        full_rate_bps: The calibrated rate, bit/s.
        trials: The buffers tried, in order, and what was measured; the calibration first.
    """

    packets: int
    full_rate_bps: float
    trials: tuple[tuple[int, Sample], ...]


def bisected(engine: Engine, least: int, most: int, procedure: Procedure) -> Bisected:
    """Bisect as `do_sweep` of mininet-tests' buffersizing.py does (https://github.com/mininet/mininet-tests).

    Each trial decides for good, and the search is over when the bounds are less than two apart. A buffer that
    fails moves the lower bound one above itself, so the answer may be one too high, and is never `least`.

    Raises:
        KeyboardInterrupt: At Ctrl-C.
    """
    first = measure(engine, most, procedure.calibration)
    readings = first.readings_bps[procedure.skip :]
    full_bps = median(readings)
    trials = [(most, replace(first, rate_bps=full_bps, readings_bps=readings))]
    while abs(least - most) >= 2:
        middle = (least + most) // 2
        sample = measure(engine, middle, procedure.trial)
        engine.advance(engine.now_s + procedure.pause_s)
        trials.append((middle, sample))
        if sample.rate_bps / full_bps >= procedure.target:
            most = middle
        else:
            least = middle + 1
    return Bisected(most, full_bps, tuple(trials))
