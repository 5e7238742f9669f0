"""One direction of a captured link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from bufferlab.captured.observation import Observation

DIRECTIONS: Final = ("out", "in")
"""The words of the tables' directions."""

RATE_BY: Final = (
    "nothing",
    "throughput of 1 s while packets wait",
    "throughput of 100 ms while packets wait",
    "distances of packets: the slowest link before this place",
)
VANTAGES: Final = ("unknown", "near the sender", "near the receiver", "in between")


@dataclass(frozen=True)
class CapturedLink:
    """What a capture says of one direction of one link.

    Attributes:
        observation: All of the capture.
        interface: The interface, as in the capture.
        direction: "out" or "in".
        rate_bps: Rate of the bottleneck for IP packets, bit/s; none where the link was never busy.
        rate_error_bps: Its standard deviation, bit/s.
        rate_by: What it comes from.
        load_bps: Mean rate of IP packets, bit/s.
        ip_share: Bytes of IP packets over bytes on the wire.
        flows: Flows that send in this direction, with their `ip_bytes`, `seconds`, `rtt_ms`, and whether they
            are `long` and `elastic` (TCP and QUIC).
        long_flows: Mean number of long elastic flows at a time.
        is_offered: Whether the load was captured before the queue, which drops some of it.
        waits: The row of the queue that grows with the load, with times in ns; none without round trips.
        losses: Segments sent again over segments; none without TCP.
        doubts: What may be wrong with all that, as sentences.
    """

    observation: Observation
    interface: int
    direction: str
    rate_bps: float | None
    rate_error_bps: float | None
    rate_by: str
    load_bps: float
    ip_share: float
    flows: pl.DataFrame
    long_flows: float
    is_offered: bool
    waits: dict[str, Any] | None
    losses: float | None
    doubts: tuple[str, ...] = ()

    @property
    def long(self) -> pl.DataFrame:
        """The long elastic flows."""
        return self.flows.filter(pl.col("long") & pl.col("elastic"))

    @property
    def short(self) -> pl.DataFrame:
        """The short elastic flows with data."""
        return self.flows.filter(~pl.col("long") & pl.col("elastic") & (pl.col("payload_bytes") > 0))

    @property
    def datagrams(self) -> pl.DataFrame:
        """Datagrams but QUIC's: calls, games, tunnels."""
        return self.flows.filter(~pl.col("elastic"))

    def utilization(self) -> float | None:
        """Mean load over rate, 0 to 1."""
        return None if self.rate_bps is None else self.load_bps / self.rate_bps
