"""Which of several settings is closest to targets that none of them meets: the only place that says it.

Each target that is missed counts by the logarithm of how many times its bound is exceeded, and these are
added. A loss counts whether somebody bounds it or not: where nobody does, as if what is worth a word were
the bound. What exceeds its bounds hardly more often than the nearest (a quarter) is as close, unless it
loses what is worth a word and another one of these clearly less: two settings that trade a wait for a loss
are as near by their sums, and the loss is what hardly anybody wants. Between those that are left, users
decide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from bufferlab.studies.choosing.losses import Group, felt
from bufferlab.studies.choosing.thresholds import LESS, NOTED_LOSS
from bufferlab.studies.least.lacking import MET, Lack, runs_lack, total
from bufferlab.studies.targets import Target, Values, bounds_loss, mean_over_runs

Key = TypeVar("Key")

FAR: Final = 10.0
"""Times as much as a bound allows, from which on nobody would say that it is close to it. Our choice."""


@dataclass(frozen=True)
class Off:
    """How far a setting is off.

    Attributes:
        lack: By how much it misses the targets, and loses more than is worth a word.
        loss: What it loses.
    """

    lack: Lack
    loss: float = 0.0


def off(runs: Sequence[Values], targets: Sequence[Target], groups: Sequence[Group] = ()) -> Off:
    """How far runs are off targets that nothing meets.

    Args:
        runs: What they measured, of at least one.
        targets: What they are held to.
        groups: The flow groups: what datagrams lose that do not yield does not count.
    """
    loss = felt("loss", lambda name: mean_over_runs(name, runs).mean, groups) or 0.0
    more = MET if bounds_loss(targets) else Lack(0.0, math.log(max(loss / NOTED_LOSS, 1.0)))
    return Off(total([runs_lack(runs, targets), more]), loss)


def far_off(runs: Sequence[Values], targets: Sequence[Target]) -> list[Target]:
    """The targets that runs miss by ten times the bound or more in the mean, or have no value of."""
    return [each for each in targets if _is_far(each, mean_over_runs(each.name, runs).mean)]


def _is_far(target: Target, mean: float | None) -> bool:
    if mean is None:
        return True
    if target.margin(mean) >= 0:
        return False
    return mean <= target.bound / FAR if target.at_least else mean >= target.bound * FAR


def closest(found: Mapping[Key, Off]) -> list[Key]:
    """Those that are as close as any, by how far each is off."""
    nearest = min(each.lack for each in found.values())
    near = {key: each.loss for key, each in found.items() if each.lack.is_as_near(nearest)}
    least = min(near.values())
    return [key for key, loss in near.items() if loss < NOTED_LOSS or least > LESS * loss]
