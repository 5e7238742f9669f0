"""The search: a scan, a bracket that is bisected, and candidates that fresh runs confirm or refuse.

A size *meets* a target if the metric's mean over independent runs does. Runs of the search steer, and decide
nothing. A candidate is confirmed by runs with seeds that the search has not seen: their number is set before
they are looked at, by the scatter and the slope that were seen so far, so that a mean test has its plain
meaning. The first candidate may err with half of the allowed chance, the next with half of that, and so on,
so that all candidates together err with no more than the whole. That a candidate meets *all* targets is
claimed only if each test says so, which needs no further correction (an intersection-union test:
R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24(4), 1982).

The search is a generator: it asks for runs, is sent what they measured, and returns its answer. Several can
so share one pool of processors, and a run that two of them ask for is made once.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bufferlab.studies.least.answer import Least, check
from bufferlab.studies.least.fit import Crossing, crossing
from bufferlab.studies.least.memory import Memory, Run
from bufferlab.studies.targets import Target, Values

SCAN_SIZES: Final = 6
"""Sizes of the scan, both ends included."""

SCAN_SEEDS: Final = 2
"""Runs of each size of the scan, and at first of each size of the bisection."""

MORE_SEEDS: Final = (4, 8)
"""Runs of a size of the bisection whose answer is not clear."""

LEAST_CHECKS: Final = 8
"""Fewest runs that confirm a candidate."""

FIXED_CHECKS: Final = 2
"""Runs that check a candidate where all seeds of the scan gave the same."""

SHARPEN: Final = 0.2
"""Runs are added at the bracket's ends until the crossing's standard error is this part of the resolution."""

SLACK: Final = 0.6
"""How far above the crossing the first candidate lies, as a part of the resolution, if runs do not lack."""

POWER: Final = 3.2
"""Standard errors between the expected margin and zero, so that nine of ten good candidates are confirmed:
the quantiles 0.9875 and 0.9 of the normal distribution, and something for the scatter being estimated."""

CANDIDATES: Final = 6
"""Candidates until the search gives up."""

CHECK_SEEDS: Final = 1000
"""The first candidate's checks have seeds this far behind the search's, the next one's as far again."""

SURE: Final = 0.01
"""Chance below which a size that misses a target is taken to miss it."""

_NARROWEST, _WIDEST = 0.15, 0.85
"""Where in a bracket, by the logarithm, the next size may lie."""


@dataclass(frozen=True)
class Plan:
    """What a search is asked.

    A search for the largest size goes the same way from the other end: what is said here of larger sizes than
    the answer is then true of smaller ones.

    Attributes:
        targets: What shall be met, at least one.
        lower: Least size, at least 1.
        upper: Largest size.
        first_seed: Seed of the first run; others follow.
        confidence: With which all targets shall be met at the answer.
        resolution: The answer may be larger than the least by this share.
        guess: A size near which the answer is expected; the scan looks there, too.
        runs: About the most runs; if they do not suffice for the resolution, the answer is larger, not less
            sure.
        largest: Search the largest size that meets all targets in place of the least.
    """

    targets: tuple[Target, ...]
    lower: int
    upper: int
    first_seed: int = 1
    confidence: float = 0.95
    resolution: float = 0.1
    guess: int | None = None
    runs: int = 300
    largest: bool = False

    def ordered(self, sizes: Iterable[int]) -> list[int]:
        """Sizes in the order of preference: the least first, or the largest."""
        return sorted(sizes, reverse=self.largest)

    def preferred(self, size: int, other: int) -> bool:
        """Whether a size would be a better answer than another."""
        return size > other if self.largest else size < other

    def safer(self, size: float, share: float) -> int:
        """A size by a share farther from the preferred end, rounded away from it, within the bounds."""
        moved = math.floor(size / (1.0 + share)) if self.largest else math.ceil(size * (1.0 + share))
        return self.within(moved)

    def bolder(self, size: int, share: float) -> int:
        """A size by a share nearer to the preferred end, rounded towards it, within the bounds."""
        moved = math.ceil(size * (1.0 + share)) if self.largest else math.floor(size / (1.0 + share))
        return self.within(moved)

    def within(self, size: int) -> int:
        """The size, or the nearest bound."""
        return min(max(size, self.lower), self.upper)


@dataclass(frozen=True)
class Step:
    """What a search asks for next.

    Attributes:
        runs: The runs that it needs.
        note: Where it stands, for a progress line.
        answer: The best answer so far, if there is one.
    """

    runs: tuple[Run, ...]
    note: str
    answer: Least | None = None


Search = Generator[Step, Mapping[Run, Values], Least]


def least(plan: Plan) -> Search:
    """Search the least size that meets all targets, or the largest.

    Args:
        plan: What is asked.

    Yields:
        Runs to make; it is to be sent their values.

    Returns:
        The answer.
    """
    return _Search(plan).run()


