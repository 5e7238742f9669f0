"""Random times as scenarios write them: "uniform(0 s, 5 s)", "lognormal(mean=130 ms, sigma=0.2)".

A plain time is a constant. `parse_distribution` reads the text once, `Distribution.draw` gives whole
picoseconds from a generator that the caller seeds. Every law with a density takes `min=` and `max=`: a draw
outside them is drawn again (a truncated law); without them draws stay within 0 s and the longest time
accepted.
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

from bufferlab.empirical import read_times
from bufferlab.errors import InputError
from bufferlab.units import MAX_TIME_PS, parse_time

ACCEPTED: Final = (
    "a time such as '10 ms', or uniform(low, high), normal(mean=, sd=), lognormal(mean=, sigma=), "
    "exponential(mean=), choice(time, time: weight, …), empirical(file.csv), constant(time)"
)
"""What a distribution may be, for messages."""

_CALL: Final = re.compile(r"([a-z]{1,20})\s*\((.*)\)", re.DOTALL | re.ASCII)
_LONGEST_TEXT: Final = 4000
_MOST_REDRAWS: Final = 200
_LARGEST_SIGMA: Final = 10.0

Integers = NDArray[np.int64]
"""Whole picoseconds."""


@dataclass(frozen=True)
class Distribution:
    """A law of random times.

    Attributes:
        text: As written.
        kind: `constant`, `uniform`, `normal`, `lognormal`, `exponential`, `choice` or `empirical`.
        parameters: By name: times in ps, `sigma` a plain number.
        least_ps: Draws below are drawn again.
        most_ps: Draws above are drawn again.
        values_ps: What `choice` and `empirical` choose from.
        shares: Cumulative chances of `values_ps`; the last is 1.
    """

    text: str
    kind: str
    parameters: Mapping[str, float]
    least_ps: int = 0
    most_ps: int = MAX_TIME_PS
    values_ps: Integers = field(default_factory=lambda: np.empty(0, np.int64), repr=False, compare=False)
    shares: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), repr=False, compare=False)

    @property
    def truncated(self) -> bool:
        """Whether `min=` or `max=` was given."""
        return self.least_ps != 0 or self.most_ps != MAX_TIME_PS

    def draw(self, rng: np.random.Generator, count: int) -> Integers:
        """Draw `count` times in whole picoseconds.

        Raises:
            InputError: If next to no draws fall between `min` and `max`.
        """
        if self.kind == "constant":
            return np.full(count, int(self.parameters["value"]), np.int64)
        drawn = self._raw(rng, count)
        for _ in range(_MOST_REDRAWS):
            outside = np.flatnonzero(~((drawn >= self.least_ps) & (drawn <= self.most_ps)))
            if outside.size == 0:
                return np.rint(drawn).astype(np.int64)
            drawn[outside] = self._raw(rng, outside.size)
        raise InputError(
            "hardly ever falls between its min and max",
            value=self.text,
            accepted="bounds that most draws meet",
        )

    def _raw(self, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        if self.values_ps.size:
            chosen = np.searchsorted(self.shares, rng.random(count), side="right")
            return self.values_ps[np.minimum(chosen, self.values_ps.size - 1)].astype(np.float64)
        with np.errstate(over="ignore"):
            return _LAWS[self.kind](self.parameters, rng, count)


def constant(time_ps: int, text: str | None = None) -> Distribution:
    """The law that always gives `time_ps`, in ps."""
    return Distribution(text or f"{time_ps} ps", "constant", {"value": time_ps})


def parse_distribution(value: object, *, directory: Path | None = None) -> Distribution:
    """Read a distribution of times from its text.

    Args:
        value: A time ("10 ms") or a call such as "uniform(0 s, 5 s)".
        directory: Where `empirical(file.csv)` looks for a relative path; the current one if not given.

    Raises:
        InputError: If the text is no distribution, or its file cannot be used.
    """
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise InputError("is not a time or a distribution", value=value, accepted=ACCEPTED)
    match = _CALL.fullmatch(value.strip())
    if match is None:
        return constant(_plain_time(value), value)
    name, inside = match.group(1), match.group(2).strip()
    if name == "empirical":
        times_ps, weights = read_times(inside.strip("'\""), directory)
        return _weighted(value, "empirical", times_ps, weights)
    if name == "choice":
        return _weighted(value, "choice", *_choices(value, inside))
    if name not in _SIGNATURES:
        raise InputError("is not a known distribution", value=value, accepted=ACCEPTED)
    return _law(value, name, _arguments(value, name, inside))


def _plain_time(value: str) -> int:
    try:
        return parse_time(value)
    except InputError as error:
        looks_like_time = value.strip()[:1].isdigit() or value.strip()[:1] in {"-", "+", "."}
        accepted = error.accepted if looks_like_time else ACCEPTED
        problem = error.problem if looks_like_time else "is not a time or a distribution"
        raise InputError(problem, value=value, accepted=accepted) from None


def _law(text: str, name: str, given: dict[str, str]) -> Distribution:
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
        key: _sigma(text, given[key]) if key == "sigma" else parse_time(given[key]) for key in signature
    }
    least_ps = parse_time(given.get("min", "0 s"))
    most_ps = parse_time(given["max"]) if "max" in given else MAX_TIME_PS
    if least_ps > most_ps:
        raise InputError("has a min above its max", value=text, accepted="min <= max")
    if name == "uniform" and numbers["low"] > numbers["high"]:
        raise InputError(
            "has a low above its high", value=text, accepted="uniform(low, high) with low <= high"
        )
    return Distribution(text, name, numbers, least_ps, most_ps)


def _arguments(text: str, name: str, inside: str) -> dict[str, str]:
    """The arguments by name; those without one take the names of the law's signature in order."""
    names = iter(_SIGNATURES[name])
    given: dict[str, str] = {}
    for part in inside.split(",") if inside else []:
        key, equals, argument = (piece.strip() for piece in part.partition("="))
        if not equals:
            key, argument = next(names, ""), key
        if not key or not argument or key in given:
            raise InputError("has arguments that make no sense", value=text, accepted=ACCEPTED)
        given[key] = argument
    return given


