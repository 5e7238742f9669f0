"""Where candidates are placed, and by how many runs each is checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from bufferlab.studies.least.answer import RARE, Least
from bufferlab.studies.least.fit import POWER, Crossing, crossing, runs_to_show
from bufferlab.studies.least.goal import Goal
from bufferlab.studies.least.lacking import lack
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.least.window import ending, middle, room
from bufferlab.studies.targets import Target

LEAST_CHECKS: Final = 16
"""Fewest runs that confirm a candidate."""

FIXED_CHECKS: Final = 2
"""Runs that check a candidate where all seeds of the scan gave the same."""

SLACK: Final = 0.6
"""How far above the crossing the first candidate lies, as a part of the resolution, if runs do not lack."""

CHECK_SEEDS: Final = 1000
"""The first candidate's checks have seeds this far behind the search's, the next one's as far again."""

Candidate = tuple[int, int]
"""A size, and how many runs check it."""


def wants_safer(goal: Goal, memory: Memory, target: Target) -> bool:
    """Whether a target is met better at the safest of the tried sizes than at the first."""
    sizes = goal.ordered(memory.sizes)
    first, last = (lack(target, memory.margins(size, target)) for size in (sizes[0], sizes[-1]))
    return last < first


@dataclass(frozen=True)
class Placing:
    """Places candidates by what a search knows.

    Attributes:
        goal: What is asked.
        memory: What was measured.
        rising: The targets that the bracket is for.
        missed: The bracket's end at which one of them is missed.
        met: Its end at which they are met; the same size if there is no bracket.
        refused: How many candidates were refused.
        fixed: Whether all seeds give the same.
    """

    goal: Goal
    memory: Memory
    rising: tuple[Target, ...]
    missed: int
    met: int
    refused: int
    fixed: bool

    def candidate(self, boldest: int | None = None) -> Candidate:
        """The next size to be checked, and by how many runs: somewhat behind where the fit crosses zero."""
        crossed = self.begin()
        size, runs = (self.met, self._runs_to_show(self.met)) if crossed is None else self._behind(crossed)
        if any(not self.memory.margins(self.met, target).any() for target in self.rising):
            runs = max(runs, math.ceil(math.log(self.allowed()) / math.log1p(-RARE)))
        else:
            size, runs = self._inside(crossed, size, runs)
        if self.fixed:  # the bisection has the answer, and all seeds give the same
            size, runs = self.met, FIXED_CHECKS
        if boldest is not None:
            size = self.goal.ordered((size, boldest))[1]
        return size, runs

    def following(self, answer: Least, allowed: float, runs: int) -> Candidate:
        """The candidate after one that was refused.

        Args:
            answer: What the refused one came to.
            allowed: The chance of error that it had.
            runs: By how many runs it was checked.
        """
        size = answer.closest
        unsure = [each.target for each in answer.checks if 1.0 - each.confidence > allowed]
        safer = [target for target in unsure if wants_safer(self.goal, self.memory, target)]
        if len(safer) == len(unsure):
            return self.candidate(size if answer.size else self.goal.safer(size, self.goal.resolution / 2))
        following, wanted = self.candidate()
        if not safer and not self.goal.preferred(following, size):
            following = size if answer.size else self.goal.bolder(size, self.goal.resolution / 4)
        return following, max(wanted, runs)

    def begin(self) -> Crossing | None:
        """Where the targets begin to be met; `None` if there is no bracket, or no line crosses."""
        if self.missed == self.met:
            return None
        return crossing(self.memory, self.rising, self.missed, self.met)

    def end(self) -> Crossing | None:
        """Where targets that want bolder sizes begin to be missed."""
        less = [each for each in self.goal.targets if not wants_safer(self.goal, self.memory, each)]
        return ending(self.memory, self.goal, less)

    def allowed(self) -> float:
        """Chance of error that the next candidate may have, so that all together have what is allowed."""
        return (1.0 - self.goal.confidence) / 2.0 ** (self.refused + 1)

    def most_checks(self) -> int:
        """Most runs of the next candidate, so that as many are left to show that less is too little."""
        return min(max((self.goal.runs - self.memory.runs) // 2, LEAST_CHECKS), CHECK_SEEDS)

    def seeds(self, runs: int) -> list[int]:
        """Seeds of the next candidate's runs, which nothing has seen."""
        first = self.goal.first_seed + CHECK_SEEDS * (self.refused + 1)
        return [first + index for index in range(runs)]

    def _inside(self, begin: Crossing | None, size: int, runs: int) -> Candidate:
        """The candidate, moved into the middle if it is near where targets that want less begin to fail."""
        end = self.end()
        if begin is None or end is None or room(self.goal, begin, end) <= 0:
            return size, runs
        middling = middle(begin, end)
        if not self.goal.preferred(middling, size):
            return size, runs
        scatter = begin.scatter + end.scatter
        wanted = math.ceil((POWER * scatter / room(self.goal, begin, end)) ** 2)
        return self.goal.within(middling), max(runs, min(wanted, self.most_checks()))

    def _runs_to_show(self, size: int) -> int:
        """Runs that would confirm a size if its mean margins were what they seem."""
        wanted = LEAST_CHECKS
        for target in self.rising:
            wanted = max(wanted, runs_to_show(self.memory.margins(size, target)))
        return min(wanted, self.most_checks())

    def _behind(self, crossed: Crossing) -> Candidate:
        """A size on the safe side of a crossing, and the runs that would confirm it nine times in ten."""
        most = self.most_checks()
        doubt = 1.3 * crossed.error
        left = max(SLACK * self.goal.resolution - doubt, 1e-9)
        runs = min(max(math.ceil((POWER * crossed.scatter / left) ** 2), LEAST_CHECKS), most)
        wanted = POWER * (1.0 + self.refused / 2) * crossed.scatter / math.sqrt(runs)
        slack = max(doubt + wanted, self.goal.resolution / 4)
        return self.goal.safer(crossed.size, slack), runs
