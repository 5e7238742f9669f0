"""Figures of calls in lists of runs: of what `sweep`, `advise`, `compare` and `size` kept of each group."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import polars as pl

from bufferlab.results.metrics.calls import CALLS
from bufferlab.results.metrics.metric import Better, Metric
from bufferlab.results.metrics.registry import STORED

LISTED: Final[Mapping[str, Metric]] = {**STORED, **CALLS}
"""All figures that lists can have."""

SHOWN: Final = ("call_r", "call_delay_ms")
"""Those of calls in a list if none are asked for."""


def with_rated_calls(runs: pl.DataFrame, measured: Mapping[str, str]) -> pl.DataFrame:
    """Runs with `SHOWN`, as `with_calls`; without them if no call was rated."""
    rated = with_calls(runs, measured, SHOWN)
    return rated.drop(name for name in SHOWN if not rated[name].count())


def with_calls(runs: pl.DataFrame, measured: Mapping[str, str], names: Sequence[str]) -> pl.DataFrame:
    """Runs with figures of calls: of the group whose calls are worst; null if none was rated.

    Args:
        runs: Rows of a store.
        measured: What was measured of each run, as JSON.
        names: Of `CALLS`.
    """
    values = [[*_flat(json.loads(measured.get(run, "{}")))] for run in runs["plan_hash"]]
    columns = [pl.Series(name, [_worst(each, name) for each in values], pl.Float64) for name in names]
    return runs.with_columns(columns)


def _flat(values: object) -> Iterator[tuple[str, Any]]:
    """What was measured by name, of several links' too."""
    for name, value in values.items() if isinstance(values, dict) else ():
        if isinstance(value, dict):
            yield from _flat(value)
        else:
            yield name, value


def _worst(values: Sequence[tuple[str, Any]], name: str) -> float | None:
    found = [float(value) for key, value in values if key.rpartition(".")[2] == name and value is not None]
    worst = min if CALLS[name].better is Better.HIGHER else max
    return worst(found, default=None)
