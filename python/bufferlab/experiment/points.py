"""The points of a sweep: what each changes in the scenario, by path."""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bufferlab.errors import InputError
from bufferlab.experiment.axes import OPTION, Axis
from bufferlab.files import read_text
from bufferlab.scenario import Json, parse_value, plain_table

Point = dict[str, Json]
"""Values by path."""

MAX_POINTS: Final = 1_000_000
"""Most points of a sweep."""

_SAMPLE: Final = re.compile(r"latin:(\d{1,7})", re.ASCII)
_STREAM: Final = 0x6C617469
_TRIES: Final = 20


def grid(axes: Sequence[Axis]) -> list[Point]:
    """Every combination of the axes' values, the last axis fastest; without axes the scenario itself.

    Raises:
        InputError: A range does not say how many values it stands for, or there are too many points.
    """
    values = [axis.grid() for axis in axes]
    total = math.prod(len(each) for each in values)
    if total > MAX_POINTS:
        raise InputError("are too many points", file=OPTION, value=total, accepted=f"at most {MAX_POINTS}")
    paths = [axis.path for axis in axes]
    return [dict(zip(paths, combination, strict=True)) for combination in itertools.product(*values)]


def latin(axes: Sequence[Axis], count: int, seed: int) -> list[Point]:
    """Points of a Latin hypercube.

    Each axis is cut into `count` shares of equal probability, and each share has one point, at random within
    it.

    Source: M. D. McKay, R. J. Beckman, W. J. Conover, "A comparison of three methods for selecting values of
        input
    variables in the analysis of output from a computer code", Technometrics 21(2), 1979, section 2.

    Args:
        axes: What varies.
        count: How many points.
        seed: The same seed gives the same points.

    Raises:
        InputError: There are no axes, or no points or too many.
    """
    if not axes:
        raise InputError("has nothing to sample", file="--sample", accepted="ranges or values by --vary")
    if not 1 <= count <= MAX_POINTS:
        raise InputError(
            "is not a usable number of points", file="--sample", value=count, accepted=f"1 to {MAX_POINTS}"
        )
    shares = hypercube(len(axes), count, seed)
    return [
        {axis.path: axis.sample(float(share)) for axis, share in zip(axes, row, strict=True)}
        for row in shares
    ]


def hypercube(dimensions: int, count: int, seed: int) -> npt.NDArray[np.float64]:
    """Points of the unit cube, one a row: each column has one in every [i/count, (i + 1)/count)."""
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(_STREAM,))))
    # sorting keys instead of `permutation`: only NumPy's doubles are the same in all its versions (NEP 19)
    strata = np.argsort(generator.random((count, dimensions)), axis=0, kind="stable")
    inside = generator.random((count, dimensions))
    return np.minimum((strata + inside) / count, np.nextafter((strata + 1) / count, 0.0))


def read_sample(text: str) -> int:
    """Read "latin:100".

    Raises:
        InputError: It is something else.
    """
    match = _SAMPLE.fullmatch(text.strip())
    if match is None:
        raise InputError(
            "is no way to sample", file="--sample", value=text, accepted="latin:100, for 100 points"
        )
    return int(match[1])


def read_list(path: Path) -> list[Point]:
    """Read points from a CSV file: paths in the first line, one point a line; an empty cell changes nothing.

    Raises:
        InputError: The file cannot be used.
    """
    text = read_text(path, what="a CSV file of points")
    try:
        rows = list(csv.reader(io.StringIO(text), skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise InputError(
            f"is not CSV: {error}", file=path, accepted="CSV with paths in its first line"
        ) from None
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        raise InputError(
            "has no points", file=path, accepted="paths in the first line, one point a line below"
        )
    paths = [cell.strip() for cell in rows[0]]
    if not all(paths) or len(set(paths)) != len(paths):
        raise InputError("needs different paths in its first line", file=path, value=",".join(paths))
    return [_point(path, paths, number, row) for number, row in enumerate(rows[1:], start=2)]


def given_points(points: Sequence[Mapping[str, Any]]) -> list[Point]:
    """Check points given in Python.

    Raises:
        InputError: There are none, or one is no mapping from paths to values.
    """
    if not points:
        raise InputError("names no point", key="points", accepted="at least one mapping from paths to values")
    return [plain_table(point) for point in points]


def check(points: Sequence[Point], use: Callable[[Point], object]) -> None:
    """Find what is misspelled before any work is done.

    A value that fails in all points that have it (of which a few are tried) is an error of the input. One
    that fails only next to certain others is reported when its turn comes.

    Args:
        points: The points.
        use: Raises `InputError` if a point cannot be used.

    Raises:
        InputError: That of the first such value.
    """
    errors: dict[tuple[str, str], InputError] = {}
    tried: Counter[tuple[str, str]] = Counter()
    good: set[tuple[str, str]] = set()
    for point in points:
        pairs = [(path, repr(value)) for path, value in point.items()] or [("", "")]
        if all(pair in good or tried[pair] >= _TRIES for pair in pairs):
            continue
        tried.update(pairs)
        try:
            use(point)
            good.update(pairs)
        except InputError as error:
            for pair in pairs:
                errors.setdefault(pair, error)
    bad = next((pair for pair in errors if pair not in good), None)
    if bad is not None:
        raise errors[bad]


def check_sampled(points: Sequence[Point], use: Callable[[Point], object]) -> None:
    """The same for points at random, each of which has values of its own: an error only if all of a few fail.

    Raises:
        InputError: That of the first point.
    """
    errors: list[InputError] = []
    for point in points[:_TRIES]:
        try:
            use(point)
        except InputError as error:
            errors.append(error)
        else:
            return
    raise errors[0]


def _point(path: Path, paths: Sequence[str], number: int, row: Sequence[str]) -> Point:
    if len(row) != len(paths):
        raise InputError(
            f"has {len(row)} cells in row {number}", file=path, accepted=f"{len(paths)}, as in the first row"
        )
    cells = zip(paths, (cell.strip() for cell in row), strict=True)
    return {name: parse_value(cell) for name, cell in cells if cell}
