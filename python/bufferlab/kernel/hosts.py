"""Addresses of a plan's hosts, for a discipline that looks at them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from bufferlab.kernel import network

MOST: Final = 250
"""Hosts on either side."""

Plan = Mapping[str, Any]


class Hosts(NamedTuple):
    """Who sends and who receives.

    Attributes:
        senders: Each flow's address of the sending side.
        receivers: Each flow's address of the receiving side.
        places: The receivers' addresses, each with the index of its round-trip time.
    """

    senders: Sequence[str]
    receivers: Sequence[str]
    places: Mapping[str, int]


def counts_hosts(plan: Plan) -> bool:
    """Whether the queue tells hosts apart."""
    kind = plan["links"][0]["discipline"].get("isolation", "flows")
    return kind not in {"flows", "flowblind"}


def hosts(plan: Plan, homes: Sequence[int], *, apart: bool) -> Hosts:
    """Addresses: one for all senders and one for the receivers of a round trip, or one a host.

    Args:
        plan: The plan.
        homes: The index of each flow's round-trip time.
        apart: Each host has its own.
    """
    if not apart:
        places = {network.address(index): index for index in sorted(set(homes))}
        return Hosts([network.ADDRESS] * len(homes), [network.address(index) for index in homes], places)
    senders, receivers = (_numbers(plan, side) for side in ("sender", "receiver"))
    theirs = [network.address(home, number) for home, number in zip(homes, receivers, strict=True)]
    return Hosts(
        [network.sender(number) for number in senders],
        theirs,
        dict(sorted(zip(theirs, homes, strict=True), key=lambda place: place[1])),
    )


def too_many(plan: Plan) -> Iterator[tuple[str, int]]:
    """Sides with more hosts than have addresses, each with how many."""
    for side in ("sender", "receiver"):
        count = len(set(_numbers(plan, side)))
        if count > MOST:
            yield side, count


def scattered(plan: Plan) -> Iterator[str]:
    """Groups whose named receiver has several round-trip times, so that it would be several hosts."""
    flows = plan["flows"]
    parts = [flows[f"{part}_delay_ps"] for part in ("source", "sink", "return")]
    seen: dict[int, int] = {}
    found: dict[str, None] = {}
    for group, *each in zip(flows["group"], *parts, strict=True):
        named = plan["groups"][group].get("receiver")
        if named is not None and seen.setdefault(named, sum(each)) != sum(each):
            found[plan["groups"][group]["name"]] = None
    yield from found


def _numbers(plan: Plan, side: str) -> list[int]:
    """Each flow's host, from 0; a flow whose group names none has its own."""
    known: dict[tuple[str, int], int] = {}
    found = []
    for flow, group in enumerate(plan["flows"]["group"]):
        named = plan["groups"][group].get(side)
        key = ("flow", flow) if named is None else ("host", named)
        found.append(known.setdefault(key, len(known)))
    return found
