"""Responsiveness under working conditions, in round trips a minute (RPM).

Source: draft-ietf-ippm-responsiveness-08 (October 2025), "Aggregating the Measurements", "For the TCP-Only
Case":

    Foreign_Responsiveness = 60000 / ((TM(tcp_f) + TM(http_f)) / 2)
    Loaded_Responsiveness = 60000 / TM(http_l)
    Responsiveness = (Foreign_Responsiveness + Loaded_Responsiveness) / 2

TM is the single-sided trimmed mean at 95 %; times are in ms. What differs here:

- There is no TLS, so no `tls_f`; that is what the draft's case of TCP only is for.
- Foreign probes are pages of one segment, each over a new connection: a handshake and a request, a round trip
  each, so that half the fetch stands for both `tcp_f` and `http_f`. A ping, one packet there and back as a
  SYN and its answer, stands for them, too.
- No request travels on the loaded connections. `http_l` is TCP's own round-trip time, which the draft admits
  as a proxy: the mean of each connection's samples. Data that waits in the sender's socket has no
  counterpart.
- The load is the scenario's; it is not raised until goodput stands still. Probes of the whole measured window
  count, not those of the last four seconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

TRIMMED_MEAN_PERCENTAGE: Final = 95
"""The draft's TMP: percentage of the samples, from the least, that are averaged."""

MS_PER_MINUTE: Final = 60_000


class Responsiveness(NamedTuple):
    """Round trips a minute; `None` without probes of the kind.

    Attributes:
        foreign: By probes on connections of their own.
        loaded: On the connections that make the load.
    """

    foreign: float | None
    loaded: float | None

    @property
    def rpm(self) -> float | None:
        """The draft's responsiveness: the mean of both, `None` unless there are both."""
        if self.foreign is None or self.loaded is None:
            return None
        return (self.foreign + self.loaded) / 2


def responsiveness(foreign_ms: Sequence[float], loaded_ms: Sequence[float]) -> Responsiveness:
    """Responsiveness by the round trips of foreign probes and those of the loaded connections, ms.

    >>> responsiveness([100.0], [200.0]).rpm
    450.0
    """
    return Responsiveness(_per_minute(foreign_ms), _per_minute(loaded_ms))


def trimmed_mean(samples: Sequence[float] | NDArray[np.float64]) -> float | None:
    """Mean of the least 95 % of samples, rounded up to whole samples; `None` without any.

    >>> trimmed_mean([*[1.0] * 19, 100.0])
    1.0
    """
    ordered = np.sort(np.asarray(samples, dtype=np.float64))
    kept = math.ceil(ordered.size * TRIMMED_MEAN_PERCENTAGE / 100)
    return float(ordered[:kept].mean()) if kept else None


def _per_minute(samples_ms: Sequence[float]) -> float | None:
    mean_ms = trimmed_mean(samples_ms)
    return MS_PER_MINUTE / mean_ms if mean_ms else None
