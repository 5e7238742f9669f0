"""What TCP hosts do with windows and packets: "64 KiB", "100 segments", "auto", …."""

from __future__ import annotations

from typing import Final

from bufferlab import units
from bufferlab.errors import InputError
from bufferlab.presets import SCALED_WINDOW_BYTES, Window

MAX_PACKET_PAYLOAD_BYTES: Final = 65_536 - 1 - 320
"""Most payload of a packet of several segments, as in the engine: Linux's 64 KB less room for headers."""

MAX_PACKET_SEGMENTS: Final = 128
"""Most segments of such a packet, as in the engine."""


def most_segments(segment_bytes: int) -> int:
    """Segments of this size that one packet may hold."""
    return max(1, min(MAX_PACKET_PAYLOAD_BYTES // segment_bytes, MAX_PACKET_SEGMENTS))


def parse_window(value: object) -> Window:
    """Read an advertised window: "64 KiB" or "100 segments".

    Raises:
        InputError: If it is neither, or larger than TCP can advertise.
    """
    accepted = f"a size such as '64 KiB' (at most {SCALED_WINDOW_BYTES} B, RFC 7323) or '100 segments'"
    number, unit = units.split_quantity(value, {**units.SIZE_UNITS, "segments": 1}, accepted)
    amount = units.whole(number * units.SIZE_UNITS.get(unit, 1), value, accepted)
    if not 1 <= amount <= SCALED_WINDOW_BYTES:
        raise InputError("is too small" if amount < 1 else "is too large", value=value, accepted=accepted)
    return Window(amount, "segments" if unit == "segments" else "bytes")


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
