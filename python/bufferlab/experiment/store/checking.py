"""What of a store is damaged, and setting that aside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from bufferlab.experiment.store import journal
from bufferlab.experiment.store.journal import write_error
from bufferlab.experiment.store.locking import exclusively
from bufferlab.experiment.store.reader import StoreReader
from bufferlab.experiment.store.rows import rows_to_frame
from bufferlab.experiment.store.segments import DamagedError, check_segment, write_segment
from bufferlab.files import sync_directory

_ASIDE = "damaged"


@dataclass(frozen=True)
class Damage:
    """A file of a store that is not what was written.

    Attributes:
        path: The file.
        reason: What is wrong with it.
        is_live: Whether a process writes it now; it cannot be set aside then.
    """

    path: Path
    reason: str
    is_live: bool = False


def check(store: StoreReader) -> list[Damage]:
    """What is damaged of a store, nothing if all is whole.

    Raises:
        OutputError: A file cannot be read.
    """
    try:
        return [*_segments(store), *_journals(store)]
    except OSError as error:
        raise write_error(store.directory, error) from error


def check_journals(store: StoreReader) -> list[Damage]:
    """The journals with damaged lines.

    Raises:
        OutputError: A file cannot be read.
    """
    try:
        return list(_journals(store))
    except OSError as error:
        raise write_error(store.directory, error) from error


def set_aside(store: StoreReader) -> list[Damage]:
    """Move what is damaged into the folder `damaged`; whole rows of journals go into a segment first.

    Returns:
        What was found; what a process writes at the moment stays where it is.

    Raises:
        OutputError: The store cannot be written.
    """
    aside = store.directory / _ASIDE
    try:
        lock = os.open(store.directory / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            with exclusively(lock, store.directory):
                found = check(store)
                for each in found:
                    if not each.is_live:
                        aside.mkdir(exist_ok=True)
                        _move(each.path, aside)
                return found
        finally:
            os.close(lock)
    except OSError as error:
        raise write_error(store.directory, error) from error


def _segments(store: StoreReader) -> Iterator[Damage]:
    for path in store.segment_paths():
        try:
            check_segment(path, again=True)
            pl.read_parquet(path)
        except FileNotFoundError:  # merged with others meanwhile
            continue
        except DamagedError as error:
            yield Damage(path, error.problem)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            yield Damage(path, f"is damaged ({next(iter(str(error).splitlines()), type(error).__name__)})")


def _journals(store: StoreReader) -> Iterator[Damage]:
    for path in store.journal_paths():
        try:
            lines = journal.damaged_lines(path)
            is_live = journal.is_live(path)
        except FileNotFoundError:  # its rows are in a segment now
            continue
        if lines:
            yield Damage(path, f"has {lines} damaged line{'' if lines == 1 else 's'}", is_live)


def _move(path: Path, aside: Path) -> None:
    if path.suffix == ".jsonl":
        entries, _ = journal.read(path)
        rows = [entry["run"] for entry in entries if "run" in entry]
        if rows:
            write_segment(rows_to_frame(rows), path.parents[1] / "segments")
    path.rename(aside / path.name)
    sync_directory(aside)
    sync_directory(path.parent)
