"""The values of points by name: columns of a frame with one row a point, and the same at other points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from bufferlab.evidence.document import Setting
from bufferlab.evidence.expressions import ENDS, Scope, Value, unknown_name

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Points:
    """A frame with one row a point.

    Attributes:
        rows: The rows.
        keys: The columns that tell them apart.
    """

    rows: Sequence[Row]
    keys: Sequence[str]

    @classmethod
    def of(cls, frame: pl.DataFrame, keys: Iterable[str]) -> Points:
        """The points of a frame; keys that it lacks do not tell its rows apart."""
        return cls(frame.to_dicts(), [key for key in keys if key in frame.columns])

    def select(self, setting: Setting) -> list[Row]:
        """The rows whose keys have these values; keys that the frame lacks do not matter."""
        wanted = {
            key: [self._end(key, each) for each in (value if isinstance(value, list) else [value])]
            for key, value in setting.items()
            if key in self.keys
        }
        return [
            row
            for row in self.rows
            if all(any(_same(row[key], each) for each in values) for key, values in wanted.items())
        ]

    def _end(self, key: str, value: Value) -> Value:
        """The least or the greatest value of a key of numbers, if that is asked for."""
        values = [row[key] for row in self.rows]
        if value not in ENDS or any(isinstance(each, str) for each in values):
            return value
        return (min if value == ENDS[0] else max)(values, default=None)


def _same(own: Value, wanted: Value) -> bool:
    """Whether two values are equal, numbers up to rounding."""
    if isinstance(own, float) and isinstance(wanted, int | float):
        return math.isclose(own, wanted, rel_tol=1e-9)
    return own == wanted


@dataclass(frozen=True)
class PointValues:
    """The names of one point.

    Attributes:
        points: All points.
        row: This one.
        more: Further names; a dotted name `ns2.ratio` is the key `ns2.ratio`.
        strict: Whether a name without a value is an error, or `none`.
    """

    points: Points
    row: Row
    more: Mapping[str, Value]
    strict: bool = True

    def resolve(self, path: tuple[str, ...]) -> Value:
        """The value of a name.

        Raises:
            InputError: There is no such name.
        """
        name = ".".join(path)
        if name in self.more:
            return self.more[name]
        if name in self.row:
            return self.row[name]  # type: ignore[no-any-return]
        if self.strict:
            raise unknown_name(name, (*self.row, *self.more))
        return None

    def at(self, place: Mapping[str, Value]) -> Scope | None:
        """The point that differs in these keys."""
        own = {key: self.row[key] for key in self.points.keys}
        found = self.points.select({**own, **place})
        return PointValues(self.points, found[0], self.more, self.strict) if found else None

    def along(self, keys: Sequence[str]) -> Sequence[Scope]:
        """The points that differ in these keys only."""
        fixed = {key: self.row[key] for key in self.points.keys if key not in keys}
        return [PointValues(self.points, row, self.more, self.strict) for row in self.points.select(fixed)]
