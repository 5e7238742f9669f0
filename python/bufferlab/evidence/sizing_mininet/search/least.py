"""The search: rounds of measurements until the interval is as narrow as asked, on whatever measures.

First the link's full rate is calibrated with plenty of buffer, as the median over some rounds, and a coarse
scan of all sizes is made with the same seeds; then rounds of two sizes with one seed, chosen by `Threshold`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import numpy as np
import polars as pl
from scipy.stats import binom

from bufferlab.evidence.sizing_mininet.search.sample import Sample
from bufferlab.evidence.sizing_mininet.search.threshold import Threshold
from bufferlab.progress import Bar
from bufferlab.results.metrics.metric import FRACTION

Evaluate = Callable[[Sequence[int], int], Sequence[Sample]]
"""Measures each of some sizes once under the same circumstances, which the number of the round stands for."""

SCAN_ROUNDS: Final = 5
"""Rounds of the calibration and the coarse scan."""

SCAN_SIZES: Final = 4
"""Sizes of the coarse scan, beside the one at which the full rate is calibrated."""

MATERIAL: Final = 0.002
"""A larger buffer is worth a warning if it carries less by this share of the full rate."""

SURE_EACH: Final = 0.05
SURE_BOTH: Final = 0.001
"""Chances below which answers that agree at a size, and at two sizes, are no luck."""


@dataclass(frozen=True)
class Effort:
    """How sure and how exact the answer must be.

    Attributes:
        confidence: Probability with which the interval holds the least size.
        resolution: The search ends once the ends of the interval differ by no more than this share.
        rounds: Most rounds, calibration included.
        sizes_a_round: Sizes measured in a round.
    """

    confidence: float = 0.95
    resolution: float = 0.1
    rounds: int = 60
    sizes_a_round: int = 2


@dataclass(frozen=True)
class Found:
    """What a search came to.

    Attributes:
        sizes: The sizes that were thought of, rising, packets.
        estimate: Most likely the least size that keeps the utilization; `None` if no size does.
        low: The true value is not below, packets. Sizes below the smallest were not tried.
        high: The true value is not above, packets; `None` if there may be none up to the largest size.
        confidence: Probability of both.
        reached: Whether the interval is as narrow as was asked.
        full_rate_bps: The calibrated rate, bit/s.
        calibrated_at: The size at which it was calibrated, packets.
        course: One row per measurement, in their order: `round`, `phase`, `buffer_packets`, `rate_bps`,
            `utilization` (of the full rate), `loss`, `wait_mean_ms`, `meets`, `began_s`, `simulated_s`,
            `cpu_s`, `readings_bps`, `reading_s`, and what was known after it: `low`, `high`, `estimate`.
        warnings: What the reader should know.
    """

    sizes: tuple[int, ...]
    estimate: int | None
    low: int
    high: int | None
    confidence: float
    reached: bool
    full_rate_bps: float
    calibrated_at: int
    course: pl.DataFrame
    warnings: tuple[str, ...] = ()

    @property
    def spent(self) -> dict[str, float]:
        """Measurements, simulated seconds and CPU seconds."""
        return {
            "measurements": self.course.height,
            "simulated_s": float(self.course["simulated_s"].sum()),
            "cpu_s": float(self.course["cpu_s"].sum()),
        }


def size_grid(low: int, high: int, resolution: float) -> list[int]:
    """Sizes from `low` to `high` in steps of half the resolution, or of a packet where that is more."""
    steps = max(1, math.ceil(math.log(high / low) / (math.log1p(resolution) / 2.0)))
    return sorted({round(float(size)) for size in np.geomspace(low, high, steps + 1)})


def search_least(
    evaluate: Evaluate,
    target: float,
    sizes: Sequence[int],
    calibrate_at: int,
    *,
    effort: Effort,
    bar: Bar,
) -> Found:
    """Search the least size that keeps a utilization.

    Args:
        evaluate: Measures.
        target: The share of the full rate that must be carried.
        sizes: Sizes to choose from, rising.
        calibrate_at: Size with plenty of buffer, whose rate counts as full.
        effort: How sure and how exact.
        bar: Shows the progress.

    Returns:
        The interval reached.
    """
    state = _State(target, sizes, calibrate_at, effort)
    _scan(state, evaluate, bar)
    while not state.is_done():
        chosen = state.propose()
        state.add("search", chosen, evaluate(chosen, state.rounds))
        bar.update(state.rounds / effort.rounds, state.note())
    return state.found()


def _scan(state: _State, evaluate: Evaluate, bar: Bar) -> None:
    sizes = state.scan_sizes()
    samples = []
    for number in range(SCAN_ROUNDS):
        samples.append(evaluate(sizes, number))
        bar.update((number + 1) / state.effort.rounds, "calibrating")
    state.calibrate(sizes, samples)


class _State:
    """A search under way."""

    def __init__(self, target: float, sizes: Sequence[int], calibrate_at: int, effort: Effort) -> None:
        self.target = target
        self.sizes = list(sizes)
        self.calibrate_at = calibrate_at
        self.effort = effort
        self.rounds = 0
        self.full_rate_bps = 0.0
        self.threshold = Threshold(sizes, effort.confidence)
        self.rows: list[dict[str, Any]] = []

    def scan_sizes(self) -> list[int]:
        wanted = np.geomspace(self.sizes[0], self.sizes[-1], SCAN_SIZES)
        nearest = {min(self.sizes, key=lambda size: abs(size - value)) for value in wanted}
        return sorted(nearest | {self.calibrate_at})

    def calibrate(self, sizes: Sequence[int], rounds: Sequence[Sequence[Sample]]) -> None:
        """Take the scan's samples, once it is known what full is."""
        at = list(sizes).index(self.calibrate_at)
        self.full_rate_bps = median(samples[at].rate_bps for samples in rounds)
        for samples in rounds:
            self.add("scan", sizes, samples)

    def propose(self) -> list[int]:
        aim = math.log1p(self.effort.resolution)
        return [self.sizes[index] for index in self.threshold.propose(aim, self.effort.sizes_a_round)]

    def add(self, phase: str, sizes: Sequence[int], samples: Sequence[Sample]) -> None:
        """Take the samples of one round."""
        met = [self.keeps(sample) for sample in samples]
        place = {size: index for index, size in enumerate(self.sizes)}
        answers = [(place[size], meets) for size, meets in zip(sizes, met, strict=True) if size in place]
        self.threshold.observe(answers)
        low, high = self.bounds()
        for size, sample in zip(sizes, samples, strict=True):
            self.rows.append(self._row(phase, size, sample) | {"low": low, "high": high})
        self.rounds += 1

    def keeps(self, sample: Sample) -> bool:
        """Whether a sample keeps the utilization."""
        return sample.rate_bps >= self.target * self.full_rate_bps

    def _row(self, phase: str, size: int, sample: Sample) -> dict[str, Any]:
        return {
            "round": self.rounds,
            "phase": phase,
            "buffer_packets": size,
            "rate_bps": sample.rate_bps,
            "utilization": sample.rate_bps / self.full_rate_bps if self.full_rate_bps else 0.0,
            "loss": sample.loss,
            "wait_mean_ms": sample.wait_mean_ms,
            "meets": self.keeps(sample),
            "began_s": sample.began_s,
            "simulated_s": sample.simulated_s,
            "cpu_s": sample.cpu_s,
            "readings_bps": list(sample.readings_bps or (sample.rate_bps,)),
            "reading_s": sample.reading_s,
            "estimate": self.estimate(),
        }

    def bounds(self) -> tuple[int, int | None]:
        """Least and most packets of the answer."""
        least, most = self.threshold.interval()
        low = self.sizes[least - 1] + 1 if least > 0 else self.sizes[0]
        return low, self.sizes[most] if most < len(self.sizes) else None

    def estimate(self) -> int | None:
        index = self.threshold.estimate()
        return self.sizes[index] if index < len(self.sizes) else None

    def is_narrow(self) -> bool:
        least, most = self.threshold.interval()
        if least == most:
            return True
        low, high = self.bounds()
        return high is not None and high <= low * (1.0 + self.effort.resolution)

    def is_done(self) -> bool:
        return self.is_narrow() or self.rounds >= self.effort.rounds

    def note(self) -> str:
        low, high = self.bounds()
        return f"{low} … {'?' if high is None else high} packets"

    def found(self) -> Found:
        low, high = self.bounds()
        course = pl.DataFrame(self.rows, infer_schema_length=None)
        return Found(
            sizes=tuple(self.sizes),
            estimate=self.estimate(),
            low=low,
            high=high,
            confidence=self.effort.confidence,
            reached=self.is_narrow(),
            full_rate_bps=self.full_rate_bps,
            calibrated_at=self.calibrate_at,
            course=course,
            warnings=(*falls(course), *reversals(course)),
        )


