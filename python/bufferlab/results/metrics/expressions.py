"""Expressions over the engine's tables, which have indices for names and integers for times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Self

import polars as pl

from bufferlab.results.metrics.metric import Dimension
from bufferlab.results.tables import ALL, ALL_GROUPS, BITS_PER_BYTE, NONE
from bufferlab.units import PS_PER_MS, PS_PER_S

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario


@dataclass(frozen=True)
class Run:
    """What expressions need to know about a run: all that its tables do not say.

    Attributes:
        window_s: Length of the measured window, s.
        groups: The names of its flow groups.
        links: The names of its links.
        rates_bps: Their rates, bit/s.
    """

    window_s: float
    groups: tuple[str, ...]
    links: tuple[str, ...]
    rates_bps: tuple[int, ...]

    @classmethod
    def of(cls, resolved: ResolvedScenario, window_s: float) -> Self:
        """What there is to know of a scenario."""
        return cls(
            window_s=window_s,
            groups=tuple(group["name"] for group in resolved["flows"]),
            links=tuple(link["name"] for link in resolved["links"]),
            rates_bps=tuple(link["rate_bps"] for link in resolved["links"]),
        )

    def columns(self, dimension: Dimension) -> Sequence[pl.Expr]:
        """The columns of a dimension's frame."""
        return _columns(dimension, self)


@lru_cache(maxsize=64)  # to build expressions takes longer than a small run, and a study's are all the same
def _columns(dimension: Dimension, run: Run) -> tuple[pl.Expr, ...]:
    return tuple(
        (pl.col(metric.name) if metric.compute is None else metric.compute(run)).alias(metric.name)
        for metric in dimension.columns
    )


Expression = Callable[[Run], pl.Expr]


def group_names(run: Run) -> pl.Expr:
    """The name of a flow group, "all" for all groups together."""
    of_all = pl.col("group") == ALL_GROUPS
    one = pl.when(~of_all).then("group")
    return pl.when(of_all).then(pl.lit(ALL)).otherwise(named(one, run.groups, pl.String))


def link_names(run: Run) -> pl.Expr:
    """The name of a link."""
    return named(pl.col("link"), run.links, pl.String)


def named(index: pl.Expr, values: Sequence[object], dtype: type[pl.DataType]) -> pl.Expr:
    """The value at an index."""
    return index.replace_strict(list(range(len(values))), list(values), default=None, return_dtype=dtype)


def seconds(column: str, *, may_be_none: bool = False) -> Expression:
    """A time in ps as seconds."""
    return lambda _run: divided(unless_none(column) if may_be_none else pl.col(column), PS_PER_S)


def milliseconds(column: str, *, may_be_none: bool = False) -> Expression:
    """A time in ps as milliseconds."""
    return lambda _run: divided(unless_none(column) if may_be_none else pl.col(column), PS_PER_MS)


def known(column: str) -> Expression:
    """A column with null for "none"."""
    return lambda _run: unless_none(column)


def unless_none(column: str) -> pl.Expr:
    """What the engine writes as its largest number is none."""
    return pl.when(pl.col(column) != NONE).then(column)


def divided(counts: pl.Expr, unit: int) -> pl.Expr:
    """Integers over a unit; 60 for 60 units, where polars alone, by the inverse, has 60.00000000000001."""
    return counts // unit + (counts % unit) / unit


def rate(column: str) -> Expression:
    """Bytes in the measured window as bit/s."""

    def of(run: Run) -> pl.Expr:
        if run.window_s <= 0:
            return pl.lit(None, dtype=pl.Float64)
        return pl.col(column).cast(pl.Float64) * BITS_PER_BYTE / run.window_s

    return of


def ratio(part: pl.Expr, whole: pl.Expr) -> Expression:
    """A fraction; null of nothing."""
    return lambda _run: pl.when(whole > 0).then(part / whole)


def interval_rate(column: str, owner: str) -> Expression:
    """Bit/s since the owner's previous sample, or the run's start; rows must be in order of time."""

    def step(name: str) -> pl.Expr:
        value = pl.col(name).cast(pl.Float64)
        return value - value.shift(1, fill_value=0.0).over(owner)

    length_s = step("time_ps") / PS_PER_S
    rate_bps = pl.when(length_s > 0).then(step(column) * BITS_PER_BYTE / length_s)
    return lambda _run: rate_bps
