"""The true answer: the least size at which the expected metrics meet all targets, by many runs.

Nothing here is shared with the search that it judges (`bufferlab.studies.least`): a grid of sizes, the same
many seeds for each, the mean at each size, and the place where the means cross the bound.

The means are made monotone first (the pool-adjacent-violators algorithm: R. E. Barlow, D. J. Bartholomew,
J. M. Bremner and H. D. Brunk, "Statistical inference under order restrictions", Wiley 1972), as the first of
several crossings by chance would lie too early. The interval is the bootstrap's, with seeds drawn again (B.
Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7(1), 1979).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

Measure = Callable[[Mapping[int, int]], Mapping[int, FloatArray]]
"""Margins by size, for each size the number of seeds that is wanted: a row a seed, a column a target."""

SCAN_RATIO: Final = 1.7
SCAN_SEEDS: Final = 4
NARROW_SEEDS: Final = 8
"""Seeds of sizes of the scan that are not clear, and of the sizes that narrow the bracket."""

STEP: Final = 1.04
"""Ratio of neighboring sizes of the grid, which are whole."""

AROUND: Final = 2
"""Sizes on either side of the crossing that have many seeds."""

FEWEST_SEEDS: Final = 24
SHARP: Final = 0.025
"""Seeds are doubled until the interval's half width is this share of the size, or half a packet."""

CLEAR: Final = 3.0
"""Standard errors between a mean and the bound from which on it is clear whether it meets."""

RESAMPLES: Final = 500


@dataclass(frozen=True)
class Effort:
    """How far to go.

    Attributes:
        seeds: Most seeds of a size.
        runs: About the most runs; the seeds are not doubled if that would take more.
    """

    seeds: int = 96
    runs: int = 1200


@dataclass(frozen=True)
class TrueLeast:
    """The true answer.

    Attributes:
        size: The least size that meets all targets, or the largest; `None` if none does.
        low: Lower end of its 95 % interval.
        high: Upper end.
        seeds: Seeds of each size near the crossing.
        runs: Runs that it took.
        islands: Sizes that should meet all targets, being safer, and surely miss one.
    """

    size: int | None
    low: int | None
    high: int | None
    seeds: int
    runs: int
    islands: tuple[int, ...]


def true_least(
    measure: Measure,
    lower: int,
    upper: int,
    *,
    largest: bool = False,
    lasting: Sequence[int] | None = None,
    effort: Effort | None = None,
) -> TrueLeast:
    """Find the least size from `lower` to `upper` that meets all targets, or the largest.

    Args:
        measure: Simulates.
        lower: Least size.
        upper: Largest size.
        largest: Whether the largest is wanted.
        lasting: Columns of the targets that a safer size should meet, too; default all. A bound on waits
            that larger buffers miss makes no island.
        effort: How far to go.
    """
    finder = _Finder(measure, spaced(lower, upper, SCAN_RATIO), spaced(lower, upper, STEP), largest=largest)
    finder.lasting = lasting
    finder.effort = effort or Effort()
    return finder.run()


def spaced(lower: int, upper: int, ratio: float) -> list[int]:
    """Whole sizes from `lower` to `upper`, neighbors about a ratio apart."""
    count = math.ceil(math.log(upper / lower) / math.log(ratio)) + 1
    return sorted({round(float(size)) for size in np.geomspace(lower, upper, count)})


def rising(means: FloatArray) -> FloatArray:
    """The nearest values, by least squares, that do not fall: pooled adjacent violators."""
    pools: list[list[float]] = []  # mean, number
    for mean in means:
        pools.append([float(mean), 1.0])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (one, first), (other, second) = pools[-2:]
            pools[-2:] = [[(one * first + other * second) / (first + second), first + second]]
    return np.repeat([mean for mean, _ in pools], [int(number) for _, number in pools])


def place_of_crossing(margins: FloatArray) -> float:
    """Where, as an index that need not be whole, margins cross zero from below; infinite if outside."""
    smooth = rising(margins)
    met = np.flatnonzero(smooth >= 0)
    if not len(met):
        return math.inf
    first = int(met[0])
    if first == 0:
        return -math.inf
    below, above = smooth[first - 1], smooth[first]
    return first - 1 + float(-below / (above - below))


