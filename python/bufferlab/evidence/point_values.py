"""The values of points by name: columns of a frame with one row a point, and the same at other points."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from bufferlab.errors import InputError, did_you_mean
from bufferlab.evidence.document import Setting
from bufferlab.evidence.expressions import ENDS, Scope, Value, unknown_name

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Points:
    """A frame with one row a point.

    Attributes:
        rows: The rows.
        keys: The columns that tell them apart.
        values: All values that a full run has, by key, where they are known; a quick run may have fewer.
        lacking: Keys that the frame lacks: they do not tell its rows apart.
    """

    rows: Sequence[Row]
    keys: Sequence[str]
    values: Mapping[str, Collection[Value]] = field(default_factory=dict)
    lacking: Sequence[str] = ()

    @classmethod
    def of(
        cls, frame: pl.DataFrame, keys: Sequence[str], values: Mapping[str, Collection[Value]] | None = None
    ) -> Points:
        """The points of a frame; keys that it lacks do not tell its rows apart."""
        there = [key for key in keys if key in frame.columns]
        lacking = [key for key in keys if key not in frame.columns]
        return cls(frame.to_dicts(), there, values or {}, lacking)

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

    def check_keys(self, keys: Iterable[str]) -> None:
        """Refuse names that are no keys of these points.

        Raises:
            InputError: One is none; no point could differ in it.
        """
        known = (*self.keys, *self.lacking)
        for key in keys:
            if key not in known:
                problem = f"is not a key of the points{did_you_mean(key, known)}"
                raise InputError(problem, value=key, accepted=", ".join(known) or "none: there is one point")

    def check_value(self, key: str, value: Value) -> None:
        """Refuse a value that no point has, of a key whose values are known.

        Raises:
            InputError: There is none with it, in a full run either.
        """
        if key not in self.values or self._end(key, value) != value:
            return
        known = list(dict.fromkeys((*self.values[key], *(row[key] for row in self.rows if key in row))))
        if not any(_same(each, value) for each in known):
            words = {str(each).lower(): str(each) for each in known}
            near = did_you_mean(value, words) if isinstance(value, str) else ""
            problem = f"is not a value of '{key}'{near}"
            raise InputError(problem, value=value, accepted=", ".join(map(str, known)))

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
        more: Further names of this point; a dotted name `ns2.ratio` is the key `ns2.ratio`.
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

    def at(self, place: Mapping[str, Value], spelled: Collection[str]) -> Scope | None:
        """The point that differs in these keys, with its columns: `more` is of this point.

        Raises:
            InputError: One is no key, or no point can have a value that is spelled out.
        """
        self.points.check_keys(place)
        for key in spelled:
            self.points.check_value(key, place[key])
        own = {key: self.row[key] for key in self.points.keys}
        found = self.points.select({**own, **place})
        return PointValues(self.points, found[0], {}, self.strict) if found else None

    def along(self, keys: Sequence[str]) -> Sequence[Scope]:
        """The points that differ in these keys only, with their columns.

        Raises:
            InputError: One is no key.
        """
        self.points.check_keys(keys)
        fixed = {key: self.row[key] for key in self.points.keys if key not in keys}
        return [PointValues(self.points, row, {}, self.strict) for row in self.points.select(fixed)]
