"""A scenario with another buffer at one of its links, as its router counts it."""

from __future__ import annotations

from bufferlab.experiment.simulation import prepare
from bufferlab.scenario import Scenario


def buffer_text(packets: int, packet_bytes: int | None) -> str:
    """A buffer of full packets as a scenario has it.

    Args:
        packets: How many.
        packet_bytes: Size of a full packet, bytes, of a router whose limit counts bytes: it then holds more
            of smaller ones. `None` of one that counts packets of any size.
    """
    return f"{packets} packets" if packet_bytes is None else f"{packets * packet_bytes} B"


def with_buffer(scenario: Scenario, link: int, buffer: str) -> Scenario:
    """The scenario with another buffer at a link, which stays the same for the whole run."""
    changes: dict[str, object] = {f"links[{link}].buffer": buffer}
    if scenario.links[link]["changes"]:
        changes[f"links[{link}].changes"] = []
    return prepare(scenario, changes)