class _Finder:
    """Sizes are in order of preference: those that miss first, then those that meet."""

    lasting: Sequence[int] | None = None
    effort = Effort()

    def __init__(self, measure: Measure, scan: Sequence[int], grid: Sequence[int], *, largest: bool) -> None:
        self.measure = measure
        self.largest = largest
        self.margins: dict[int, FloatArray] = {}
        self.scan = self._ordered(scan)
        self.grid = self._ordered({*scan, *grid})

    def run(self) -> TrueLeast:
        self._take(self.scan, SCAN_SEEDS)
        self._take([size for size in self.scan if not self._is_clear(size)], NARROW_SEEDS)
        first = next((number for number, size in enumerate(self.scan) if self._meets(size)), None)
        if first is None:
            return self._result(None, None, None, SCAN_SEEDS)
        met = self.grid.index(self.scan[first])
        missed = self.grid.index(self.scan[first - 1]) if first else 0
        while met - missed > 1:
            middle = (missed + met) // 2
            self._take([self.grid[middle]], NARROW_SEEDS)
            missed, met = (missed, middle) if self._meets(self.grid[middle]) else (middle, met)
        return self._sharpened(met)

    def _sharpened(self, place: int) -> TrueLeast:
        """More seeds for the sizes around the crossing until it is sharp."""
        seeds = min(FEWEST_SEEDS, self.effort.seeds)
        last = len(self.grid) - 1
        begin, end = max(place - 1 - AROUND, 0), min(place + AROUND, last)
        while True:
            window = self.grid[begin : end + 1]
            self._take(window, seeds)
            middle, low, high = self._places(window, seeds)
            wider = (
                max(begin - AROUND, 0) if low == -math.inf else begin,
                min(end + AROUND, last) if high == math.inf else end,
            )
            if wider != (begin, end):
                begin, end = wider
                continue
            sizes = [self._size_at(window, each) for each in (middle, low, high)]
            runs = self._runs() + seeds * len(window)
            if self._is_sharp(sizes) or 2 * seeds > self.effort.seeds or runs > self.effort.runs:
                size, *ends = map(self._whole, sizes)
                return self._result(size, ends[0], ends[1], seeds)
            seeds *= 2

    def _places(self, window: Sequence[int], seeds: int) -> tuple[float, float, float]:
        """Where in a window the means cross zero, and the ends of the interval."""
        margins = np.stack([self.margins[size][:seeds] for size in window])
        picks = np.random.default_rng(0).integers(0, seeds, (RESAMPLES, seeds))
        drawn = sorted(place_of_crossing(_worst(margins[:, pick].mean(axis=1))) for pick in picks)
        low, high = (drawn[round(share * (RESAMPLES - 1))] for share in (0.025, 0.975))
        return place_of_crossing(_worst(margins.mean(axis=1))), low, high

    def _size_at(self, window: Sequence[int], place: float) -> float:
        """The size at a place in a window, by the logarithm between sizes; the bound if outside."""
        if place == math.inf:
            return math.nan
        index = max(place, 0.0)
        whole = min(math.floor(index), len(window) - 2) if len(window) > 1 else 0
        below, above = window[whole], window[min(whole + 1, len(window) - 1)]
        return float(below * (above / below) ** (index - whole))

    def _is_sharp(self, sizes: Sequence[float]) -> bool:
        size, *ends = sizes
        width = abs(ends[1] - ends[0]) / 2
        return width <= max(SHARP * size, 0.5)

    def _whole(self, size: float) -> int | None:
        """The first whole size that meets; a hair of rounding is none."""
        if math.isnan(size):
            return None
        return math.floor(size + 1e-9) if self.largest else math.ceil(size - 1e-9)

    def _result(self, size: int | None, low: int | None, high: int | None, seeds: int) -> TrueLeast:
        ends = (high, low) if self.largest else (low, high)
        return TrueLeast(size, *ends, seeds, self._runs(), self._islands(size))

    def _islands(self, size: int | None) -> tuple[int, ...]:
        if size is None:
            return ()
        safer = [each for each in self.scan if (each < size if self.largest else each > size)]
        return tuple(sorted(filter(self._surely_misses, safer)))

    def _surely_misses(self, size: int) -> bool:
        margins = self.margins[size]
        columns = list(range(margins.shape[1]) if self.lasting is None else self.lasting)
        errors = margins.std(axis=0, ddof=1) / math.sqrt(len(margins))
        return bool((margins.mean(axis=0) < -CLEAR * errors)[columns].any())

    def _take(self, sizes: Iterable[int], seeds: int) -> None:
        wanted = {size: seeds for size in sizes if len(self.margins.get(size, ())) < seeds}
        if wanted:
            self.margins.update(self.measure(wanted))

    def _meets(self, size: int) -> bool:
        return bool(_worst(self.margins[size].mean(axis=0)) >= 0)

    def _is_clear(self, size: int) -> bool:
        margins = self.margins[size]
        errors = margins.std(axis=0, ddof=1) / math.sqrt(len(margins))
        return bool((np.abs(margins.mean(axis=0)) > CLEAR * errors).all())

    def _runs(self) -> int:
        return sum(map(len, self.margins.values()))

    def _ordered(self, sizes: Iterable[int]) -> list[int]:
        return sorted(sizes, reverse=self.largest)


def _worst(means: FloatArray) -> FloatArray:
    """The least margin of all targets, each in a unit of its own."""
    worst: FloatArray = means.min(axis=-1)
    return worst
