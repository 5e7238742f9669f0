"""One direction of a captured link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from bufferlab.captured.observation import NS_PER_S, Observation

TCP: Final = 6
LONG_BYTES: Final = 100_000
LONG_S: Final = 1.0
"""A long flow has more than both, as in the observer's series; most of the web's are shorter. Our choice."""

DIRECTIONS: Final = ("out", "in")
"""The words of the tables' directions."""

RATE_BY: Final = (
    "nothing",
    "throughput while packets wait, in windows of 1 s",
    "throughput while packets wait, in windows of 100 ms",
    "distances of packets: the slowest link before this place",
)
VANTAGES: Final = ("unknown", "near the sender", "near the receiver", "in between")


@dataclass(frozen=True)
class OtherWay:
    """What crosses the same interface in the direction that is not asked about.

    Attributes:
        direction: "out" or "in".
        packets: Packets.
        wire_bytes: Bytes on the wire.
        share: Their part of the bytes of both directions, 0 to 1.
        payload_share: The part of both directions' payload, 0 to 1: acknowledgments have none.
        long_flows: Long elastic flows that send in it.
    """

    direction: str
    packets: int
    wire_bytes: int
    share: float
    payload_share: float
    long_flows: int


@dataclass(frozen=True)
class WaitingGroup:
    """Long flows that wait in one queue, where others wait in another.

    Attributes:
        flows: How many.
        load_bps: Mean rate of their IP packets, bit/s.
        rtt_low_ms: The shortest of their round trips without waiting, ms; `None` if none is known.
        rtt_high_ms: The longest.
    """

    flows: int
    load_bps: float
    rtt_low_ms: float | None
    rtt_high_ms: float | None


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
        rate_windows: How many windows have it; none where it comes from none.
        why_no_rate: Why it is not known.
        why_no_waits: Why these are not known.
        other_rate_bps: Another rate that the link has at times, bit/s; none where it does not vary.
        other_rate_share: The part of the windows with waiting packets that have it.
        load_bps: Mean rate of IP packets, bit/s.
        ip_share: Bytes of IP packets over bytes on the wire.
        flows: Flows that send in this direction, with their `ip_bytes`, `seconds`, `rtt_ms`, and whether they
            are `long` and `elastic` (TCP and QUIC), and each `pauses`.
        long_flows: Mean number of long elastic flows at a time.
        is_offered: Whether the load was captured before the queue, which drops some of it.
        waits: The row of the queue that grows with the load, with times in ns; none if not seen.
        losses: Segments sent again over segments; none without TCP.
        is_guessed: Whether the direction is a guess by networks or ports.
        doubts: What may be wrong with all that, as sentences.
        is_paced: Whether what waits need not be the link's: no more than senders' own pace
            makes, or more than the link explains.
        is_rate_a_pace: Whether the rate may be what senders with a pace sent, and not the link's.
        pace_doubts: Those of `doubts` that say so; whoever names the rate has none of them.
        is_never_empty: Whether the queue may never have been empty, so that round trips without waiting are
            shorter than what is said, and waits and the buffer longer.
        apart: Groups of long flows that wait in queues of their own; none where all wait in one, `None` where
            the capture cannot tell, as that of a link that is not full.
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
    is_guessed: bool = False
    rate_windows: int | None = None
    why_no_rate: str | None = None
    why_no_waits: str | None = None
    other_rate_bps: float | None = None
    other_rate_share: float = 0.0
    is_paced: bool = False
    is_rate_a_pace: bool = False
    pace_doubts: tuple[str, ...] = ()
    is_never_empty: bool = False
    apart: tuple[WaitingGroup, ...] | None = None

    @property
    def long(self) -> pl.DataFrame:
        """The long elastic flows."""
        return self.flows.filter(pl.col("long") & pl.col("elastic"))

    @property
    def pausing(self) -> pl.DataFrame:
        """Those of the long flows that have nothing to send by turns, as on-off sources and video."""
        return self.long.filter("pauses")

    @property
    def pausing_flows(self) -> float:
        """Mean number of those at a time."""
        return float(self.pausing["seconds"].sum()) / self.observation.duration_s

    @property
    def short(self) -> pl.DataFrame:
        """The short elastic flows with data."""
        return self.flows.filter(~pl.col("long") & pl.col("elastic") & (pl.col("payload_bytes") > 0))

    @property
    def datagrams(self) -> pl.DataFrame:
        """Datagrams but QUIC's: calls, games, tunnels."""
        return self.flows.filter(~pl.col("elastic"))

    @property
    def shown_to_wait(self) -> str:
        """How little shows that packets wait for the link, where what they wait need not be its."""
        own = self.observation.links.filter(
            (pl.col("interface") == self.interface)
            & (pl.col("direction") == DIRECTIONS.index(self.direction))
        )
        windows = own.select(pl.col("^(queued|idle)_100ms_windows$")).sum_horizontal().sum()
        return "hardly anything shows" if windows else "nothing shows"

    def slowest_bps(self) -> float | None:
        """The rate, bit/s, at which packets wait longest: the lower one where it varies."""
        rates = [rate for rate in (self.rate_bps, self.other_rate_bps) if rate is not None]
        return min(rates, default=None)

    def utilization(self) -> float | None:
        """Mean load over rate, 0 to 1."""
        return None if self.rate_bps is None else self.load_bps / self.rate_bps

    @property
    def other_way(self) -> OtherWay | None:
        """What goes the other way over the same interface; `None` if nothing does."""
        links = self.observation.links.filter(pl.col("interface") == self.interface)
        others = links.filter(pl.col("direction") != DIRECTIONS.index(self.direction))
        if others.is_empty():
            return None
        other = others.row(0, named=True)
        payload = int(links["payload_bytes"].sum())
        return OtherWay(
            DIRECTIONS[other["direction"]],
            other["packets"],
            other["wire_bytes"],
            other["wire_bytes"] / max(int(links["wire_bytes"].sum()), 1),
            other["payload_bytes"] / payload if payload else 0.0,
            len(long_flows(self.observation, self.interface, other["direction"])),
        )


def long_flows(observation: Observation, interface: int, direction: int) -> pl.DataFrame:
    """The TCP flows that send more than 100 kB over more than a second in a direction of an interface."""
    own = observation.connections.filter((pl.col("interface") == interface) & (pl.col("protocol") == TCP))
    seconds = (pl.col("last_ns") - pl.col("first_ns")) / NS_PER_S
    sent = observation.directions.filter(pl.col("direction") == direction)
    return sent.join(own.drop("direction"), on="connection").filter(
        (pl.col("payload_bytes") > LONG_BYTES) & (seconds > LONG_S)
    )
