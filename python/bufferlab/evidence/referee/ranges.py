"""What is drawn, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bufferlab.evidence.ns2.equivalent import STANDARD_START_BOUND_S
from bufferlab.evidence.referee.draw import (
    BUFFER_BDP,
    FLOWS,
    LEAST_LIMIT,
    LENGTH_S,
    LINUX_AGENTS,
    MOST_HOSTS,
    NOISE_S,
    NUDGE,
    OWN_AGENTS,
    PACKET_BYTES,
    RATE_MBPS,
    RTT_MS,
    RUN_PACKETS,
    SPREADS,
    WARMUP_S,
)  # fmt: skip


@dataclass(frozen=True)
class Range:
    """One line of the table of ranges: what is drawn, and how."""

    what: str
    how: str


def between(bounds: tuple[float, float], unit: str = "", per: float = 1.0) -> str:
    """Bounds as words.

    Args:
        bounds: The least and the greatest value.
        unit: Of the text.
        per: One of the unit, in that of the bounds.
    """
    return f"{bounds[0] / per:g} to {bounds[1] / per:g}{unit and ' '}{unit}"


RANGES: Final = (
    Range("agent", f"half of the draws {', '.join(OWN_AGENTS)}; half {', '.join(LINUX_AGENTS)}"),
    Range("rate", f"{between(RATE_MBPS, 'Mbps')}, log-uniform"),
    Range("packet", f"{' or '.join(map(str, PACKET_BYTES))} bytes"),
    Range("round-trip time", f"{between(RTT_MS, 'ms')}, log-uniform; in half of the draws a second one"),
    Range(
        "spread of round-trip times",
        "two draws of three none; else {:.0f}, {:.0f} or {:.0f} % on ".format(
            *(100 * each for each in SPREADS)
        )
        + f"up to {MOST_HOSTS} hosts",
    ),
    Range("flows", f"{between(FLOWS)}, log-uniform; at least one packet of buffer and BDP a flow"),
    Range(
        "buffer",
        f"{between(BUFFER_BDP, 'BDP')} of the mean round-trip time, log-uniform; "
        f"at least {LEAST_LIMIT - 1} packets",
    ),
    Range(
        "noise of the hosts",
        f"half of the draws none; else uniform up to {between(NOISE_S, 'ms', per=1e-3)}, log-uniform",
    ),
    Range("acknowledgments", "delayed in one draw of four"),
    Range(
        "length",
        f"{between(LENGTH_S, 's')} after {WARMUP_S:g} s of warm-up: {RUN_PACKETS:,} packets "
        "if that lies between",
    ),
    Range("starts", f"0 to {STANDARD_START_BOUND_S:g} s, uniform, by the seed of the run"),
    Range(
        "phase",
        f"in each run the round-trip times are up to {NUDGE * 100:g} % longer, by the seed of the run",
    ),
)
"""One line of the table each."""
