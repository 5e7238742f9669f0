"""What a metric is: everything that tables, files, stores and the documentation need to know about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from bufferlab.stats import estimate

Values = Mapping[str, Any]
"""A run's values by the metrics' names, or a row of a summary."""

CONFIDENCE_SUFFIX: Final = "_ci95"
"""Ends the name of half a 95 % confidence interval's width."""


QUANTILES: Final = ((50, "median"), (95, "95th percentile"), (99, "99th percentile"))
"""The quantiles that are shown, %, with their words."""


@dataclass(frozen=True)
class Unit:
    """A unit, in data and on screen.

    Attributes:
        name: In files and in Python.
        shown: In tables and figures; empty for pure numbers.
        scale: Factor from the one to the other.
    """

    name: str
    shown: str = ""
    scale: float = 1.0


TEXT: Final = Unit("text")
NUMBER: Final = Unit("number")
COUNT: Final = Unit("count")
FRACTION: Final = Unit("fraction", "%", 100.0)
PACKETS: Final = Unit("packets", "packets")
SEGMENTS: Final = Unit("segments", "segments")
BYTES: Final = Unit("bytes", "KB", 1e-3)
BITS_PER_S: Final = Unit("bit/s", "Mbps", 1e-6)
SECONDS: Final = Unit("s", "s")
MILLISECONDS: Final = Unit("ms", "ms")


class Better(Enum):
    """Which values of a metric are better."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = ""


Aggregate = Callable[[str, Sequence[Values], Values], Mapping[str, Any]]
"""From a metric's name, its values with each seed and the row so far to what the row gets."""


def mean_with_interval(name: str, of_seeds: Sequence[Values], _row: Values) -> dict[str, float | None]:
    """The mean over the seeds and half the width of its 95 % confidence interval."""
    mean, half_width = estimate(values[name] for values in of_seeds)
    return {name: mean, name + CONFIDENCE_SUFFIX: half_width}


def always(_row: Values) -> bool:
    """Shown in every row."""
    return True


@dataclass(frozen=True)
class Metric:
    """A metric: one number (or word) of each row of its dimension.

    Attributes:
        name: Its name everywhere: summaries, Parquet, stores, `--where`, Python. It ends with the unit.
        unit: Its unit.
        definition: What it is, as the documentation prints it.
        compute: Its value: from the object that a row stands for, or an expression over the engine's table.
            `None` for a column of the engine's table that is taken as it is.
        title: What tables and figures call it; a metric of a frame that has one is part of the summary, too.
        better: Which values are better.
        aggregate: What becomes of it over several seeds.
        hide_zero: Tables leave it out if it is zero for all.
        shown_if: Whether it is shown for a row of a summary.
        out_of: A count with which it makes a whole, which tables show: "5 of 6".
        has_line: Whether tables have a line for it.
    """

    name: str
    unit: Unit
    definition: str
    compute: Callable[[Any], Any] | None = None
    title: str = ""
    better: Better = Better.NEITHER
    aggregate: Aggregate = mean_with_interval
    hide_zero: bool = False
    shown_if: Callable[[Values], bool] = always
    out_of: str = ""
    has_line: bool = True

    @property
    def label(self) -> str:
        """The title and the unit as tables show them."""
        return f"{self.title}, {self.unit.shown}" if self.unit.shown else self.title

    @property
    def axis(self) -> str:
        """The title and the unit as figures show them."""
        return f"{self.title} ({self.unit.shown})" if self.unit.shown else self.title


@dataclass(frozen=True)
class Dimension:
    """What a row is, and the metrics that it has.

    Attributes:
        name: Its name.
        about: What a row is and where it is found, as the documentation prints it.
        metrics: What each row has, in order.
        keys: What tells rows apart.
    """

    name: str
    about: str
    metrics: tuple[Metric, ...]
    keys: tuple[Metric, ...] = ()

    @property
    def columns(self) -> tuple[Metric, ...]:
        """Keys and metrics."""
        return self.keys + self.metrics

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics' names."""
        return tuple(metric.name for metric in self.metrics)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the metrics that are numbers."""
        return tuple(metric.name for metric in self.metrics if metric.unit is not TEXT)

    def __iter__(self) -> Iterator[Metric]:
        return iter(self.metrics)

    def __getitem__(self, name: str) -> Metric:
        """The metric with a name."""
        return next(metric for metric in self.metrics if metric.name == name)

    def in_summary(self) -> Dimension:
        """The part of a frame's metrics that summaries have: those with a title."""
        titled = tuple(metric for metric in self.metrics if metric.title)
        return Dimension(self.name, self.about, titled, self.keys)

    def values(self, row: object) -> dict[str, Any]:
        """A row's values by name."""
        return {metric.name: metric.compute(row) for metric in self.metrics if metric.compute is not None}

    def over_seeds(self, of_seeds: Sequence[Values]) -> dict[str, Any]:
        """A row of a summary from its values with each seed."""
        row: dict[str, Any] = {}
        for metric in self.metrics:
            row |= metric.aggregate(metric.name, of_seeds, row)
        return row
