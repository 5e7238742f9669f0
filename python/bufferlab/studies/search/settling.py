"""How long a link takes to settle after its buffer changed, and how long its traffic's cycle is.

The lesson of "Sizing Router Buffers" on Mininet-HiFi (V. Jeyakumar, N. Handigol, B. Heller and B. Lantz,
2012): most flows notice a new buffer within a round trip, but one that loses its whole window waits for its
retransmission timeout and then many round trips until it is in its steady state again, over a second in all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bufferlab.errors import InputError
from bufferlab.plan import Plan
from bufferlab.studies.traffic import protocol_of
from bufferlab.theory.protocols import get_protocol
from bufferlab.units import PS_PER_S

ROUND_TRIPS: Final = 20
""""Many": slow start to 1000 packets takes 10, with an acknowledgment for every second segment 18."""

LONGEST_CYCLE_S: Final = 60.0
"""Upper bound of a cycle, s: that of a single flow on a fast link may last for hours."""


@dataclass(frozen=True)
class Settling:
    """Times of the TCP flows that cross a link, with a full buffer.

    Attributes:
        rtt_s: Longest round-trip time, waiting included, s.
        rto_s: Their retransmission timeout at that round-trip time, s.
        cycle_s: Longest time between two congestion events of a flow, by the sizing theory's models and at
            most `LONGEST_CYCLE_S`, s; 0 where there is no model.
    """

    rtt_s: float
    rto_s: float
    cycle_s: float

    @property
    def settle_s(self) -> float:
        """A timeout and `ROUND_TRIPS` round trips, s."""
        return self.rto_s + ROUND_TRIPS * self.rtt_s


def settling(plan: Plan, link: int, packets: int, packet_bytes: int) -> Settling:
    """Derive the times from a plan.

    Args:
        plan: A lowered scenario.
        link: Index of the link whose buffer is searched.
        packets: The largest buffer, packets.
        packet_bytes: Size of a full packet, bytes.
    """
    rate_bps = plan["links"][link]["rate_bps"]
    rtt_s = _longest_rtt_s(plan, link) + packets * packet_bytes * 8 / rate_bps
    groups = [
        group for group in plan["groups"] if link in group["forward"] and group["source"]["kind"] == "tcp"
    ]
    windows = rate_bps * rtt_s / 8 / packet_bytes
    flows = sum(_count(plan, groups))
    return Settling(
        rtt_s=rtt_s,
        rto_s=max((_timeout_s(group["source"], rtt_s) for group in groups), default=0.0),
        cycle_s=max((_cycle_s(group["source"], windows / flows, rtt_s) for group in groups), default=0.0),
    )


def _longest_rtt_s(plan: Plan, link: int) -> float:
    flows = plan["flows"]
    of_groups = np.array(
        [
            sum(plan["links"][index]["delay_ps"] for index in group["forward"] + group["reverse"])
            if link in group["forward"]
            else -1
            for group in plan["groups"]
        ],
        dtype=np.float64,
    )[np.asarray(flows["group"], dtype=np.intp)]
    columns = ("source_delay_ps", "sink_delay_ps", "return_delay_ps", "home_delay_ps")
    own = sum(np.asarray(flows[column], dtype=np.float64) for column in columns)
    crossing = of_groups >= 0
    return float((own + of_groups)[crossing].max()) / PS_PER_S if crossing.any() else 0.0


def _count(plan: Plan, groups: Iterable[dict[str, Any]]) -> list[int]:
    indices = [plan["groups"].index(group) for group in groups]
    return [plan["flows"]["group"].count(index) for index in indices]


def _timeout_s(tcp: dict[str, Any], rtt_s: float) -> float:
    """RFC 6298 rules (2.3) and (2.4) once the round-trip time varies little."""
    return float(max(tcp["min_rto_ps"] / PS_PER_S, rtt_s + tcp["rto_margin_ps"] / PS_PER_S))


def _cycle_s(tcp: dict[str, Any], window_packets: float, rtt_s: float) -> float:
    """Length of an epoch that ends with link and buffer full."""
    try:
        epoch = get_protocol(protocol_of(tcp["congestion"])).epoch(max(window_packets, 2.0), rtt_s)
    except InputError:
        return 0.0
    return min(float(epoch.duration_s), LONGEST_CYCLE_S)
