"""How much may wait in a queue: sizes as written, and the words that depend on the traffic.

| written | means |
| --- | --- |
| "6250 packets" | so many packets of any size |
| "1 MB" | so many bytes on the wire |
| "300 ms" | what the link sends in that time, in packets |
| "1 bdp", "0.5 bdp" | rate times mean round-trip time, in packets |
| "stanford", "2 stanford" | the same divided by the square root of the number of flows |
| "unlimited" | no limit |

The packet in transmission is not counted. Words that become packets are divided by the wire size of the
largest full packet among the flows that cross the link, and rounded to the nearest packet (a tie to the even
one), at least 1: 25 ms at 100 Mbps and 1000 bytes are 312 packets. The mean round-trip time is the arithmetic
mean over flows of the two-way propagation delay, as SplitBuff defines it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from bufferlab.errors import InputError
from bufferlab.units import (
    MAX_PACKETS,
    MAX_SIZE_BYTES,
    PS_PER_S,
    SIZE_UNITS,
    TIME_UNITS,
    parse_size,
    parse_time,
    split_quantity,
    whole,
)

ACCEPTED: Final = (
    "'6250 packets', '1 MB', '300 ms' (of draining), '1 bdp', '0.5 bdp', 'stanford' (bdp/sqrt n) "
    "or 'unlimited'"
)
"""What a buffer may be, for messages."""

Limit = dict[str, int] | Literal["unlimited"]
"""A limit as the plan has it: {"packets": 6250}, {"bytes": 1000000} or "unlimited"."""

_WORDS: Final = {"packets": 1, "bdp": 1, "stanford": 1}
_MOST_SCALE: Final = 1000


@dataclass(frozen=True)
class Buffer:
    """A buffer as written, its number parsed.

    Attributes:
        text: As written.
        kind: What `amount` counts.
        amount: Packets, bytes, ps of draining time, or multiples of the BDP or of BDP/sqrt(n).
    """

    text: str
    kind: Literal["packets", "bytes", "time", "bdp", "stanford", "unlimited"]
    amount: Fraction


@dataclass(frozen=True)
class LinkTraffic:
    """The flows that cross a link, as far as buffer rules look at them.

    Attributes:
        rate_bps: The link's rate, bit/s.
        flows: How many flows count.
        mean_rtt_ps: Arithmetic mean of their two-way propagation delays, ps.
        packet_bytes: Largest full packet on the wire, bytes.
    """

    rate_bps: int
    flows: int
    mean_rtt_ps: float
    packet_bytes: int


def parse_buffer(value: object) -> Buffer:
    """Read a buffer from its text.

    Raises:
        InputError: If it is not one of the forms above, or is 0.
    """
    if not isinstance(value, str):
        raise InputError("is not a text with a number and a unit", value=value, accepted=ACCEPTED)
    word = value.strip()
    if word == "unlimited":
        return Buffer(value, "unlimited", Fraction(0))
    if word in ("bdp", "stanford"):
        word = f"1 {word}"
    number, unit = split_quantity(word, {**_WORDS, **SIZE_UNITS, **TIME_UNITS}, ACCEPTED)
    if number <= 0:
        raise InputError("leaves no room for a packet", value=value, accepted=f"more than 0: {ACCEPTED}")
    if unit in TIME_UNITS:
        return Buffer(value, "time", Fraction(parse_time(value)))
    if unit in SIZE_UNITS:
        return Buffer(value, "bytes", Fraction(parse_size(value)))
    if unit == "packets":
        packets = whole(number, value, ACCEPTED)
        if packets > MAX_PACKETS:
            raise InputError(
                "is too large", value=value, accepted=f"at most {MAX_PACKETS} packets, or 'unlimited'"
            )
        return Buffer(value, "packets", Fraction(packets))
    if number > _MOST_SCALE:
        raise InputError(
            "is too large", value=value, accepted=f"at most {_MOST_SCALE} {unit}, or 'unlimited'"
        )
    return Buffer(value, "bdp" if unit == "bdp" else "stanford", number)


def limit(buffer: Buffer, traffic: LinkTraffic | None) -> Limit:
    """Turn a buffer into the plan's limit.

    Args:
        buffer: As parsed.
        traffic: What crosses the link; None if nothing does.

    Raises:
        InputError: If the word depends on flows and there are none, or the result is too large.
    """
    if buffer.kind == "unlimited":
        return "unlimited"
    if buffer.kind in ("packets", "bytes"):
        return {buffer.kind: int(buffer.amount)}
    if traffic is None:
        raise InputError(
            "depends on the flows of a link that no flow crosses",
            value=buffer.text,
            accepted="a size in packets or bytes there",
        )
    packets = max(1, round(_bits(buffer, traffic) / (8 * traffic.packet_bytes)))
    if packets > MAX_PACKETS or packets * traffic.packet_bytes > MAX_SIZE_BYTES:
        raise InputError(
            "comes to too many packets", value=buffer.text, accepted=f"at most {MAX_PACKETS} packets"
        )
    return {"packets": packets}


def _bits(buffer: Buffer, traffic: LinkTraffic) -> Fraction:
    """Bits that the buffer's word stands for."""
    if buffer.kind == "time":
        return buffer.amount * traffic.rate_bps / PS_PER_S
    bdp_bits = buffer.amount * traffic.rate_bps * Fraction(traffic.mean_rtt_ps) / PS_PER_S
    return bdp_bits / Fraction(math.sqrt(traffic.flows)) if buffer.kind == "stanford" else bdp_bits
