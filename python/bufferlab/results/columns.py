"""Columns that have one value."""

from __future__ import annotations

from functools import lru_cache

import polars as pl


@lru_cache(maxsize=64)
def repeated(value: int | None, dtype: pl.DataType, rows: int = 1) -> pl.Series:
    """A column that has one value."""
    return pl.Series([value], dtype=dtype).new_from_index(0, rows)
