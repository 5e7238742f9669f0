"""Random times and sizes as scenarios write them: "uniform(0 s, 5 s)", "pareto(mean=30 KB, shape=1.2)".

A plain quantity is a constant. `parse_distribution` reads the text once, `Distribution.draw` gives whole
picoseconds or bytes from a generator that the caller seeds. Every law with a density takes `min=` and `max=`:
a draw outside them is drawn again (a truncated law); without them draws stay within what is accepted of the
quantity: 0 s to the longest time, a byte to the largest size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bufferlab.empirical import read_values
from bufferlab.errors import InputError
from bufferlab.units import MAX_SIZE_BYTES, MAX_TIME_PS, SIZE_UNITS, TIME_UNITS, parse_size, parse_time


@dataclass(frozen=True, eq=False)
class Quantity:
    """What a law is of.

    Attributes:
        noun: For messages: "time".
        example: A plain one.
        parse: Reads one in its least unit, ps or bytes.
        units: Its units, by the words that files' headers end with.
        least: Draws below are drawn again.
        most: Draws above are drawn again.
    """

    noun: str
    example: str
    parse: Callable[[object], int]
    units: Mapping[str, int]
    least: int
    most: int

    @property
    def accepted(self) -> str:
        """What a law of it may be, for messages."""
        return (
            f"a {self.noun} such as '{self.example}', or uniform(low, high), normal(mean=, sd=), "
            "lognormal(mean=, sigma=), exponential(mean=), pareto(mean=, shape=), "
            f"choice({self.noun}, {self.noun}: weight, …), empirical(file.csv), constant({self.noun})"
        )


TIME: Final = Quantity("time", "10 ms", parse_time, TIME_UNITS, 0, MAX_TIME_PS)
"""Times, in ps."""

SIZE: Final = Quantity("size", "30 KB", parse_size, SIZE_UNITS, 1, MAX_SIZE_BYTES)
"""Sizes, in bytes."""

_CALL: Final = re.compile(r"([a-z]{1,20})\s*\((.*)\)", re.DOTALL | re.ASCII)
_LONGEST_TEXT: Final = 4000
_MOST_REDRAWS: Final = 200
_LARGEST_SIGMA: Final = 10.0
_LARGEST_SHAPE: Final = 100.0

Integers = NDArray[np.int64]
"""Whole picoseconds, or bytes."""


@dataclass(frozen=True)
class Distribution:
    """A law of random times or sizes.

    Attributes:
        text: As written.
        kind: `constant`, `uniform`, `normal`, `lognormal`, `exponential`, `pareto`, `choice` or `empirical`.
        parameters: By name: times in ps, sizes in bytes, `sigma` and `shape` plain numbers.
        least: Draws below are drawn again.
        most: Draws above are drawn again.
        truncated: Whether `min=` or `max=` was given.
        values: What `choice` and `empirical` choose from.
        shares: Cumulative chances of `values`; the last is 1.
    """

    text: str
    kind: str
    parameters: Mapping[str, float]
    least: int = 0
    most: int = MAX_TIME_PS
    truncated: bool = False
    values: Integers = field(default_factory=lambda: np.empty(0, np.int64), repr=False, compare=False)
    shares: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), repr=False, compare=False)

    @property
    def mean(self) -> float | None:
        """The law's mean, ps or bytes; None where `min=` and `max=` make it another's."""
        if self.values.size:
            return float(np.diff(self.shares, prepend=0.0) @ self.values)
        if self.truncated:
            return None
        p = self.parameters
        if self.kind == "uniform":
            return (p["low"] + p["high"]) / 2
        if "median" in p:
            return p["median"] * math.exp(p["sigma"] ** 2 / 2)
        return p["value"] if self.kind == "constant" else p["mean"]

    def draw(self, rng: np.random.Generator, count: int) -> Integers:
        """Draw `count` times in whole picoseconds, or sizes in whole bytes.

        Raises:
            InputError: If next to no draws fall between `min` and `max`.
        """
        if self.kind == "constant":
            return np.full(count, int(self.parameters["value"]), np.int64)
        drawn = self._raw(rng, count)
        for _ in range(_MOST_REDRAWS):
            outside = np.flatnonzero(~((drawn >= self.least) & (drawn <= self.most)))
            if outside.size == 0:
                return np.rint(drawn).astype(np.int64)
            drawn[outside] = self._raw(rng, outside.size)
        raise InputError(
            "hardly ever falls between its min and max",
            value=self.text,
            accepted="bounds that most draws meet",
        )

    def _raw(self, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        if self.values.size:
            chosen = np.searchsorted(self.shares, rng.random(count), side="right")
            return self.values[np.minimum(chosen, self.values.size - 1)].astype(np.float64)
        with np.errstate(over="ignore"):
            return _LAWS[self.kind](self.parameters, rng, count)


def constant(value: int, text: str | None = None) -> Distribution:
    """The law that always gives `value`, in ps or bytes."""
    return Distribution(text or f"{value} ps", "constant", {"value": value})


def parse_distribution(value: object, *, of: Quantity = TIME, directory: Path | None = None) -> Distribution:
    """Read a distribution from its text.

    Args:
        value: A quantity ("10 ms") or a call such as "uniform(0 s, 5 s)".
        of: What it is a law of.
        directory: Where `empirical(file.csv)` looks for a relative path; the current one if not given.

    Raises:
        InputError: If the text is no distribution, or its file cannot be used.
    """
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise InputError(f"is not a {of.noun} or a distribution", value=value, accepted=of.accepted)
    match = _CALL.fullmatch(value.strip())
    if match is None:
        return constant(_plain(value, of), value)
    name, inside = match.group(1), match.group(2).strip()
    if name == "empirical":
        values, weights = read_values(inside.strip("'\""), directory, of.units, of.most)
        return _weighted(value, "empirical", of, values, weights)
    if name == "choice":
        return _weighted(value, "choice", of, *_choices(value, inside, of))
    if name not in _SIGNATURES:
        raise InputError("is not a known distribution", value=value, accepted=of.accepted)
    return _law(value, name, of, _arguments(value, name, of, inside))


def _plain(value: str, of: Quantity) -> int:
    try:
        return of.parse(value)
    except InputError as error:
        looks_like_one = value.strip()[:1].isdigit() or value.strip()[:1] in {"-", "+", "."}
        accepted = error.accepted if looks_like_one else of.accepted
        problem = error.problem if looks_like_one else f"is not a {of.noun} or a distribution"
        raise InputError(problem, value=value, accepted=accepted) from None


def _law(text: str, name: str, of: Quantity, given: dict[str, str]) -> Distribution:
    signature = _SIGNATURES[name]
    if name == "lognormal" and "median" in given and "mean" not in given:
        signature = ("median", "sigma")
    allowed = (*signature, "min", "max") if name != "constant" else signature
    missing = [key for key in signature if key not in given]
    unknown = [key for key in given if key not in allowed]
    if missing or unknown:
        problem = f"lacks {missing[0]}" if missing else f"has the unknown parameter '{unknown[0]}'"
        raise InputError(problem, value=text, accepted=f"{name}({', '.join(allowed)})")
    numbers = {
        key: _PLAIN_NUMBERS[key](text, given[key], of) if key in _PLAIN_NUMBERS else of.parse(given[key])
        for key in signature
    }
    least = of.parse(given["min"]) if "min" in given else of.least
    most = of.parse(given["max"]) if "max" in given else of.most
    if least > most:
        raise InputError("has a min above its max", value=text, accepted="min <= max")
    if name == "uniform" and numbers["low"] > numbers["high"]:
        raise InputError(
            "has a low above its high", value=text, accepted="uniform(low, high) with low <= high"
        )
    truncated = (least, most) != (of.least, of.most)
    return Distribution(text, name, numbers, least, most, truncated)


def _arguments(text: str, name: str, of: Quantity, inside: str) -> dict[str, str]:
    """The arguments by name; those without one take the names of the law's signature in order."""
    names = iter(_SIGNATURES[name])
    given: dict[str, str] = {}
    for part in inside.split(",") if inside else []:
        key, equals, argument = (piece.strip() for piece in part.partition("="))
        if not equals:
            key, argument = next(names, ""), key
        if not key or not argument or key in given:
            raise InputError("has arguments that make no sense", value=text, accepted=of.accepted)
        given[key] = argument
    return given