def _choices(text: str, inside: str) -> tuple[Integers, NDArray[np.float64]]:
    pairs = [part.partition(":") for part in inside.split(",")]
    times_ps = np.array([parse_time(time.strip()) for time, _, _ in pairs], np.int64)
    weights = np.array([_number(text, weight) if colon else 1.0 for _, colon, weight in pairs])
    return times_ps, weights


def _weighted(text: str, kind: str, times_ps: Integers, weights: NDArray[np.float64]) -> Distribution:
    total = float(weights.sum())
    if not (math.isfinite(total) and total > 0 and bool((weights >= 0).all())):
        raise InputError("has weights that do not sum to more than 0", value=text, accepted="weights >= 0")
    return Distribution(text, kind, {}, values_ps=times_ps, shares=np.cumsum(weights) / total)


def _sigma(text: str, written: str) -> float:
    sigma = _number(text, written)
    if not 0 <= sigma <= _LARGEST_SIGMA:
        accepted = f"sigma of 0 to {_LARGEST_SIGMA:g} (standard deviation of the logarithm, no unit)"
        raise InputError("has a sigma out of bounds", value=text, accepted=accepted)
    return sigma


def _number(text: str, written: str) -> float:
    try:
        return float(written)
    except ValueError:
        raise InputError(
            f"has '{written.strip()[:20]}' where a plain number belongs", value=text, accepted=ACCEPTED
        ) from None


_SIGNATURES: Final[Mapping[str, tuple[str, ...]]] = {
    "constant": ("value",),
    "uniform": ("low", "high"),
    "normal": ("mean", "sd"),
    "lognormal": ("mean", "sigma"),
    "exponential": ("mean",),
}


def _lognormal(p: Mapping[str, float], rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Mean exp(mu + sigma²/2), median exp(mu)."""
    centre = p["median"] if "median" in p else p["mean"] * math.exp(-(p["sigma"] ** 2) / 2)
    return centre * np.exp(p["sigma"] * rng.standard_normal(count))


_LAWS: Final[Mapping[str, Callable[[Mapping[str, float], np.random.Generator, int], NDArray[np.float64]]]] = {
    "uniform": lambda p, rng, count: p["low"] + (p["high"] - p["low"]) * rng.random(count),
    "normal": lambda p, rng, count: p["mean"] + p["sd"] * rng.standard_normal(count),
    "lognormal": _lognormal,
    "exponential": lambda p, rng, count: p["mean"] * rng.standard_exponential(count),
}
