"""What a sweep varies: paths of a scenario and the values they take, as people write them.

An axis is `path=values`. Values are separated by commas outside of brackets and quotes and are read as
`--set` reads them. A range stands for many of them:

- `linear(10..100 packets, 5)`: five values, evenly spaced, ends included;
- `log(1..100 Mbps, 5)`: five values, each the same multiple of the one before;
- `10..100 packets`, `linear(…)` or `log(…)` without a number: for random samples only.

Both ends have one unit, written once at the end or twice. Packets, segments, bytes and numbers without a unit
and a decimal point are whole; other values are rounded to six significant digits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Final, Literal

from bufferlab.errors import InputError
from bufferlab.scenario import Json, parse_value, plain, size_unit

OPTION: Final = "--vary"

_ACCEPTED: Final = (
    "path=value,value,… or path=log(low..high unit, number), such as "
    "'links[0].buffer=50 packets,100 packets' or 'bottleneck.rate=log(1..100 Mbps, 5)'"
)
_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?"
_RANGE: Final = re.compile(
    rf"({_NUMBER})\s*([^\s\d.,][^.,]*?)?\s*\.\.\s*({_NUMBER})\s*([^\s\d.,][^.,]*)?", re.ASCII
)
_SCALED: Final = re.compile(r"(linear|log)\((.*)\)", re.ASCII | re.DOTALL)
_WHOLE_UNITS: Final = ("packets", "packet", "segments", "segment", "B")
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}
_DIGITS: Final = 6
_MOST: Final = 100_000


@dataclass(frozen=True)
class Range:
    """A range of values with one unit.

    Attributes:
        low: Lower end, in the unit.
        high: Upper end.
        unit: As written; empty for plain numbers.
        scale: How values spread between the ends.
        whole: Values are whole numbers.
        count: How many values stand for it in a grid; `None` if it was not said.
    """

    low: float
    high: float
    unit: str
    scale: Literal["linear", "log"]
    whole: bool
    count: int | None = None

    def at(self, share: float) -> Json:
        """The value at a share of the way, 0 for the lower end and 1 for the upper."""
        return self._written(self._interpolate(self.low, self.high, share))

    def sample(self, share: float) -> Json:
        """The value at a share from 0 to just below 1; whole values all stand for the same share."""
        if not self.whole:
            return self.at(share)
        if self.scale == "linear":
            value = self.low + math.floor(share * (self.high - self.low + 1))
        else:
            value = math.floor(self._interpolate(self.low, self.high + 1, share))
        return self._written(min(max(value, self.low), self.high))

    def values(self) -> list[Json]:
        """The values that stand for it in a grid; equal ones, which rounding makes, once."""
        if self.count is None:
            raise InputError("does not say how many values", accepted="log(1..100 Mbps, 5): five of them")
        shares = [index / (self.count - 1) for index in range(self.count)]
        return list(dict.fromkeys(self.at(share) for share in shares))

    def _interpolate(self, low: float, high: float, share: float) -> float:
        if share in (0, 1):
            return high if share else low
        if self.scale == "log":
            return math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        return low + share * (high - low)

    def _written(self, value: float) -> Json:
        number: float = round(value) if self.whole else float(f"{value:.{_DIGITS}g}")
        size = size_unit(self.unit)
        if size and not self.whole:  # sizes are whole numbers of bytes
            factor = size[1]
            return _exact(Fraction(round(number * factor), factor), self.unit)
        if not self.unit:
            return number
        return f"{number:d} {self.unit}" if isinstance(number, int) else f"{_plain(number)} {self.unit}"


Values = Sequence[Json] | Range


@dataclass(frozen=True)
class Axis:
    """A path of a scenario and the values that it takes.

    Attributes:
        path: As `--set` takes it.
        values: A list of values, or a range.
    """

    path: str
    values: Values

    def grid(self) -> list[Json]:
        """The values in a grid.

        Raises:
            InputError: It is a range that does not say how many.
        """
        if not isinstance(self.values, Range):
            return list(self.values)
        try:
            return self.values.values()
        except InputError as error:
            raise error.at(file=OPTION, key=self.path) from None

    def sample(self, share: float) -> Json:
        """The value at a share from 0 to just below 1."""
        if isinstance(self.values, Range):
            return self.values.sample(share)
        return self.values[int(share * len(self.values))]


def read_axes(vary: Mapping[str, Any] | Sequence[str]) -> list[Axis]:
    """Read what is varied: texts "path=values" as on a command line, or values by path.

    Raises:
        InputError: One cannot be used, or a path is there twice.
    """
    if isinstance(vary, Mapping):
        axes = [_given(str(path), values) for path, values in vary.items()]
    else:
        axes = [_written(text) for text in vary]
    paths = [axis.path for axis in axes]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise InputError("is varied twice", file=OPTION, key=twice, accepted="each path once")
    return axes


def split_values(text: str) -> list[str]:
    """Split at commas that are outside of brackets and quotes.

    >>> split_values("50 packets, uniform(0 s, 5 s),'a,b'")
    ['50 packets', 'uniform(0 s, 5 s)', "'a,b'"]
    """
    parts, begin, closing, quote = [], 0, "", ""
    for index, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in _OPENING:
            closing = _OPENING[letter] + closing
        elif closing and letter == closing[0]:
            closing = closing[1:]
        elif letter == "," and not closing:
            parts.append(text[begin:index])
            begin = index + 1
    return [part.strip() for part in (*parts, text[begin:])]


def parse_range(text: str) -> Range | None:
    """Read a range; `None` if the text is none.

    Raises:
        InputError: It is one that cannot be used.
    """
    scaled = _SCALED.fullmatch(text)
    inner, *number = split_values(scaled[2]) if scaled else [text]
    match = _RANGE.fullmatch(inner)
    if match is None:
        if scaled is None:
            return None
        raise InputError("is not a range", value=text, accepted="log(1..100 Mbps, 5)")
    return _range(match, scaled[1] if scaled else "linear", number, text)


def _range(match: re.Match[str], scale: str, number: Sequence[str], text: str) -> Range:
    low, unit_low, high, unit = (part.strip() if part else "" for part in match.groups())
    unit, unit_low = _usual(unit), _usual(unit_low)
    if unit_low and unit_low != unit:
        raise InputError("has two units", value=text, accepted="one unit: 10..100 packets")
    if not float(low) < float(high):
        raise InputError("does not rise", value=text, accepted="the lower end first: 10..100 packets")
    if scale == "log" and float(low) <= 0:
        raise InputError("starts at or below zero", value=text, accepted="log(…) with a lower end above zero")
    count = _count(number, text)
    integers = all(re.fullmatch(r"[+-]?\d+", end) for end in (low, high))
    whole = unit in _WHOLE_UNITS or (not unit and integers)
    if whole and not integers:
        raise InputError("has ends that are not whole", value=text, accepted=f"whole numbers of {unit}")
    return Range(float(low), float(high), unit, "log" if scale == "log" else "linear", whole, count)


def _usual(unit: str) -> str:
    """A unit of size in its usual spelling, any other as written."""
    size = size_unit(unit)
    return size[0] if size else unit


def _count(number: Sequence[str], text: str) -> int | None:
    if not number:
        return None
    if len(number) > 1 or not re.fullmatch(r"\d{1,6}", number[0]) or not 2 <= int(number[0]) <= _MOST:
        raise InputError(
            "has no usable number of values",
            value=text,
            accepted=f"2 to {_MOST} of them: log(1..100 Mbps, 5)",
        )
    return int(number[0])


def _given(path: str, values: object) -> Axis:
    if isinstance(values, str):
        return _axis(path, values)
    if not isinstance(values, list | tuple | range) or not len(values):
        raise InputError(
            "is not a list of values", key=path, value=values, accepted="at least one value, in a list"
        )
    return Axis(path, [plain(value, path) for value in values])


def _written(text: str) -> Axis:
    path, equals, values = text.partition("=")
    if not equals or not path.strip():
        raise InputError("says nothing to vary", file=OPTION, value=text, accepted=_ACCEPTED)
    return _axis(path.strip(), values.strip())


def _axis(path: str, text: str) -> Axis:
    parts = split_values(text)
    if not all(parts):
        raise InputError("lacks a value", file=OPTION, key=path, value=text, accepted=_ACCEPTED)
    try:
        ranges = [parse_range(part) for part in parts]
    except InputError as error:
        raise error.at(file=OPTION, key=path) from None
    if len(parts) == 1 and ranges[0] is not None:
        return Axis(path, ranges[0])
    values: list[Json] = []
    for part, spread in zip(parts, ranges, strict=True):
        if spread is None:
            values.append(parse_value(part))
        else:
            values += Axis(path, spread).grid()
    return Axis(path, values)


def _plain(number: float) -> str:
    text = f"{number:.{_DIGITS}g}"
    return (
        text
        if "e" not in text
        else f"{number:.15f}".rstrip("0").rstrip(".")
        if abs(number) < 1
        else f"{number:.0f}"
    )


def _exact(number: Fraction, unit: str) -> str:
    """A number whose denominator divides a power of ten, all its digits."""
    with localcontext(prec=60):
        digits = f"{Decimal(number.numerator) / Decimal(number.denominator):f}"
    return f"{digits} {unit}"
