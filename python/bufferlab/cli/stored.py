"""What `bufferlab results` does with its options: it lists, filters and exports stored runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import polars as pl
import typer

from bufferlab.cli.common import FAILED as FAILED_STATUS
from bufferlab.cli.common import print_json, print_rich, say
from bufferlab.errors import InputError
from bufferlab.experiment.store import ENGINE, Store, open_store
from bufferlab.experiment.store.checking import check, check_journals, set_aside
from bufferlab.experiment.store.listing import PLACES, means_of_points, read_table, titles
from bufferlab.experiment.store.query import choose, condition_notes, order, split_columns, where
from bufferlab.experiment.store.rows import DONE, FAILED, FIGURES
from bufferlab.files import write_whole
from bufferlab.render.stored_runs import SHOWN, runs_view, with_widths
from bufferlab.results.metrics.metric import RUNS_SUFFIX
from bufferlab.results.metrics.registry import STORED

_FORMAT: Final = "bufferlab-runs-list"
_FORMAT_VERSION: Final = 1
_ALL: Final = "all"
_MOST_ROWS: Final = 2**31
"""More rows than any table has."""


def list_runs(
    store: Path,
    *,
    conditions: Sequence[str],
    columns: str | None,
    sort: str | None,
    limit: int,
    means: bool,
    failed: bool,
    table: str,
    engine_version: str | None,
    csv: Path | None,
    parquet: Path | None,
    as_json: bool,
) -> None:
    """List, filter and export the runs of a store.

    Raises:
        InputError: An option cannot be used.
        OutputError: A file cannot be written.
    """
    if limit < 1:
        raise InputError("is too small", file="--limit", value=limit, accepted="1 or more")
    opened = _opened(store)
    asked = [*conditions, columns or "", sort or ""]
    every = columns is None and (as_json or csv is not None or parquet is not None)
    named = [name for name in FIGURES if every or name in SHOWN or any(name in text for text in asked)]
    figures = list(dict.fromkeys([*named, *filter(None, (STORED[name].censored_by for name in named))]))
    frame, parameters = _read(opened, table, engine_version, figures)
    kept = where(frame, conditions)
    for note in condition_notes(frame, conditions):
        say(note)
    if "status" in kept.columns:
        kept = kept.filter(pl.col("status") == FAILED) if failed else kept
    counts = _counts(opened, kept, table)
    if means:
        kept = means_of_points(kept, parameters, table)
    if sort is not None:
        kept = order(kept, sort.removeprefix("-"), descending=sort.startswith("-"))
    if columns is not None:
        kept = choose(kept, _with_runs(kept, split_columns(columns)))
    saved = [
        write_whole(path, write)
        for path, write in ((csv, kept.write_csv), (parquet, kept.write_parquet))
        if path
    ]
    if as_json:
        print_json(
            {"format": _FORMAT, "format_version": _FORMAT_VERSION, "table": table, "rows": kept.to_dicts()}
        )
    elif not saved:
        shown = kept if columns is not None else kept.select(_shown(kept, parameters, table, failed=failed))
        print_rich(
            runs_view(counts, shown, min(limit, _MOST_ROWS), "use --limit, --csv or --parquet for the rest")
        )
    if saved:
        say(f"saved {kept.height:,} rows in {', '.join(str(path) for path in saved)}")


def _opened(directory: Path) -> Store:
    """The store, with a line for each file of which it is known that not all can be read."""
    opened = open_store(directory)
    for each in check_journals(opened):
        say(f"{each.path} {each.reason}: runs are missing below, see --check")
    return opened


def check_store(store: Path, *, repair: bool) -> None:
    """Name what is damaged of a store, and set it aside if that is asked.

    Raises:
        InputError: It is no store.
        OutputError: It cannot be read or written.
        Exit: Something is damaged still.
    """
    opened = open_store(store)
    found = set_aside(opened) if repair else check(opened)
    for each in found:
        if each.is_live:
            after = ": a process writes it; repair again when that has ended"
        else:
            after = f": moved to {opened.directory / 'damaged'}" if repair else ""
        say(f"{each.path} {each.reason}{after}")
    print_rich(_found(len(found), repair=repair))
    if any(each.is_live or not repair for each in found):
        raise typer.Exit(FAILED_STATUS)


def _found(count: int, *, repair: bool) -> str:
    if not count:
        return "no file is damaged"
    files = "1 file is damaged" if count == 1 else f"{count} files are damaged"
    then = "Repeat the sweep" if repair else "--repair sets such files aside. Then repeat the sweep"
    return f"{files}. {then} to simulate the runs that are missing."


def _read(
    store: Store, table: str, engine: str | None, figures: Sequence[str]
) -> tuple[pl.DataFrame, list[str]]:
    """The rows asked for, and which of their columns were varied."""
    if table not in PLACES:
        raise InputError("is no table", file="--table", value=table, accepted=", ".join(PLACES))
    frame, parameters = read_table(store, table, None if engine == _ALL else engine or ENGINE, figures)
    if not frame.height:
        _tell_engines(store, engine)
    return frame, parameters


def _tell_engines(store: Store, engine: str | None) -> None:
    known = store.engines()
    if engine not in (None, _ALL) and engine not in known:
        raise InputError(
            "has no runs there",
            file="--engine-version",
            value=engine,
            accepted=", ".join([*known, _ALL]) or _ALL,
        )
    others = {name: count for name, count in known.items() if name != ENGINE}
    if engine is None and others:
        listed = ", ".join(f"{count:,} by {name}" for name, count in others.items())
        say(f"no runs by this engine, {ENGINE}; {listed}: --engine-version all shows them")


def _with_runs(frame: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """Columns, each with that of how many runs its mean is of, where not of all."""
    found: list[str] = []
    for name in columns:
        found.append(name)
        if (beside := name + RUNS_SUFFIX) in frame.columns and beside not in columns:
            found.append(beside)
    return found


def _counts(store: Store, frame: pl.DataFrame, table: str) -> str:
    if table != "runs":
        return f"{store.directory}: {frame.height:,} rows"
    failures = frame.filter(pl.col("status") != DONE).height
    failed = f", {failures:,} of them failed" if failures else ""
    return f"{store.directory}: {frame.height:,} run{'' if frame.height == 1 else 's'}{failed}"


def _shown(frame: pl.DataFrame, parameters: list[str], table: str, *, failed: bool) -> list[str]:
    if failed:
        return [name for name in (*parameters, "seed", "error") if name in frame.columns]
    return [
        *titles(frame, parameters),
        *(name for name in ("seed", *PLACES[table], "runs") if name in frame.columns),
        *with_widths(frame, SHOWN),
    ]
