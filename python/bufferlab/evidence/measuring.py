"""What is taken from a run of a claims file: columns by expressions and hooks, and frames.

`measure` is a function of a module with plain arguments, so that a store keeps its values: they stay usable
until an expression, a hook's code or the figures themselves change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from bufferlab.errors import InputError
from bufferlab.evidence.document import Document, Runs
from bufferlab.evidence.expressions import Value, evaluate
from bufferlab.evidence.hooks import call, hook, returned
from bufferlab.evidence.reading import CLAIMS_FILE
from bufferlab.evidence.run_values import RunValues
from bufferlab.experiment.fingerprint import identity
from bufferlab.results.result import Result

ROW: Final = ""
"""Under which name the columns of a run stand beside its frames."""


@dataclass(frozen=True)
class Recipe:
    """What to take from each run.

    Attributes:
        runs: Name of the runs.
        folder: The document's folder; empty if it has a package.
        package: Its Python package.
        columns: Expressions by column.
        more: The hook that measures further columns.
        frames: Hooks by table.
        code: Identities of the hooks.
    """

    runs: str
    folder: str
    package: str | None
    columns: tuple[tuple[str, str], ...]
    more: str | None
    frames: tuple[tuple[str, str], ...]
    code: tuple[str, ...]


def recipe_of(document: Document, runs: Runs) -> Recipe:
    """What a document's runs measure.

    Raises:
        InputError: A hook cannot be found.
    """
    hooks = [*([runs.measure_with] if runs.measure_with else []), *runs.frames.values()]
    return Recipe(
        runs=runs.name,
        folder="" if document.package is not None else str(document.folder),
        package=document.package,
        columns=tuple(runs.measure.items()),
        more=runs.measure_with,
        frames=tuple(runs.frames.items()),
        code=tuple(identity(hook(document.folder, document.package, each)) for each in hooks),
    )


def measure(recipe: Recipe, keys: Mapping[str, Value], result: Result) -> dict[str, Any]:
    """The columns of a run, under `ROW`, and its frames by table.

    Raises:
        InputError: An expression cannot be computed.
    """
    folder = Path(recipe.folder)
    own: dict[str, Any] = {**keys, "seed": result.seed}
    row = dict(own)
    names = RunValues(result, row)
    for column, expression in recipe.columns:
        try:
            row[column] = evaluate(expression, names)
        except InputError as error:
            place = f"runs.{recipe.runs}.measure.{column}"
            raise error.at(file=folder / CLAIMS_FILE, key=place) from None
    if recipe.more is not None:
        more = call(folder, recipe.package, recipe.more, result, own)
        row |= returned(folder, recipe.more, more, dict, "the columns as a dict")
    frames = {
        name: returned(
            folder, each, call(folder, recipe.package, each, result, own), pl.DataFrame, "a Polars frame"
        )
        for name, each in recipe.frames
    }
    return {ROW: row, **frames}
