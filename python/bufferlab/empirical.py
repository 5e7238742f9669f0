"""Measured times from a CSV file, for `empirical(file.csv)`.

The first column's name ends with its unit (`rtt_ms`, `delay_us`, `time_s`); a second column `weight` is
optional.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bufferlab.errors import InputError
from bufferlab.files import read_text
from bufferlab.units import MAX_TIME_PS, TIME_UNITS

_ACCEPTED: Final = "a CSV file with a header such as 'rtt_ms' or 'rtt_ms,weight' and one time a line"
_MOST_ROWS: Final = 1_000_000


def read_times(path: str, directory: Path | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Read times, in ps, and their weights (1 where the file has none).

    Args:
        path: The file, relative to `directory`.
        directory: The scenario's folder; the current one if None.

    Raises:
        InputError: If the file is missing, unreadable or not of this form.
    """
    file = (directory or Path()) / path
    rows = _rows(file)
    header = [cell.strip() for cell in next(rows, [])]
    unit_ps = TIME_UNITS.get(header[0].rpartition("_")[2]) if header else None
    if unit_ps is None or header[1:] not in ([], ["weight"]):
        raise InputError("has no usable header", file=file, value=",".join(header), accepted=_ACCEPTED)
    times_ps: list[int] = []
    weights: list[float] = []
    for line, row in enumerate(rows, start=2):
        if not row:
            continue
        time_ps, weight = _row(file, line, row, len(header), unit_ps)
        times_ps.append(time_ps)
        weights.append(weight)
        if len(times_ps) > _MOST_ROWS:
            raise InputError(f"has more than {_MOST_ROWS} lines", file=file, accepted=_ACCEPTED)
    if not times_ps:
        raise InputError("has no times", file=file, accepted=_ACCEPTED)
    return np.array(times_ps, np.int64), np.array(weights)


def _rows(file: Path) -> Iterator[list[str]]:
    text = io.StringIO(read_text(file, what="the distribution's file"), newline="")
    try:
        yield from csv.reader(text, strict=True)
    except csv.Error as error:
        raise InputError(f"is not CSV ({error})", file=file, accepted=_ACCEPTED) from None


def _row(file: Path, line: int, row: list[str], columns: int, unit_ps: int) -> tuple[int, float]:
    try:
        time_ps = float(row[0]) * unit_ps
        weight = float(row[1]) if columns == 2 else 1.0
    except (ValueError, IndexError):
        time_ps = weight = math.nan
    if len(row) != columns or not (0 <= time_ps <= MAX_TIME_PS) or not (0 <= weight < math.inf):
        raise InputError(
            "is not usable", file=file, key=f"line {line}", value=",".join(row), accepted=_ACCEPTED
        )
    return round(time_ps), weight