def _choices(text: str, inside: str, of: Quantity) -> tuple[Integers, NDArray[np.float64]]:
    pairs = [part.partition(":") for part in inside.split(",")]
    values = np.array([of.parse(value.strip()) for value, _, _ in pairs], np.int64)
    weights = np.array([_number(text, weight, of) if colon else 1.0 for _, colon, weight in pairs])
    return values, weights


def _weighted(
    text: str, kind: str, of: Quantity, values: Integers, weights: NDArray[np.float64]
) -> Distribution:
    total = float(weights.sum())
    if not (math.isfinite(total) and total > 0 and bool((weights >= 0).all())):
        raise InputError("has weights that do not sum to more than 0", value=text, accepted="weights >= 0")
    return Distribution(text, kind, {}, of.least, of.most, values=values, shares=np.cumsum(weights) / total)


def _sigma(text: str, written: str, of: Quantity) -> float:
    sigma = _number(text, written, of)
    if not 0 <= sigma <= _LARGEST_SIGMA:
        accepted = f"sigma of 0 to {_LARGEST_SIGMA:g} (standard deviation of the logarithm, no unit)"
        raise InputError("has a sigma out of bounds", value=text, accepted=accepted)
    return sigma


def _shape(text: str, written: str, of: Quantity) -> float:
    shape = _number(text, written, of)
    if not 1 < shape <= _LARGEST_SHAPE:
        accepted = f"a shape above 1, so that there is a mean, to {_LARGEST_SHAPE:g} (a plain number)"
        raise InputError("has a shape out of bounds", value=text, accepted=accepted)
    return shape


