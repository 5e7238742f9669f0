"""Points of a reproduction: every scenario with every seed, and from one row a run to one row a point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import polars as pl

from bufferlab import _core
from bufferlab.evidence.registry import Request
from bufferlab.experiment.batch import run_batch
from bufferlab.experiment.simulation import simulate
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario
from bufferlab.stats import estimate

Point = TypeVar("Point")
Measured = TypeVar("Measured")


def run_points(
    scenarios: Mapping[Point, Scenario],
    seeds: int | Callable[[Point], int],
    measure: Callable[[Point, int, Result], Measured],
    request: Request,
    *,
    title: str,
    weight: Callable[[Point], float] | None = None,
) -> list[Measured]:
    """Simulate every point with seeds 1, 2, …, and measure each run in the thread that made it.

    Args:
        scenarios: What to simulate.
        seeds: How many seeds each point has.
        measure: Takes what is wanted from the result of a point and a seed.
        request: Threads and progress.
        title: Name of the work, for the progress bar.
        weight: Expected cost of a run of a point, in any unit; default equal.

    Returns:
        What was measured, in order of the points, then of the seeds.
    """
    count = seeds if callable(seeds) else lambda _point: seeds
    tasks = [(point, seed) for point in scenarios for seed in range(1, count(point) + 1)]

    def task(which: tuple[Point, int], control: _core.Control) -> Measured | None:
        point, seed = which
        result = simulate(scenarios[point], seed, control)
        return None if result is None else measure(point, seed, result)

    return run_batch(
        task,
        tasks,
        title=title,
        threads=request.threads,
        progress=request.progress,
        weights=None if weight is None else [weight(point) for point, _ in tasks],
    )


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
            mean, half = estimate(values)
            row |= {column: mean, f"{column}_ci95": half}
            row |= {f"{column}_min": values.min(), f"{column}_max": values.max()}
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)
