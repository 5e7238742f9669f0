"""Writing into a store: claims, so that no run is done twice, and rows, so that none is lost."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import polars as pl

from bufferlab.errors import OutputError
from bufferlab.experiment.store import journal
from bufferlab.experiment.store.journal import Journal, StoreFullError, write_error
from bufferlab.experiment.store.locking import exclusively
from bufferlab.experiment.store.reader import StoreReader
from bufferlab.experiment.store.rows import DONE, ENGINE, Row, rows_to_frame, timestamp
from bufferlab.experiment.store.segments import DamagedError, damaged, scan_segments, write_segment
from bufferlab.experiment.store.tidying import tidy

_ROTATE_ROWS: Final = 4096
_ROTATE_BYTES: Final = 32 * 2**20
"""Number of rows, and length, at which a journal becomes a segment."""

_SMALL_BYTES: Final = 8 * 2**20
_MOST_SMALL: Final = 16
"""More segments below this size than that are merged."""


class Claim(Enum):
    """Whose a run is, when a writer asks to simulate it."""

    MINE = "mine"
    """Ours now: it must be simulated and put."""
    DONE = "done"
    """In the store already."""
    TAKEN = "taken"
    """Someone else simulates it now; ask again later."""


@dataclass
class _Foreign:
    """What was seen of another writer's journal."""

    offset: int = 0
    claims: set[str] = field(default_factory=set)


