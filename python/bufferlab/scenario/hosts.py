"""What TCP hosts do with windows and packets: "64 KiB", "100 segments", "auto", …."""

from __future__ import annotations

import re
from typing import Final

from bufferlab import units
from bufferlab.errors import InputError
from bufferlab.presets import DEFAULT_BUFFER_BYTES, SCALED_WINDOW_BYTES, WINDOW_PART, Window

MAX_PACKET_PAYLOAD_BYTES: Final = 65_536 - 1 - 320
"""Most payload of a packet of several segments, as in the engine: Linux's 64 KB less room for headers."""

MAX_PACKET_SEGMENTS: Final = 128
"""Most segments of such a packet, as in the engine."""

MAX_BUFFER_BYTES: Final = SCALED_WINDOW_BYTES * WINDOW_PART
"""Largest receive buffer: half of it is as much as TCP can advertise."""

_AUTO: Final = re.compile(r"auto(?:\(([^()]{1,40})\))?", re.ASCII)


def most_segments(segment_bytes: int) -> int:
    """Segments of this size that one packet may hold."""
    return max(1, min(MAX_PACKET_PAYLOAD_BYTES // segment_bytes, MAX_PACKET_SEGMENTS))


def parse_window(value: object) -> Window:
    """Read an advertised window: "64 KiB", "100 segments", "auto", or "auto(16 MiB)", a buffer's size.

    Raises:
        InputError: If it is neither, or larger than TCP can advertise.
    """
    accepted = (
        f"a size such as '64 KiB' (at most {SCALED_WINDOW_BYTES} B, RFC 7323), '100 segments', "
        f"'auto', or 'auto(16 MiB)' with the largest receive buffer (at most {MAX_BUFFER_BYTES} B)"
    )
    tuned = _AUTO.fullmatch(value) if isinstance(value, str) else None
    if tuned:
        return Window(_buffer_bytes(tuned[1], value, accepted), "buffer")
    number, unit = units.split_quantity(value, {**units.SIZE_UNITS, "segments": 1}, accepted)
    amount = units.whole(number * units.SIZE_UNITS.get(unit, 1), value, accepted)
    if not 1 <= amount <= SCALED_WINDOW_BYTES:
        raise InputError("is too small" if amount < 1 else "is too large", value=value, accepted=accepted)
    return Window(amount, "segments" if unit == "segments" else "bytes")


def _buffer_bytes(given: str | None, value: object, accepted: str) -> int:
    if given is None:
        return DEFAULT_BUFFER_BYTES
    try:
        return units.parse_size(given, most_bytes=MAX_BUFFER_BYTES)
    except InputError as error:
        raise InputError(error.problem, value=value, accepted=accepted) from error


def parse_offload(value: object) -> int | str:
    """Read how many segments leave as one packet: "6 segments", "auto" or "none".

    Raises:
        InputError: If it is something else, or more than any packet holds.
    """
    if value in ("auto", "none"):
        return str(value)
    accepted = f"'6 segments' (1 to {MAX_PACKET_SEGMENTS}), 'auto' or 'none'"
    number, _ = units.split_quantity(value, {"segments": 1}, accepted)
    if number.denominator != 1 or not 1 <= number <= MAX_PACKET_SEGMENTS:
        raise InputError("is not a packet's number of segments", value=value, accepted=accepted)
    return int(number)
