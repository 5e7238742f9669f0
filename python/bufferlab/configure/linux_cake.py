"""CAKE on Linux, as the simulation has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bufferlab.configure.answer import Answer
from bufferlab.configure.linux_cobalt import cobalt_notes
from bufferlab.configure.platform import Source
from bufferlab.configure.shared import MEMORY_NOTE, memory_limit, time_text

FRAMINGS: Final = {"plain": "noatm", "atm": "atm", "ptm": "ptm"}
"""tc's word of each framing."""
"""tc's keywords for how a line carries packets."""

SOURCES: Final = (
    Source("iproute2 6.1.0", "tc-cake(8)", "bandwidth, tins, isolation, overhead, mpu, atm, ptm, memlimit"),
    Source(
        "Linux",
        "net/sched/sch_cake.c, cake_calc_overhead",
        "with overhead, bytes are counted from the IP packet on",
    ),
)


def has_shaper(answer: Answer) -> bool:
    """Whether the queue is CAKE with its own shaper."""
    return answer.discipline == "cake" and not answer.parameters["unlimited"]


def cake_queue_options(
    answer: Answer, notes: list[str], line: Sequence[str] | None = None
) -> tuple[list[str], int]:
    """The options beside bandwidth, and the limit in bytes.

    Args:
        answer: The queue.
        notes: What to know, to which is added.
        line: Words by which it counts what a packet takes on the line, where they are not the queue's own:
            CAKE takes the last of each kind.
    """
    given = answer.parameters
    limit = memory_limit(answer)
    notes.append(MEMORY_NOTE)
    if line is None:
        overhead_bytes = given["overhead_bytes"]
        line = (f"overhead {overhead_bytes}", f"mpu {given['mpu_bytes']}", FRAMINGS[given["framing"]])
        if overhead_bytes == 0:
            notes.append(
                "With 'overhead 0' CAKE counts IP packets, as the simulation does; tc-cake(8) has the "
                "overheads of lines by name."
            )
    cobalt_notes(given, notes)
    words = (given["tins"], given["isolation"], f"rtt {time_text(given['interval_ps'])}")
    return [word.replace("_", "-") for word in (*words, *line, f"memlimit {limit}")], limit