class Writer:
    """Claims runs and puts their rows; all threads of a process may share it.

    Attributes:
        store: The store.
    """

    def __init__(self, store: StoreReader, *, retry_failed: bool = False, fresh: bool = False) -> None:
        self.store = store
        self._retry_failed = retry_failed or fresh
        self._retry_done = fresh
        self._mutex = threading.RLock()
        self._finished: set[str] = set()
        self._mine: set[str] = set()
        self._foreign: dict[Path, _Foreign] = {}
        self._segments: set[Path] = set()
        self._began = timestamp()
        lock = store.directory / "lock"
        try:
            self._lock_file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise write_error(store.directory, error) from error
        try:
            with self._exclusively():
                tidy(store)
                self._journal = self._new_journal()
                self._bury_dead()
                self._refresh()
        except BaseException:
            os.close(self._lock_file)
            raise

    def claim(self, plan_hash: str, measure: str | None = None) -> Claim:
        """Try to make a run ours.

        Args:
            plan_hash: Identity of what is simulated.
            measure: Identity of what measures it, beside the figures that every row has.

        Raises:
            StoreFullError: There is no room for another run.
            OutputError: The store cannot be written.
        """
        run = _name(plan_hash, measure)
        with self._mutex:
            if run in self._finished:
                return Claim.DONE
            if run in self._mine:
                return Claim.TAKEN
            with self._exclusively():
                self._refresh()
                if run in self._finished:
                    return Claim.DONE
                if self._is_taken(run):
                    return Claim.TAKEN
                if run in self._finished:  # as its writer's last lines say
                    return Claim.DONE
                self._journal.reserve(len(self._mine) + 1)
                self._journal.append({"claim": run})
                self._mine.add(run)
                return Claim.MINE

    def put(self, row: Row) -> None:
        """Store a run; once this returns, no end of this process loses it.

        Raises:
            StoreFullError: There is no room.
            OutputError: The store cannot be written.
        """
        with self._mutex:
            self._journal.append({"run": row})
            self._finished.update(_names(row))
            self._mine.difference_update(_names(row))
            if self._journal.rows >= _ROTATE_ROWS or self._journal.size_bytes >= _ROTATE_BYTES:
                with suppress(StoreFullError):  # the row is stored, and the journal serves on
                    self._rotate()

    def sync(self) -> None:
        """Wait until all that was put survives a power cut; other threads go on meanwhile.

        Raises:
            OutputError: The disk reports an error.
        """
        with self._mutex:
            wait = self._journal.begin_sync()
        wait()

    def close(self) -> None:
        """Move the rows into a segment and give back the claims; without room, rows stay in the journal.

        Raises:
            OutputError: The store cannot be written.
        """
        with self._mutex:
            try:
                self._journal.begin_sync()()
                self._journal.close()
                with self._exclusively():
                    self._bury_dead()
                    self._merge_small()
            except StoreFullError:
                return
            finally:
                os.close(self._lock_file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except OutputError:
            if error is None:
                raise

    def _exclusively(self) -> AbstractContextManager[None]:
        return exclusively(self._lock_file, self.store.directory)

    def _new_journal(self) -> Journal:
        return Journal(self.store.directory / "journal" / f"{secrets.token_hex(8)}.jsonl")

    def _refresh(self) -> None:
        """Learn what others have done since; the store must be locked."""
        try:
            paths = [path for path in self.store.journal_paths() if path != self._journal.path]
            for gone in self._foreign.keys() - set(paths):
                del self._foreign[gone]
            for path in paths:
                self._read(path, self._foreign.setdefault(path, _Foreign()))
            fresh = set(self.store.segment_paths()) - self._segments
            if fresh:
                self._learn_segments(sorted(fresh))
        except OSError as error:
            raise write_error(self.store.directory, error) from error

    def _read(self, path: Path, seen: _Foreign) -> None:
        """Learn what a journal has that we have not seen."""
        if path.stat().st_size > seen.offset:
            entries, seen.offset = journal.read(path, seen.offset)
            for entry in entries:
                self._learn(entry, seen)

    def _learn(self, entry: journal.Entry, seen: _Foreign) -> None:
        if "claim" in entry:
            seen.claims.add(entry["claim"])
        elif "run" in entry:
            row = entry["run"]
            seen.claims.difference_update(_names(row))
            retried = self._retry_done if row["status"] == DONE else self._retry_failed
            if row["engine"] == ENGINE and not (retried and row["finished_at"] < self._began):
                self._finished.update(_names(row))

    def _learn_segments(self, paths: list[Path]) -> None:
        has_measure, has_figures = pl.col("measure").is_not_null(), pl.col("duration_s").is_not_null()
        try:
            rows = scan_segments(paths).filter(pl.col("engine") == ENGINE)
            if self._retry_failed:
                done = pl.lit(not self._retry_done) & (pl.col("status") == DONE)
                rows = rows.filter(done | (pl.col("finished_at") >= self._began))
            found = rows.select("plan_hash", "measure", "duration_s").collect()
        except pl.exceptions.PolarsError as error:
            raise damaged(self.store.directory, paths, error) from error
        self._finished.update(found.filter(~has_measure | has_figures)["plan_hash"])
        own = found.filter(has_measure).select(pl.format("{} {}", "plan_hash", "measure")).to_series()
        self._finished.update(own)
        self._segments.update(paths)

    def _is_taken(self, plan_hash: str) -> bool:
        for path, seen in self._foreign.items():
            if plan_hash in seen.claims:
                if journal.is_live(path):
                    return True
                self._read(path, seen)  # it may have finished runs since, and ended
                seen.claims.clear()
        return False

    def _rotate(self) -> None:
        """Turn our journal into a segment and begin another, with the claims that are still open."""
        with self._exclusively():
            fresh = self._new_journal()
            try:
                for plan_hash in sorted(self._mine):
                    fresh.append({"claim": plan_hash})
            except OutputError:
                fresh.discard()
                raise
            old, self._journal = self._journal, fresh
            old.close()
            self._segments.update(self._bury(old.path))

    def _bury_dead(self) -> None:
        """Move the rows of writers that are no more into segments; the store must be locked."""
        for path in self.store.journal_paths():
            if not journal.is_live(path):
                self._bury(path)

    def _bury(self, path: Path) -> list[Path]:
        entries, _ = journal.read(path)
        rows: list[Mapping[str, object]] = [entry["run"] for entry in entries if "run" in entry]
        made = [write_segment(rows_to_frame(rows), self.store.directory / "segments")] if rows else []
        path.unlink(missing_ok=True)
        return made

    def _merge_small(self) -> None:
        """Merge segments if there are many small ones; the store must be locked."""
        small = [path for path in self.store.segment_paths() if path.stat().st_size < _SMALL_BYTES]
        if len(small) <= _MOST_SMALL:
            return
        try:
            rows = scan_segments(small).collect()
        except (DamagedError, pl.exceptions.PolarsError):  # reading the store names it
            return
        made = write_segment(rows, self.store.directory / "segments")
        for path in small:
            if path != made:
                path.unlink(missing_ok=True)


def _name(plan_hash: str, measure: str | None) -> str:
    """What a run is claimed by."""
    return plan_hash if measure is None else f"{plan_hash} {measure}"


def _names(row: Mapping[str, Any]) -> set[str]:
    """What a row settles: its measure, and the figures if it has them (a failure settles what it was)."""
    measure = row.get("measure")
    if measure is None:
        return {row["plan_hash"]}
    own = _name(row["plan_hash"], measure)
    return {own} if row["duration_s"] is None else {own, row["plan_hash"]}
