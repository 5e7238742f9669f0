"""The simulator against ns-2 2.35, run by run.

There is no claims.toml, as nobody published these numbers: they are runs of a program, a row each in data/.
criteria.toml says how they are judged.
"""

from __future__ import annotations

from bufferlab.evidence.ns2.validation import SettingOutcome, Validation, validate

__all__ = ["SettingOutcome", "Validation", "validate"]
