"""What the sizing rules are told about a link and its flows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Demand:
    """A bottleneck and the long-lived flows that share it.

    Attributes:
        rate_bps: Rate of the link, bit/s.
        rtt_s: Mean two-way propagation delay of the flows, s. It excludes queueing.
        flows: Number of long-lived flows: one number, or an array for which every rule is evaluated at once.
        packet_bytes: Size of a full data packet on the wire, bytes.
        desynchronized: Whether something (spread of the round-trip times, jitter at the senders) keeps the
            flows from halving their windows together. No rule uses it; the recommendation does.
    """

    rate_bps: float
    rtt_s: float
    flows: ArrayLike = 1
    packet_bytes: int = 1500
    desynchronized: bool = False

    def __post_init__(self) -> None:
        """Refuse what no link or flow can be.

        Raises:
            ValueError: A rate, delay, count or size that is not finite and positive.
        """
        for name in ("rate_bps", "rtt_s", "packet_bytes"):
            value = float(getattr(self, name))
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be finite and positive, not {value:g}")
        count = np.asarray(self.flows, dtype=np.float64)
        if count.size == 0 or not np.all(np.isfinite(count) & (count >= 1)):
            raise ValueError(f"flows must be 1 or more, not {self.flows!r}")

    @property
    def flow_count(self) -> FloatArray:
        """Number of flows as an array of floats (of dimension 0 for one number)."""
        return np.asarray(self.flows, dtype=np.float64)

    @property
    def bdp_bytes(self) -> float:
        """Bandwidth-delay product, bytes."""
        return self.rate_bps * self.rtt_s / 8.0

    @property
    def bdp_packets(self) -> float:
        """Bandwidth-delay product, packets of `packet_bytes`."""
        return self.bdp_bytes / self.packet_bytes
