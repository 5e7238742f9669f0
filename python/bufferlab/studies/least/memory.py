"""What was measured so far: values by size and seed, and what they say about targets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bufferlab.stats import chance_of_mean
from bufferlab.studies.targets import Target, Values, mean_over_runs

FloatArray = npt.NDArray[np.float64]

Verdict = Literal["met", "not proven", "missed"]
"""What runs say of targets: they are met, or missed, with the confidence that is asked for, or neither."""


def margins_of(runs: Iterable[Values], target: Target) -> FloatArray:
    """A target's margin in each run, in the metric's unit; NaN where a run has no value."""
    return np.asarray([target.margin(run.get(target.name)) for run in runs], dtype=np.float64)


class Run(NamedTuple):
    """A run that a search asks for.

    Attributes:
        size: Of a buffer, packets; of a delay that a discipline aims at, its steps.
        seed: Its seed.
    """

    size: int
    seed: int


class Memory:
    """What a search has measured so far: values by size and seed.

    Args:
        targets: What must be met.
    """

    def __init__(self, targets: Sequence[Target]) -> None:
        self.targets = tuple(targets)
        self._values: dict[int, dict[int, Values]] = {}

    def copy(self) -> Memory:
        """What is known now, which later runs do not change."""
        copied = Memory(self.targets)
        copied._values = {size: dict(runs) for size, runs in self._values.items()}
        return copied

    def of(self, targets: Sequence[Target]) -> Memory:
        """The same runs, asked about other targets."""
        asked = Memory(targets)
        asked._values = self._values
        return asked

    def add(self, values: Mapping[Run, Values]) -> None:
        """Take what runs measured."""
        for run, found in values.items():
            self._values.setdefault(run.size, {})[run.seed] = found

    @property
    def sizes(self) -> list[int]:
        """The sizes with runs, rising."""
        return sorted(self._values)

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return sum(map(len, self._values.values()))

    def seeds(self, size: int) -> list[int]:
        """The seeds of a size's runs."""
        return list(self._values.get(size, {}))

    def values(self, size: int, seeds: Iterable[int] | None = None) -> list[Values]:
        """What the runs of a size measured, those of some seeds if given."""
        of_size = self._values.get(size, {})
        return [of_size[seed] for seed in (of_size if seeds is None else seeds)]

    def mean(self, size: int, name: str, seeds: Iterable[int] | None = None) -> float | None:
        """The mean of a value over a size's runs, those of some seeds if given; `None` if unknown."""
        return mean_over_runs(name, self.values(size, seeds)).mean

    def loss(self, size: int) -> float:
        """The mean loss over a size's runs, 0 if unknown."""
        return self.mean(size, "loss") or 0.0

    def margins(self, size: int, target: Target, seeds: Iterable[int] | None = None) -> FloatArray:
        """A target's margin in each run of a size, in the metric's unit; NaN where a run has no value."""
        return margins_of(self.values(size, seeds), target)

    def meets(self, size: int, target: Target) -> bool:
        """Whether a target is met in the mean over a size's runs."""
        return bool(self.margins(size, target).mean() >= 0)  # NaN is not

    def meets_all(self, size: int, targets: Sequence[Target] | None = None) -> bool:
        """Whether all targets are met in the mean over a size's runs."""
        return all(self.meets(size, target) for target in (self.targets if targets is None else targets))

    def is_fixed(self) -> bool:
        """Whether all runs of each size measured the same, and some size has several."""
        several = [runs for runs in map(self.values, self._values) if len(runs) > 1]
        return bool(several) and all(run == runs[0] for runs in several for run in runs)

    def is_clear(self, size: int, targets: Sequence[Target]) -> bool:
        """Whether no target's mean margin is within a standard error of zero."""
        return all(_is_clear(self.margins(size, target)) for target in targets)

    def surely_fails(self, size: int, chance: float) -> list[Target]:
        """The targets that are missed in the mean, by chance with at most this probability."""
        return [
            target
            for target in self.targets
            if not self.meets(size, target) and chance_of_mean(-self.margins(size, target)) <= chance
        ]

    def chance(self, size: int) -> float:
        """How likely runs would look as good if a target were missed in the long run: of the worst target."""
        return max(chance_of_mean(self.margins(size, target)) for target in self.targets)

    def verdict(self, size: int, wanted: float) -> Verdict:
        """Whether all targets are met at a size, or one is missed, with a confidence, or neither."""
        chance = 1.0 - wanted
        if self.chance(size) <= chance:
            return "met"
        return "missed" if self.surely_fails(size, chance) else "not proven"


def _is_clear(margins: FloatArray) -> bool:
    if len(margins) < 2 or not np.isfinite(margins).all():
        return True
    return bool(abs(margins.mean()) >= margins.std(ddof=1) / math.sqrt(len(margins)))
