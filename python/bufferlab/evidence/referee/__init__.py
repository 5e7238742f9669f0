"""Settings drawn at random, simulated here and by ns-2, and compared."""

from __future__ import annotations

from bufferlab.evidence.referee.study import Referee, referee

__all__ = ["Referee", "referee"]
