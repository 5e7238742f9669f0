"""A step threshold on Linux: CoDel that never drops, with `ce_threshold`."""

from __future__ import annotations

from typing import Final

from bufferlab.configure.answer import Answer
from bufferlab.configure.platform import Source
from bufferlab.configure.shared import show_time, time_text
from bufferlab.units import PS_PER_S

_NEVER: Final = "1000s"
"""A target and an interval that no packet waits for. CoDel keeps times in units of 1024 ns and compares them
as signed numbers of 32 bits (include/net/codel.h, codel_time_after), so that up to 2199 s are in order."""

SOURCES: Final = (
    Source(
        "Linux", "net/sched/sch_codel.c, include/net/codel.h, codel_impl.h", "ce_threshold, units of times"
    ),
)


def step(answer: Answer, notes: list[str]) -> list[str]:
    """The options of codel beside the limit that make it a step."""
    notes.append(
        f"Linux has no queue that is a step alone. CoDel with a target of {_NEVER} never drops; its "
        "ce_threshold is the step. Packets of hosts without ECN are dropped at the limit only."
    )
    return [f"target {_NEVER} interval {_NEVER} noecn ce_threshold {time_text(_wait_ps(answer, notes))}"]


def _wait_ps(answer: Answer, notes: list[str]) -> int:
    """The step as a wait; a backlog is the time that the link takes to send it."""
    target_ps: int | None = answer.parameters["target_ps"]
    if target_ps is not None:
        return target_ps
    ((unit, count),) = answer.parameters["threshold"].items()
    size_bytes = count * (answer.packet_bytes if unit == "packets" else 1)
    wait_ps = int(-(-size_bytes * 8 * PS_PER_S // answer.rate_bps))
    notes.append(
        f"Linux marks by the wait, when a packet leaves: threshold = {count} {unit} is "
        f"{show_time(wait_ps)} at the link's rate."
    )
    return wait_ps
