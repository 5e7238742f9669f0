"""What all flows of a link wait for together: the part of it that hides in a flow's smallest round trip.

A flow that begins while others fill the queue never sees it empty, so its smallest round trip is too large by
what it found there at least. But flows that wait in one queue wait alike: a flow's round trip at a moment is
its own without a queue plus the wait of that moment. With the means of flows over the same bins of time, both
are fitted by turns (median polish: J. W. Tukey, "Exploratory Data Analysis", 1977, chapter 11). That gives
how far the flows' own round trips are apart. The flow whose smallest sample is lowest beside the fit met the
emptiest queue, or that did which began alone; of the others, what they are above it was hidden. What all met,
even that one, stays hidden.

Flows with queues of their own (FQ-CoDel) do not wait alike. In one queue they do; and a flow that was there
all the time of another has met a queue as empty as the emptiest of that one, unless it sent nothing just
then, as while it repaired losses. Where flows neither wait alike nor agree on this, nothing is taken off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from bufferlab.captured.observation import NS_PER_MS, NS_PER_S

Array: TypeAlias = npt.NDArray[np.float64]

FEWEST_SAMPLES: Final = 4
FEWEST_BINS: Final = 5
"""What a bin and a flow have at least: fewer say little of the mean. A flow with less is left as it is."""

_WIDER: Final = (2, 4, 8)
_NEARLY_ALL: Final = 0.9
"""How many times as wide bins are tried, and the part of the flows that are enough. Our choice."""

_FEWEST_FLOWS: Final = 2
_FEWEST_PAIRS: Final = 8
_ROUNDS: Final = 20

_ALONE_NS: Final = 100_000_000
"""A flow began alone if the next came that much later: by then it has measured round trips. Our choice."""

_ERRORS: Final = 2.0
_NORMAL: Final = 1.4826
"""The standard deviation over the median absolute deviation, of normal errors."""

_MOST_CONTRADICTION: Final = 0.5
"""Flows wait in one queue if the contradictions are at most this part of what would be taken off."""

_ALIKE: Final = 0.6
"""Flows wait in one queue, too, if their waits are as alike. Of captures whose flows contradict one queue
those with FIFOs were at 0.61 to 0.99 (one of 8 s at 0.44), with FQ-CoDel below 0.3. Our choice."""


@dataclass(frozen=True)
class Hidden:
    """What hides in smallest round trips.

    Attributes:
        flows: `connection`, `sender`, `hidden_ms`, and the number of `samples` that it is known from.
        usual_ms: Its median over all round trips that were measured.
    """

    flows: pl.DataFrame
    usual_ms: float


@dataclass(frozen=True)
class _Fit:
    """Of each flow, ms: how far the smallest is above its own (but for a constant), and the error of that."""

    above: Array
    error: Array


def hidden(trips: pl.DataFrame, flows: pl.DataFrame) -> Hidden | None:
    """What hides; `None` where flows do not wait in one queue, or too few overlap to tell.

    Args:
        trips: The table of trips, on the link's side of the vantage point.
        flows: The long flows of one direction: `connection`, `sender`, `first_ns`, `last_ns`, `is_opened`.
    """
    if (known := overlapping(trips, flows)) is None:
        return None
    rows, means = known
    least = rows["least_ns"].to_numpy() / NS_PER_MS
    fit = _fitted(means, least)
    level = _level(fit, least)
    if (alone := _began_alone(rows, flows)) is not None:
        # another that seems to have met a queue that was emptier is measured worse, as one that paces
        level = max(level, float(fit.above[alone] + fit.error[alone]))
    alike = _likeness(means)
    if not _is_one_queue(fit, level, rows) and (alike is None or alike < _ALIKE):
        return None
    extra = np.clip(fit.above - level, 0.0, least)
    found = rows.select("connection", "sender", "samples").with_columns(pl.Series("hidden_ms", extra))
    return Hidden(found, weighted_median(extra, rows["samples"].to_numpy()))


def likeness(trips: pl.DataFrame, flows: pl.DataFrame) -> float | None:
    """How alike flows wait: near 1 in one queue, near 0 in a queue for each; `None` where too few overlap.

    It is the correlation of a flow's mean round trips with the median of the others', in the median over
    flows. Arguments are those of `hidden`. In one queue it is small, too, where waits are short beside what
    else varies.
    """
    if (known := overlapping(trips, flows)) is None:
        return None
    return _likeness(known[1])


def _likeness(means: Array) -> float | None:
    beyond = means - np.nanmedian(means, axis=1, keepdims=True)
    found = [_correlation(own, np.delete(beyond, flow, axis=0)) for flow, own in enumerate(beyond)]
    known_ones = [each for each in found if each is not None]
    return float(np.median(known_ones)) if known_ones else None


def overlapping(trips: pl.DataFrame, flows: pl.DataFrame) -> tuple[pl.DataFrame, Array] | None:
    """The flows that overlap, and a row of mean round trips over time each, ms; `None` if there are too few.

    Args:
        trips: The table of trips, on the link's side of the vantage point.
        flows: The long flows of one direction: `connection`, `sender`, `first_ns`, `last_ns`.
    """
    known = trips.join(flows, on=["connection", "sender"], how="inner", maintain_order="left")
    if known.is_empty():
        return None
    rows, means = _widest_view(known.filter(pl.col("samples") > 0))
    return None if len(rows) < _FEWEST_FLOWS else (rows, means)


def _widest_view(trips: pl.DataFrame) -> tuple[pl.DataFrame, Array]:
    """The narrowest bins in which nearly all flows with enough samples can be compared; else most of them.

    In a capture of some seconds bins are narrow, and of flows that wait for long few have enough samples.
    """
    samples = trips.group_by("connection", "sender").agg(pl.col("samples").sum())
    enough = int((samples["samples"] >= FEWEST_SAMPLES * FEWEST_BINS).sum())
    best = _table(trips, 1)
    for times in _WIDER:
        if len(best[0]) >= _NEARLY_ALL * enough:
            break
        found = _table(trips, times)
        best = found if len(found[0]) > len(best[0]) else best
    return best


def _correlation(own: Array, others: Array) -> float | None:
    has_others = np.isfinite(others).any(axis=0)
    both = np.isfinite(own) & has_others
    if both.sum() < _FEWEST_PAIRS:
        return None
    one, other = own[both], np.nanmedian(others[:, both], axis=0)
    return float(np.corrcoef(one, other)[0, 1]) if one.std() > 0 and other.std() > 0 else None


def _table(trips: pl.DataFrame, times: int) -> tuple[pl.DataFrame, Array]:
    """The flows, and a row of mean round trips each, ms; NaN where unknown.

    Bins are as many times as wide as the widest.
    """
    width = times * pl.col("width_ns").max()
    bins = (
        trips.with_columns(pl.col("start_ns") // width, total=pl.col("mean_ns") * pl.col("samples"))
        .group_by("connection", "sender", "start_ns", maintain_order=True)
        .agg(pl.col("samples", "total").sum(), pl.col("least_ns", "first_ns", "last_ns").first())
        .filter(pl.col("samples") >= FEWEST_SAMPLES)
        .filter(pl.len().over("start_ns") >= _FEWEST_FLOWS)
        .filter(pl.len().over("connection", "sender") >= FEWEST_BINS)
        .with_columns(mean_ms=pl.col("total") / pl.col("samples") / NS_PER_MS)
        .sort("start_ns")
    )
    rows = bins.group_by("connection", "sender", maintain_order=True).agg(
        pl.col("least_ns", "first_ns", "last_ns").first(), pl.col("samples").sum()
    )
    wide = bins.pivot(on="start_ns", index=["connection", "sender"], values="mean_ms")
    return rows, wide.drop("connection", "sender").to_numpy().astype(np.float64)


def _fitted(means: Array, least: Array) -> _Fit:
    own = np.nanmin(means, axis=1)
    waits = np.zeros(means.shape[1])
    for _ in range(_ROUNDS):
        waits = np.nanmedian(means - own[:, None], axis=0)
        own += np.nanmedian(means - own[:, None] - waits, axis=1)
    left = means - own[:, None] - waits
    return _Fit(least - own, _NORMAL * np.nanmedian(np.abs(left), axis=1))


def _level(fit: _Fit, least: Array) -> float:
    """How far a smallest round trip without any wait is above its flow's own by the fit."""
    levels = np.sort(fit.above + fit.error)
    # no more can hide than the smallest round trip is, but for what the fit does not know
    possible = [level for level in levels if (fit.above - level <= least + _ERRORS * fit.error).all()]
    return float(possible[0] if possible else levels[-1])


