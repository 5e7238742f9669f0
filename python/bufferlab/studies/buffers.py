"""A scenario with another buffer at one of its links."""

from __future__ import annotations

from bufferlab.experiment.simulation import prepare
from bufferlab.scenario import Scenario


def with_buffer(scenario: Scenario, link: int, buffer: str) -> Scenario:
    """The scenario with another buffer at a link, which stays the same for the whole run."""
    changes: dict[str, object] = {f"links[{link}].buffer": buffer}
    if scenario.links[link]["changes"]:
        changes[f"links[{link}].changes"] = []
    return prepare(scenario, changes)
