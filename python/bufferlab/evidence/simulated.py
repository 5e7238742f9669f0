"""Simulates the runs that a claims file asks for: every point with every seed, measured."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import polars as pl

from bufferlab.errors import InputError
from bufferlab.evidence.document import Document, Effort, Key, Runs
from bufferlab.evidence.emulated import emulated, measured_by
from bufferlab.evidence.expressions import Names, Value, evaluate, fill, holds
from bufferlab.evidence.hooks import call, returned
from bufferlab.evidence.measuring import ROW, measure, recipe_of
from bufferlab.evidence.point_values import Points, PointValues
from bufferlab.evidence.points import means_of_points
from bufferlab.evidence.reading import CLAIMS_FILE, SCENARIOS, is_scenario_of
from bufferlab.evidence.reproduction import Request
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.simulation import prepare
from bufferlab.kernel.cache import kernel
from bufferlab.scenario import Scenario

SCENARIO: Final = "scenario"
"""Among the changes of a value: another file instead of a path."""

_EACH_GROUP: Final = "flows.*."
"""Begins the path of a key of every flow group."""

_Point = tuple[Key, ...]


@dataclass(frozen=True)
class Simulated:
    """What runs gave.

    Attributes:
        keys: Columns that tell points apart.
        runs: One row a run.
        points: One row a point: means over the seeds, and what is derived from them.
        frames: Frames of all runs on top of each other, by table.
        scenarios: The scenario of each point by file name without suffix, as TOML.
        names: Numbers of the whole for notes: `seeds`, `duration_s`, `warmup_s`.
    """

    keys: tuple[str, ...]
    runs: pl.DataFrame
    points: pl.DataFrame
    frames: Mapping[str, pl.DataFrame]
    scenarios: Mapping[str, str]
    names: Mapping[str, str | float]


def simulate_runs(
    document: Document, runs: Runs, only: Mapping[str, Sequence[Key]], request: Request
) -> Simulated:
    """Simulate what a figure needs.

    Args:
        document: The document.
        runs: Which of its runs.
        only: Values of keys to leave it at, in their order.
        request: Effort, threads and progress.

    Raises:
        InputError: A scenario, a change of it or an expression cannot be used.
    """
    effort = _effort(document, runs, request)
    names = _points(document, runs, effort, only)
    scenarios = {point: _scenario(document, runs, effort, point, own) for point, own in names.items()}
    seeds = {point: request.seeds or _seeds(document, runs, effort, own) for point, own in names.items()}
    keys = tuple(effort.vary)
    labels = (*keys, *runs.columns)
    labeled = {point: {name: own.resolve((name,)) for name in labels} for point, own in names.items()}
    recipe = recipe_of(document, runs)
    experiment = Experiment(
        f"{document.name}, {runs.name}",
        scenarios,
        measure={point: partial(measure, recipe, own) for point, own in labeled.items()},
        seeds=seeds.__getitem__,
        parameters=labeled.__getitem__,
    )
    if request.kernel is None:
        measured = request.runner().values(experiment)
    else:
        given = emulated(document, runs, quick=request.quick)
        measured = measured_by(kernel(request.kernel), given, experiment, request.runner())
    table = pl.DataFrame([each[ROW] for each in measured], infer_schema_length=None)
    columns = [name for name in table.columns if name not in (*labels, "seed")]
    means = means_of_points(table, labels, columns)
    first = next(iter(scenarios.values()))
    return Simulated(
        keys=keys,
        runs=table,
        points=derived(document, runs, means, keys),
        frames={name: pl.concat([each[name] for each in measured]) for name in runs.frames},
        scenarios={_file_name(keys, point): scenario.to_toml() for point, scenario in scenarios.items()},
        names={
            "seeds": " or ".join(str(number) for number in dict.fromkeys(seeds.values())),
            "duration_s": first.run["duration_ps"] / 1e12,
            "warmup_s": first.run["warmup_ps"] / 1e12,
        },
    )


def scenarios_of(
    document: Document, runs: Runs, request: Request, only: Mapping[str, Sequence[Key]] | None = None
) -> dict[tuple[Key, ...], Scenario]:
    """The scenario of each point, the first key outermost.

    Args:
        document: The document.
        runs: Which of its runs.
        request: Full or quick.
        only: Values of keys to leave it at, in their order; default all.

    Raises:
        InputError: A scenario or a change of it cannot be used.
    """
    effort = _effort(document, runs, request)
    names = _points(document, runs, effort, only or {})
    return {point: _scenario(document, runs, effort, point, own) for point, own in names.items()}


def points_of_full_run(document: Document, runs: Runs, only: Mapping[str, Sequence[Key]]) -> Points:
    """The points that a full run has, before it is simulated: their keys, and the columns beside them.

    Args:
        document: The document.
        runs: Which of its runs.
        only: Values of keys to leave it at, in their order.

    Raises:
        InputError: An expression cannot be used.
    """
    names = _points(document, runs, runs.full, only)
    labels = (*runs.full.vary, *runs.columns)
    return Points([{name: own.resolve((name,)) for name in labels} for own in names.values()], labels)


def _points(
    document: Document, runs: Runs, effort: Effort, only: Mapping[str, Sequence[Key]]
) -> dict[_Point, Names]:
    """The points, the first key outermost: the keys of each, and what is computed from them."""
    vary = (_chosen(values, only.get(key)) for key, values in effort.vary.items())
    place, keys = f"runs.{runs.name}.where", tuple(effort.vary)
    return {
        point: _names(document, runs, effort, point)
        for point in itertools.product(*vary)
        if _at(document, place, holds, effort.where, Names(_named(keys, point)))
    }


def _effort(document: Document, runs: Runs, request: Request) -> Effort:
    if request.kernel is not None:
        return emulated(document, runs, quick=request.quick).effort
    return runs.quick if request.quick else runs.full


def derived(
    document: Document, runs: Runs, points: pl.DataFrame, keys: Sequence[str], *, strict: bool = True
) -> pl.DataFrame:
    """Points with the columns that are derived from the others, at their own point and at other ones.

    Args:
        document: The document.
        runs: Has the expressions.
        points: One row a point.
        keys: Columns that tell points apart.
        strict: Whether a column that is missing is an error, or has no values.

    Raises:
        InputError: An expression cannot be computed.
    """
    before = Points.of(points, keys, values_of(runs, {}))
    rows = [dict(row) for row in before.rows]
    values = replace(before, rows=rows)
    for column, expression in runs.derive.items():
        place = f"runs.{runs.name}.derive.{column}"
        found = [
            _at(document, place, evaluate, expression, PointValues(values, row, {}, strict)) for row in rows
        ]
        for row, value in zip(rows, found, strict=True):
            row[column] = value
    return pl.DataFrame(rows, infer_schema_length=None)


def values_of(runs: Runs, only: Mapping[str, Sequence[Key]]) -> dict[str, list[Key]]:
    """The values of each key in a full run and in a quick one.

    Args:
        runs: What varies.
        only: Values of keys to leave it at.
    """
    every = {key: [*values, *runs.quick.vary.get(key, ())] for key, values in runs.full.vary.items()}
    return {
        key: [value for value in values if value in only.get(key, values)] for key, values in every.items()
    }


def _chosen(values: Mapping[Key, Any], wanted: Sequence[Key] | None) -> list[Key]:
    return list(values) if wanted is None else [value for value in wanted if value in values]


def _at(document: Document, key: str, read: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401
    """Call a function; its errors name the place in the claims file."""
    try:
        return read(*arguments)
    except InputError as error:
        raise error.at(file=document.folder / CLAIMS_FILE, key=key) from None


def _scenario(document: Document, runs: Runs, effort: Effort, point: _Point, names: Names) -> Scenario:
    changes = dict(effort.changes)
    for key, value in zip(effort.vary, point, strict=True):
        changes |= effort.vary[key][value]
    filled = {
        path: _at(document, f"runs.{runs.name}", fill, value, names) if isinstance(value, str) else value
        for path, value in changes.items()
    }
    file = filled.pop(SCENARIO, None) or _at(
        document, f"runs.{runs.name}.scenario", fill, runs.scenario, names
    )
    if not is_scenario_of(document.folder, str(file)):
        raise InputError(
            "is not in the folder 'scenarios'",
            file=document.folder / CLAIMS_FILE,
            key=f"runs.{runs.name}.scenario",
            value=file,
            accepted="the name of a file there",
        )
    scenario = Scenario.load(document.folder / SCENARIOS / str(file))
    try:
        return prepare(scenario, _of_each_group(scenario, filled))
    except InputError as error:
        file, place = document.folder / CLAIMS_FILE, f"runs.{runs.name}.set"
        moved = [
            each.moved(file=file, key=".".join(filter(None, (place, each.key))))
            for each in (error, *error.others)
        ]
        raise InputError.of(moved) from None


def _of_each_group(scenario: Scenario, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes in which `flows.*.KEY` stands for that key of each flow group."""
    spelled: dict[str, Any] = {}
    for path, value in changes.items():
        key = path.removeprefix(_EACH_GROUP)
        own = [path] if key == path else [f"flows.{group['name']}.{key}" for group in scenario.flows]
        spelled |= dict.fromkeys(own, value)
    return spelled


