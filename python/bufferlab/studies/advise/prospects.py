"""What users could gain at most, so that settings that nobody would feel are not searched."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bufferlab.results.latency.emodel import rating
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.choosing.objectives import Aspect, Kind, score
from bufferlab.studies.choosing.thresholds import MATERIAL, notable
from bufferlab.studies.targets import Values


def could_be_felt(
    entry: Entry, aspects: Sequence[Aspect], weights: Mapping[Kind, float], *, groups: int
) -> bool:
    """Whether users could fare so much better than with an entry that it would not be taken.

    They could not if even a queue in which nobody waits, nothing is lost and all fare alike would be as good
    for users. What nobody knows a bound of may be felt.

    Args:
        entry: What would be taken.
        aspects: What users feel.
        weights: How much each kind of aspect weighs.
        groups: How many flow groups there are.
    """
    values = {aspect.metric: entry.mean(aspect.metric).mean for aspect in aspects}
    best: dict[str, float | None] = {}
    for aspect in aspects:
        bound = _bound(aspect, entry, groups)
        if bound is None or values[aspect.metric] is None:
            return True
        best[aspect.metric] = bound
    if _behind(score(values, aspects, weights), score(best, aspects, weights)) > MATERIAL:
        return True
    return any(_behind(_log(each, values), _log(each, best)) > notable(each, weights) for each in aspects)


def _bound(aspect: Aspect, entry: Entry, groups: int) -> float | None:
    """The best value that any queue could give; `None` if that is not known."""
    name = aspect.metric.rpartition(".")[2]
    if name == "goodput_bps" and groups == 1:  # all that the link carries is theirs
        goodput, used = entry.mean(aspect.metric).mean, entry.mean("utilization").mean
        return None if goodput is None or not used else goodput / used
    bounds = {"wait_mean_ms": 0.0, "loss": 0.0, "jain_index": 1.0, "call_r": rating(0.0)}
    return bounds.get(name)


def _log(aspect: Aspect, values: Values) -> float:
    return math.log(aspect.utility(values))


def _behind(given: float, best: float) -> float:
    """By which share a logarithm is below another."""
    return -math.expm1(given - best)
