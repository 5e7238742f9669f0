"""A store of runs that survives being killed at any moment and that many processes may share."""

from __future__ import annotations

from bufferlab.experiment.store.journal import StoreFullError
from bufferlab.experiment.store.rows import ENGINE, Row, done_row, failed_row, measured_row
from bufferlab.experiment.store.store import Store, open_store
from bufferlab.experiment.store.writer import Claim, Writer

__all__ = [
    "ENGINE",
    "Claim",
    "Row",
    "Store",
    "StoreFullError",
    "Writer",
    "done_row",
    "failed_row",
    "measured_row",
    "open_store",
]