def _names(document: Document, runs: Runs, effort: Effort, point: _Point) -> Names:
    """The keys of a point, and what is computed from them."""
    values: dict[str, Value] = _named(tuple(effort.vary), point)
    for name, expression in effort.let.items():
        values[name] = _at(document, f"runs.{runs.name}.let.{name}", evaluate, expression, Names(values))
    if runs.let_with is not None:
        more = call(document.folder, document.package, runs.let_with, values)
        values |= returned(document.folder, runs.let_with, more, dict, "names as a dict")
    return Names(values)


def _seeds(document: Document, runs: Runs, effort: Effort, names: Names) -> int:
    if isinstance(effort.seeds, int):
        return effort.seeds
    key = f"runs.{runs.name}.seeds"
    number = _at(document, key, evaluate, effort.seeds, names)
    if not isinstance(number, int) or number < 1:
        raise InputError(
            "is not a number of seeds",
            file=document.folder / CLAIMS_FILE,
            key=key,
            value=number,
            accepted="a whole number from 1 on",
        )
    return number


def _named(keys: Sequence[str], point: _Point) -> dict[str, Value]:
    return dict(zip(keys, point, strict=True))


def _file_name(keys: Sequence[str], point: _Point) -> str:
    """How the file of a point's scenario is called."""
    name = ", ".join(f"{key} {value}" for key, value in zip(keys, point, strict=True)) or "scenario"
    return "".join(character if character.isalnum() or character in " ,._-" else "_" for character in name)
