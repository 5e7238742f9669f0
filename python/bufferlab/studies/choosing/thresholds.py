"""From which difference on users notice that they fare worse, and which kind of aspect decides first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from bufferlab.stats import Estimate, estimate
from bufferlab.studies.choosing.objectives import EMPHASIS, Aspect, Kind
from bufferlab.studies.targets import Target, Values, bounds_loss, mean_over_runs

MATERIAL: Final = 0.05
"""Scores that differ by less than this share are equal for users."""

NOTABLE: Final = 0.1
NOTABLE_RATING: Final = 0.05
"""Two queues are not equal if in some aspect users fare worse by more than this share; calls, by about half
the width of a category of users' satisfaction, which is ten points of the rating R (ITU-T G.109: its abstract
was read, and the categories' bounds in manuals that quote its table). Of a kind that weighs less than the
heaviest, by as many times more, up to `TWICE`. Of one queue's settings the usual one is taken unless users
fare better as a whole: it is the one that is tested everywhere."""

HEAVY_LOSS: Final = 0.05
"""Loss from which on hardly anybody would accept a buffer, whatever else it gives. Our choice: TCP flows then
have about five packets each under way (`theory.tcp_models`: 1.22/√p), and time out again and again."""

NOTED_LOSS: Final = 0.02
"""Loss that is worth a word: what surely loses less is taken before it, where bounds on waits allow it. Our
choice."""

LESS: Final = 2 / 3
"""What loses at most this part of another one's loss loses clearly less. Our choice."""

LONG_WAIT_MS: Final = 20.0
"""A mean wait below this is not called long, however short the path. Our choice, well below the 150 ms
one way up to which ITU-T G.114 finds calls unharmed."""

TWICE: Final = 0.5
"""What is surely worse by more than this share is never equal, however little it weighs."""


_OF_CALLS: Final = "call_"
"""What begins the names of a call's metrics."""


def notable(aspect: Aspect, weights: Mapping[Kind, float]) -> float:
    """By which share users must fare worse in an aspect for it to matter by itself; never, from 1 on.

    What weighs little beside another kind counts by its part of the score, unless it is twice as bad.
    """
    share = NOTABLE_RATING if aspect.kind == "calls" else NOTABLE
    weight = weights.get(aspect.kind, 0.0)
    return min(share * max(weights.values()) / weight, TWICE) if weight else math.inf


def noticed(target: Target) -> Target:
    """The bound from which on users notice that a target is missed: by what matters by itself.

    A use of 98.9 % in traffic that may never come is no reason for another queue where 99 % are asked for.
    """
    return target.loosened(NOTABLE_RATING if target.metric.name.startswith(_OF_CALLS) else NOTABLE)


def standing_from_ms(rtt_ms: float, targets: Sequence[Target]) -> float | None:
    """The mean wait from which on a queue stands: what its path takes; `None` where a target bounds waits."""
    return None if any(each.wants_less for each in targets) else max(rtt_ms, LONG_WAIT_MS)


def is_standing(wait_ms: float, rtt_ms: float, targets: Sequence[Target]) -> bool:
    """Whether packets wait longer than their path takes, and no target bounds the wait."""
    least_ms = standing_from_ms(rtt_ms, targets)
    return least_ms is not None and wait_ms >= least_ms


def loses_heavily(loss: float | None, targets: Sequence[Target]) -> bool:
    """Whether so much is lost that hardly anybody would accept it, and no target bounds the loss."""
    return loss is not None and loss >= HEAVY_LOSS and not bounds_loss(targets)


def loses_notably_more(runs: Sequence[Values], other: Sequence[Values], targets: Sequence[Target]) -> bool:
    """Whether a loss is worth a word and surely larger than another one's, and no target bounds it.

    Args:
        runs: What the runs of the one measured.
        other: The same of the other, with the same seeds.
        targets: What was asked for.
    """
    lost = mean_over_runs("loss", runs).mean
    if lost is None or lost < NOTED_LOSS or bounds_loss(targets):
        return False
    pairs = zip(runs, other, strict=False)
    more = estimate((one["loss"] or 0.0) - (two["loss"] or 0.0) for one, two in pairs)
    return (more.mean or 0.0) > (more.half_width or 0.0)


def leading_kind(weights: Mapping[Kind, float]) -> Kind | None:
    """The kind that decides first: it weighs as many times more than each other as an emphasis gives it."""
    heaviest = max(weights, key=lambda kind: weights[kind], default=None)
    if heaviest is None or len(weights) == 1:
        return None
    others = max(weight for kind, weight in weights.items() if kind != heaviest)
    return heaviest if weights[heaviest] >= EMPHASIS * others else None


def may_be_chance(behind: Estimate) -> bool:
    """Whether the interval has zero in it."""
    return bool(behind.half_width) and abs(behind.mean or 0.0) <= (behind.half_width or 0.0)


def felt_sign(behind: Estimate) -> int:
    """1 if users surely fare worse by more than they notice, -1 if they fare better by that, 0 else."""
    mean = behind.mean or 0.0
    if abs(mean) <= MATERIAL or may_be_chance(behind):
        return 0
    return 1 if mean > 0 else -1
