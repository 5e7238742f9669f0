"""What half of the answer's buffer does: the question that everybody asks of a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.stats import Estimate
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.choosing.choice import Rival, choose, missed_targets
from bufferlab.studies.choosing.objectives import Aspect, Kind
from bufferlab.studies.least import Bench, Case
from bufferlab.studies.targets import Target, Values, mean_over_runs

LEAST: Final = 4
"""Packets of a buffer from which on half of it is another buffer."""


@dataclass(frozen=True)
class Half:
    """Half of the buffer.

    Attributes:
        size: The buffer, packets.
        rival: It beside the answer.
        missed: Targets that it misses in the mean.
        values: What its runs measured, with the seeds of the comparison.
    """

    size: int
    rival: Rival
    missed: tuple[Target, ...]
    values: tuple[Values, ...]

    def mean(self, name: str) -> Estimate:
        """Mean of a value over the runs."""
        return mean_over_runs(name, self.values)

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        behind = self.rival.behind
        return {
            "packets": self.size,
            "missed": [str(target) for target in self.missed],
            "behind": behind.mean,
            "behind_ci95": behind.half_width,
            **{name: self.mean(name).mean for name in ("utilization", "loss", "wait_mean_ms")},
        }


def halved(
    entry: Entry,
    targets: Sequence[Target],
    judged: tuple[Sequence[Aspect], Mapping[Kind, float]],
    bench: Bench,
    seeds: Sequence[int],
) -> Half | None:
    """Run half of an answer's buffer with the seeds that the answer was compared with.

    Args:
        entry: The answer.
        targets: What it meets.
        judged: What users feel, and how much each kind of it weighs.
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
    name = f"{entry.queue.name}, half"
    contest: Mapping[str, Sequence[Values]] = {entry.name: entry.values, name: values}
    # as if it missed a target, so that it is compared and never taken
    missed = {entry.name: (), name: tuple(targets[:1])}
    (rival,) = choose(contest, *judged, missed=missed).rivals
    return Half(size, rival, missed_targets(values, targets), values)
