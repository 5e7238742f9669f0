"""What a sweep varied, as columns: one per path."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl


def expand(frame: pl.DataFrame, paths: Iterable[str] | None = None) -> pl.DataFrame:
    """Put a column for each varied path in front, in place of the column `parameters`.

    A column is of numbers if all its values are; otherwise values are texts. Runs that were made without
    varying a path have null there.

    Args:
        frame: Rows with a column `parameters`.
        paths: The paths wanted; default all there are, in the order of their first use.
    """
    texts = frame["parameters"].unique(maintain_order=True)
    points = [json.loads(text) if text else {} for text in texts]
    names = (
        list(paths) if paths is not None else list(dict.fromkeys(path for each in points for path in each))
    )
    columns = {name: _column(name, [point.get(name) for point in points]) for name in names}
    known = pl.DataFrame([texts.alias("parameters"), *columns.values()])
    joined = frame.join(known, on="parameters", how="left", maintain_order="left", nulls_equal=True)
    return joined.select(
        *names, *(name for name in frame.columns if name != "parameters" and name not in names)
    )


def tell_apart(frame: pl.DataFrame) -> pl.DataFrame:
    """Count as varied what else was changed in some of the scenarios and not alike in all, for `expand`.

    Args:
        frame: Rows with columns `parameters` and `overrides`, of which the second is left out.
    """
    known = frame.select("overrides", "parameters").unique(maintain_order=True)
    points = [json.loads(varied) if varied else {} for varied in known["parameters"]]
    changed = [json.loads(text) if text else {} for text in known["overrides"]]
    both = [one | other for one, other in zip(changed, points, strict=True)]
    paths = parameter_paths(points)
    paths += [path for path in parameter_paths(both) if path not in paths and _differs(path, both)]
    texts = [json.dumps({path: each[path] for path in paths if path in each}) for each in both]
    named = known.with_columns(pl.Series("named", texts, dtype=pl.String))
    joined = frame.join(
        named, on=["overrides", "parameters"], how="left", maintain_order="left", nulls_equal=True
    )
    return joined.with_columns(parameters="named").drop("named", "overrides")


def alike_in_a_point(frame: pl.DataFrame, paths: Sequence[str]) -> pl.DataFrame:
    """Give all runs of one scenario the same values of what was varied: a sweep may vary what another had."""
    of_scenario = [pl.col(path).drop_nulls().first().over("scenario_hash").alias(path) for path in paths]
    known = frame.filter(pl.col("scenario_hash").is_not_null())
    unknown = frame.filter(pl.col("scenario_hash").is_null())
    return pl.concat([known.with_columns(of_scenario), unknown]) if paths else frame


def parameter_paths(points: Iterable[Mapping[str, Any]]) -> list[str]:
    """The paths that points change, in the order of their first use."""
    return list(dict.fromkeys(path for point in points for path in point))


def _differs(path: str, points: Sequence[Mapping[str, Any]]) -> bool:
    return len({json.dumps(each.get(path)) for each in points}) > 1


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, int) and not isinstance(value, bool) for value in known):
        return pl.Series(name, values, dtype=pl.Int64)
    if known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return pl.Series(
            name, [None if value is None else float(value) for value in values], dtype=pl.Float64
        )
    return pl.Series(name, [_text(value) for value in values], dtype=pl.String)


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
