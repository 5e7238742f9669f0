"""Published figures and tables, reproduced: one module a document."""

from __future__ import annotations

from bufferlab.evidence.catalog import all_reproductions, find_reproductions, reproduce
from bufferlab.evidence.registry import Reproduced, Reproduction, Request
from bufferlab.evidence.sizing_mininet import study as sizing_mininet

__all__ = [
    "Reproduced",
    "Reproduction",
    "Request",
    "all_reproductions",
    "find_reproductions",
    "reproduce",
    "sizing_mininet",
]
