"""A stored run as a row: who it is, how it ended, and its summary.

A row is a plain dictionary with the columns of `SCHEMA`:

- `plan_hash` and `engine` (see `ENGINE`) are the run's identity;
- `status` is "done" or "failed", `error` says why;
- `scenario` (its title), `scenario_hash` (what is simulated but for the seed), `overrides` (all that was
  changed in the scenario's file), `parameters` (what of it a sweep varied), both JSON objects of values by
  path, `seed`;
- `finished_at` (UTC), `wall_s`, `duration_s`, `warmup_s` and the metrics of the run;
- `link`: the link that sizing looks at, the slowest that data crosses; the metrics of its whole queue, and
  those of all flows together;
- `flows` and `queues`: the same metrics for each group and each link and group, as lists of records;
- `measure` and `measured`: what else was measured, as JSON, and the identity of the function that did. A run
  has a row for each measure, and the same figures in each. Rows of procedures have no figures.

Figures are numbers or null. All columns are the same for every scenario, so that one store holds any.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.experiment.store.sources import fingerprint
from bufferlab.results import engine_frames
from bufferlab.results.links import choose_link
from bufferlab.results.measurement import Measurement
from bufferlab.results.metrics.registry import FLOW_GROUPS, QUEUE_SUMMARY, RUNS, STORED
from bufferlab.results.summary import flow_values, queue_values, run_values
from bufferlab.results.tables import ALL

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario

MAKERS: Final = (__name__, engine_frames.__name__)
"""The modules that make a row's figures, with all that they import."""

ENGINE: Final = f"{_core.engine_version}+{_core.engine_fingerprint}.{fingerprint(*MAKERS)}"
"""This engine: its version, the fingerprint of its sources, and that of the modules that make its figures."""

DONE: Final = "done"
FAILED: Final = "failed"

Row = dict[str, Any]
"""A stored run: plain values by column."""

FIGURES: Final = tuple(STORED)
"""The columns of metrics that every run has."""

FLOW_SCHEMA: Final[Mapping[str, Any]] = {
    "group": pl.String,
    "flows": pl.UInt32,
    **dict.fromkeys(FLOW_GROUPS.names, pl.Float64),
}
"""The records of the column `flows`."""

QUEUE_SCHEMA: Final[Mapping[str, Any]] = {
    "link": pl.String,
    "group": pl.String,
    **dict.fromkeys(QUEUE_SUMMARY.names, pl.Float64),
}
"""The records of the column `queues`."""

IDENTITY: Final[Mapping[str, Any]] = {
    "plan_hash": pl.String,
    "engine": pl.String,
    "status": pl.String,
    "error": pl.String,
    "scenario": pl.String,
    "scenario_hash": pl.String,
    "overrides": pl.String,
    "parameters": pl.String,
    "seed": pl.UInt64,
    "finished_at": pl.String,
    "wall_s": pl.Float64,
    "duration_s": pl.Float64,
    "warmup_s": pl.Float64,
    "link": pl.String,
}
"""The columns that are no figures."""

SCHEMA: Final[Mapping[str, Any]] = {
    **IDENTITY,
    **dict.fromkeys(FIGURES, pl.Float64),
    "flows": pl.List(pl.Struct(FLOW_SCHEMA)),
    "queues": pl.List(pl.Struct(QUEUE_SCHEMA)),
    "measure": pl.String,
    "measured": pl.String,
}
"""All columns of a store."""


def done_row(result: Measurement, *, parameters: Mapping[str, Any] | None = None, wall_s: float = 0.0) -> Row:
    """The row of a run that came to its end.

    Args:
        result: What it measured.
        parameters: What was varied: values by path.
        wall_s: How long it took, s.
    """
    flows, queues = flow_values(result), queue_values(result)
    link = main_link(result.resolved)
    own = next(row for row in queues if row["link"] == link and row["group"] == ALL) if link else {}
    run = run_values(result)
    return {
        **_identity(result.plan_hash, result.name, result.seed, parameters, wall_s),
        "status": DONE,
        "error": None,
        "duration_s": result.duration_s,
        "warmup_s": result.warmup_s,
        "link": link,
        **{key: _number(own.get(key)) for key in QUEUE_SUMMARY.names},
        **{key: _number(flows[-1][key]) for key in FLOW_GROUPS.names},
        **{key: _number(run[key]) for key in RUNS.names},
        "flows": _records(flows, ("group", "flows"), FLOW_GROUPS.names),
        "queues": _records(queues, ("link", "group"), QUEUE_SUMMARY.names),
    }


def failed_row(
    plan_hash: str,
    error: str,
    *,
    scenario: str,
    seed: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    wall_s: float = 0.0,
) -> Row:
    """The row of a run that failed; `error` says why in one line, `seed` is `None` if it has no plan."""
    nothing: Row = dict.fromkeys(SCHEMA)
    return nothing | {
        **_identity(plan_hash, scenario, seed, parameters, wall_s),
        "status": FAILED,
        "error": " ".join(error.split()),
    }


def measured_row(
    figures: Row,
    *,
    name: str,
    measure: str,
    measured: str,
    scenario: str,
    parameters: str,
    seed: int,
    wall_s: float,
) -> Row:
    """The row of a run with other measured values.

    Args:
        figures: The row of its figures; empty if there are none.
        name: Identity of what was simulated.
        measure: Identity of the function that measured.
        measured: What it returned, as JSON.
        scenario: Title of the scenario.
        parameters: What names the point, a JSON object.
        seed: The seed.
        wall_s: How long it took, s.
    """
    nothing: Row = dict.fromkeys(SCHEMA)
    own = _identity(name, scenario, seed, None, wall_s) | {"parameters": parameters, "status": DONE}
    return nothing | figures | own | {"measure": measure, "measured": measured}


def rows_to_frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a frame with the columns of `SCHEMA`; what a row lacks is null."""
    return pl.DataFrame([{key: row.get(key) for key in SCHEMA} for row in rows], schema=dict(SCHEMA))


def main_link(resolved: ResolvedScenario) -> str | None:
    """Name of the link that sizing looks at, `None` if no data crosses any."""
    try:
        return resolved["links"][choose_link(resolved)]["name"]
    except InputError:
        return None


def timestamp(*, days_ago: float = 0.0) -> str:
    """Now or some days ago, in UTC, as rows have it; later ones sort behind."""
    return (datetime.now(UTC) - timedelta(days=days_ago)).isoformat(timespec="milliseconds")


def _identity(
    plan_hash: str, scenario: str, seed: int | None, parameters: Mapping[str, Any] | None, wall_s: float
) -> Row:
    return {
        "plan_hash": plan_hash,
        "engine": ENGINE,
        "scenario": scenario,
        "parameters": json.dumps(dict(parameters or {}), ensure_ascii=False),
        "seed": seed,
        "finished_at": timestamp(),
        "wall_s": wall_s,
    }


def _records(rows: Iterable[Mapping[str, Any]], keys: Sequence[str], figures: Sequence[str]) -> list[Row]:
    return [
        {key: row[key] for key in keys} | {figure: _number(row[figure]) for figure in figures} for row in rows
    ]


def _number(value: float | None) -> float | None:
    """A figure for JSON and Parquet: null if it is none, or not finite."""
    return None if value is None or not math.isfinite(value) else float(value)
