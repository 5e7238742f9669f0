"""Units in conditions on runs: SQL has none, so the error says what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from bufferlab.display import significant
from bufferlab.errors import InputError
from bufferlab.results.metrics.metric import CONFIDENCE_SUFFIX, FRACTION
from bufferlab.results.metrics.registry import STORED

_TEXT: Final = re.compile(r"'(?:[^']|'')*'")
_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_COMPARED: Final = rf'"(?P<column>[^"]+)"(?P<relation>\s*[<>=!]+\s*)(?P<number>{_NUMBER})'
_WORDS: Final = "and|or|between|in|is|not|like|then|else|when|end|as|div|xor"
_UNIT: Final = re.compile(
    rf"(?:{_COMPARED}|(?<![\w.\"])(?P<other>{_NUMBER}))\s*"
    rf"(?P<unit>(?!(?:{_WORDS})\b|e[+-]?\d)[a-zA-Zµ][\w/]*|%(?=\s*(?:$|\)|(?:and|or)\b)))",
    re.IGNORECASE,
)
_BOUND: Final = re.compile(rf"{_COMPARED}(?![\w.]|\s*[-+*/%])")

_TIMES: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0}
_RATES: Final = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_SIZES: Final[Mapping[str, Mapping[str, float]]] = {
    "s": _TIMES,
    "ms": {unit: size / 1e-3 for unit, size in _TIMES.items()},
    "bit/s": {prefix + unit: size for prefix, size in _RATES.items() for unit in ("bps", "bit", "bit/s")},
    "bytes": {"b": 1.0, "byte": 1.0, "bytes": 1.0, "kb": 1e3, "mb": 1e6},
    "fraction": {"%": 0.01, "percent": 0.01},
}
"""Sizes of units by the unit of the column, in small letters."""


def refuse_units(condition: str, quoted: str) -> None:
    """Refuse a number with a unit, which SQL reads as another name for the expression.

    Args:
        condition: The condition as written.
        quoted: The condition with its columns in double quotes.

    Raises:
        InputError: There is one.
    """
    found = _UNIT.search(_TEXT.sub("''", quoted))
    if found is None:
        return
    column = found["column"]
    unit = found["unit"]
    if column is None:
        raise InputError(
            f"has {unit!r} after {found['other']}: values are in the column's own unit",
            file="--where",
            value=condition,
            accepted="numbers alone, such as 'utilization > 0.99'",
        )
    own = _unit_of(column)
    size = _SIZES.get(own, {}).get(unit.lower(), 1.0 if unit.lower() == own else None)
    kind = "a fraction" if own == FRACTION.name else f"in {own}" if own else "a plain value"
    write = (
        f"'{column}{found['relation']}{float(found['number']) * size:.12g}'"
        if size is not None
        else f"a number alone, such as '{column}{found['relation']}{found['number']}'"
    )
    raise InputError(
        f"has a unit, {unit!r}: {column} is {kind}", file="--where", value=condition, accepted=write
    )


def bounds_in_percent(quoted: str) -> Iterator[str]:
    """Notes on bounds above 1 of columns that are fractions."""
    for found in _BOUND.finditer(_TEXT.sub("''", quoted)):
        column, value = found["column"], float(found["number"])
        if _unit_of(column) == FRACTION.name and value > 1:
            meant = f"{column}{found['relation']}{significant(value / 100)}"
            yield f"--where: {column} is a fraction, at most 1: {found['number']} % is '{meant}'"


def _unit_of(column: str) -> str:
    """The unit of a column's values; empty if it has none, such as a count or a text."""
    name = column.removesuffix(CONFIDENCE_SUFFIX)
    if name in STORED:
        unit = STORED[name].unit
        return unit.name if unit.shown else ""
    return "s" if name in {"duration_s", "warmup_s", "wall_s"} else ""
