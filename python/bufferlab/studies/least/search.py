"""The search: a scan, a bracket that is bisected, and candidates that fresh runs confirm or refuse.

A size *meets* a target if the metric's mean over independent runs does. Runs of the search steer, and decide
nothing. A candidate is confirmed by runs with seeds that the search has not seen: their number is set before
they are looked at, by the scatter and the slope that were seen so far, so that a mean test has its plain
meaning. The first candidate may err with half of the allowed chance, the next with half of that, and so on,
so that all candidates together err with no more than the whole. That a candidate meets *all* targets is
claimed only if each test says so, which needs no further correction (an intersection-union test:
R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24(4), 1982).

A candidate that is confirmed may still be too safe. So the next bolder size is tested with the same seeds and
the same chance to err, and is the answer if it is confirmed, too; then the next. No correction is needed: the
order is known before the runs are, and a size is tested only if the one before it was confirmed, so that all
of them err only if the first that misses is confirmed (serial gatekeeping, which J. J. Goeman and A. Solari,
"The sequential rejection principle of familywise error control", Annals of Statistics 38(6), 2010, have as a
case of theirs by its abstract; the paper was not read further).

The search is a generator: it asks for runs, is sent what they measured, and returns its answer. Several can
so share one pool of processors, and a run that two of them ask for is made once.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from bufferlab.display import significant
from bufferlab.studies.least.answer import Least, check
from bufferlab.studies.least.candidates import CHECK_SEEDS, LEAST_CHECKS, Placing, wants_safer
from bufferlab.studies.least.goal import Goal
from bufferlab.studies.least.lacking import Lack, lack, runs_lack, total
from bufferlab.studies.least.memory import Memory, Run
from bufferlab.studies.least.room import beyond_noise, ceiling_of, comes_nearer, in_doubt, lacks_room, raised
from bufferlab.studies.least.step import Search, Step, step
from bufferlab.studies.least.window import between, edge, room, uphill, within_edge
from bufferlab.studies.targets import Target, Values
from bufferlab.units import packets_text

SCAN_SIZES: Final = 6
"""Sizes of the scan, both ends included."""

SCAN_SEEDS: Final = 2
"""Runs of each size of the scan, and at first of each size of the bisection."""

MORE_SEEDS: Final = (4, 8)
"""Runs of a size of the bisection whose answer is not clear."""

SEARCH_SHARE: Final = 0.6
"""Part of the runs that may be spent before the first candidate."""

SHARPEN: Final = 0.2
"""Runs are added at the bracket's ends until the crossing's standard error is this part of the resolution."""

DOUBT: Final = 2.0
"""Standard errors by which two targets must exclude each other for the search to give up."""

CANDIDATES: Final = 6
"""Candidates until the search gives up."""

REFUTING: Final = 8
"""Runs of a candidate whose looks surely miss a target: enough to show it, as one in 2^8 is below `SURE`."""

SURE: Final = 0.01
"""Chance below which a size that misses a target is taken to miss it."""


_NARROWING: Final = "narrowing down between {low} and {high}"
_AT_ONE: Final = "looking closer at {low}"
"""The same at the end of a range."""


def least(goal: Goal) -> Search:
    """Search the least size that meets all targets, or the largest.

    Args:
        goal: What is asked.

    Yields:
        Runs to make; it is to be sent their values.

    Returns:
        The answer.
    """
    return _Search(goal).run()


class _Search:
    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.memory = Memory(goal.targets)
        self.missed, self.met = goal.ordered((goal.lower, goal.upper))
        self.rising: tuple[Target, ...] = goal.targets
        self.refused = 0
        self.floor: int | None = None
        self.boldest: int | None = None
        """No size that is bolder than this is an answer, as those that meet are shunned."""
        self.fixed = False

    def run(self) -> Search:
        yield from self._ask(self._scan_sizes(), SCAN_SEEDS, "looking at {low} to {high}")
        self.fixed = self.memory.is_fixed()
        while not self._meets_any() and (yield from self._lacks_room()):
            yield from self._raise()
        yield from self._look_at_edges()
        self._shun()
        while True:
            yield from self._narrow()
            answer = yield from self._nearest((yield from self._confirm()))
            unsure = [each.target for each in answer.checks if each.confidence < self.goal.confidence]
            at_end = answer.closest == self.goal.upper and self.refused < CANDIDATES
            if answer.confirmed or not at_end or not lacks_room(self.goal, self.memory, unsure):
                return replace(answer, memory=self.memory)
            yield from self._raise()

    # The scan

    def _scan_sizes(self) -> list[int]:
        goal = self.goal
        sizes = {round(float(size)) for size in np.geomspace(goal.lower, goal.upper, SCAN_SIZES)}
        if goal.guess is not None:
            sizes.add(goal.within(goal.guess))
        return sorted(sizes)

    def _look_at_edges(self) -> Generator[Step, Mapping[Run, Values], None]:
        """Where no size meets all: look at the safest that the targets allow which want bolder ones.

        What wants safer sizes comes nearest there, so that it shows whether there is room for an answer.
        """
        if not self._meets_any():
            edges = sorted(map(self.goal.within, self.goal.edges))
            yield from self._ask(edges, SCAN_SEEDS, "looking where bounds on waits begin to be missed")
        less = [each for each in self.goal.targets if not self._wants_safer(each)]
        while not self._meets_any() and (ends := edge(self.memory, self.goal, less)) is not None:
            unsure = [size for size in ends if not self.fixed and self._is_unsure(size)]
            if (size := within_edge(ends)) is not None:
                yield from self._ask([size], SCAN_SEEDS, f"looking at {self._shown(size)}")
            elif unsure:
                seeds = max(len(self.memory.seeds(size)) for size in unsure)
                count = next((n for n in MORE_SEEDS if n > seeds), MORE_SEEDS[-1])
                yield from self._ask(unsure, count, f"more runs of {self._shown(unsure[0])}")
            else:
                break

    def _meets_any(self) -> bool:
        """Whether some size meets all targets in the mean of its runs."""
        return any(map(self.memory.meets_all, self.memory.sizes))

    def _is_unsure(self, size: int) -> bool:
        """Whether runs do not show that a size misses a target, and more may."""
        few = len(self.memory.seeds(size)) < MORE_SEEDS[-1]
        return few and not self.memory.surely_fails(size, SURE)

    def _shun(self) -> None:
        """Begin at the first size of the scan that meets all and is not shunned, or comes nearest to that."""
        if (shunned := self.goal.shunned) is None:
            return
        fit = [size for size in self.goal.ordered(self.memory.sizes) if self.memory.meets_all(size)]
        fine = [size for size in fit if self.memory.meets(size, shunned)]
        nearest = min(fit, key=lambda size: lack(shunned, self.memory.margins(size, shunned)), default=None)
        first = fine[0] if fine else nearest
        if first is not None and fit[0] != first:
            self.floor = self.boldest = first

    def _is_too_bold(self, size: int) -> bool:
        return self.boldest is not None and self.goal.preferred(size, self.boldest)

    def _lacks_room(self) -> Generator[Step, Mapping[Run, Values], bool]:
        """Whether larger sizes come nearer; where that may be chance, after more runs of the last two."""
        for count in MORE_SEEDS:
            if self.fixed or not lacks_room(self.goal, self.memory) or not in_doubt(self.memory):
                break
            yield from self._ask(self.memory.sizes[-2:], count, "looking whether larger come nearer")
        return lacks_room(self.goal, self.memory) and (self.fixed or not in_doubt(self.memory))

    def _raise(self) -> Generator[Step, Mapping[Run, Values], None]:
        """Allow sizes up to twice as large, and look at the largest."""
        self.goal = raised(self.goal)
        self.missed, self.met = self.goal.lower, self.goal.upper
        yield from self._ask([self.goal.upper], SCAN_SEEDS, "looking at up to {high}")
        self.fixed = self.fixed and self.memory.is_fixed()

    def _rising(self, sizes: Sequence[int]) -> tuple[Target, ...]:
        """The targets that a bracket is for: those that want a safer size, unless one size meets all."""
        if any(map(self.memory.meets_all, sizes)):
            return self.goal.targets
        return tuple(filter(self._wants_safer, self.goal.targets)) or self.goal.targets

    def _wants_safer(self, target: Target) -> bool:
        return wants_safer(self.goal, self.memory, target)

    # The bracket

    def _narrow(self) -> Generator[Step, Mapping[Run, Values], None]:
        """Add runs until it is clear enough where targets begin to be met.

        After each step the bracket is taken anew from all that is known, as few runs may mislead.
        """
        count = 2 * SCAN_SEEDS
        while self._bracket() and (self.fixed or self.memory.runs < self.goal.runs * SEARCH_SHARE):
            unclear = [size for size in (self.missed, self.met) if self._wants_more(size)]
            if unclear:
                seeds = len(self.memory.seeds(unclear[0]))
                yield from self._ask(unclear[:1], next(n for n in MORE_SEEDS if n > seeds), _NARROWING)
            elif (beside := self._uphill()) is not None:
                yield from self._ask([beside], SCAN_SEEDS, "looking beside {low}")
            elif self._is_wide():
                yield from self._ask(
                    [between(self.memory, self.rising, self.missed, self.met)],
                    1 if self.fixed else SCAN_SEEDS,
                    _NARROWING,
                )
            elif self._is_blurred() and count <= CHECK_SEEDS:
                yield from self._ask([self.missed, self.met], count, "more runs of {low} and {high}")
                count *= 2
            else:
                return

    def _bracket(self) -> bool:
        """Set the bracket: the best tried size that meets, and the one before it. Whether there is one."""
        sizes = self.goal.ordered(self.memory.sizes)
        if self.floor is not None:
            sizes = [size for size in sizes if not self.goal.preferred(size, self.floor)]
        self.rising = self._rising(sizes)
        met = next((i for i, size in enumerate(sizes) if self.memory.meets_all(size, self.rising)), None)
        if met is None:
            self.missed = self.met = self._closest(sizes)
            return self._wants_more(self.met) or self._uphill() is not None
        self.missed, self.met = sizes[max(met - 1, 0)], sizes[met]
        return True

    def _wants_more(self, size: int) -> bool:
        """Whether it is not clear from a size's runs if it meets, and more may tell."""
        if self.fixed or len(self.memory.seeds(size)) >= MORE_SEEDS[-1]:
            return False
        misled = self.refused > 0 and size == self.met  # few runs that agreed may have misled before
        return misled or not self.memory.is_clear(size, self.rising)

    def _uphill(self) -> int | None:
        """Where no tried size meets: one beside the best, if that is between others, as on a hump."""
        if self.missed != self.met or self.memory.meets_all(self.met, self.rising):
            return None
        return uphill(self.memory.sizes, self.met, self.goal.ordered(self.memory.sizes)[-1])

    def _is_blurred(self) -> bool:
        """Whether more runs at the bracket's ends are to show where it is crossed."""
        crossed = self._placing().begin()
        return crossed is not None and crossed.error > SHARPEN * self.goal.resolution

    def _is_wide(self) -> bool:
        """Whether there is a size between the bracket's ends that would make a difference."""
        low, high = sorted((self.missed, self.met))
        resolution = self.goal.resolution
        if not self.memory.meets_all(self.met):  # a size between may be safe enough, and not too safe
            resolution = 0.0 if self.fixed else resolution / 4
        return high - low > 1 and high > low * (1.0 + resolution)

    # The confirmation

    def _confirm(self) -> Search:
        size, runs = self._placing().candidate()
        best: Least | None = None
        while True:
            allowed, seeds = self._placing().allowed(), self._placing().seeds(self._checks(size, runs))
            self.memory.add((yield step(size, seeds, f"checking {self._shown(size)}", best)))
            self.fixed = self.fixed and self.memory.is_fixed()
            answer = self._answer(size, seeds, allowed)
            if answer.confirmed:
                return (yield from self._settle(answer, seeds))
            best = answer if best is None or len(answer.conflict) <= len(best.conflict) else best
            self.refused += 1
            if self.refused == CANDIDATES or self._is_hopeless(answer) or self._is_level(answer):
                return best
            if any(map(self._wants_safer, answer.conflict)):
                self.floor = size
                yield from self._narrow()
            placing = self._placing()
            following, wanted = placing.following(answer, allowed, runs)
            if following == size and (answer.size is None or self.memory.runs >= self.goal.runs):
                return best
            size, runs = following, max(wanted, min(2 * runs, placing.most_checks()))

    def _checks(self, size: int, runs: int) -> int:
        """By how many runs a candidate is checked: few, if its looks show that it misses a target.

        None meets all then. It is the nearest, and its checks are to show by how much it misses.
        """
        surely = size in self.memory.sizes and self.memory.surely_fails(size, SURE)
        return min(runs, REFUTING) if surely and not self._meets_any() else runs

    def _nearest(self, answer: Least) -> Search:
        """Where a candidate misses a target: go to a size that meets all, or is nearer and misses no other.

        What a few runs gave for that size may have been luck, so it is run again until none is nearer.
        """
        while answer.size is None and not self.fixed and self.refused < 2 * CANDIDATES:
            size = self._surest() or self._nearer(answer)
            if size is None:
                break
            self.refused += 1
            allowed, seeds = self._placing().allowed(), self._placing().seeds(LEAST_CHECKS)
            self.memory.add(
                (yield step(size, seeds, f"checking {self._shown(size)}, which comes nearer", answer))
            )
            answer = self._answer(size, seeds, allowed)
            if answer.confirmed:
                return (yield from self._settle(answer, seeds))
        return answer

    def _surest(self) -> int | None:
        """Of the sizes that many runs say to meet all targets the one of which they are surest."""
        tried = [size for size in self.memory.sizes if len(self.memory.seeds(size)) >= LEAST_CHECKS]
        fit = filter(self.memory.meets_all, tried)
        return min(fit, key=self.memory.chance, default=None)

    def _nearer(self, answer: Least) -> int | None:
        """The safer size that lacks least of those that miss no target but the answer's."""

        def lacking(size: int) -> Lack:
            return total(lack(each, self.memory.margins(size, each)) for each in answer.conflict)

        others = [target for target in self.goal.targets if target not in answer.conflict]
        fit = [size for size in self._behind_of(answer.closest) if self.memory.meets_all(size, others)]
        best = min(fit, key=lacking, default=None)
        if best is None or not comes_nearer(lacking(answer.closest), lacking(best)):
            return None
        return best

    def _placing(self) -> Placing:
        """What places candidates, by all that is known now."""
        return Placing(self.goal, self.memory, self.rising, self.missed, self.met, self.refused, self.fixed)

    def _answer(self, size: int, seeds: Sequence[int], allowed: float) -> Least:
        checks = tuple(check(self.memory, size, target, seeds) for target in self.goal.targets)
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
            lower=self.goal.lower,
            upper=self.goal.upper,
            ceiling=ceiling_of(self.goal, self.memory),
            values=dict(zip(seeds, self.memory.values(size, seeds), strict=True)),
            memory=self.memory.copy(),  # the search may go on, and be halted before it has a better answer
        )

    def _is_hopeless(self, answer: Least) -> bool:
        """Whether a target that wants a bolder size is surely missed, and bolder sizes miss another one."""
        surely = self.memory.surely_fails(answer.closest, SURE)
        if not any(target in surely and not self._wants_safer(target) for target in answer.conflict):
            return False
        begin, end = self._placing().begin(), self._placing().end()
        if begin is None or end is None or self.fixed:
            return True
        return room(self.goal, begin, end) + DOUBT * math.hypot(begin.error, end.error) < 0

    def _is_level(self, answer: Least) -> bool:
        """Whether a target that wants safer sizes is surely missed, and no other may meet it.

        Candidates would creep on until the runs are used up. Larger buffers lose no less, for example, where
        the start-up of BBR is in what is measured.
        """
        behind = self._behind_of(answer.closest)
        if self.fixed or not behind or self._meets_any():
            return False
        surely = self.memory.surely_fails(answer.closest, SURE)
        return any(
            not any(
                beyond_noise(self.memory, target, answer.closest, size)
                for size in behind
                if not self._is_shut(size, target)
            )
            for target in surely
            if target in answer.conflict and self._wants_safer(target)
        )

    def _is_shut(self, size: int, target: Target) -> bool:
        """Whether a size surely misses a target, or misses it and surely one that wants bolder sizes."""
        surely = self.memory.surely_fails(size, SURE)
        missed = not self.memory.meets(size, target)
        return missed and (target in surely or not all(map(self._wants_safer, surely)))

    def _settle(self, answer: Least, seeds: Sequence[int]) -> Search:
        """Go on to bolder sizes with the same seeds until one is not confirmed: the answer is the least.

        A size that is confirmed is the answer in place of the one before, and the chance to err is theirs
        together, as each is tested only if the one before was confirmed (see above).
        """
        allowed, confidence = self._placing().allowed(), answer.confidence
        while True:
            size = self.goal.bolder(answer.closest, self.goal.resolution)
            if size == answer.closest or self._is_too_bold(size):
                break
            self.memory.add(
                (yield step(size, seeds, f"checking whether {self._shown(size)} will do", answer))
            )
            bolder = self._answer(size, seeds, allowed)
            if not bolder.confirmed:
                break
            answer, confidence = bolder, min(confidence, bolder.confidence)
            if self.memory.runs >= self.goal.runs:
                break
        chosen = answer.closest
        doubtful = [each for each in self._behind_of(chosen) if not self.memory.meets_all(each)]
        if doubtful:
            more = tuple(Run(each, seed) for each in doubtful for seed in seeds[:LEAST_CHECKS])
            self.memory.add((yield Step(more, "checking others that should meet", answer)))
        settled = self._answer(chosen, seeds, 1.0 - self.goal.confidence)
        return replace(settled, confidence=min(settled.confidence, confidence))

    def _behind_of(self, size: int) -> list[int]:
        """The tried sizes that should meet what this one meets: larger ones, or smaller ones."""
        return [each for each in self.memory.sizes if self.goal.preferred(size, each)]

    def _beyond(self, size: int) -> int | None:
        """The nearest tried size that would be a better answer, but surely misses a target."""
        chance = 1.0 - self.goal.confidence
        better = [each for each in self.memory.sizes if self.goal.preferred(each, size)]
        missed = [each for each in better if self._surely_missed(each, chance)]
        return self.goal.ordered(missed)[-1] if missed else None

    def _surely_missed(self, size: int, chance: float) -> list[Target]:
        """The targets that a size misses, by chance with at most this probability."""
        if self.fixed:
            return [target for target in self.goal.targets if not self.memory.meets(size, target)]
        return self.memory.surely_fails(size, chance)

    def _islands(self, size: int) -> tuple[int, ...]:
        return tuple(filter(self._is_island, self._behind_of(size)))

    def _is_island(self, size: int) -> bool:
        """Whether a size misses what it should meet; that waits grow with the buffer is no surprise."""
        return any(target.wants_less == self.goal.largest for target in self._surely_missed(size, SURE))

    def _closest(self, sizes: Sequence[int]) -> int:
        """The size with the fewest targets missed; of those, the one that misses them by the least."""

        def missed(size: int) -> tuple[int, Lack]:
            lacking = [target for target in self.goal.targets if not self.memory.meets(size, target)]
            return len(lacking), runs_lack(self.memory.values(size), lacking)

        return min(self.goal.ordered(sizes), key=missed)

    # Asking

    def _ask(
        self, sizes: Sequence[int], count: int, phase: str
    ) -> Generator[Step, Mapping[Run, Values], None]:
        """Have each size run with the first seeds of the search."""
        seeds = range(self.goal.first_seed, self.goal.first_seed + count)
        runs = [Run(size, seed) for size in sizes for seed in seeds if seed not in self.memory.seeds(size)]
        low, high = sorted((self.missed, self.met))
        text = _AT_ONE if low == high and "{low} and {high}" in phase else phase
        note = text.format(low=self._shown(low), high=self._shown(high))
        self.memory.add((yield Step(tuple(runs), note)))

    def _shown(self, size: int) -> str:
        if self.goal.unit == "us":
            return f"{significant(size / 1e3, 3)} ms"
        return packets_text(size)
