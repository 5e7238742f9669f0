"""Whether users fare better with a larger buffer than the least that meets the targets.

The least buffer answers how little suffices. Beside queues that were searched for what users feel it may be a
straw man: a call that may lose 3 % by its target would lose nothing with a few times the buffer. So larger
ones are scored, powers of two from the least upwards, until a target is missed: all up to the largest that
the search tried, since users may fare alike over a wide range and better beyond it, and from there on while
they fare better. Of those that are as good as the best, by the rule that chooses between settings
of one queue, the smallest is taken.

A buffer that loses a packet in twenty is not taken where a larger one loses less: in the mean flows without
end feel little of it, since those that do not yield take what the others lose. Where all that meet the
targets lose that much, and one of these bounds the wait, the largest is taken that is as good for users as
the least: the least leaves other traffic no room, and is an artifact of flows that do not yield. Where the
least loses what is worth a word, and a target bounds the wait, which says how long packets may wait, the
largest is taken that loses surely less.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bufferlab.stats import Estimate
from bufferlab.studies.choosing.choice import Choice, choose
from bufferlab.studies.choosing.objectives import Aspect, Emphasis, Kind, is_emphasized, mean_score
from bufferlab.studies.choosing.thresholds import (
    HEAVY_LOSS,
    NOTED_LOSS,
    loses_notably_more,
    standing_from_ms,
)
from bufferlab.studies.least import Least, Run
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target, Values, bounds_loss

NEAR: Final = 1.25
"""Buffers that are less than this many times the least are not scored."""

Measure = Callable[[int, Sequence[int]], Sequence[Values]]
"""Gives what a buffer measures with seeds."""


@dataclass(frozen=True)
class Larger:
    """A larger buffer, with which users fare better, or which holds in more traffic.

    Attributes:
        least: The least that meets the targets.
        size: The buffer.
        behind: By which share users fare worse with the least.
        values: What its runs measured, by seed.
        broken: In how many changes of the traffic a smaller one missed a target, if it is taken for that.
    """

    least: int
    size: int
    behind: Estimate
    values: Mapping[int, Values]
    broken: int | None = None


def sizes_above(least: int, upper: int) -> list[int]:
    """Powers of two, which are the same whatever the least is and wherever the search ends."""
    first = max(NEAR * least, least + 1)
    return [size for size in map(_power, range(upper.bit_length())) if first <= size <= upper]


def sizes_beyond(upper: int, most: int | None) -> list[int]:
    """Powers of two that are larger than any buffer that the search tried."""
    return [] if most is None else list(map(_power, range(upper.bit_length(), most.bit_length())))


def _power(exponent: int) -> int:
    return 1 << exponent


def longest_bought_ms(rtt_ms: float, targets: Sequence[Target], emphasis: Emphasis | None) -> float | None:
    """The mean wait from which on no larger buffer is taken; `None` where somebody said what waits may be.

    Args:
        rtt_ms: Mean round-trip time without waiting, ms.
        targets: What was asked for.
        emphasis: What was said to matter most: a larger buffer may be taken for throughput or fairness.
    """
    if is_emphasized("throughput", emphasis) or is_emphasized("fairness", emphasis):
        return None
    return standing_from_ms(rtt_ms, targets)


def _name(size: int) -> str:
    """As of settings of one queue, which compare as a whole."""
    return f"buffer, {size}"


@dataclass(frozen=True)
class Ladder:
    """What larger buffers are scored by.

    Attributes:
        aspects: What users feel.
        weights: How much each kind of aspect weighs.
        measure: Gives what a buffer measures.
        pilots: Seeds that show where users fare no better.
        seeds: Seeds that decide.
        confidence: With which a larger buffer shall meet the targets.
        most: Up to which larger buffers than the search tried may be; `None` if nobody may go beyond.
        long_wait_ms: Mean wait from which on a buffer is not taken where a smaller one does not lose much;
            `None` if any may be.
    """

    aspects: Sequence[Aspect]
    weights: Mapping[Kind, float]
    measure: Measure
    pilots: Sequence[int]
    seeds: Sequence[int]
    confidence: float
    most: int | None = None
    long_wait_ms: float | None = None

    def climb(self, found: Least) -> Larger | None:
        """The smallest of the buffers with which users fare best; `None` if that is the least that meets.

        Args:
            found: The least.
        """
        if found.size is None:
            return None
        memory = found.memory.copy()
        sizes = self._up_to_best(memory, found)
        if sizes == [found.closest]:
            return None
        contest = {size: self._runs(memory, size, self.seeds) for size in (found.size, sizes[-1])}
        if self._is_bounded(memory, found.closest):
            return self._largest(memory, contest, found.size, sizes)
        for size in sizes:
            contest[size] = self._runs(memory, size, self.seeds)
            least = found.size if found.size in sizes else None
            if size == sizes[-1] or self._is_enough(contest, least, size, sizes[-1]):
                return self._larger(memory, contest, found.size, size)
        return None

    def step(self, found: Least, now: int, size: int, *, broken: int) -> Larger | None:
        """A larger buffer than the answer's that holds in more traffic; `None` if users fare worse with it.

        Args:
            found: The least.
            now: The answer's buffer.
            size: The larger one.
            broken: In how many changes of the traffic the answer misses a target.
        """
        if found.size is None:
            return None
        memory = found.memory.copy()
        contest = {each: self._runs(memory, each, self.seeds) for each in (found.size, now, size)}
        if self._loses_much(memory, size) or self._choice(contest, size, now).name != _name(size):
            return None
        larger = self._larger(memory, contest, found.size, size)
        return None if larger is None else dataclasses.replace(larger, broken=broken)

    def _is_bounded(self, memory: Memory, least: int) -> bool:
        """Whether the least loses what is worth a word, and a target says how long packets may wait."""
        return any(each.wants_less for each in memory.targets) and self._loses(memory, least, NOTED_LOSS)

    def _largest(
        self, memory: Memory, contest: dict[int, Sequence[Values]], least: int, sizes: Sequence[int]
    ) -> Larger | None:
        """The largest buffer that loses surely less than the least, or, where all lose much, is as good."""
        lossy = all(self._loses_much(memory, size) for size in sizes)
        for size in sizes[:0:-1]:
            contest[size] = self._runs(memory, size, self.seeds)
            taken = loses_notably_more(contest[least], contest[size], memory.targets)
            taken = taken or (lossy and self._choice(contest, size, least).name == _name(size))
            if taken and (larger := self._larger(memory, contest, least, size)) is not None:
                return larger
        return None

    def _is_enough(
        self, contest: Mapping[int, Sequence[Values]], least: int | None, size: int, best: int
    ) -> bool:
        """Whether a buffer is as good as the best, and better than the least if that may be taken."""
        if self._choice(contest, size, best).name != _name(size):
            return False
        return least in (None, size) or self._choice(contest, least, size).name == _name(size)

    def _up_to_best(self, memory: Memory, found: Least) -> list[int]:
        """The buffers that may be taken, rising, up to the one with which users seem to fare best."""
        sizes = [found.closest]
        self._runs(memory, found.closest, self.pilots)
        # where the least loses much, a run tells of most others that they do, too
        first = self.pilots[:1] if self._loses_much(memory, found.closest) else self.pilots
        for size in (*sizes_above(found.closest, found.upper), *sizes_beyond(found.upper, self.most)):
            if size > found.upper and not self._may_gain(memory, sizes):
                break
            self._runs(memory, size, first)
            if memory.meets_all(size):
                sizes.append(size)
                if self._waits_long(memory, size) and self._loses_little(memory, size):
                    break  # larger ones wait longer
            elif not self._loses_much(memory, size):
                break
        if self._is_bounded(memory, found.closest):
            return self._up_to_edge(memory, sizes)
        between = self._between(memory, sizes[-1])
        if between is not None and self._loses_much(memory, sizes[-1]):
            self._runs(memory, between, self.pilots)
            sizes += [between] if memory.meets_all(between) and self._loses_little(memory, between) else []
        scores = self._without_long_waits(memory, self._scores(memory, sizes))
        best = max(scores, key=scores.__getitem__)
        return [size for size in scores if size <= best]

    def _up_to_edge(self, memory: Memory, sizes: list[int]) -> list[int]:
        """Those that may be taken with the largest that keeps the bounds, to within `NEAR`."""
        while (between := self._between(memory, sizes[-1])) is not None:
            self._runs(memory, between, self.pilots)
            if memory.meets_all(between):
                sizes.append(between)
        return sizes

    @staticmethod
    def _between(memory: Memory, size: int) -> int | None:
        """A size between one and the next that misses a target; `None` if there is hardly another."""
        missed = [each for each in memory.sizes if each > size and not memory.meets_all(each)]
        if not missed or missed[0] < max(NEAR * size, size + 2):
            return None
        return round(math.sqrt(size * missed[0]))

    def _without_long_waits(self, memory: Memory, scores: dict[int, float]) -> dict[int, float]:
        """Of those that may be taken the ones in which packets do not wait long; the smallest, if all do.

        What is not in the scenario may feel a standing queue: a page, a call, a game.
        """
        short = {size: value for size, value in scores.items() if not self._waits_long(memory, size)}
        return short or {min(scores): scores[min(scores)]}

    def _waits_long(self, memory: Memory, size: int) -> bool:
        """By the runs that there are."""
        wait_ms = memory.mean(size, "wait_mean_ms")
        return self.long_wait_ms is not None and wait_ms is not None and wait_ms >= self.long_wait_ms

    def _may_gain(self, memory: Memory, sizes: Sequence[int]) -> bool:
        """Whether a larger buffer may be better: users fare best with the largest, or it loses much."""
        if self._loses_much(memory, sizes[-1]):
            return True
        scores = self._scores(memory, sizes)
        return max(scores, key=scores.__getitem__) == sizes[-1]

    def _scores(self, memory: Memory, sizes: Sequence[int]) -> dict[int, float]:
        """How users fare with those of the sizes that do not lose much; with all, if all do."""
        light = [size for size in sizes if not self._loses_much(memory, size)]
        scores = {size: self._mean_score(memory, size) for size in light}
        light = [size for size in light if not self._loses_much(memory, size)]  # by all pilots
        return {size: scores[size] for size in light} or {
            size: self._mean_score(memory, size) for size in sizes
        }

    def _loses_little(self, memory: Memory, size: int) -> bool:
        """By all pilots, where those that there are do not deny it."""
        if self._loses_much(memory, size):
            return False
        self._runs(memory, size, self.pilots)
        return not self._loses_much(memory, size)

    def _loses_much(self, memory: Memory, size: int) -> bool:
        return self._loses(memory, size, HEAVY_LOSS)

    def _loses(self, memory: Memory, size: int, share: float) -> bool:
        """Whether so much is lost, by the pilots that there are, and no target bounds it."""
        known = memory.seeds(size)
        lost = memory.mean(size, "loss", [seed for seed in self.pilots if seed in known])
        return lost is not None and lost >= share and not bounds_loss(memory.targets)

    def _larger(
        self, memory: Memory, contest: Mapping[int, Sequence[Values]], least: int, size: int
    ) -> Larger | None:
        values = dict(zip(self.seeds, contest[size], strict=True))
        surely = Memory(memory.targets)
        surely.add({Run(size, seed): run for seed, run in values.items()})
        if size == least or surely.verdict(size, self.confidence) != "met":
            return None
        (rival,) = self._choice(contest, size, least).rivals
        return Larger(least, size, rival.behind, values)

    def _choice(self, contest: Mapping[int, Sequence[Values]], first: int, second: int) -> Choice:
        """Which of two buffers to take, of equals the first."""
        named = {_name(size): contest[size] for size in (first, second)}
        return choose(named, self.aspects, self.weights, missed=dict.fromkeys(named, ()))

    def _mean_score(self, memory: Memory, size: int) -> float:
        return mean_score(self._runs(memory, size, self.pilots), self.aspects, self.weights)

    def _runs(self, memory: Memory, size: int, seeds: Sequence[int]) -> Sequence[Values]:
        runs = self.measure(size, seeds)
        memory.add({Run(size, seed): run for seed, run in zip(seeds, runs, strict=True)})
        return runs
