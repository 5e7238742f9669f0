"""Stored runs as people see them: points in the order of their first run, a column for what was varied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from bufferlab.experiment.store.means import means_over_seeds
from bufferlab.experiment.store.parameters import alike_in_a_point, expand, tell_apart
from bufferlab.experiment.store.reader import StoreReader

RUNS: Final = "runs"
"""The table with one row a run."""

PLACES: Final[Mapping[str, Sequence[str]]] = {
    RUNS: (),
    "flows": ("group", "flows"),
    "queues": ("link", "group"),
}
"""The tables, and what names a row of a run in them."""


def read_table(
    store: StoreReader, table: str, engine: str | None, figures: Sequence[str]
) -> tuple[pl.DataFrame, list[str]]:
    """Rows of one of `PLACES`, and which of their columns were varied.

    Args:
        store: Where they are.
        table: Its name.
        engine: Whose runs, `None` for those of any.
        figures: The figures wanted of runs.
    """
    return table_of(store.runs(engine, figures) if table == RUNS else getattr(store, table)(engine))


def table_of(frame: pl.DataFrame, parted: Sequence[str] = ()) -> tuple[pl.DataFrame, list[str]]:
    """Rows of a store in the order of their points, with a column for what was varied, and which those are.

    Args:
        frame: The rows.
        parted: Columns by which they are parted first: rows of two parts are of two points.
    """
    point = pl.col("row").min().over(*parted, "scenario", "parameters")
    ordered = frame.with_row_index("row").sort(point, "seed", maintain_order=True).drop("row")
    expanded = expand(tell_apart(ordered))
    return expanded, [name for name in expanded.columns if name not in frame.columns]


def means_of_points(frame: pl.DataFrame, parameters: Sequence[str], table: str = RUNS) -> pl.DataFrame:
    """Means over the seeds of each point."""
    identifying = [name for name in ("scenario", "scenario_hash") if name in frame.columns]
    return means_over_seeds(alike_in_a_point(frame, parameters), [*parameters, *identifying, *PLACES[table]])


def titles(frame: pl.DataFrame, parameters: Sequence[str]) -> list[str]:
    """The columns that tell scenarios apart: what was varied, and titles and hashes if it takes them."""
    shown = [*(["scenario"] if frame["scenario"].n_unique() > 1 else []), *parameters]
    each = frame.select(*shown, "scenario_hash").unique()
    unclear = each.height > 1 and (not shown or each.select(shown).is_duplicated().any())
    return [*shown, "scenario_hash"] if unclear else shown
