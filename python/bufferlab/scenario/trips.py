"""Where a queue has its packets' round-trip times from: "header(4 bits)", "timestamps(1024 flows)", …."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from bufferlab.errors import InputError

DEFAULT_TABLE_FLOWS: Final = 1024
"""Flows that a router's table remembers unless said otherwise."""

MAX_TABLE_FLOWS: Final = 1 << 22
"""Largest table, flows."""

MAX_HEADER_BITS: Final = 12
"""Most bits of a header; an exact one has no parentheses."""

ACCEPTED: Final = (
    f"'header', 'header(4 bits)' (1 to {MAX_HEADER_BITS}), 'handshake', 'timestamps', each of the two with a "
    f"table's size as in 'timestamps(1024 flows)' (1 to {MAX_TABLE_FLOWS}), or 'oracle'"
)
"""What a source may be, for messages."""

_FORM: Final = re.compile(
    r"(header|handshake|timestamps|oracle)(?:\(\s*(\d{1,7})\s+(bits?|flows?)\s*\))?", re.ASCII
)


RttKind = Literal["header", "handshake", "timestamps", "oracle"]
"""Senders' headers, handshakes or timestamps seen in passing, or what no router can know."""


@dataclass(frozen=True)
class RttSource:
    """A source of round-trip times.

    Attributes:
        kind: Which.
        bits: Size of a header that is not exact.
        flows: Size of the table of `handshake` and `timestamps`.
    """

    kind: RttKind
    bits: int | None = None
    flows: int = DEFAULT_TABLE_FLOWS


def parse_rtt_source(value: object) -> RttSource:
    """Read a source of round-trip times.

    Raises:
        InputError: If it is none.
    """
    match = _FORM.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise InputError("is no source of round-trip times", value=value, accepted=ACCEPTED)
    kind: RttKind = match[1]  # type: ignore[assignment]
    unit = match[3]
    if unit is None:
        return RttSource(kind)
    amount = int(match[2])
    if kind == "header" and unit.startswith("bit") and 1 <= amount <= MAX_HEADER_BITS:
        return RttSource("header", bits=amount)
    if kind in ("handshake", "timestamps") and unit.startswith("flow") and 1 <= amount <= MAX_TABLE_FLOWS:
        return RttSource(kind, flows=amount)
    raise InputError("is no source of round-trip times", value=value, accepted=ACCEPTED)
