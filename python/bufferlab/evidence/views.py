"""Reproductions for people: the list of them, and what one came to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import polars as pl

from bufferlab.evidence.reproduction import Reproduced, Reproduction
from bufferlab.evidence.verdicts import VERDICTS, counts, ranged, setting_text
from bufferlab.render.grid import Column, Grid
from bufferlab.render.view import View

_HIDDEN: Final = ("claim", "place", "tolerance", "ours_ci95", "why")
"""Columns of the comparison that are left out; the reasons follow below."""

_LABELS: Final = 2
"""Columns that tell rows apart: the setting, and what is claimed."""

_UNKNOWN: Final = "–"


def listed(known: Iterable[tuple[Reproduction, Sequence[int | None]]]) -> View:
    """What can be reproduced, by document, with the number of claims by verdict."""
    documents = groupby(known, key=lambda each: each[0].citation)
    return View([_of_document(citation, each) for citation, each in documents])


def _of_document(citation: str, known: Iterable[tuple[Reproduction, Sequence[int | None]]]) -> Grid:
    rows = [[each.name, each.title + _counted(numbers)] for each, numbers in known]
    return Grid(["name"], [Column("what (claims by verdict)", "left", wraps=True)], rows, citation)


def _counted(numbers: Sequence[int | None]) -> str:
    """How many claims have which verdict: " (agrees 2, differs 1)"."""
    counted = [f"{verdict} {number}" for verdict, number in zip(VERDICTS, numbers, strict=True) if number]
    return f" ({', '.join(counted)})" if counted else ""


def reproduced_view(result: Reproduced) -> View:
    """The comparison with the number of claims by verdict, tables of points, and each note once."""
    comparison = [] if result.comparison.is_empty() else _comparison(result)
    return View([*comparison, *result.grids, *dict.fromkeys(result.notes)])


def _comparison(result: Reproduced) -> Iterator[Grid | str]:
    frame = result.comparison
    identical = set(_identical_settings(result))
    shown = [name for name in frame.columns if name not in _HIDDEN and not name.endswith(("_min", "_max"))]
    columns = [_column(frame, name) for name in shown]
    rows = [
        [_cell(row, name, identical=row["setting"] in identical) for name in shown]
        for row in frame.iter_rows(named=True)
    ]
    yield Grid(columns[:_LABELS], columns[_LABELS:], rows, result.name)
    numbers = zip(VERDICTS, counts(frame), strict=True)
    yield "Claims: " + ", ".join(f"{verdict} {number}" for verdict, number in numbers)
    yield from dict.fromkeys(
        f"{row['what']} ({row['verdict']}): {row['why']}"
        for row in frame.iter_rows(named=True)
        if row["why"] and row["verdict"] != "agrees"
    )


def _column(frame: pl.DataFrame, name: str) -> Column:
    head = name.replace("_", " ")
    return Column(head, "right" if frame[name].dtype.is_numeric() else "left", wraps=True)


def _identical_settings(result: Reproduced) -> Iterator[str]:
    """The settings whose runs are the same in all that was measured: one value at its bound is no sign."""
    frame = result.tables.get(result.points, pl.DataFrame())
    measured = [name.removesuffix("_min") for name in frame.columns if name.endswith("_min")]
    for row in frame.iter_rows(named=True):
        if measured and all(row[f"{name}_min"] == row[f"{name}_max"] for name in measured):
            yield setting_text(result.keys, row)


def _cell(row: dict[str, Any], name: str, *, identical: bool) -> str:
    """A value, with its range over seeds if they differ."""
    value, low, high = row[name], row.get(f"{name}_min"), row.get(f"{name}_max")
    if value is None:
        return _UNKNOWN
    if not isinstance(value, float):
        return str(value)
    several = low is not None and row[f"{name}_ci95"] is not None
    return ranged(value, low, high) + (", identical runs" if several and identical else "")
