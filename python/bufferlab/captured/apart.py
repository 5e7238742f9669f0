"""Whether the long flows of a capture wait in one queue, or groups of them in queues that fill apart.

Flows that share a FIFO wait alike: their round trips rise and fall together. Those of two links do so within
each link alone. That flows are correlated more within a bottleneck than across two is how shared congestion
is seen in delays since D. Rubenstein, J. Kurose and D. Towsley, "Detecting Shared Congestion of Flows Via
End-to-End Measurement", IEEE/ACM Transactions on Networking 10(3), 2002; RFC 8382 groups flows by statistics
of their delays for the same end.

Here flows are grouped by the correlation of their mean round trips in bins of time (average linkage), and
groups are apart if their correlation is small beside that within both. Noise of single flows lowers all
three, so the first is divided by the geometric mean of the others (C. Spearman, "The Proof and Measurement of
Association between Two Things", 1904: correction for attenuation). Where most flows are in no group, as each
has a queue of its own (FQ-CoDel) or hardly waits, nothing can be said.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from bufferlab.captured.shared import Array, overlapping

_GROUPED: Final = 0.5
"""Groups are joined while the mean correlation between them is as large."""

_PAIR: Final = 0.8
_MORE: Final = 0.6
"""The mean correlation within a group of two and of more, from which on it counts: some pair of many flows is
alike by chance."""

_COVERED: Final = 0.75
"""The part of the flows that such groups have together at least, else flows have queues of their own."""

_APART: Final = 0.5
_COMPETING: Final = -0.5
"""Groups wait apart if their correlation, corrected for noise, is between both. Below, one waits less when
the other waits more, as where they share a link but have queues of their own there."""

_AS_SUDDEN: Final = 0.45
"""And if its mean with that of the changes from bin to bin is at most this: long waves of two queues are
alike by chance, their changes are not. By these choices of ours, of some 290 captures of a full link with one
queue, or with one of each flow, one is taken for several (FQ-PIE, 20 s); of 690 merged ones that can be
tested 94 % are."""

_KNOWN_CHANGES: Final = 0.2
"""Within both groups changes correlate by as much at least, else nothing follows from them."""

_FEWEST_PAIRS: Final = 16
"""Bins that two flows have in common at least: with half as many some groups were alike by chance."""

_FEWEST_FLOWS: Final = 4
_MOST_FLOWS: Final = 50
"""Two groups have two flows each. Of more than the most, those with most samples are compared."""


Indices: TypeAlias = npt.NDArray[np.intp]
Groups: TypeAlias = tuple[pl.DataFrame, ...]
"""`connection` and `sender` of each group's flows."""


def groups_apart(trips: pl.DataFrame, flows: pl.DataFrame) -> Groups | None:
    """The groups of flows that wait apart; none if all wait in one queue, `None` if that is unknown.

    Args:
        trips: The table of trips, on the link's side of the vantage point.
        flows: The long flows of one direction: `connection`, `sender`, `first_ns`, `last_ns`.

    Returns:
        The groups, the largest first.
    """
    if (known := overlapping(trips, flows)) is None or len(known[0]) < _FEWEST_FLOWS:
        return None
    rows, means = known
    most = np.sort(np.argsort(-rows["samples"].to_numpy(), kind="stable")[:_MOST_FLOWS])
    alike, sudden = _correlations(means[most]), _correlations(np.diff(means[most], axis=1))
    groups = [group for group in _grouped(alike) if _is_tight(alike, group)]
    if sum(map(len, groups)) < _COVERED * len(most):
        return None
    found = [_are_apart(alike, sudden, *pair) for pair in combinations(groups, 2)]
    if not any(found):
        return None if None in found else ()
    groups.sort(key=len, reverse=True)
    return tuple(rows[most[group].tolist()].select("connection", "sender") for group in groups)


def _correlations(means: Array) -> Array:
    """Of each flow with each, by the bins that both have; NaN where they have too few."""
    found = np.full((len(means), len(means)), np.nan)
    for one, other in combinations(range(len(means)), 2):
        both = np.isfinite(means[one]) & np.isfinite(means[other])
        own, its = means[one, both], means[other, both]
        if both.sum() >= _FEWEST_PAIRS and own.std() > 0 and its.std() > 0:
            found[one, other] = found[other, one] = np.corrcoef(own, its)[0, 1]
    return found


def _grouped(alike: Array) -> list[Indices]:
    """Indices of the flows of each group."""
    if np.isnan(alike).all():
        return []
    distances = 1.0 - np.where(np.isnan(alike), np.nanmedian(alike), alike)
    np.fill_diagonal(distances, 0.0)
    numbers = fcluster(linkage(squareform(distances), "average"), 1.0 - _GROUPED, "distance")
    return [np.flatnonzero(numbers == number).astype(np.intp) for number in np.unique(numbers)]


def _is_tight(alike: Array, group: Indices) -> bool:
    return len(group) > 1 and _mean(alike, group, group) >= (_PAIR if len(group) == 2 else _MORE)


def _are_apart(alike: Array, sudden: Array, one: Indices, other: Indices) -> bool | None:
    """Whether two groups are; `None` where too little is known of both."""
    waits, changes = _corrected(alike, one, other), _corrected(sudden, one, other)
    if math.isnan(waits) or math.isnan(changes):
        return None
    return _COMPETING < waits <= _APART and (waits + changes) / 2 <= _AS_SUDDEN


def _corrected(alike: Array, one: Indices, other: Indices) -> float:
    """The correlation between groups, corrected for noise by that within each; NaN where that is little."""
    within = _mean(alike, one, one), _mean(alike, other, other)
    is_known = min(within) > _KNOWN_CHANGES  # NaN is not
    return _mean(alike, one, other) / math.sqrt(within[0] * within[1]) if is_known else math.nan


def _mean(alike: Array, one: Indices, other: Indices) -> float:
    """The mean of the correlations of one group's flows with the other's; NaN where none is known."""
    pairs = alike[np.ix_(one, other)]
    return math.nan if np.isnan(pairs).all() else float(np.nanmean(pairs))
