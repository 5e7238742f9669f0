"""Quantities in their least units, as scenarios and the engine count them, and as people write them."""

from __future__ import annotations

from typing import Final

from bufferlab import _core

PS_PER_NS: Final = 10**3
PS_PER_US: Final = 10**6
PS_PER_MS: Final = 10**9
PS_PER_S: Final = 10**12
"""Picoseconds, the engine's unit of time."""


def parse_time(value: object, *, least_ps: int = 0) -> int:
    """Parse "10 ms" into picoseconds, rounded to the nearest.

    Args:
        value: The text.
        least_ps: Least time accepted, ps.

    Raises:
        InputError: If it is not a time or out of bounds.
    """
    return _core.parse_quantity("time", value, least_ps)


def parse_rate(value: object) -> int:
    """Parse "10 Mbps" into bit/s.

    Args:
        value: The text.

    Raises:
        InputError: If it is not a rate.
    """
    return _core.parse_quantity("rate", value, 1)


def format_time(time_ps: float) -> str:
    """Write a time in picoseconds for people: "10 ms"."""
    if time_ps >= 2**63:  # what a buffer of 10^12 packets drains in is no time of a scenario
        return f"{time_ps / PS_PER_S:.4g} s"
    return _core.format_quantity("time", round(time_ps))


def format_rate(rate_bps: float, digits: int | None = None) -> str:
    """Write a rate in bit/s for people: "10 Mbps".

    Args:
        rate_bps: The rate.
        digits: How many significant digits are kept; default all.
    """
    kept = rate_bps if digits is None else float(f"{rate_bps:.{digits}g}")
    return _core.format_quantity("rate", round(kept))


def format_size(size_bytes: float) -> str:
    """Write a size in bytes for people: "1.5 KB"."""
    return _core.format_quantity("size", round(size_bytes))


def packets_text(packets: int) -> str:
    """A number of packets: "1 packet", "33 packets"."""
    return "1 packet" if packets == 1 else f"{packets} packets"
