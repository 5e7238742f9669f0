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

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bufferlab.stats import Estimate
from bufferlab.studies.choosing.closest import Off, closest
from bufferlab.studies.choosing.losses import Group, felt
from bufferlab.studies.choosing.objectives import Aspect, Kind
from bufferlab.studies.choosing.order import keeps_apart, place, queue_of
from bufferlab.studies.choosing.scores import Contest, Scored
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS, LESS, is_standing, loses_heavily
from bufferlab.studies.targets import Target, Values, bounds_loss, mean_over_runs

LOOKS: Final = (8, 16, 32)
"""Seeds with which settings are compared: more, as long as more may tell them apart."""

NEAR: Final = (0.8, 1.25)
"""A choice is on the edge if thresholds this many times as large would take another queue."""


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
        loses: The aspect in which its users lose most, of those in which they surely fare worse by more than
            they notice; `None` if there is none.
        gains: The same of what they gain.
        is_lossy: Whether it is out since it loses what hardly anybody would accept.
        is_standing: Whether packets wait longer with it than their path takes, and not with the chosen one:
            of equals it is taken last.
    """

    name: str
    behind: Estimate
    is_equal: bool
    is_open: bool
    is_alike: bool
    missed: tuple[Target, ...]
    worst: tuple[Aspect, float] | None
    loses: Aspect | None = None
    gains: Aspect | None = None
    is_lossy: bool = False
    is_standing: bool = False

    @property
    def most_behind(self) -> float:
        """By which share users fare worse at most, by the interval; negative if they surely fare better."""
        return (self.behind.mean or 0.0) + (self.behind.half_width or 0.0)


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
        outweighs: Whether it loses what hardly anybody would accept, others do not, and users fare better
            with it as many times as it loses more than each of those, and in no aspect far worse.
        missed: Targets that it misses in the mean.
    """

    name: str
    rivals: tuple[Rival, ...]
    meets: bool
    is_clear: bool
    best: str = ""
    edge: tuple[str, float] | None = None
    outweighs: bool = False
    missed: tuple[Target, ...] = ()

    @property
    def equals(self) -> tuple[str, ...]:
        """The settings of other queues that are as good for users and meet the targets, in our order."""
        own = queue_of(self.name)
        return tuple(
            sorted(
                (
                    rival.name
                    for rival in self.rivals
                    if self.meets and rival.is_equal and not rival.missed and queue_of(rival.name) != own
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
    lacking: Mapping[str, Off] | None = None,
    times: float = 1.0,
    looks: int = 1,
    sturdy: Collection[str] = (),
    standing: Collection[str] = (),
    losses: Mapping[str, float] | None = None,
    apart: Collection[str] = (),
    superseded: Mapping[str, Collection[str]] | None = None,
    queues: Mapping[str, str] | None = None,
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
        lacking: How far each is off: where none meets all, the best for users of those is taken that are as
            close as any; without it, of those that miss fewest.
        times: What the thresholds of what is material and notable are multiplied by.
        looks: How often a choice is made from more and more runs, until one is decided.
        sturdy: Queues that keep the targets where the traffic changes: of equals they are taken first.
        standing: Queues in which packets wait longer than their path takes: of equals they are taken last.
        losses: What each queue loses, where that counts. One that loses what hardly anybody would accept is
            out where another one meets as many targets and loses clearly less, unless users fare better than
            with each of those as many times as it loses more (what others lose is taken to be that much at
            least), and in no aspect far worse; where another one does not lose that much, of equals it is
            taken last.
        apart: Queues that keep flows apart, where that is preferred: of equals they are taken before others.
        superseded: Queues that are not taken where one of some others is left to choose, as that does all
            that they do: a FIFO, where LLQ has calls go before one.
        queues: Which queue each is, where what differs in the buffer of one queue alone is compared without
            Jain's index.
    """
    fewest = min(map(len, missed.values()))
    if fewest and lacking is not None:
        fit = closest({name: lacking[name] for name in contest})
    else:
        fit = [name for name in contest if len(missed[name]) == fewest]
    losses = losses or {}
    heavy = {name for name in fit if losses.get(name, 0.0) >= HEAVY_LOSS}
    is_light_found = len(heavy) < len(fit)
    claims = looks * (len(fit) - 1)
    scored = Scored(
        contest,
        aspects,
        weights,
        claims=claims,
        sturdy=sturdy,
        standing={*standing, *heavy} if is_light_found else standing,
        apart=apart,
        queues=queues,
    )
    out = {name for name in fit if _loses_too_much(name, fit, losses, scored, times)}
    fit = [name for name in fit if name not in out]
    fit = [name for name in fit if not {*(superseded or {}).get(name, ())} & {*fit}]
    taken, best, equal = scored.choice(fit, times)
    rivals = [
        Rival(
            name,
            scored.behind(name, taken),
            name in equal if name in fit else name not in out and scored.is_equal(name, taken, times),
            name in fit and scored.is_open(name, taken, best, times),
            scored.is_alike(name, taken, times),
            missed[name],
            scored.worst(name, taken, times),
            scored.most_behind(name, taken, times),
            scored.most_behind(taken, name, times),
            name in out,
            name in standing and taken not in standing,
        )
        for name in contest
        if name != taken
    ]
    rivals.sort(key=lambda each: (len(each.missed) > fewest, each.is_lossy, each.behind.mean or 0.0))
    others = ((scored.choice(fit, times * near)[0], near) for near in NEAR)
    edge = next((each for each in others if each[0] != taken), None)
    outweighs = taken in heavy and is_light_found
    is_clear = len(equal) == 1
    return Choice(taken, tuple(rivals), fewest == 0, is_clear, best, edge, outweighs, missed[taken])


def _loses_too_much(
    name: str, fit: Sequence[str], losses: Mapping[str, float], scored: Scored, times: float
) -> bool:
    """Whether a queue loses what hardly anybody would accept, another one clearly less, and users pay for it.

    Users would have to fare better as many times as more is lost.
    """
    own = losses.get(name, 0.0)
    if own < HEAVY_LOSS:
        return False
    less = {other: losses.get(other, 0.0) for other in fit if losses.get(other, 0.0) <= LESS * own}
    return any(
        not scored.outweighs(name, other, own / max(loss, HEAVY_LOSS), times) for other, loss in less.items()
    )


def standing(
    contest: Contest, rtt_ms: float, targets: Sequence[Target], groups: Sequence[Group] = ()
) -> set[str]:
    """The queues in which packets wait longer in the mean than their path takes."""
    waits = _felt("wait_mean_ms", contest, groups)
    return {name for name, wait in waits.items() if wait is not None and is_standing(wait, rtt_ms, targets)}


def losses_of(contest: Contest, targets: Sequence[Target], groups: Sequence[Group]) -> dict[str, float]:
    """What each queue loses, where nobody bounds the loss."""
    if bounds_loss(targets):
        return {}
    return {name: lost for name, lost in _felt("loss", contest, groups).items() if lost is not None}


def loses_too_much(runs: Sequence[Values], targets: Sequence[Target], groups: Sequence[Group]) -> bool:
    """Whether a queue loses what hardly anybody would accept, where nobody bounds the loss."""
    return loses_heavily(_felt("loss", {"": runs}, groups)[""], targets)


def _felt(metric: str, contest: Contest, groups: Sequence[Group]) -> dict[str, float | None]:
    """What others than datagrams that do not yield have of a metric, by queue."""

    def of_runs(runs: Sequence[Values]) -> float | None:
        return felt(metric, lambda name: mean_over_runs(name, runs).mean, groups)

    return {name: of_runs(runs) for name, runs in contest.items()}


def apart(kinds: Mapping[str, str], aspects: Sequence[Aspect], *, is_filled: bool) -> set[str]:
    """The queues that keep flows apart, where calls or pages share the link with flows that fill it.

    Args:
        kinds: Each queue's discipline.
        aspects: What users feel.
        is_filled: Whether flows cross the link that always have something to send.
    """
    if not is_filled or not any(each.kind in {"calls", "pages"} for each in aspects):
        return set()
    return {name for name, kind in kinds.items() if keeps_apart(kind)}


def missed_targets(runs: Sequence[Values], targets: Sequence[Target]) -> tuple[Target, ...]:
    """The targets that the mean over runs misses; a run without a value of a target misses it."""
    found = []
    for target in targets:
        margins = [target.margin(run.get(target.name)) for run in runs]
        if not sum(margins) >= 0:  # NaN misses, too
            found.append(target)
    return tuple(found)
