"""What was seen as laws of scenarios: a few values with weights."""

from __future__ import annotations

from typing import Final

import polars as pl

MOST_VALUES: Final = 16
"""Values of a law that stands for a distribution: its quantiles with equal weights."""


def law(values: pl.Series, weights: pl.Series, unit: str) -> str:
    """A distribution as a law: quantiles in the middle of equal parts of the weights."""
    table = pl.DataFrame({"value": values, "weight": weights}).sort("value")
    if len(table) <= MOST_VALUES:
        found = list(zip(table["value"], table["weight"], strict=True))
    else:
        reached = table["weight"].cum_sum() / table["weight"].sum()
        parts = [(index + 0.5) / MOST_VALUES for index in range(MOST_VALUES)]
        places = [min(int((reached < part).sum()), len(table) - 1) for part in parts]
        found = [(table["value"][place], 1.0) for place in places]
    merged: dict[str, float] = {}
    for value, weight in found:
        text = f"{max(value, 1e-3):.4g} {unit}" if unit != "B" else f"{max(round(value), 1)} B"
        merged[text] = merged.get(text, 0.0) + weight
    if len(merged) == 1:
        return next(iter(merged))
    least = min(merged.values())
    return f"choice({', '.join(_weighted(text, weight / least) for text, weight in merged.items())})"


def _weighted(text: str, weight: float) -> str:
    rounded = f"{weight:.2g}"
    return text if rounded == "1" else f"{text}: {rounded}"