class _Search:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.memory = Memory(plan.targets)
        self.missed, self.met = plan.ordered((plan.lower, plan.upper))
        self.rising: tuple[Target, ...] = plan.targets
        self.refused = 0
        self.fixed = False

    def run(self) -> Search:
        yield from self._ask(self._scan_sizes(), SCAN_SEEDS, "scan")
        self.fixed = self.memory.is_fixed()
        met = self._first_met()
        if met is None:
            return (yield from self._none())
        if met > 0:
            sizes = self.plan.ordered(self.memory.sizes)
            self.missed, self.met = sizes[met - 1], sizes[met]
            yield from self._bisect()
            yield from self._sharpen()
        else:
            self.missed = self.met = self.plan.ordered(self.memory.sizes)[0]
        return (yield from self._confirm())

    # The scan

    def _scan_sizes(self) -> list[int]:
        plan = self.plan
        sizes = {round(float(size)) for size in np.geomspace(plan.lower, plan.upper, SCAN_SIZES)}
        if plan.guess is not None:
            sizes.add(plan.within(plan.guess))
        return sorted(sizes)

    def _first_met(self) -> int | None:
        """Place of the best size of the scan that meets all targets, or those that want a safer size."""
        sizes, memory = self.plan.ordered(self.memory.sizes), self.memory
        for index, size in enumerate(sizes):
            if memory.meets_all(size):
                return index
        first, last = sizes[0], sizes[-1]
        self.rising = tuple(
            target
            for target in self.plan.targets
            if memory.margins(last, target).mean() > memory.margins(first, target).mean()
        )
        if not self.rising:
            return None
        return next((i for i, size in enumerate(sizes) if memory.meets_all(size, self.rising)), None)

    # The bisection

    def _bisect(self) -> Generator[Step, Mapping[Run, Values], None]:
        while self._is_wide():
            size = self._between()
            yield from self._ask([size], 1 if self.fixed else SCAN_SEEDS, "bisection")
            for count in MORE_SEEDS:
                if self.memory.is_clear(size, self.rising):
                    break
                yield from self._ask([size], count, "bisection")
            if self.memory.meets_all(size, self.rising):
                self.met = size
            else:
                self.missed = size

    def _is_wide(self) -> bool:
        """Whether there is a size between the bracket's ends that would make a difference."""
        low, high = sorted((self.missed, self.met))
        return high - low > 1 and high > low * (1.0 + self.plan.resolution)

    def _between(self) -> int:
        """The size at which the last of the targets is expected to be met, by interpolation."""
        missed, met = math.log(self.missed), math.log(self.met)
        shares = []
        for target in self.rising:
            lacking = float(self.memory.margins(self.missed, target).mean())
            left = float(self.memory.margins(self.met, target).mean())
            if lacking < 0 <= left:
                shares.append(-lacking / (left - lacking))
        share = min(max(max(shares, default=0.5), _NARROWEST), _WIDEST)
        size = round(math.exp(missed + share * (met - missed)))
        low, high = sorted((self.missed, self.met))
        return min(max(size, low + 1), high - 1)

    def _sharpen(self) -> Generator[Step, Mapping[Run, Values], None]:
        """Add runs at the bracket's ends until it is clear enough where it is crossed."""
        count = 2 * SCAN_SEEDS
        while 2 * count <= self.plan.runs / 3:
            crossed = crossing(self.memory, self.rising, self.missed, self.met)
            if crossed is None or crossed.error <= SHARPEN * self.plan.resolution:
                return
            yield from self._ask([self.missed, self.met], count, "sharpening")
            count *= 2

    # The confirmation

    def _confirm(self) -> Search:
        size, runs = self._candidate(None)
        refused: Least | None = None
        while True:
            number = self.refused
            allowed = (1.0 - self.plan.confidence) / 2 ** (number + 1)
            seeds = self._check_seeds(number, runs)
            self.memory.add((yield _step(size, seeds, f"checking {size}", refused)))
            answer = self._answer(size, seeds, allowed)
            if answer.confirmed:
                return (yield from self._settle(answer, seeds))
            refused = answer
            self.refused += 1
            safer, runs = self._candidate(size)
            if self.refused == CANDIDATES or safer == size or self._is_hopeless(answer):
                return answer
            size = safer

    def _candidate(self, refused: int | None) -> tuple[int, int]:
        """The next size to be checked, and by how many runs: somewhat behind where the fit crosses zero."""
        crossed = None
        if self.missed != self.met:
            crossed = crossing(self.memory, self.rising, self.missed, self.met)
        size, runs = (self.met, LEAST_CHECKS) if crossed is None else self._behind(crossed)
        if self.fixed:  # the bisection has the answer, and all seeds give the same
            size, runs = self.met, FIXED_CHECKS
        if refused is not None:
            size = self.plan.ordered((size, self.plan.safer(refused, self.plan.resolution / 2)))[1]
        return size, runs

    def _behind(self, crossed: Crossing) -> tuple[int, int]:
        """A size on the safe side of a crossing, and the runs that would confirm it nine times in ten."""
        most = max(self.plan.runs // 2, LEAST_CHECKS)
        doubt = 1.3 * crossed.error
        room = max(SLACK * self.plan.resolution - doubt, 1e-9)
        runs = min(max(math.ceil((POWER * crossed.scatter / room) ** 2), LEAST_CHECKS), most)
        room = POWER * (1.0 + self.refused / 2) * crossed.scatter / math.sqrt(runs)
        slack = max(doubt + room, self.plan.resolution / 4)
        return self.plan.safer(crossed.size, slack), runs

    def _check_seeds(self, number: int, runs: int) -> list[int]:
        first = self.plan.first_seed + CHECK_SEEDS * (number + 1)
        return [first + index for index in range(runs)]

    def _answer(self, size: int, seeds: Sequence[int], allowed: float) -> Least:
        checks = tuple(check(self.memory, size, target, seeds) for target in self.plan.targets)
        unsure = [each for each in checks if 1.0 - each.confidence > allowed]
        missed = tuple(each.target for each in checks if not each.met)
        chance = max(1.0 - each.confidence for each in checks)
        # candidates that were refused had their chance, too
        confidence = max(1.0 - chance * 2 ** (self.refused + 1), 0.0) if not missed else 0.0
        return Least(
            size=None if missed else size,
            checks=checks,
            closest=size,
            confidence=confidence,
            confirmed=not unsure,
            beyond=self._beyond(size),
            conflict=missed,
            islands=self._islands(size),
            lower=self.plan.lower,
            upper=self.plan.upper,
            values=dict(zip(seeds, self.memory.values(size, seeds), strict=True)),
            memory=self.memory,
        )

    def _is_hopeless(self, answer: Least) -> bool:
        """Whether a target that wants a bolder size is surely missed: safer sizes are no better."""
        falling = [target for target in answer.conflict if target not in self.rising]
        return any(target in self.memory.surely_fails(answer.closest, SURE) for target in falling)

    def _settle(self, answer: Least, seeds: Sequence[int]) -> Search:
        """Check the size a step beyond with the same seeds, so that the answer is shown to be the least."""
        chosen = answer.closest
        size = self.plan.bolder(chosen, self.plan.resolution)
        if size != chosen:
            self.memory.add((yield _step(size, seeds, f"checking that {size} misses", answer)))
        doubtful = [each for each in self._behind_of(chosen) if not self.memory.meets_all(each)]
        if doubtful:
            more = tuple(Run(each, seed) for each in doubtful for seed in seeds[:LEAST_CHECKS])
            self.memory.add((yield Step(more, "checking others that should meet", answer)))
        return self._answer(chosen, seeds, 1.0 - self.plan.confidence)

    def _behind_of(self, size: int) -> list[int]:
        """The tried sizes that should meet what this one meets: larger ones, or smaller ones."""
        return [each for each in self.memory.sizes if self.plan.preferred(size, each)]

    def _beyond(self, size: int) -> int | None:
        """The nearest tried size that would be a better answer, but misses a target in the mean."""
        better = [each for each in self.memory.sizes if self.plan.preferred(each, size)]
        missed = [each for each in better if not self.memory.meets_all(each)]
        return self.plan.ordered(missed)[-1] if missed else None

    def _islands(self, size: int) -> tuple[int, ...]:
        return tuple(each for each in self._behind_of(size) if self.memory.surely_fails(each, SURE))

    def _none(self) -> Search:
        """No size of the scan meets the targets that want a safer one: say what the closest gives."""
        size = self._closest()
        seeds = self._check_seeds(0, FIXED_CHECKS if self.fixed else LEAST_CHECKS)
        self.memory.add((yield _step(size, seeds, f"measuring {size}, the closest", None)))
        return self._answer(size, seeds, 0.0)

    def _closest(self) -> int:
        """The size with the fewest targets missed; of those, the safest."""

        def missed(size: int) -> int:
            return sum(not self.memory.meets(size, target) for target in self.plan.targets)

        return min(reversed(self.plan.ordered(self.memory.sizes)), key=missed)

    # Asking

    def _ask(
        self, sizes: Sequence[int], count: int, phase: str
    ) -> Generator[Step, Mapping[Run, Values], None]:
        """Have each size run with the first seeds of the search."""
        seeds = range(self.plan.first_seed, self.plan.first_seed + count)
        runs = [Run(size, seed) for size in sizes for seed in seeds if seed not in self.memory.seeds(size)]
        low, high = sorted((self.missed, self.met))
        self.memory.add((yield Step(tuple(runs), f"{phase}, {low} … {high}")))


def _step(size: int, seeds: Sequence[int], note: str, answer: Least | None) -> Step:
    return Step(tuple(Run(size, seed) for seed in seeds), note, answer)
