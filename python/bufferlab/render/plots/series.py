"""Lines and bands for figures: made from samples, over seeds, with as many points as a figure can show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.axes import Axes

from bufferlab.render.plots.style import BAND_ALPHA, line_style
from bufferlab.stats import t_quantile

MAX_BUCKETS: Final = 1500
"""Longer series are reduced to the least and the greatest value in each of this number of intervals: a
figure is about 1000 pixels wide, so it looks the same."""

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """A line of a figure, with a band around it if it is a mean over seeds.

    Attributes:
        label: What the legend says.
        x: Abscissas, ascending.
        y: Ordinates.
        half_width: Half the 95 % confidence interval at each point, `None` for a single seed.
    """

    label: str
    x: FloatArray
    y: FloatArray
    half_width: FloatArray | None = None

    def without_gaps(self) -> Line:
        """The line without the points that have no value."""
        known = np.isfinite(self.y)
        half_width = None if self.half_width is None else np.nan_to_num(self.half_width[known])
        return Line(self.label, self.x[known], self.y[known], half_width)


def lines_over_seeds(samples: pl.DataFrame, value: str, by: str) -> list[Line]:
    """A line for each name in column `by`: the mean over seeds of `value` over `time_s`.

    Args:
        samples: Columns `seed`, `time_s`, `by` and `value`, one row each.
        value: The column to draw.
        by: The column whose values tell the lines apart.
    """
    points = samples.group_by(by, "time_s", maintain_order=True).agg(
        pl.col(value).mean().alias("mean"),
        pl.col(value).std().alias("deviation"),
        pl.col(value).count().alias("count"),
    )
    parts = points.partition_by(by, maintain_order=True)
    return [_line(str(part[by][0]), part.sort("time_s")).without_gaps() for part in parts]


def draw(axes: Axes, lines: Iterable[Line], *, least: float | None = None, most: float | None = None) -> None:
    """Draw lines with their bands, each in a style of its own.

    Args:
        axes: Where.
        lines: What.
        least: No band goes below; what the quantity cannot be.
        most: No band goes above.
    """
    for index, line in enumerate(lines):
        style = line_style(index)
        axes.plot(*decimate(line.x, line.y), label=line.label, **style)
        if line.half_width is not None:
            band = band_envelope(line.x, line.y - line.half_width, line.y + line.half_width)
            low, high = np.clip(band[1], least, most), np.clip(band[2], least, most)
            axes.fill_between(band[0], low, high, color=style["color"], alpha=BAND_ALPHA, linewidth=0)


def decimate(x: FloatArray, y: FloatArray, buckets: int = MAX_BUCKETS) -> tuple[FloatArray, FloatArray]:
    """The series itself if it is short, else its first, last, least and greatest point in each bucket.

    No peak is lost, however short.
    """
    if len(x) <= 4 * buckets:
        return x, y
    kept: list[int] = []
    for start, stop in _buckets(len(x), buckets):
        least, most = start + int(np.argmin(y[start:stop])), start + int(np.argmax(y[start:stop]))
        kept.extend((start, least, most, stop - 1))
    indices = np.unique(np.array(kept))
    return x[indices], y[indices]


def band_envelope(
    x: FloatArray, low: FloatArray, high: FloatArray, buckets: int = MAX_BUCKETS
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The band itself if it is short, else the least `low` and the greatest `high` in each bucket."""
    if len(x) <= 4 * buckets:
        return x, low, high
    starts = np.array([start for start, _ in _buckets(len(x), buckets)])
    return x[starts], np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)


def _buckets(length: int, buckets: int) -> Sequence[tuple[int, int]]:
    edges = np.linspace(0, length, buckets + 1).astype(int).tolist()
    return list(pairwise(edges))


def _line(label: str, points: pl.DataFrame) -> Line:
    x, y = _floats(points["time_s"]), _floats(points["mean"])
    counts = points["count"].to_numpy()
    most = int(counts.max()) if counts.size else 0
    if most < 2:
        return Line(label, x, y)
    factors = np.array(
        [np.nan, np.nan, *(t_quantile(count) / np.sqrt(count) for count in range(2, most + 1))]
    )
    return Line(label, x, y, _floats(points["deviation"]) * factors[counts])


def _floats(column: pl.Series) -> FloatArray:
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
