"""Quantities as people write them ("100 Mbps", "10 ms", "64 KiB") and as the engine takes them (integers).

Times become picoseconds, rates bits per second, sizes bytes. A unit is always required. Prefixes are those of
the SI (1 KB is 1000 bytes); the binary ones are spelled KiB, MiB and GiB. Arithmetic is exact; a time is then
rounded to the nearest picosecond and a rate to the nearest bit per second, while a size must be whole.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Final

from bufferlab.errors import InputError

PS_PER_S: Final = 10**12
"""Picoseconds in a second."""

MAX_TIME_PS: Final = 10**5 * PS_PER_S
"""Longest time accepted, 100,000 s: sums of several still fit the engine's 64-bit picoseconds."""

MAX_RATE_BPS: Final = 8 * 10**12
"""Highest rate accepted, 8 Tbps: a byte takes a picosecond, the engine's unit."""

MAX_SIZE_BYTES: Final = 10**15
"""Largest size accepted, 1 PB: a simulation's counters of bytes stay within 64 bits."""

MAX_PACKETS: Final = 10**12
"""Largest number of packets accepted."""

TIME_UNITS: Final[Mapping[str, int]] = {
    "ps": 1,
    "ns": 10**3,
    "us": 10**6,
    "ms": 10**9,
    "s": PS_PER_S,
    "min": 60 * PS_PER_S,
    "h": 3600 * PS_PER_S,
}
"""Picoseconds in each unit of time."""

RATE_UNITS: Final[Mapping[str, int]] = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
"""Bits per second in each unit of rate."""

SIZE_UNITS: Final[Mapping[str, int]] = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
"""Bytes in each unit of size."""

_SPELLINGS: Final[Mapping[str, str]] = {
    "µs": "us", "μs": "us", "sec": "s", "second": "s", "seconds": "s", "minute": "min", "minutes": "min",
    "hour": "h", "hours": "h", "bit/s": "bps", "kbit/s": "kbps", "Mbit/s": "Mbps", "Gbit/s": "Gbps",
    "Tbit/s": "Tbps", "byte": "B", "bytes": "B", "kB": "KB", "packet": "packets", "segment": "segments",
}  # fmt: skip

_QUANTITY: Final = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?)\s*(\S.*)?", re.ASCII)
_LONGEST_TEXT: Final = 100


def split_quantity(value: object, units: Mapping[str, int], accepted: str) -> tuple[Fraction, str]:
    """Split a text such as "2.5 Mbps" into its number and its unit's usual spelling.

    Raises:
        InputError: If `value` is no text, has no number, or its unit is not among `units`.
    """
    if not isinstance(value, str):
        raise InputError("is not a text with a number and a unit", value=value, accepted=accepted)
    match = _QUANTITY.fullmatch(value.strip()) if len(value) <= _LONGEST_TEXT else None
    if match is None:
        raise InputError("is not a number with a unit", value=value, accepted=accepted)
    number, written = match.groups()
    if written is None:
        raise InputError("has no unit", value=value, accepted=accepted)
    unit = _SPELLINGS.get(written, written)
    if unit not in units:
        close = _nearest_unit(unit, units)
        hint = f" (did you mean '{close}'?)" if close else ""
        raise InputError(f"has a wrong unit{hint}", value=value, accepted=accepted)
    return Fraction(Decimal(number)), unit


def parse_time(value: object, *, least_ps: int = 0, most_ps: int = MAX_TIME_PS) -> int:
    """Parse "10 ms" into picoseconds, rounded to the nearest.

    Args:
        value: The text.
        least_ps: Least time accepted, ps.
        most_ps: Longest time accepted, ps.

    Raises:
        InputError: If it is not a time or out of bounds.
    """
    limits = _bounds(format_time, least_ps, most_ps)
    accepted = f"a time {limits}, such as '10 ms' (units ps, ns, us, ms, s, min, h)"
    number, unit = split_quantity(value, TIME_UNITS, accepted)
    return _bounded(round(number * TIME_UNITS[unit]), least_ps, most_ps, value, accepted)


def parse_rate(value: object, *, most_bps: int = MAX_RATE_BPS) -> int:
    """Parse "100 Mbps" into bits per second, at least 1.

    Raises:
        InputError: If it is not a rate or out of bounds.
    """
    limits = _bounds(format_rate, 1, most_bps)
    accepted = f"a rate {limits}, such as '100 Mbps' (units bps, kbps, Mbps, Gbps, Tbps: bits, not bytes)"
    number, unit = split_quantity(value, RATE_UNITS, accepted)
    return _bounded(round(number * RATE_UNITS[unit]), 1, most_bps, value, accepted)


def parse_size(value: object, *, least_bytes: int = 1, most_bytes: int = MAX_SIZE_BYTES) -> int:
    """Parse "64 KiB" into bytes; it must come to a whole number of them.

    Raises:
        InputError: If it is not a size, not whole, or out of bounds.
    """
    limits = _bounds(format_size, least_bytes, most_bytes)
    accepted = f"a size {limits}, such as '1500 B' (units B, KB, MB, GB, KiB, MiB, GiB)"
    number, unit = split_quantity(value, SIZE_UNITS, accepted)
    size_bytes = whole(number * SIZE_UNITS[unit], value, accepted)
    return _bounded(size_bytes, least_bytes, most_bytes, value, accepted)


def whole(number: Fraction, value: object, accepted: str) -> int:
    """Return a whole number as an integer.

    Raises:
        InputError: If it is not whole.
    """
    if number.denominator != 1:
        raise InputError("is not a whole number of bytes or packets", value=value, accepted=accepted)
    return number.numerator


def format_time(time_ps: float) -> str:
    """Write a time in picoseconds for people: "10 ms"."""
    return _format(
        time_ps, [(factor, unit) for unit, factor in TIME_UNITS.items() if factor <= PS_PER_S], "s"
    )


def format_rate(rate_bps: float) -> str:
    """Write a rate in bits per second for people: "62.5 Mbps"."""
    return _format(rate_bps, [(factor, unit) for unit, factor in RATE_UNITS.items()], "bps")


def format_size(size_bytes: float) -> str:
    """Write a size in bytes for people, with SI prefixes: "1.5 MB"."""
    return _format(
        size_bytes, [(factor, unit) for unit, factor in SIZE_UNITS.items() if "i" not in unit], "B"
    )


def _format(amount: float, units: list[tuple[int, str]], unit_of_zero: str) -> str:
    if not amount:
        return f"0 {unit_of_zero}"
    factor, unit = max(((f, u) for f, u in units if f <= abs(amount)), default=min(units))
    number = amount / factor
    return f"{number:.0f} {unit}" if number == int(number) else f"{number:.6g} {unit}"


def _bounds(write: Callable[[float], str], least: int, most: int) -> str:
    return f"of {write(least)} to {write(most)}"


def _bounded(amount: int, least: int, most: int, value: object, accepted: str) -> int:
    if amount < least:
        raise InputError("is negative" if amount < 0 else "is too small", value=value, accepted=accepted)
    if amount > most:
        raise InputError("is too large", value=value, accepted=accepted)
    return amount


def _nearest_unit(unit: str, units: Mapping[str, int]) -> str | None:
    for known in units:
        if known.lower() == unit.lower():
            return known
    close = difflib.get_close_matches(unit, units, n=1)
    return close[0] if close else None
