"""The buffers among which an answer is sought, as written."""

from __future__ import annotations

from typing import Final

from bufferlab.errors import InputError
from bufferlab.scenario import Scenario, check_buffer
from bufferlab.studies.buffers import with_buffer
from bufferlab.units import packets_text

ACCEPTED: Final = "two buffers, the smaller one first, such as 1..1bdp or 10..500 packets"


def parse_bounds(text: str, scenario: Scenario, link: int, packet_bytes: int) -> tuple[int, int]:
    """Least and most packets of the search.

    Raises:
        InputError: If they are none, or crossed.
    """
    ends = [part.strip() for part in text.split("..")]
    if len(ends) != 2 or not all(ends):
        raise InputError("is not a range of buffers", key="bounds", value=text, accepted=ACCEPTED)
    low, high = (
        _packets(f"{end} packets" if end.isdecimal() else end, scenario, link, packet_bytes) for end in ends
    )
    if low >= high:
        raise InputError(
            f"is no range: {packets_text(low)} up to {packets_text(high)}",
            key="bounds",
            value=text,
            accepted=ACCEPTED,
        )
    return low, high


def _packets(text: str, scenario: Scenario, link: int, packet_bytes: int) -> int:
    """A buffer as written, in packets, at least one."""
    try:
        check_buffer(text)
    except InputError as error:
        raise error.at(key="bounds") from None
    limit = with_buffer(scenario, link, text).seeded().resolved["links"][link]["buffer"]["limit"]
    if limit is None or limit == "unlimited":
        raise InputError("has no end", key="bounds", value=text, accepted=ACCEPTED)
    return limit["packets"] if "packets" in limit else max(1, limit["bytes"] // packet_bytes)
