"""Points of a reproduction: from one row a run to one row a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from bufferlab.stats import estimate


def means_of_points(runs: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """Mean, half width of the 95 % interval, least and most of each column, in the runs' order of points.

    Args:
        runs: One row a run.
        keys: Columns that tell the points apart.
        columns: What was measured.

    Returns:
        `keys`, `seeds`, and for each column itself and `_ci95`, `_min` and `_max` of it.
    """
    rows = []
    for key, group in runs.group_by(*keys, maintain_order=True):
        row: dict[str, Any] = dict(zip(keys, key, strict=True)) | {"seeds": group.height}
        for column in columns:
            values = group[column]
            found = estimate(values)
            row |= {column: found.mean, f"{column}_ci95": found.half_width}
            row |= {f"{column}_min": values.min(), f"{column}_max": values.max()}
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)
