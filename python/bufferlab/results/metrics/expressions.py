"""Columns of frames from the engine's tables, which have indices for names and integers for times.

They are computed one after another: to plan a query takes longer than the columns of a small run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import polars as pl

from bufferlab.results.columns import repeated
from bufferlab.results.metrics.metric import Dimension
from bufferlab.results.tables import ALL, ALL_GROUPS, BITS_PER_BYTE, NONE
from bufferlab.units import PS_PER_MS, PS_PER_S

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario

_FEW: Final = 1000
"""Rows up to which numpy divides faster than polars, with a list of what comes out."""


@dataclass(frozen=True)
class Run:
    """What columns need to know about a run: all that its tables do not say.

    Attributes:
        seed: Its seed.
        window_s: Length of the measured window, s.
        groups: The names of its flow groups.
        links: The names of its links.
        rates_bps: Their rates, bit/s.
    """

    seed: int
    window_s: float
    groups: tuple[str, ...]
    links: tuple[str, ...]
    rates_bps: tuple[int, ...]

    @classmethod
    def of(cls, resolved: ResolvedScenario, window_s: float) -> Self:
        """What there is to know of a scenario."""
        return cls(
            seed=resolved["run"]["seed"],
            window_s=window_s,
            groups=tuple(group["name"] for group in resolved["flows"]),
            links=tuple(link["name"] for link in resolved["links"]),
            rates_bps=tuple(link["rate_bps"] for link in resolved["links"]),
        )


@dataclass(frozen=True)
class Table:
    """One of the engine's tables.

    Attributes:
        run: The run that it belongs to.
        rows: Its rows.
    """

    run: Run
    rows: pl.DataFrame

    def __getitem__(self, column: str) -> pl.Series:
        return self._columns[column]

    @cached_property
    def _columns(self) -> dict[str, pl.Series]:
        return {column.name: column for column in self.rows.get_columns()}

    @cached_property
    def is_all(self) -> pl.Series:
        """Which rows are of all groups together."""
        return self["group"] == ALL_GROUPS

    def frame(self, dimension: Dimension) -> pl.DataFrame:
        """The frame of a dimension."""
        if self.rows.height:
            return self._frame(dimension)
        if dimension not in _WITHOUT_ROWS:
            _WITHOUT_ROWS[dimension] = self._frame(dimension)
        return _WITHOUT_ROWS[dimension]

    def _frame(self, dimension: Dimension) -> pl.DataFrame:
        return pl.DataFrame(
            [
                self[metric.name] if metric.compute is None else metric.compute(self).alias(metric.name)
                for metric in dimension.columns
            ]
        )


_WITHOUT_ROWS: Final[dict[Dimension, pl.DataFrame]] = {}
"""The frames of tables without rows, which are the same in all runs."""


Expression = Callable[[Table], pl.Series]
"""Makes a column."""


def seeds(table: Table) -> pl.Series:
    """The run's seed."""
    return repeated(table.run.seed, pl.UInt64(), table.rows.height)


def group_names(table: Table) -> pl.Series:
    """The name of a flow group, "all" for all groups together."""
    names, index = (*table.run.groups, ALL), table["group"]
    of_all = repeated(len(names) - 1, index.dtype)
    return column_of(names)[of_all.zip_with(table.is_all, index)]


def link_names(table: Table) -> pl.Series:
    """The name of a link."""
    return column_of(table.run.links)[table["link"]]


@lru_cache(maxsize=64)
def column_of(values: tuple[str, ...] | tuple[int, ...]) -> pl.Series:
    """Values by index: a study's runs all have the same names and rates."""
    return pl.Series(values, dtype=pl.String if isinstance(values[0], str) else pl.UInt64)


def when(condition: pl.Series, values: pl.Series) -> pl.Series:
    """The values where a condition holds; null elsewhere."""
    return values.zip_with(condition, repeated(None, values.dtype))


def plain(column: str) -> Expression:
    """A column as it is."""
    return lambda table: table[column]


def seconds(column: str, *, may_be_none: bool = False) -> Expression:
    """A time in ps as seconds."""
    return _time(column, PS_PER_S, may_be_none=may_be_none)


def milliseconds(column: str, *, may_be_none: bool = False) -> Expression:
    """A time in ps as milliseconds."""
    return _time(column, PS_PER_MS, may_be_none=may_be_none)


def _time(column: str, unit: int, *, may_be_none: bool) -> Expression:
    def of(table: Table) -> pl.Series:
        times = divided(table[column], unit)
        return when(table[column] != NONE, times) if may_be_none else times

    return of


def known(column: str) -> Expression:
    """A column with null for "none"."""
    return lambda table: unless_none(table[column])


def unless_none(counts: pl.Series) -> pl.Series:
    """What the engine writes as its largest number is none."""
    return when(counts != NONE, counts)


def divided(counts: pl.Series, unit: int) -> pl.Series:
    """Integers over a unit; 60 for 60 units, where polars alone, by the inverse, has 60.00000000000001."""
    if counts.null_count() or counts.len() > _FEW:
        return counts // unit + (counts % unit) / unit
    whole, rest = np.divmod(counts.to_numpy(), np.uint64(unit))
    values: list[float] = (whole + rest * (1 / unit)).tolist()  # of an array, polars would load numpy.ma
    return pl.Series(values, dtype=pl.Float64)


def rate(column: str) -> Expression:
    """Bytes in the measured window as bit/s."""

    def of(table: Table) -> pl.Series:
        if table.run.window_s <= 0:
            return repeated(None, pl.Float64(), table.rows.height)
        return table[column].cast(pl.Float64) * BITS_PER_BYTE / table.run.window_s

    return of


def ratio(part: Expression, whole: str) -> Expression:
    """A fraction; null of nothing."""
    return lambda table: when(table[whole] > 0, part(table) / table[whole])


def by_query(query: pl.Expr) -> Expression:
    """What looks at other rows of the table."""
    return lambda table: table.rows.select(query).to_series()


def interval_rate(column: str, owner: str) -> Expression:
    """Bit/s since the owner's previous sample, or the run's start; rows must be in order of time."""

    def step(name: str) -> pl.Expr:
        value = pl.col(name).cast(pl.Float64)
        return value - value.shift(1, fill_value=0.0).over(owner)

    length_s = step("time_ps") / PS_PER_S
    return by_query(pl.when(length_s > 0).then(step(column) * BITS_PER_BYTE / length_s))
