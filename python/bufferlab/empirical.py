"""Measured times or sizes from a CSV file, for `empirical(file.csv)`.

The first column's name ends with its unit (`rtt_ms`, `delay_us`, `time_s`, `size_KB`); a second column
`weight` is optional.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bufferlab.errors import InputError
from bufferlab.files import read_text

_ACCEPTED: Final = (
    "a CSV file with a header that ends with a unit, such as 'rtt_ms' or 'size_KB,weight', "
    "and one value a line"
)
_MOST_ROWS: Final = 1_000_000


def read_values(
    path: str, directory: Path | None, units: Mapping[str, int], most: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Read values, in the least unit, and their weights (1 where the file has none).

    Args:
        path: The file, relative to `directory`.
        directory: The scenario's folder; the current one if None.
        units: How many of the least unit each unit is.
        most: Largest value accepted.

    Raises:
        InputError: If the file is missing, unreadable or not of this form.
    """
    file = (directory or Path()) / path
    rows = _rows(file)
    header = [cell.strip() for cell in next(rows, [])]
    unit = units.get(header[0].rpartition("_")[2]) if header else None
    if unit is None or header[1:] not in ([], ["weight"]):
        raise InputError("has no usable header", file=file, value=",".join(header), accepted=_ACCEPTED)
    values: list[int] = []
    weights: list[float] = []
    for line, row in enumerate(rows, start=2):
        if not row:
            continue
        value, weight = _row(row, len(header), unit)
        if not (0 <= value <= most and 0 <= weight < math.inf):
            raise InputError(
                "is not usable", file=file, key=f"line {line}", value=",".join(row), accepted=_ACCEPTED
            )
        values.append(round(value))
        weights.append(weight)
        if len(values) > _MOST_ROWS:
            raise InputError(f"has more than {_MOST_ROWS} lines", file=file, accepted=_ACCEPTED)
    if not values:
        raise InputError("has no values", file=file, accepted=_ACCEPTED)
    return np.array(values, np.int64), np.array(weights)


def _rows(file: Path) -> Iterator[list[str]]:
    text = io.StringIO(read_text(file, what="the distribution's file"), newline="")
    try:
        yield from csv.reader(text, strict=True)
    except csv.Error as error:
        raise InputError(f"is not CSV ({error})", file=file, accepted=_ACCEPTED) from None


def _row(row: list[str], columns: int, unit: int) -> tuple[float, float]:
    """A line's value in the least unit and its weight; not a number where it has none."""
    try:
        value = float(row[0]) * unit
        weight = float(row[1]) if columns == 2 else 1.0
    except (ValueError, IndexError):
        return math.nan, math.nan
    return (value, weight) if len(row) == columns else (math.nan, math.nan)
