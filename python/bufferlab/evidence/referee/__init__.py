"""Settings drawn at random, simulated here and by ns-2 or ns-3, and compared.

There is no claims.toml, as nobody published anything about these settings. criteria.toml says how they are
judged.
"""

from __future__ import annotations

from bufferlab.evidence.referee.study import Referee, referee

__all__ = ["Referee", "referee"]
