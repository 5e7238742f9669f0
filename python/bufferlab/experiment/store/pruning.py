"""Bounds a store that nobody asked to keep: what is old goes, and the oldest if there is too much."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from bufferlab.experiment.store.locking import exclusively
from bufferlab.experiment.store.rows import timestamp
from bufferlab.experiment.store.segments import DamagedError, check_segment, write_segment
from bufferlab.experiment.store.store import Store
from bufferlab.experiment.store.studies import forget_studies


def prune(store: Store, *, most_days: float, most_bytes: int) -> None:
    """Remove rows and studies older than some days, whoever made them, then whole segments, the oldest first.

    Damaged segments go, too. Rows in journals stay: their writers run, or move them into segments when they
    close. Who works with the store meanwhile simulates again what is gone.

    Args:
        store: The store.
        most_days: Age, days.
        most_bytes: Size of all segments together, bytes.

    Raises:
        OSError: A file cannot be read or removed.
        OutputError: The store cannot be locked or written.
    """
    lock = os.open(store.directory / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        with exclusively(lock, store.directory):
            for path in store.segment_paths():
                if not _is_whole(path):
                    path.unlink()
                    continue
                _drop_rows(path, timestamp(days_ago=most_days))
            _drop_segments(store.segment_paths(), most_bytes)
            forget_studies(store.directory, timestamp(days_ago=most_days))
    finally:
        os.close(lock)


def _is_whole(path: Path) -> bool:
    try:
        check_segment(path)
    except DamagedError:
        return False
    return True


def _drop_rows(path: Path, oldest: str) -> None:
    rows = pl.scan_parquet(path)
    if rows.select((pl.col("finished_at") < oldest).any()).collect().item():
        kept = rows.filter(pl.col("finished_at") >= oldest).collect()
        if kept.height:
            write_segment(kept, path.parent)
        path.unlink()


def _drop_segments(paths: list[Path], most_bytes: int) -> None:
    size_bytes = {path: path.stat().st_size for path in paths}
    total_bytes = sum(size_bytes.values())
    for path in sorted(paths, key=_last):
        if total_bytes <= most_bytes:
            return
        path.unlink()
        total_bytes -= size_bytes[path]


def _last(path: Path) -> str:
    """When the last run of a segment was finished."""
    return str(pl.scan_parquet(path).select(pl.col("finished_at").max()).collect().item())
