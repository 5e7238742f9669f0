"""A scenario with another buffer at one of its links, as its router counts it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bufferlab.errors import InputError
from bufferlab.experiment.simulation import ScenarioLike, prepare
from bufferlab.scenario import Scenario

OPEN: Final = "1 bdp"
"""What stands for a buffer that a file leaves open, until one is tried."""


def buffer_text(packets: int, packet_bytes: int | None) -> str:
    """A buffer of full packets as a scenario has it.

    Args:
        packets: How many.
        packet_bytes: Size of a full packet, bytes, of a router whose limit counts bytes: it then holds more
            of smaller ones. `None` of one that counts packets of any size.
    """
    return f"{packets} packets" if packet_bytes is None else f"{packets * packet_bytes} B"


def prepare_open(scenario: ScenarioLike, overrides: Mapping[str, Any] | None = None) -> Scenario:
    """As `prepare`, of a file that may leave open the one buffer that is asked for.

    Raises:
        InputError: If it cannot be used.
    """
    try:
        return prepare(scenario, overrides)
    except InputError as error:
        key, is_path = error.key or "", not isinstance(scenario, Mapping | Scenario)
        is_open = key.endswith(".buffer") and error.problem.startswith("is required") and not error.others
        if not is_open or not is_path:
            raise
        return prepare(scenario, {key: OPEN, **(overrides or {})})


def with_buffer(scenario: Scenario, link: int, buffer: str) -> Scenario:
    """The scenario with another buffer at a link, which stays the same for the whole run."""
    changes: dict[str, object] = {f"links[{link}].buffer": buffer}
    if scenario.links[link]["changes"]:
        changes[f"links[{link}].changes"] = []
    return prepare(scenario, changes)
