"""What another buffer does beside the answer: half of it, or a FIFO as large as LLQ's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.studies.advise.beside import Beside, Judged, rival_of
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.least import Case
from bufferlab.studies.targets import Target, Values
from bufferlab.studies.words import FIFO, is_llq

LEAST: Final = 4
"""Packets of a buffer from which on half of it is another buffer."""


@dataclass(frozen=True)
class Half(Beside):
    """Half of the buffer, or a FIFO's as large.

    Attributes:
        size: The buffer, packets.
    """

    size: int

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        return {"packets": self.size, **self.measured()}


def half_of(entry: Entry) -> Case | None:
    """Half of an answer's buffer; `None` if that is no buffer, cannot be set or is hardly another one."""
    size = entry.packets // 2
    if entry.queue.knob != "limit" or entry.packets < LEAST or size < entry.queue.lower:
        return None
    return Case(entry.queue.name, size)


def plain_of(entry: Entry) -> Case | None:
    """A FIFO as large as LLQ's class-default: what the class of calls brings; `None` of other queues."""
    return Case(FIFO, entry.packets) if is_llq(entry.queue.name) else None


def compared(
    entry: Entry,
    case: Case | None,
    targets: Sequence[Target],
    judged: Judged,
    measure: Callable[[Case], tuple[Values, ...]],
) -> Half | None:
    """Run another buffer with the seeds that an answer was compared with.

    Args:
        entry: The answer.
        case: The other one; `None` if there is none.
        targets: What the answer meets.
        judged: By what users are judged.
        measure: What a case measures with the seeds of the answer's runs.
    """
    if case is None:
        return None
    values = measure(case)
    rival, missed = rival_of(entry, f"{case.name}, beside", values, targets, judged)
    return Half(rival, missed, values, case.size)