def _began_alone(rows: pl.DataFrame, flows: pl.DataFrame) -> int | None:
    """Which of the rows is the first of all flows, if the capture has its beginning and others came later."""
    first = flows.sort("first_ns", maintain_order=True).head(1)
    later = flows["first_ns"].sort()[1:]
    if not first["is_opened"][0] or (len(later) and later[0] - first["first_ns"][0] < _ALONE_NS):
        return None
    known = rows.with_row_index().join(first.select("connection", "sender"), on=["connection", "sender"])
    return None if known.is_empty() else int(known["index"][0])


def _is_one_queue(fit: _Fit, level: float, rows: pl.DataFrame) -> bool:
    starts, ends = rows["first_ns"].to_numpy(), rows["last_ns"].to_numpy()
    low, high = fit.above - fit.error, fit.above + fit.error
    contradicted = 0.0
    for flow, (start, end) in enumerate(zip(starts, ends, strict=True)):
        during = (starts >= start) & (ends <= end + NS_PER_S)
        contradicted += max(low[flow] - high[during].min(), 0.0)
    taken = np.maximum(low - level, 0.0).sum()
    return bool(contradicted <= _MOST_CONTRADICTION * taken)


def weighted_median(values: Array, weights: Array) -> float:
    """The least value that half of the weights do not exceed."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])
