"""The scores of queues in runs with common seeds, and which of two are equal for users."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bufferlab.stats import Estimate
from bufferlab.studies.choosing.behind import (
    behind,
    behind_in,
    differs,
    is_worse,
    straddles,
    surely_exceeds,
    surely_within,
)
from bufferlab.studies.choosing.objectives import Aspect, Kind, judged_by_buffers, score
from bufferlab.studies.choosing.order import place, queue_of
from bufferlab.studies.choosing.thresholds import MATERIAL, TWICE, leading_kind, notable
from bufferlab.studies.targets import Values

Contest = Mapping[str, Sequence[Values]]
"""What each queue measured, with the same seeds in the same order."""


_SHARED: Final[Collection[Kind]] = ("throughput", "fairness")
"""Kinds of aspects in which flows lose what others gain."""


@dataclass(frozen=True)
class _Scores:
    """A score of each run, by queue.

    Attributes:
        all: Of all that users feel.
        bought: Of that by which buffers of one queue are judged.
    """

    all: Mapping[str, list[float]]
    bought: Mapping[str, list[float]]


class Scored:
    """The scores of queues, and which of two are equal.

    Args:
        contest: What was measured.
        aspects: What users feel.
        weights: How much each kind of aspect weighs.
        claims: How many may be made about each score and each aspect.
        sturdy: Queues that are taken first of equals.
        standing: Queues that are taken last of equals.
        apart: Queues that are taken before others of those that are equal and as sturdy.
        queues: Which queue each is, where those of one are judged as its buffers are.
    """

    def __init__(
        self,
        contest: Contest,
        aspects: Sequence[Aspect],
        weights: Mapping[Kind, float],
        *,
        claims: int,
        sturdy: Collection[str],
        standing: Collection[str] = (),
        apart: Collection[str] = (),
        queues: Mapping[str, str] | None = None,
    ) -> None:
        self.contest = contest
        self.aspects = aspects
        self.sturdy = sturdy
        self.standing = standing
        self.apart_from_others = apart
        self.leading = leading = leading_kind(weights)
        counted = [weights] if leading is None else [{leading: 1.0}, weights]
        self.queues = queues or {}
        self.bought, _ = judged_by_buffers(aspects, weights, None)
        self.scores = [
            _Scores(
                _scores(contest, aspects, each), _scores(contest, *judged_by_buffers(aspects, each, None))
            )
            for each in counted
        ]
        """By what decides first, if something does, and by all together."""
        self.notable = {
            each: share for each in aspects if (share := notable(each, weights)) < 1.0 and len(aspects) > 1
        }
        self.claims = max(claims * (len(counted) + len(self.notable)), 2)

    def choice(self, fit: Sequence[str], times: float) -> tuple[str, str, list[str]]:
        """What is taken, what has the best score, and all that are as good."""
        left = list(fit)
        for scores in self.scores:
            best, left = self._best_of(left, scores, times)
        return min(left, key=self._place), best, left

    def _best_of(self, names: list[str], scores: _Scores, times: float) -> tuple[str, list[str]]:
        """What has the best score, and all that are as good; those that are left may have more runs."""
        while True:
            best = functools.reduce(lambda one, other: self._better(one, other, scores), names)
            left = [name for name in names if name == best or self._is_as_good(name, best, scores, times)]
            if len(left) == len(names):
                return best, left
            names = left

    def _place(self, name: str) -> tuple[bool, bool, bool, int]:
        """Place among equals: the first is taken."""
        is_shared = name not in self.apart_from_others
        return name in self.standing, name not in self.sturdy, is_shared, place(name)

    def is_equal(self, name: str, other: str, times: float) -> bool:
        """Whether nothing tells two queues apart."""
        return all(self._is_as_good(name, other, scores, times) for scores in self.scores)

    def is_alike(self, name: str, other: str, times: float) -> bool:
        """Whether two queues surely differ by no more than users notice, as a whole and in each aspect."""
        whole = [self._behind(name, other, scores) for scores in self.scores]
        return all(surely_within(each, MATERIAL * times) for each in whole) and all(
            surely_within(self._behind_in(each, name, other), bound * times)
            for each, bound in self._notable_between(name, other).items()
        )

    def is_open(self, name: str, taken: str, best: str, times: float) -> bool:
        """Whether more runs may take a queue in place of the one that is taken, or not the one for it."""
        share = MATERIAL * times
        if any(straddles(self._behind(taken, name, scores), share) for scores in self.scores):
            return True
        if self._place(name) >= self._place(taken):
            return False
        whole = [self._behind(name, best, scores) for scores in self.scores]
        return not any(surely_exceeds(each, share) for each in whole) and not any(
            surely_exceeds(self._behind_in(each, name, best), bound * times)
            for each, bound in self._notable_against(name, best).items()
        )

    def outweighs(self, name: str, other: str, better: float, times: float) -> bool:
        """Whether users surely fare better with a queue, by a factor and at least by what they notice.

        In no aspect may they fare far worse.
        """
        share = max(1 - 1 / better, MATERIAL * times)
        return all(
            surely_exceeds(self._behind(other, name, scores), share) for scores in self.scores
        ) and not any(is_worse(self._behind_in(each, name, other), TWICE) for each in self._felt(name, other))

    def _is_worse_in_some(self, name: str, other: str, times: float) -> bool:
        """Whether users surely fare worse in an aspect, by more than they notice."""
        return any(
            is_worse(self._behind_in(each, name, other), bound * times)
            for each, bound in self._notable_against(name, other).items()
        )

    def worst(self, name: str, taken: str, times: float) -> tuple[Aspect, float] | None:
        """The aspect in which a queue is behind most: of those that tell it from the other, if some do.

        Of these one of the kind that decides first goes before.
        """
        found = {each: self._behind_in(each, name, taken) for each in self._felt(name, taken)}
        telling = {
            each: found[each]
            for each, bound in self._notable_between(name, taken).items()
            if is_worse(found[each], bound * times)
        }
        first = {each: behind for each, behind in telling.items() if each.kind == self.leading}
        aspect, behind = max((first or telling or found).items(), key=lambda each: each[1].mean or 0.0)
        return (aspect, behind.mean) if behind.mean is not None and behind.mean > 0 else None

    def most_behind(self, name: str, other: str, times: float) -> Aspect | None:
        """The aspect in which users lose most with a queue beside another one, if they surely do."""
        felt = self._felt(name, other)
        behind = {each: self._behind_in(each, name, other) for each in self.notable if each in felt}
        sure = [each for each in behind if is_worse(behind[each], self.notable[each] * times)]
        return max(sure, key=lambda each: behind[each].mean or 0.0, default=None)

    def behind(self, name: str, other: str) -> Estimate:
        """How much worse users fare as a whole."""
        return self._behind(name, other, self.scores[-1])

    def _is_as_good(self, name: str, other: str, scores: _Scores, times: float) -> bool:
        if differs(self._behind(name, other, scores), MATERIAL * times):
            return False
        return not self._is_worse_in_some(name, other, times)

    def _notable_between(self, name: str, other: str) -> Mapping[Aspect, float]:
        """The aspects that tell queues apart by themselves, and from which share on; none of one queue."""
        if queue_of(name) == queue_of(other):
            return {}
        felt = self._felt(name, other)
        return {each: share for each, share in self.notable.items() if each in felt}

    def _notable_against(self, name: str, other: str) -> Mapping[Aspect, float]:
        """Those that speak against a queue beside another one.

        Beside a queue in which packets wait longer than their path takes, what a group of endless flows loses
        does not count by itself: as users fare alike as a whole, others gain it.
        """
        notable = self._notable_between(name, other)
        if other not in self.standing or name in self.standing:
            return notable
        return {each: share for each, share in notable.items() if each.kind not in _SHARED}

    def _behind_in(self, aspect: Aspect, name: str, other: str) -> Estimate:
        return behind_in(aspect, self.contest[name], self.contest[other], self.claims)

    def _behind(self, name: str, other: str, scores: _Scores) -> Estimate:
        counted = self._counted(name, other, scores)
        return behind(counted[name], counted[other], self.claims)

    def _better(self, one: str, other: str, scores: _Scores) -> str:
        """Which of two has the better score, by the seeds that both have; of the same, the first."""
        counted = self._counted(one, other, scores)
        runs = min(len(counted[one]), len(counted[other]))
        return other if sum(counted[other][:runs]) > sum(counted[one][:runs]) else one

    def _counted(self, one: str, other: str, scores: _Scores) -> Mapping[str, list[float]]:
        return scores.bought if self._are_buffers(one, other) else scores.all

    def _felt(self, one: str, other: str) -> Sequence[Aspect]:
        return self.bought if self._are_buffers(one, other) else self.aspects

    def _are_buffers(self, one: str, other: str) -> bool:
        """Whether two differ in the buffer of one queue alone."""
        return one in self.queues and self.queues[one] == self.queues.get(other)


def _scores(
    contest: Contest, aspects: Sequence[Aspect], weights: Mapping[Kind, float]
) -> dict[str, list[float]]:
    return {name: [score(run, aspects, weights) for run in runs] for name, runs in contest.items()}
