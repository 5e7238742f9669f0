"""COBALT on Linux: CAKE with one class and one queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bufferlab.configure.answer import Answer
from bufferlab.configure.platform import Source
from bufferlab.configure.shared import MEMORY_NOTE, memory_limit, show_time, time_text

_TARGETS: Final = 20
"""Targets in an interval: tc sets the target to a twentieth of rtt (iproute2, tc/q_cake.c)."""

_LARGER: Final = "increment", 1 / 256
_SMALLER: Final = "decrement", 1 / 4096
"""BLUE's steps (net/sched/sch_cake.c, cake_set_rate: p_inc, p_dec)."""

SOURCES: Final = (
    Source("iproute2 6.1.0", "tc-cake(8), tc/q_cake.c", "flowblind, memlimit; how rtt sets the target"),
    Source("Linux", "net/sched/sch_cake.c", "COBALT's constants; what memlimit counts"),
)


def cobalt(answer: Answer, notes: list[str]) -> tuple[list[str], int]:
    """The options of cake that leave COBALT alone in one queue, and its limit in bytes."""
    given = answer.parameters
    limit = memory_limit(answer)
    notes.append(
        f"COBALT alone is CAKE with one class and one queue. {MEMORY_NOTE} Without a bandwidth CAKE does not "
        "know the link's rate, by which COBALT lengthens its times on slow links."
    )
    cobalt_notes(given, notes)
    rtt = time_text(given["interval_ps"])
    return [f"unlimited besteffort flowblind rtt {rtt} memlimit {limit}"], limit


def cobalt_notes(given: Mapping[str, Any], notes: list[str]) -> None:
    """What tc cannot set of COBALT."""
    if given["target_ps"] * _TARGETS != given["interval_ps"]:
        target = show_time(given["interval_ps"] // _TARGETS)
        notes.append(f"tc sets the target to a twentieth of the interval: {target}.")
    if not given["ecn"]:
        notes.append("CAKE always marks packets of hosts that listen: ecn cannot be switched off.")
    for name, usual in (_LARGER, _SMALLER):
        if given[name] != usual:
            notes.append(f"CAKE's {name} is always 1/{1 / usual:g}, not {given[name]:g}.")
