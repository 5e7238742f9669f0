"""Which link of a plan a question is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bufferlab.errors import InputError


def choose_link(plan: Mapping[str, Any], name: str | None = None) -> int:
    """Index of the link to size: the named one, otherwise the slowest that data crosses.

    Args:
        plan: A lowered scenario.
        name: Name of the link.

    Raises:
        InputError: There is no such link, or no flow's data crosses any.
    """
    links = plan["links"]
    names = [link["name"] for link in links]
    if name is not None:
        if name not in names:
            raise InputError(
                "is not a link of the scenario", key="link", value=name, accepted=", ".join(names)
            )
        return names.index(name)
    crossed: list[int] = sorted({index for group in plan["groups"] for index in group["forward"]})
    if not crossed:
        raise InputError("no flow crosses a link, so there is no buffer to size", key="flows")
    return min(crossed, key=lambda index: (links[index]["rate_bps"], index))


def packet_bytes(plan: Mapping[str, Any], link: int) -> int:
    """Size of the largest full packet of data that crosses a link, bytes."""
    sources = [group["source"] for group in plan["groups"] if link in group["forward"]]
    sizes = [
        source["packet_bytes"] if source["kind"] == "udp" else source["mss_bytes"] + source["header_bytes"]
        for source in sources
    ]
    if not sizes:
        name = plan["links"][link]["name"]
        raise InputError("is crossed by no flow", key="link", value=name, accepted="a link that data crosses")
    return int(max(sizes))
