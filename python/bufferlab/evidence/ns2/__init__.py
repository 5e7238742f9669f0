"""The simulator against ns-2 2.35, run by run."""

from __future__ import annotations

from bufferlab.evidence.ns2.validation import Outcome, Validation, validate

__all__ = ["Outcome", "Validation", "validate"]
