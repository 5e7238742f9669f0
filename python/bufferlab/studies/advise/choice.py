"""Which queue to take: from runs of all of them with common seeds.

The best of several had the best luck, too. A queue is called worse than the best one only if that holds
beside all other such claims: of each rival there may be one about users as a whole and one about each aspect,
and each may err with its part of 5 % (Bonferroni). The queue that is truly the best, or of several such the
first in our order, is then ruled out by luck with at most 5 %, whichever the runs make look best: it takes
one wrong claim about that queue. That argument is all that is relied on. Its kind has names: subset
selection, and multiple comparisons with the best, which come to the same statements (D. G. Edwards and J. C.
Hsu, "Multiple comparisons with the best treatment", J. Amer. Statist. Assoc. 78, 1983); B. L. Nelson, J.
Swann, D. Goldsman and W. Song, "Simple procedures for selecting the best simulated system when the number of
alternatives is large", Operations Research 49(6), 2001, screen simulated systems so. Of both the abstract was
read, and no procedure of theirs is used.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bufferlab.stats import Estimate, estimate, t_quantile
from bufferlab.studies.advise.objectives import EMPHASIS, Aspect, Kind, score
from bufferlab.studies.advise.queues import ORDER
from bufferlab.studies.least.lacking import Lack
from bufferlab.studies.targets import Target, Values

MATERIAL: Final = 0.05
"""Scores that differ by less than this share are equal for users."""

NOTABLE: Final = 0.1
NOTABLE_RATING: Final = 0.05
"""Two queues are not equal if in some aspect users fare worse by more than this share; calls, by about half
the width of a category of users' satisfaction, which is ten points of the rating R (ITU-T G.109: its abstract
was read, and the categories' bounds in manuals that quote its table). Of a kind that weighs less than the
heaviest, by as many times more, up to `TWICE`. Of one queue's settings the usual one is taken unless users
fare better as a whole: it is the one that is tested everywhere."""

TWICE: Final = 0.5
"""What is surely worse by more than this share is never equal, however little it weighs."""

LOOKS: Final = (8, 16, 32)
"""Seeds with which settings are compared: more, as long as more may tell them apart."""

NEAR: Final = (0.8, 1.25)
"""A choice is on the edge if thresholds this many times as large would take another queue."""

Contest = Mapping[str, Sequence[Values]]
"""What each queue measured, with the same seeds in the same order."""


@dataclass(frozen=True)
class Rival:
    """A queue that was not taken.

    Attributes:
        name: The queue.
        behind: How much worse its users fare than with the chosen one, as a share; negative if better. The
            interval allows for all the claims that there are.
        is_equal: Whether the difference is not significant or too small to matter, as a whole and in each
            aspect.
        is_open: Whether more runs may take it in place of the chosen one: users may fare better with it by
            more than they notice; or it comes earlier in our order, and they may not notice how much worse
            they fare.
        is_alike: Whether the runs show that the difference is too small to matter, as a whole and in each
            aspect; what is equal and not alike is not distinguished by them.
        missed: Targets that it misses in the mean.
        worst: The aspect in which it is behind most, and by which share; `None` if in none.
    """

    name: str
    behind: Estimate
    is_equal: bool
    is_open: bool
    is_alike: bool
    missed: tuple[Target, ...]
    worst: tuple[Aspect, float] | None


@dataclass(frozen=True)
class Choice:
    """The queue to take.

    Attributes:
        name: The queue.
        rivals: The others, the next best first.
        meets: Whether it meets all targets in the mean.
        is_clear: Whether it is better than every other that meets the targets; otherwise it is the first
            in our order of those that are as good.
        best: The one with the best score of those: the queue itself, or one that is better by less than users
            notice.
        edge: What would be taken if the thresholds were a little other, and how many times as large; `None`
            if it would be the same.
    """

    name: str
    rivals: tuple[Rival, ...]
    meets: bool
    is_clear: bool
    best: str = ""
    edge: tuple[str, float] | None = None

    @property
    def equals(self) -> tuple[str, ...]:
        """The settings of other queues that are as good for users and meet the targets, in our order."""
        own = _queue(self.name)
        return tuple(
            sorted(
                (
                    rival.name
                    for rival in self.rivals
                    if self.meets and rival.is_equal and not rival.missed and _queue(rival.name) != own
                ),
                key=place,
            )
        )

    @property
    def tied(self) -> tuple[str, ...]:
        """Those of the equals of which more runs would tell nothing else."""
        return tuple(name for name in self.equals if name not in self.open)

    @property
    def is_tie_shown(self) -> bool:
        """Whether the runs show that all of the tied are alike; else they do not tell them apart."""
        return all(rival.is_alike for rival in self.rivals if rival.name in self.tied)

    @property
    def open(self) -> tuple[str, ...]:
        """The queues that more runs may show to be better; none where the choice is decided."""
        return tuple(rival.name for rival in self.rivals if rival.is_open)


def choose(
    contest: Contest,
    aspects: Sequence[Aspect],
    weights: Mapping[Kind, float],
    *,
    missed: Mapping[str, tuple[Target, ...]],
    lacking: Mapping[str, Lack] | None = None,
    times: float = 1.0,
    looks: int = 1,
    sturdy: Collection[str] = (),
) -> Choice:
    """Choose among queues that meet the targets the one whose users fare best, and of equals the first.

    The order of equals is that of `ORDER`.

    A kind that weighs as much more than every other as an emphasis gives it decides first: what is worse in
    that is out, whatever the rest. Among those that are left, all kinds count by their weights.

    Args:
        contest: What was measured. Two queues are compared by the seeds that both have.
        aspects: What users feel.
        weights: How much each kind of aspect weighs.
        missed: The targets that each queue misses.
        lacking: By how much it misses them: where none meets all, the nearest of those that miss fewest is
            taken.
        times: What the thresholds of what is material and notable are multiplied by.
        looks: How often a choice is made from more and more runs, until one is decided.
        sturdy: Queues that keep the targets where the traffic changes: of equals they are taken first.
    """
    fewest = min(map(len, missed.values()))
    fit = [name for name in contest if len(missed[name]) == fewest]
    if fewest and lacking is not None:
        nearest = min(lacking[name] for name in fit)
        fit = [name for name in fit if lacking[name] == nearest]
    scored = _Scored(contest, aspects, weights, claims=looks * (len(fit) - 1), sturdy=sturdy)
    taken, best, equal = scored.choice(fit, times)
    rivals = [
        Rival(
            name,
            scored.behind(name, taken),
            name in equal if name in fit else scored.is_equal(name, taken, times),
            name in fit and scored.is_open(name, taken, best, times),
            scored.is_alike(name, taken, times),
            missed[name],
            scored.worst(name, taken, times),
        )
        for name in contest
        if name != taken
    ]
    rivals.sort(key=lambda each: (len(each.missed) > fewest, each.behind.mean or 0.0))
    others = ((scored.choice(fit, times * near)[0], near) for near in NEAR)
    edge = next((each for each in others if each[0] != taken), None)
    return Choice(taken, tuple(rivals), fewest == 0, len(equal) == 1, best, edge)


class _Scored:
    """The scores of queues, and which of two are equal.

    Args:
        contest: What was measured.
        aspects: What users feel.
        weights: How much each kind of aspect weighs.
        claims: How many may be made about each score and each aspect.
        sturdy: Queues that are taken first of equals.
    """

    def __init__(
        self,
        contest: Contest,
        aspects: Sequence[Aspect],
        weights: Mapping[Kind, float],
        *,
        claims: int,
        sturdy: Collection[str],
    ) -> None:
        self.contest = contest
        self.aspects = aspects
        self.sturdy = sturdy
        self.leading = leading = leading_kind(weights)
        counted = [weights] if leading is None else [{leading: 1.0}, weights]
        self.scores = [
            {name: [score(run, aspects, each) for run in runs] for name, runs in contest.items()}
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

    def _best_of(
        self, names: list[str], scores: Mapping[str, list[float]], times: float
    ) -> tuple[str, list[str]]:
        """What has the best score, and all that are as good; those that are left may have more runs."""
        while True:
            best = functools.reduce(lambda one, other: _better(one, other, scores), names)
            left = [name for name in names if name == best or self._is_as_good(name, best, scores, times)]
            if len(left) == len(names):
                return best, left
            names = left

    def _place(self, name: str) -> tuple[bool, int]:
        """Place among equals: the first is taken."""
        return name not in self.sturdy, place(name)

    def is_equal(self, name: str, other: str, times: float) -> bool:
        """Whether nothing tells two queues apart."""
        return all(self._is_as_good(name, other, scores, times) for scores in self.scores)

    def is_alike(self, name: str, other: str, times: float) -> bool:
        """Whether two queues surely differ by no more than users notice, as a whole and in each aspect."""
        whole = [self._behind(name, other, scores) for scores in self.scores]
        return all(_surely_within(each, MATERIAL * times) for each in whole) and all(
            _surely_within(self._behind_in(each, name, other), bound * times)
            for each, bound in self._notable_between(name, other).items()
        )

    def is_open(self, name: str, taken: str, best: str, times: float) -> bool:
        """Whether more runs may take a queue in place of the one that is taken, or not the one for it."""
        share = MATERIAL * times
        if any(_straddles(self._behind(taken, name, scores), share) for scores in self.scores):
            return True
        if self._place(name) >= self._place(taken):
            return False
        whole = [self._behind(name, best, scores) for scores in self.scores]
        return not any(_surely_exceeds(each, share) for each in whole) and not any(
            _surely_exceeds(self._behind_in(each, name, best), bound * times)
            for each, bound in self._notable_between(name, best).items()
        )

    def worst(self, name: str, taken: str, times: float) -> tuple[Aspect, float] | None:
        """The aspect in which a queue is behind most: of those that tell it from the other, if some do.

        Of these one of the kind that decides first goes before.
        """
        found = {each: self._behind_in(each, name, taken) for each in self.aspects}
        telling = {
            each: found[each]
            for each, bound in self._notable_between(name, taken).items()
            if _is_worse(found[each], bound * times)
        }
        first = {each: behind for each, behind in telling.items() if each.kind == self.leading}
        aspect, behind = max((first or telling or found).items(), key=lambda each: each[1].mean or 0.0)
        return (aspect, behind.mean) if behind.mean is not None and behind.mean > 0 else None

    def behind(self, name: str, other: str) -> Estimate:
        """How much worse users fare as a whole."""
        return self._behind(name, other, self.scores[-1])

    def _is_as_good(self, name: str, other: str, scores: Mapping[str, list[float]], times: float) -> bool:
        if _differs(self._behind(name, other, scores), MATERIAL * times):
            return False
        return not any(
            _is_worse(self._behind_in(each, name, other), bound * times)
            for each, bound in self._notable_between(name, other).items()
        )

    def _notable_between(self, name: str, other: str) -> Mapping[Aspect, float]:
        """The aspects that tell queues apart by themselves, and from which share on; none of one queue."""
        return {} if _queue(name) == _queue(other) else self.notable

    def _behind_in(self, aspect: Aspect, name: str, other: str) -> Estimate:
        return _behind_in(aspect, self.contest[name], self.contest[other], self.claims)

    def _behind(self, name: str, other: str, scores: Mapping[str, list[float]]) -> Estimate:
        return _behind(scores[name], scores[other], self.claims)


def _better(one: str, other: str, scores: Mapping[str, list[float]]) -> str:
    """Which of two has the better score, by the seeds that both have; of the same, the first."""
    runs = min(len(scores[one]), len(scores[other]))
    return other if sum(scores[other][:runs]) > sum(scores[one][:runs]) else one


def leading_kind(weights: Mapping[Kind, float]) -> Kind | None:
    """The kind that decides first: it weighs as many times more than each other as an emphasis gives it."""
    heaviest = max(weights, key=lambda kind: weights[kind], default=None)
    if heaviest is None or len(weights) == 1:
        return None
    others = max(weight for kind, weight in weights.items() if kind != heaviest)
    return heaviest if weights[heaviest] >= EMPHASIS * others else None


def missed_targets(runs: Sequence[Values], targets: Sequence[Target]) -> tuple[Target, ...]:
    """The targets that the mean over runs misses; a run without a value of a target misses it."""
    found = []
    for target in targets:
        margins = [target.margin(run.get(target.name)) for run in runs]
        if not sum(margins) >= 0:  # NaN misses, too
            found.append(target)
    return tuple(found)


def _behind(scores: Sequence[float], best: Sequence[float], claims: int) -> Estimate:
    """How much worse, as a share, seed by seed; the interval allows for that many claims."""
    return _allowing(estimate(-math.expm1(a - b) for a, b in zip(scores, best, strict=False)), claims)


def _is_worse(behind: Estimate, share: float) -> bool:
    """Whether users are surely worse off, and by more than a share; of a single run nothing is sure."""
    mean = behind.mean or 0.0
    return mean > share and mean > (behind.half_width or 0.0)


def _differs(behind: Estimate, share: float) -> bool:
    """Whether users are surely better or worse off, and by more than a share."""
    opposite = Estimate(-(behind.mean or 0.0), behind.half_width)
    return _is_worse(behind, share) or _is_worse(opposite, share)


def _straddles(behind: Estimate, share: float) -> bool:
    """Whether users may be worse off by more than a share, or not; a single run does not tell."""
    return behind.half_width is None or abs((behind.mean or 0.0) - share) < behind.half_width


def _surely_within(behind: Estimate, share: float) -> bool:
    """Whether users are surely neither worse nor better off by more than a share."""
    return behind.half_width is not None and abs(behind.mean or 0.0) + behind.half_width <= share


def _surely_exceeds(behind: Estimate, share: float) -> bool:
    """Whether users are surely worse off by more than a share."""
    return behind.half_width is not None and (behind.mean or 0.0) - behind.half_width > share


def notable(aspect: Aspect, weights: Mapping[Kind, float]) -> float:
    """By which share users must fare worse in an aspect for it to matter by itself; never, from 1 on.

    What weighs little beside another kind counts by its part of the score, unless it is twice as bad.
    """
    share = NOTABLE_RATING if aspect.kind == "calls" else NOTABLE
    weight = weights.get(aspect.kind, 0.0)
    return min(share * max(weights.values()) / weight, TWICE) if weight else math.inf


def place(name: str) -> int:
    """Place of an entry's queue in the order of equals."""
    queue = _queue(name).partition(":")[0]
    return ORDER.index(queue) if queue in ORDER else len(ORDER)


def _queue(name: str) -> str:
    """An entry's queue; its name stands before the setting's comma."""
    return name.partition(",")[0]


def _behind_in(aspect: Aspect, runs: Sequence[Values], chosen: Sequence[Values], claims: int) -> Estimate:
    """How much worse an aspect is, as a share; its interval from the mean logarithm's lower end."""
    pairs = zip(runs, chosen, strict=False)
    found = _allowing(estimate(math.log(aspect.utility(b) / aspect.utility(a)) for a, b in pairs), claims)
    mean = found.mean or 0.0
    share = -math.expm1(-mean)
    if found.half_width is None:
        return Estimate(share, None)
    return Estimate(share, share + math.expm1(found.half_width - mean))


def _allowing(found: Estimate, claims: int) -> Estimate:
    """An estimate with an interval that allows for that many claims."""
    if found.half_width is None:
        return found
    factor = t_quantile(found.known, claims) / t_quantile(found.known)
    return found._replace(half_width=found.half_width * factor)
