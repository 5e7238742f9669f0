"""The scenario that takes milliseconds, as for experiments."""

from __future__ import annotations

from ..experiment.conftest import scenario

__all__ = ["scenario"]
