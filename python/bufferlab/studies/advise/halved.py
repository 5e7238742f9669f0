"""What another buffer does beside the answer: half of it, or a FIFO as large as LLQ's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.studies.advise.beside import Beside, Judged, rival_of
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.llq import LLQ
from bufferlab.studies.least import Bench, Case
from bufferlab.studies.targets import Target, Values

FIFO: Final = "fifo"
"""The queue that LLQ is compared with."""

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
    return _compared(entry, case, _values(bench, case, seeds), targets, judged)


def plain(
    entry: Entry,
    targets: Sequence[Target],
    judged: Judged,
    bench: Bench,
    seeds: Sequence[int],
) -> Half | None:
    """Run a FIFO as large as LLQ's class-default: what the class of calls brings, whatever the buffer.

    Arguments are those of `halved`.

    Returns:
        `None` where the answer is another queue.
    """
    if entry.queue.name != LLQ:
        return None
    case = Case(FIFO, entry.packets)
    return _compared(entry, case, _values(bench, case, seeds), targets, judged)


def _values(bench: Bench, case: Case, seeds: Sequence[int]) -> tuple[Values, ...]:
    measured = bench.measure({case: list(seeds)})
    return tuple(measured[case, seed] for seed in seeds)


def _compared(
    entry: Entry, case: Case, values: tuple[Values, ...], targets: Sequence[Target], judged: Judged
) -> Half:
    rival, missed = rival_of(entry, f"{case.name}, beside", values, targets, judged)
    return Half(rival, missed, values, case.size)
