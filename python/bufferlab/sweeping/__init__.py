"""Many variants of a scenario: which, by whom they are simulated, and what came out."""

from __future__ import annotations

from bufferlab.sweeping.study import Sweep, SweepInterrupted, sweep

__all__ = ["Sweep", "SweepInterrupted", "sweep"]
