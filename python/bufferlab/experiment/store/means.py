"""Means over the seeds of stored runs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from bufferlab.experiment.store.rows import DONE, FIGURES
from bufferlab.results.metrics.metric import CONFIDENCE_SUFFIX
from bufferlab.stats import t_quantile


def means_over_seeds(runs: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Means of all figures over the runs that agree in `by`, in the order of the first of each.

    As in `bufferlab.stats.estimate`: `…_ci95` is half the width of the 95 % confidence interval by Student's
    t distribution, null for fewer than two values; a figure that a run does not have is left out.

    Args:
        runs: Rows with figures; those that failed are left out.
        by: Columns that name a point.
    """
    done = runs.filter(pl.col("status") == DONE)
    figures = [name for name in FIGURES if name in runs.columns]
    constant = [] if by else [pl.lit("all").alias("_all")]
    grouped = done.with_columns(constant).group_by(by or ["_all"], maintain_order=True)
    means = grouped.agg(
        pl.len().alias("runs"),
        *(pl.col(name).mean() for name in figures),
        *(pl.col(name).std().alias(f"{name}_std") for name in figures),
        *(pl.col(name).count().alias(f"{name}_count") for name in figures),
    )
    most = max([0, *(max(means[f"{name}_count"].to_list(), default=0) for name in figures)])
    factors = pl.Series([0.0, 0.0, *(t_quantile(count) for count in range(2, most + 1))])
    columns: list[str | pl.Expr] = [*by, "runs"]
    for name in figures:
        count = pl.col(f"{name}_count")
        factor = count.replace_strict(range(len(factors)), factors, return_dtype=pl.Float64)
        width = pl.col(f"{name}_std") * factor / count.sqrt()
        columns += [name, pl.when(count > 1).then(width).alias(name + CONFIDENCE_SUFFIX)]
    return means.select(columns)
