"""Plain bisection: what is right where there is no noise, and what testbeds did although there was."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence


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