def falls(course: pl.DataFrame) -> list[str]:
    """Warnings about sizes of the scan at which a larger buffer carried less.

    A pair of neighbors counts if the larger one carried less in each round of the scan, with the same seed,
    and by `MATERIAL` in the median: by chance alone, the first has a probability of 1/32 in five rounds.
    """
    scan = course.filter(pl.col("phase") == "scan").pivot(
        on="buffer_packets", index="round", values="utilization"
    )
    sizes = sorted(int(name) for name in scan.columns if name != "round")
    found = []
    for smaller, larger in itertools.pairwise(sizes):
        less = (scan[str(smaller)] - scan[str(larger)]).to_list()
        if len(less) >= SCAN_ROUNDS and min(less) > 0 and median(less) >= MATERIAL:
            low, high = (FRACTION.quantity(median(scan[str(size)].to_list())) for size in (smaller, larger))
            found.append(
                f"utilization is not monotonic in the buffer: {low} with {smaller} packets, "
                f"{high} with {larger}. The search assumes that it is, so check the figure"
            )
    return found


def reversals(course: pl.DataFrame) -> list[str]:
    """A warning if a size surely keeps the utilization and a larger one surely does not.

    Sure are two sizes if coin tosses would agree as much with a probability of at most `SURE_EACH` at either
    and `SURE_BOTH` at both.
    """
    counts = course.group_by("buffer_packets").agg(pl.len().alias("all"), pl.col("meets").sum())
    rows = [
        (size, float(binom.sf(kept - 1, total, 0.5)), float(binom.cdf(kept, total, 0.5)))
        for size, total, kept in counts.sort("buffer_packets").iter_rows()
    ]
    for first, second in itertools.combinations(rows, 2):
        (yes, luck, _), (no, _, bad_luck) = first, second
        if max(luck, bad_luck) <= SURE_EACH and luck * bad_luck <= SURE_BOTH:
            return [
                f"{yes} packets meet the target and {no} do not: the result is not monotonic in the "
                "buffer, and the answer is one of several"
            ]
    return []
