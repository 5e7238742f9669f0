"""Made-up links of which the truth is known: margins by size, and noise of several laws."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bufferlab.studies.least import Goal, Least, Run, least
from bufferlab.studies.targets import Target, Values, make_target

Noise = Callable[[random.Random], float]

BUSY = make_target("utilization", 0.99)
QUICK = make_target("wait_mean_ms", 20.0)


def normal(draw: random.Random) -> float:
    """Mean 0, standard deviation 1."""
    return draw.gauss(0.0, 1.0)


def skewed(draw: random.Random) -> float:
    """As a utilization scatters: mostly a little above its mean, at times far below; skewness -2."""
    return 1.0 - draw.expovariate(1.0)


def none(_: random.Random) -> float:
    """As a link without anything random."""
    return 0.0


@dataclass(frozen=True)
class Problem:
    """What a link would do.

    Attributes:
        truth: True means by size, by the names of the targets.
        noise: Law of a run's deviation, of mean 0 and standard deviation 1.
        spread: Standard deviations, by the names of the targets.
        number: Stands for everything random.
    """

    truth: Mapping[str, Callable[[int], float]]
    noise: Noise = normal
    spread: Mapping[str, float] = field(default_factory=dict)
    number: int = 0

    def run(self, run: Run) -> Values:
        """What a run measures; runs of other sizes with the same seed are independent, the worst case."""
        draw = random.Random(f"{self.number} {run.size} {run.seed}")
        return {
            name: mean(run.size) + self.spread.get(name, 0.0) * self.noise(draw)
            for name, mean in self.truth.items()
        }

    def meets(self, size: int, targets: tuple[Target, ...]) -> bool:
        """Whether a size truly meets all targets."""
        return all(target.margin(self.truth[target.name](size)) >= 0 for target in targets)

    def least(self, goal: Goal) -> int | None:
        """The true answer, of a problem without islands."""
        sizes = goal.ordered(range(goal.lower, goal.upper + 1))
        return next((size for size in sizes if self.meets(size, goal.targets)), None)


def solve(goal: Goal, measure: Callable[[Run], Values]) -> Least:
    """A search's answer; fails if it asks for a run twice."""
    search = least(goal)
    asked: set[Run] = set()
    try:
        step = next(search)
        while True:
            asked |= set(step.runs)
            step = search.send({run: measure(run) for run in step.runs})
    except StopIteration as end:
        found: Least = end.value
    assert found.runs == len(asked)
    return found


def saturating(knee: float, steepness: float = 0.01) -> Callable[[int], float]:
    """A utilization that reaches 99 % at a knee, steep below it and flat above."""
    return lambda size: 1.0 - 0.01 * math.exp(-steepness / 0.01 * math.log(size / knee))
