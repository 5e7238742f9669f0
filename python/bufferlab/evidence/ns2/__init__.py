"""The simulator against ns-2 2.35, run by run."""

from __future__ import annotations

from bufferlab.evidence.ns2.validation import SettingOutcome, Validation, validate

__all__ = ["SettingOutcome", "Validation", "validate"]
