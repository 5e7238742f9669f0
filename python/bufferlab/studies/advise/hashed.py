"""Queues that keep flows apart by a hash: two flows may share one by chance, which few runs show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bufferlab.display import significant
from bufferlab.resolved import FELT_BY_GOODPUT
from bufferlab.scenario import Table
from bufferlab.studies.advise.entry import Users

_QUEUES: Final = {"fq_codel": 1024, "fq_pie": 1024, "fair_queue": 16}
"""Disciplines that put a flow where its hash says, and their usual number of queues (RFC 8290, section 5.2.5;
`flows` in Linux's sch_fq_pie.c; of `fair-queue` the fewest that the command takes).
CAKE is none of them: of eight queues a flow gets one that is free."""

_NEEDS_ITS_OWN: Final = ("udp", "ping", "video-call", "web", "echo")
"""Kinds of flows that send little, and so wait and lose mostly where they share a queue."""

_LEAST: Final = 0.01
"""Chance from which on it is reported. Our choice: eight runs show what is twice as frequent in one of seven
cases."""


def chance_shared(long: int, small: int, queues: int) -> float:
    """How likely some of the small flows has its queue in common with a long one.

    Each small flow's queue is one of all with the same chance, whatever the others' are:
    1 - (1 - 1/Q)^(long · small). Small flows that share a queue with each other count twice, which matters
    only where that is likely.

    Args:
        long: Flows that fill the link.
        small: Flows that send little.
        queues: Queues to which flows are hashed, Q.
    """
    return float(1.0 - (1.0 - 1.0 / queues) ** (long * small))


def is_fair_below(table: Table) -> bool:
    """Whether flows are hashed to the queues of `fair-queue` in class-default."""
    return str(table.get("classes", "")).endswith(" fair_queue")


def sharing_text(table: Table, users: Sequence[Users]) -> str | None:
    """That a call may share its queue with a long flow, and how likely, as a sentence; `None` if hardly.

    Args:
        table: The queue.
        users: The flow groups.
    """
    kind = "fair_queue" if is_fair_below(table) else str(table["discipline"])
    if kind not in _QUEUES:
        return None
    queues = int(str(table.get("flows", _QUEUES[kind])))
    those = [each for each in users if each.kind in _NEEDS_ITS_OWN]
    long = sum(each.flows for each in users if each.control is not None and each.kind in FELT_BY_GOODPUT)
    small = sum(each.flows for each in those)
    chance = chance_shared(long, small, queues)
    if not those or chance < _LEAST:
        return None
    who = those[0].name if small == 1 else f"one of the {small} flows of {', '.join(e.name for e in those)}"
    return (
        f"Flows are hashed to {queues} queues: with a chance of {significant(chance * 100, 2)} % {who} "
        f"shares one with a long flow, and waits and loses as that does. Few runs show it."
    )
