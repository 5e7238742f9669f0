"""Comparison tables of the heterogeneous-TCP document: published, as published, corrected, why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from bufferlab.evidence.heterogeneous.published import Stated


def compared(
    stated: Stated, ours: Sequence[float], why: str, *, statement: str | None = None
) -> dict[str, Any]:
    """One row: a stated number, and ours as published and corrected.

    Args:
        stated: The number.
        ours: Ours with the document's inputs, and corrected.
        why: Why they differ.
        statement: What it is, if not `stated.statement`.
    """
    as_published, corrected = ours
    return {
        "what": statement or stated.statement,
        "unit": stated.unit,
        "published": stated.value,
        "as_published": as_published,
        "difference_percent": _difference_percent(as_published, stated.value),
        "corrected": corrected,
        "why": why,
    }


def comparison_frame(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """The rows as a frame with the types that they have in every table."""
    numbers = ("published", "as_published", "difference_percent", "corrected")
    return pl.DataFrame(rows, schema_overrides=dict.fromkeys(numbers, pl.Float64))


def _difference_percent(ours: float, stated: float) -> float | None:
    """What is left after rounding; there is no difference in per cent to 0."""
    return None if stated == 0 else round((ours / stated - 1.0) * 100.0, 9) + 0.0
