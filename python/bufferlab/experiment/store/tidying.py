"""What killed processes left half written in a store."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from bufferlab.experiment.store import journal
from bufferlab.experiment.store.reader import StoreReader

_SURELY_DEAD_S: Final = 600.0
"""Files that are written without a lock are left for so long, s; writing one takes milliseconds."""


def tidy(store: StoreReader) -> None:
    """Remove what is half written and nobody writes any more; the store must be locked.

    Segments are only written under the lock, and tables by processes that hold a journal.
    """
    for path in store.directory.glob("segments/.*.partial"):
        _remove(path)
    for path in _half_tables(store):
        _remove(path)
    for path in (*store.directory.glob(".store-*"), *store.directory.glob("scenarios/**/.*.partial")):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _SURELY_DEAD_S:
                _remove(path)


def _half_tables(store: StoreReader) -> Iterator[Path]:
    tables = store.directory / "tables"
    left = [path for suffix in ("partial", "old") for path in tables.glob(f"*/.*.{suffix}")]
    if left and not any(map(_is_live, store.journal_paths())):
        yield from left


def _is_live(path: Path) -> bool:
    try:
        return journal.is_live(path)
    except FileNotFoundError:
        return False


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
