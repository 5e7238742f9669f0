"""Published figures and tables, reproduced: one folder a document."""

from __future__ import annotations

from bufferlab.evidence.catalog import all_reproductions, find_reproductions, reproduce
from bufferlab.evidence.reproduction import Reproduced, Reproduction, Request

__all__ = [
    "Reproduced",
    "Reproduction",
    "Request",
    "all_reproductions",
    "find_reproductions",
    "reproduce",
]
