"""What is run beside an answer and never taken: half of it, what runs today, what was not to choose from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bufferlab.stats import Estimate
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.choosing.choice import Rival, choose, missed_targets
from bufferlab.studies.choosing.objectives import Aspect, Kind
from bufferlab.studies.targets import Target, Values, mean_over_runs

Judged = tuple[Sequence[Aspect], Mapping[Kind, float]]
"""What users feel, and how much each kind of it weighs."""


def link_means(mean: Callable[[str], Estimate]) -> dict[str, float | None]:
    """What the link does in the mean, for a document.

    Args:
        mean: Gives a value's mean by its name.
    """
    return {name: mean(name).mean for name in ("utilization", "loss", "wait_mean_ms")}


@dataclass(frozen=True)
class Beside:
    """A setting beside the answer.

    Attributes:
        rival: It beside the answer.
        missed: Targets that it misses in the mean.
        values: What its runs measured, with the seeds of the comparison.
    """

    rival: Rival
    missed: tuple[Target, ...]
    values: tuple[Values, ...]

    def mean(self, name: str) -> Estimate:
        """Mean of a value over the runs."""
        return mean_over_runs(name, self.values)

    @property
    def runs(self) -> tuple[Values, ...]:
        """What its runs measured: those of the comparison are all there are."""
        return self.values

    def checked(self, name: str) -> Estimate:
        """Mean of a value over the runs that tell whether targets are met: all there are."""
        return self.mean(name)

    def measured(self) -> dict[str, Any]:
        """The part of a document that all of them have."""
        behind = self.rival.behind
        return {
            "missed": [str(target) for target in self.missed],
            "behind": behind.mean,
            "behind_ci95": behind.half_width,
            **link_means(self.mean),
        }


def rival_of(
    entry: Entry, name: str, values: Sequence[Values], targets: Sequence[Target], judged: Judged
) -> tuple[Rival, tuple[Target, ...]]:
    """How a setting compares with an answer, as what misses a target would, and what it misses.

    Args:
        entry: The answer.
        name: What the setting is called.
        values: What its runs measured, with the seeds of the answer's.
        targets: What the answer is to meet.
        judged: By what users are judged.
    """
    contest: Mapping[str, Sequence[Values]] = {entry.name: entry.values, name: values}
    # as if it missed a target, so that it is compared and never taken
    missed = {entry.name: (), name: tuple(targets[:1])}
    (rival,) = choose(contest, *judged, missed=missed).rivals
    return rival, missed_targets(values, targets)
