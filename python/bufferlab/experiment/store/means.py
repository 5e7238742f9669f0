"""Means over the seeds of stored runs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from bufferlab.experiment.store.calls import LISTED, listed_metric
from bufferlab.experiment.store.rows import DONE
from bufferlab.results.metrics.metric import CONFIDENCE_SUFFIX, RUNS_SUFFIX
from bufferlab.stats import t_quantile


def means_over_seeds(runs: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Means of all figures over the runs that agree in `by`, in the order of the first of each.

    As in `bufferlab.stats.estimate`: `…_ci95` is half the width of the 95 % confidence interval by Student's
    t distribution, null for fewer than two values. Where some runs have no value, `…_runs` says how many have
    one (no column if none lacks any), and the mean is null if they lack it because too few finished.

    Args:
        runs: Rows with figures; those that failed are left out.
        by: Columns that name a point.
    """
    done = runs.filter(pl.col("status") == DONE)
    of_groups = [name for name in runs.columns if name not in LISTED and listed_metric(name)]
    figures = [*(name for name in LISTED if name in runs.columns), *of_groups]
    constant = [] if by else [pl.lit("all").alias("_all")]
    grouped = done.with_columns(constant).group_by(by or ["_all"], maintain_order=True)
    means = grouped.agg(
        pl.len().alias("runs"),
        *(pl.col(name).mean() for name in figures),
        *(pl.col(name).std().alias(f"{name}_std") for name in figures),
        *(pl.col(name).count().alias(f"{name}_count") for name in figures),
        *(_is_censored(name, runs.columns).alias(f"{name}_censored") for name in figures),
    )
    most = max([0, *(max(means[f"{name}_count"].to_list(), default=0) for name in figures)])
    factors = pl.Series([0.0, 0.0, *(t_quantile(count) for count in range(2, most + 1))])
    columns: list[str | pl.Expr] = [*by, "runs"]
    for name in figures:
        count = pl.col(f"{name}_count")
        factor = count.replace_strict(range(len(factors)), factors, return_dtype=pl.Float64)
        width = pl.col(f"{name}_std") * factor / count.sqrt()
        is_partial = (count > 0) & (count < pl.col("runs"))
        is_known = ~(is_partial & pl.col(f"{name}_censored"))
        columns += [
            pl.when(is_known).then(name).alias(name),
            pl.when((count > 1) & is_known).then(width).alias(name + CONFIDENCE_SUFFIX),
        ]
        if means.select(is_partial.any()).item():
            columns.append(pl.when(is_partial).then(count).alias(name + RUNS_SUFFIX))
    return means.select(columns)


def _is_censored(name: str, columns: Sequence[str]) -> pl.Expr:
    """Whether a run of a group lacks a figure since too few finished (`Metric.censored_by`)."""
    metric = listed_metric(name)
    count = metric.censored_by if metric else ""
    if count not in columns:
        return pl.lit(value=False)
    return (pl.col(name).is_null() & (pl.col(count) > 0)).any()
