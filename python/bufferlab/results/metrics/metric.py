"""What a metric is: everything that tables, files, stores and the documentation need to know about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from bufferlab.display import significant
from bufferlab.stats import Estimate, estimate

Values = Mapping[str, Any]
"""A run's values by the metrics' names, or a row of a summary."""

CONFIDENCE_SUFFIX: Final = "_ci95"
"""Ends the name of half a 95 % confidence interval's width."""

RUNS_SUFFIX: Final = "_runs"
"""Ends the name of the number of runs that a mean is of, where it is not all."""

DIGITS: Final = 4
_WIDTH_DIGITS: Final = 2
"""Significant digits that are shown of a value, and of half its interval's width."""

ROUNDING: Final = 1e-6
"""An interval this much narrower than its value is none."""

QUANTILES: Final = ((50, "median"), (95, "95th percentile"), (99, "99th percentile"))
"""The quantiles that are shown, %, with their words."""


@dataclass(frozen=True)
class Unit:
    """A unit, in data and on screen.

    Attributes:
        name: In files and in Python.
        shown: In tables and figures; empty for pure numbers.
        times: Factor from the one to the other.
        per: Divisor from the one to the other; the inverse would round.
    """

    name: str
    shown: str = ""
    times: float = 1.0
    per: float = 1.0

    def scaled(self, value: Any) -> Any:  # noqa: ANN401 - numbers, arrays, columns and expressions
        """What has the unit of data, in the one that is shown."""
        return value * self.times / self.per

    def label(self, words: str) -> str:
        """Words and the unit as tables show them."""
        return f"{words}, {self.shown}" if self.shown else words

    def axis(self, words: str) -> str:
        """Words and the unit as figures show them."""
        return f"{words} ({self.shown})" if self.shown else words

    def text(self, value: float, half_width: float | None = None, digits: int = DIGITS) -> str:
        """A value as it is shown, with half the width of its interval if that is more than rounding.

        >>> FRACTION.text(0.98765), FRACTION.text(0.98765, 0.01), FRACTION.text(0.98765, 0.0)
        ('98.77', '98.77 ± 1', '98.77')
        """
        text = significant(self.scaled(value), digits)
        # what lies far below the digits shown is rounding, not spread
        if not half_width or math.isnan(half_width) or half_width < ROUNDING * abs(value):
            return text
        return f"{text} ± {significant(self.scaled(half_width), _WIDTH_DIGITS)}"

    def quantity(self, value: float, half_width: float | None = None, digits: int = DIGITS) -> str:
        """The text with the unit.

        >>> BYTES.quantity(1500), NUMBER.quantity(2)
        ('1.5 KB', '2')
        """
        text = self.text(value, half_width, digits)
        return f"{text} {self.shown}" if self.shown else text


TEXT: Final = Unit("text")
NUMBER: Final = Unit("number")
COUNT: Final = Unit("count")
FRACTION: Final = Unit("fraction", "%", times=100.0)
PACKETS: Final = Unit("packets", "packets")
SEGMENTS: Final = Unit("segments", "segments")
BYTES: Final = Unit("bytes", "KB", per=1e3)
BITS_PER_S: Final = Unit("bit/s", "Mbps", per=1e6)
SECONDS: Final = Unit("s", "s")
BRIEF_SECONDS: Final = Unit("s", "ms", times=1e3)
MILLISECONDS: Final = Unit("ms", "ms")
MILLIONS: Final = Unit("number", "million", per=1e6)


class Better(Enum):
    """Which values of a metric are better."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = ""


Aggregate = Callable[["Metric", Sequence[Values], Values], Mapping[str, Any]]
"""From a metric, a row's values with each seed and the row so far to what the row gets."""


def mean_with_interval(metric: Metric, of_seeds: Sequence[Values], _row: Values) -> dict[str, float | None]:
    """The mean over the seeds, half the width of its 95 % confidence interval, and of how many if not all."""
    found = metric.over_runs(of_seeds)
    row = {metric.name: found.mean, metric.name + CONFIDENCE_SUFFIX: found.half_width}
    return row | ({metric.name + RUNS_SUFFIX: found.known} if found.is_partial else {})


def of_runs(known: int | None, runs: int | None) -> str:
    """Behind a mean: of how many runs it is, of how many if that is known; nothing if it is of all.

    >>> of_runs(1, 2), of_runs(None, 2)
    (' (1 of 2 runs)', '')
    """
    if known is None:
        return ""
    return f" ({known} run{'' if known == 1 else 's'})" if runs is None else f" ({known} of {runs} runs)"


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
        compute: Its value: from the object that a row stands for, or a column from the engine's table.
            `None` for a column of the engine's table that is taken as it is.
        title: What tables and figures call it; a metric of a queue that has one is part of the summary, too.
            A quantity, or a quantity, a colon and which statistic of it: "wait: mean".
        better: Which values are better.
        aggregate: What becomes of it over several seeds.
        hide_zero: Tables leave it out if it is zero for all.
        shown_if: Whether it is shown for a row of a summary.
        out_of: A count with which it makes a whole, which tables show: "5 of 6".
        has_line: Whether tables have a line for it.
        short: What it is called where there is little room; default its title.
        censored_by: Count of what had not ended by the run's end. A run with some and without a value would
            have the largest one; a mean that left it out would be too good, and is unknown.
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
    short: str = ""
    censored_by: str = ""

    def over_runs(self, runs: Sequence[Values], prefix: str = "") -> Estimate:
        """Mean over runs, and of how many; `prefix` stands before its name among their values."""
        found = estimate(values.get(prefix + self.name) for values in runs)
        if self.censored_by and found.is_partial and any(self._is_censored(run, prefix) for run in runs):
            return found._replace(mean=None, half_width=None)
        return found

    def _is_censored(self, run: Values, prefix: str) -> bool:
        return run.get(prefix + self.name) is None and bool(run.get(prefix + self.censored_by))

    @property
    def label(self) -> str:
        """The title and the unit as tables show them."""
        return self.unit.label(self.title)

    @property
    def axis(self) -> str:
        """The title and the unit as figures show them."""
        return self.unit.axis(self.title)

    @property
    def what(self) -> str:
        """The quantity of the title: "wait"."""
        return self.title.partition(": ")[0]

    @property
    def statistic(self) -> str:
        """The statistic of the title: "mean"; empty if it has none."""
        return self.title.partition(": ")[2]

    @property
    def words(self) -> str:
        """The title as part of a sentence: "mean wait"."""
        return " ".join(filter(None, (self.statistic, self.what)))


@dataclass(frozen=True, eq=False)
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
            row |= metric.aggregate(metric, of_seeds, row)
        return row
