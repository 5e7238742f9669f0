"""What of a capture's file could not be read, and which share of it that is, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bufferlab.captured.observation import Observation
from bufferlab.display import significant
from bufferlab.units import format_size

_CUT: Final = "it was cut"
"""How the reader says that a file ends within a record (report.rs)."""


def damage_lines(seen: Observation) -> Iterator[str]:
    """What could not be read, how often and from where on; and how much was."""
    for text, count, first_byte in seen.warnings:
        times = f"{count:,} {'time' if count == 1 else 'times'}"
        more = "; what is missing behind it cannot be known" if text.endswith(_CUT) else ""
        yield f"{text} ({times}, first at byte {first_byte:,}{_place(seen, first_byte)}){more}"
    if seen.warnings:
        is_cut = any(text.endswith(_CUT) for text, _, _ in seen.warnings)
        skipped = format_size(_rounded(seen.skipped_bytes))
        skip = f"; skipped {skipped}, up to what can be records again" if seen.skipped_bytes else ""
        judged = f"{seen.packets:,} packets over {significant(seen.duration_s)} s are judged"
        yield f"read {_read(seen, is_cut=is_cut)}: {judged}{skip}"


def _place(seen: Observation, byte: int) -> str:
    """How far into the file a byte is."""
    return f", {_percent(byte, seen.file_bytes)} into the file" if seen.file_bytes else ""


def _read(seen: Observation, *, is_cut: bool) -> str:
    """Which share of the file was read; of one whose end is missing none is known."""
    done = format_size(_rounded(seen.read_bytes))
    if is_cut:
        return f"{done}, up to where it was cut"
    if not seen.file_bytes:
        return f"{done} (of the whole, the size is not known)"
    return f"{done} of {format_size(_rounded(seen.file_bytes))}, {_percent(seen.read_bytes, seen.file_bytes)}"


def _percent(part: int, whole: int) -> str:
    """A share that is 100 % only where it is all."""
    if part >= whole:
        return "100 %"
    return f"{min(100 * part / whole, 99.9):.1f} %"


def _rounded(size: int) -> int:
    return int(float(f"{size:.4g}"))
