"""About the least size that meets all targets: few runs of each size, and nothing is confirmed.

For what would change an answer, where a quarter more or less says as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bufferlab.studies.least import Goal
from bufferlab.studies.targets import Target

RESOLUTION: Final = 0.25
"""The size may be larger than the least by this share."""

Missed = Callable[[int], tuple[Target, ...]]
"""Which targets a size misses in the mean."""


@dataclass(frozen=True)
class Rough:
    """What a rough search for the least size came to.

    Attributes:
        size: About the least size that meets all targets, or the largest; `None` if none was found.
        tried: The sizes that were tried, rising.
    """

    size: int | None
    tried: tuple[int, ...]


def roughly(goal: Goal, start: int, missed: Missed) -> Rough:
    """Search from a size, in steps that double, then between the last two.

    Args:
        goal: The targets and the bounds.
        start: The size to begin with.
        missed: Which targets a size misses.
    """
    search = _Rough(goal, missed)
    size = search.least(start)
    return Rough(size, tuple(sorted(search.tried)))


class _Rough:
    def __init__(self, goal: Goal, missed: Missed) -> None:
        self.goal = goal
        self.tried: dict[int, tuple[Target, ...]] = {}
        self._missed = missed

    def missed(self, size: int) -> tuple[Target, ...]:
        if size not in self.tried:
            self.tried[size] = self._missed(size)
        return self.tried[size]

    def least(self, start: int) -> int | None:
        met = self._any(start)
        share = 1.0
        while met is not None:
            beyond = [size for size in self.tried if self.goal.preferred(size, met)]
            if beyond:
                size = self._between(self.goal.ordered(beyond)[-1], met)
            else:
                size, share = self.goal.bolder(met, share), 2 * share + 1
            if size == met:
                break
            met = met if self.missed(size) else size
        return met

    def _any(self, start: int) -> int | None:
        """Some size that meets all targets."""
        missed = self.missed(start)
        wishes = {target.wants_less for target in missed}
        if len(wishes) != 1:
            return None if missed else start
        # Bounds on waits want smaller sizes, others larger ones; what a group feels, such as a call's rating,
        # may want either.
        way = self.goal.safer if wishes == {self.goal.largest} else self.goal.bolder
        back = self.goal.bolder if way == self.goal.safer else self.goal.safer
        found = self._walk(start, way)
        if found is None and any(target.group for target in missed):
            found = self._walk(start, back)
        return found

    def _walk(self, start: int, way: Callable[[int, float], int]) -> int | None:
        """The first size on the way that meets all targets."""
        wishes = {target.wants_less for target in self.missed(start)}
        size, share = start, 1.0
        while missed := self.missed(size):
            if {target.wants_less for target in missed} != wishes:
                return self._window(size)
            following = way(size, share)
            if following == size:
                return None
            size, share = following, 2 * share + 1
        return size

    def _window(self, size: int) -> int | None:
        """A size at which no target is missed any more, and the others not yet."""
        others = [each for each in self.tried if each != size]
        if not others or len({target.wants_less for target in self.tried[size]}) > 1:
            return None
        nearest = min(others, key=lambda each: abs(math.log(each / size)))
        between = self._between(nearest, size)
        return between if between != size and not self.missed(between) else None

    def _between(self, one: int, other: int) -> int:
        """A size between two, or the second where they are close."""
        low, high = sorted((one, other))
        if high - low <= 1 or high <= low * (1.0 + RESOLUTION):
            return other
        return min(max(round(math.sqrt(low * high)), low + 1), high - 1)
