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
    return prepare(scenario, {f"links[{link}].buffer": buffer, **lasting(scenario, link)})


def lasting(scenario: Scenario, link: int) -> dict[str, object]:
    """Overrides that leave out changes of a link's buffer in the run; those of rate and delay stay."""
    if all(each["buffer"] is None for each in scenario.links[link]["changes"]):
        return {}
    written = (written_link(scenario, link) or {}).get("changes")
    kept = [
        {key: value for key, value in each.items() if key != "buffer"}
        for each in (written if isinstance(written, list) else [])
        if each.keys() - {"at", "buffer"}
    ]
    return {f"links[{link}].changes": kept}


def written_link(scenario: Scenario, link: int) -> Mapping[str, object] | None:
    """A link as the scenario writes it, in the short form or the long one."""
    content = scenario.to_dict()
    table = content.get("bottleneck")
    if table is None and isinstance(links := content.get("links"), list):
        table = links[link]
    return table if isinstance(table, Mapping) else None
