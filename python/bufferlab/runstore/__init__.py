"""A store of runs that survives being killed at any moment and that many processes may share."""

from __future__ import annotations

from bufferlab.runstore.journal import StoreFullError
from bufferlab.runstore.rows import ENGINE, Row, done_row, failed_row
from bufferlab.runstore.store import Store, open_store
from bufferlab.runstore.writer import Claim, Writer

__all__ = [
    "ENGINE",
    "Claim",
    "Row",
    "Store",
    "StoreFullError",
    "Writer",
    "done_row",
    "failed_row",
    "open_store",
]
