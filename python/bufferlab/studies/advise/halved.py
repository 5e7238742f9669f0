"""What half of the answer's buffer does: the question that everybody asks of a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.studies.advise.beside import Beside, Judged, rival_of
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.least import Bench, Case
from bufferlab.studies.targets import Target

LEAST: Final = 4
"""Packets of a buffer from which on half of it is another buffer."""


@dataclass(frozen=True)
class Half(Beside):
    """Half of the buffer.

    Attributes:
        size: The buffer, packets.
    """

    size: int

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        return {"packets": self.size, **self.measured()}


def halved(
    entry: Entry,
    targets: Sequence[Target],
    judged: Judged,
    bench: Bench,
    seeds: Sequence[int],
) -> Half | None:
    """Run half of an answer's buffer with the seeds that the answer was compared with.

    Args:
        entry: The answer.
        targets: What it meets.
        judged: By what users are judged.
        bench: Measures.
        seeds: Of the answer's runs.

    Returns:
        `None` where the answer is no buffer, or half of it cannot be set or is hardly another one.
    """
    size = entry.packets // 2
    if entry.queue.knob != "limit" or entry.packets < LEAST or size < entry.queue.lower:
        return None
    case = Case(entry.queue.name, size)
    measured = bench.measure({case: list(seeds)})
    values = tuple(measured[case, seed] for seed in seeds)
    rival, missed = rival_of(entry, f"{entry.queue.name}, half", values, targets, judged)
    return Half(rival, missed, values, size)
