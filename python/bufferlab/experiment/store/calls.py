"""Figures of groups in lists of runs: of what `sweep`, `advise`, `compare` and `size` kept of each group."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, Final

import polars as pl

from bufferlab.results.metrics.calls import CALLS, OF_GROUPS
from bufferlab.results.metrics.metric import Better, Metric
from bufferlab.results.metrics.registry import STORED

LISTED: Final[Mapping[str, Metric]] = {**STORED, **CALLS}
"""All figures that lists can have of any run; those of single groups are others, by run."""

SHOWN: Final = ("call_r", "call_delay_ms")
"""Those of calls in a list if none are asked for."""

Values = Sequence[tuple[str, Any]]
"""What was measured of a run, by name."""


def listed_metric(name: str) -> Metric | None:
    """A figure that lists can have; of a single group it is called `GROUP.FIGURE`.

    >>> [found.label for found in [listed_metric("call.frames_late")] if found]
    ['call: late, %']
    """
    group, _, figure = name.rpartition(".")
    metric = OF_GROUPS.get(figure)
    if not group or metric is None:
        return LISTED.get(name)
    count = metric.censored_by and f"{group}.{metric.censored_by}"
    return replace(metric, name=name, title=f"{group}: {metric.title}", censored_by=count)


def with_users(runs: pl.DataFrame, measured: Mapping[str, str]) -> pl.DataFrame:
    """Runs with `SHOWN`, if a call was rated, and with the figures of single groups, as `with_measured`."""
    values = read_measured({run: measured[run] for run in runs["plan_hash"] if run in measured})
    groups = figures_of_groups([*values.values()])
    found = with_measured(runs, values, [*SHOWN, *groups])
    return found.drop(name for name in SHOWN if not found[name].count())


def shown_of_groups(names: Sequence[str]) -> list[str]:
    """Those of groups in a list if none are asked for: times of pages, bitrate and late pictures of calls."""
    seen = {name.rpartition(".")[0] for name in names if name.endswith(".frames_late")}
    return [
        name
        for name in names
        if name.endswith((".exchange_p50_s", ".frames_late"))
        or (name.endswith(".goodput_bps") and name.rpartition(".")[0] in seen)
    ]


def with_measured(runs: pl.DataFrame, measured: Mapping[str, Values], names: Sequence[str]) -> pl.DataFrame:
    """Runs with figures of calls, of the worst group, or of single groups; null if there is none.

    Args:
        runs: Rows of a store.
        measured: What was measured of each run.
        names: Of `CALLS`, or of a group.
    """
    values = [measured.get(run, ()) for run in runs["plan_hash"]]
    columns = [pl.Series(name, [_value(each, name) for each in values], pl.Float64) for name in names]
    return runs.with_columns(columns)


def read_measured(measured: Mapping[str, str]) -> dict[str, Values]:
    """What was measured of each run, from JSON."""
    return {run: [*_flat(json.loads(text))] for run, text in measured.items()}


def figures_of_groups(measured: Sequence[Values]) -> list[str]:
    """The figures of single groups that some run has, group by group."""
    found = {name for values in measured for name, value in values if value is not None}
    groups = {name.rpartition(".")[0]: None for values in measured for name, _ in values}
    return [
        name
        for group in groups
        for figure in OF_GROUPS
        if (name := f"{group}.{figure}") in found
        and not (figure.startswith("exchange_") and _is_of_calls(group, found))
    ]


def _is_of_calls(group: str, found: AbstractSet[str]) -> bool:
    """Whether other figures say better than exchanges how a group's packets fare."""
    return bool(found & {f"{group}.frames_late", f"{group}.call_r"})


def _flat(values: object) -> Iterator[tuple[str, Any]]:
    """What was measured by name, of several links' too."""
    for name, value in values.items() if isinstance(values, dict) else ():
        if isinstance(value, dict):
            yield from _flat(value)
        else:
            yield name, value


def _value(values: Values, name: str) -> float | None:
    is_own = name not in CALLS
    found = [
        float(value)
        for key, value in values
        if value is not None and (key if is_own else key.rpartition(".")[2]) == name
    ]
    worst = max if is_own or CALLS[name].better is not Better.HIGHER else min
    return worst(found, default=None)
