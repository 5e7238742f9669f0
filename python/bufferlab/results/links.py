"""Which link of a scenario a question is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bufferlab.errors import InputError
from bufferlab.resolved import full_packet_bytes

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario


def choose_link(resolved: ResolvedScenario, name: str | None = None) -> int:
    """Index of the link to size: the named one, otherwise the slowest that data crosses.

    Args:
        resolved: The scenario.
        name: Name of the link.

    Raises:
        InputError: There is no such link, or no flow's data crosses any.
    """
    links = resolved["links"]
    names = [link["name"] for link in links]
    if name is not None:
        if name not in names:
            raise InputError(
                "is not a link of the scenario", key="link", value=name, accepted=", ".join(names)
            )
        return names.index(name)
    crossed = {link for flow in resolved["flows"] for link in flow["path"]}
    if not crossed:
        raise InputError("no flow crosses a link, so there is no buffer to size", key="flows")
    return min(map(names.index, crossed), key=lambda index: (links[index]["rate_bps"], index))


def packet_bytes(resolved: ResolvedScenario, link: int) -> int:
    """Size of the largest full packet of data that crosses a link, bytes."""
    name = resolved["links"][link]["name"]
    sizes = [full_packet_bytes(flow) for flow in resolved["flows"] if name in flow["path"]]
    if not sizes:
        raise InputError("is crossed by no flow", key="link", value=name, accepted="a link that data crosses")
    return max(sizes)