def _number(text: str, written: str, of: Quantity) -> float:
    try:
        return float(written)
    except ValueError:
        raise InputError(
            f"has '{written.strip()[:20]}' where a plain number belongs", value=text, accepted=of.accepted
        ) from None


_PLAIN_NUMBERS: Final[Mapping[str, Callable[[str, str, Quantity], float]]] = {
    "sigma": _sigma,
    "shape": _shape,
}

_SIGNATURES: Final[Mapping[str, tuple[str, ...]]] = {
    "constant": ("value",),
    "uniform": ("low", "high"),
    "normal": ("mean", "sd"),
    "lognormal": ("mean", "sigma"),
    "exponential": ("mean",),
    "pareto": ("mean", "shape"),
}


def _lognormal(p: Mapping[str, float], rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Mean exp(mu + sigma²/2), median exp(mu)."""
    center = p["median"] if "median" in p else p["mean"] * math.exp(-(p["sigma"] ** 2) / 2)
    return center * np.exp(p["sigma"] * rng.standard_normal(count))


def _pareto(p: Mapping[str, float], rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """P(X > x) = (least/x)^shape from the least value on; the mean is shape/(shape - 1) times that."""
    least = p["mean"] * (p["shape"] - 1) / p["shape"]
    return least * (1 - rng.random(count)) ** (-1 / p["shape"])


_LAWS: Final[Mapping[str, Callable[[Mapping[str, float], np.random.Generator, int], NDArray[np.float64]]]] = {
    "uniform": lambda p, rng, count: p["low"] + (p["high"] - p["low"]) * rng.random(count),
    "normal": lambda p, rng, count: p["mean"] + p["sd"] * rng.standard_normal(count),
    "lognormal": _lognormal,
    "exponential": lambda p, rng, count: p["mean"] * rng.standard_exponential(count),
    "pareto": _pareto,
}
