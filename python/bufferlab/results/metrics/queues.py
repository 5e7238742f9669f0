"""Metrics of queues and of the classes of their disciplines: the frames `queues` and `classes`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from bufferlab.results.metrics.expressions import (
    Expression,
    Table,
    column_of,
    milliseconds,
    plain,
    ratio,
    when,
)
from bufferlab.results.metrics.flows import whole
from bufferlab.results.metrics.keys import CLASS, GROUP, LINK, SEED
from bufferlab.results.metrics.metric import (
    BITS_PER_S,
    BYTES,
    COUNT,
    FRACTION,
    MILLISECONDS,
    PACKETS,
    QUANTILES,
    Better,
    Dimension,
    Metric,
    Unit,
)  # fmt: skip
from bufferlab.units import PS_PER_MS

WAIT_QUANTILES: Final[Mapping[str, float]] = {
    f"wait_p{percent}_ms": percent / 100 for percent, _ in QUANTILES
}
"""Quantiles of the wait; the tables that expressions see have them as columns."""


def _link_rate(table: Table) -> pl.Series:
    return column_of(table.run.rates_bps)[table["link"]]


def _offered(table: Table) -> pl.Series:
    offered_bps = table["offered_bps"]
    return offered_bps.zip_with(offered_bps > 0, _link_rate(table).cast(pl.Float64))


def _throughput(table: Table) -> pl.Series:
    return table["busy_fraction"] * _offered(table)


def _of_all(column: str) -> Expression:
    """Known for all groups together only."""
    return lambda table: when(table.is_all, table[column])


def _if_served(wait: Expression) -> Expression:
    return lambda table: when(table["served_packets"] > 0, wait(table))


def _wait(name: str, what: str, title: str, compute: Expression | None = None) -> Metric:
    definition = f"{what} of the times in the queue, a packet's own transmission not counted."
    return Metric(name, MILLISECONDS, definition, compute, f"wait: {title}", Better.LOWER)


def _backlog(
    name: str, unit: Unit, what: str, title: str, how: str = "", *, better: Better = Better.LOWER
) -> Metric:
    definition = f"{what} of what waits, the packet in transmission not counted{how}."
    return Metric(name, unit, definition, _of_all(name), f"backlog: {title}", better)


_THROUGHPUT: Final = Metric(
    "throughput_bps",
    BITS_PER_S,
    "Bits that left the link in the measured window, over its length. A packet that leaves at an edge of the "
    "window counts by the part within.",
    _throughput,
    "throughput",
    Better.HIGHER,
)
_LOSS: Final = Metric(
    "loss",
    FRACTION,
    "Of the packets that arrived in the measured window, the share that the queue dropped.",
    ratio(plain("dropped_packets"), "arrived_packets"),
    "loss",
    Better.LOWER,
)
_WAITS: Final = (
    _wait("wait_mean_ms", "Mean", "mean", _if_served(lambda table: table["wait_mean_ps"] / PS_PER_MS)),
    *(_wait(f"wait_p{percent}_ms", words.capitalize(), words) for percent, words in QUANTILES),
    _wait("wait_max_ms", "Longest", "longest", _if_served(milliseconds("wait_max_ps"))),
)
_BACKLOG_QUANTILES: Final = tuple(
    _backlog(
        f"backlog_p{percent}_packets",
        PACKETS,
        f"{words.capitalize()} over time",
        words if percent == 50 else f"p{percent}",  # labels are short
        ", from 5000 random moments",
        # a queue that is hardly ever short keeps the link busy
        better=Better.HIGHER if percent == 1 else Better.LOWER,
    )
    for percent, words in ((1, "1st percentile"), *QUANTILES)
)
_ARRIVED: Final = Metric("arrived_packets", COUNT, "Packets that arrived at the queue.")
_ARRIVED_BYTES: Final = Metric("arrived_bytes", BYTES, "Bytes that arrived at the queue.")
_DROPPED: Final = Metric(
    "dropped_packets",
    COUNT,
    "Packets that arrived and that the queue dropped.",
    title="packets dropped",
    better=Better.LOWER,
)
_DROPPED_BYTES: Final = Metric(
    "dropped_bytes", BYTES, "Bytes that arrived and that the queue dropped.", better=Better.LOWER
)
_LOST: Final = Metric(
    "lost_packets",
    COUNT,
    "Packets that the link lost at random.",
    title="packets lost at random",
    better=Better.LOWER,
    hide_zero=True,
)
_MARKED: Final = Metric(
    "marked_packets", COUNT, "Packets that the queue marked (ECN).", title="packets marked", hide_zero=True
)
_DEPARTED: Final = Metric("departed_packets", COUNT, "Packets that left the link.")
_DEPARTED_BYTES: Final = Metric("departed_bytes", BYTES, "Bytes that left the link.")
_SERVED: Final = Metric("served_packets", COUNT, "Packets whose wait ended in the measured window.")
_LEFT: Final = Metric("left_packets", COUNT, "Packets in the queue at the run's end.")

QUEUES: Final = Dimension(
    "queue",
    "One row per link and flow group, and one with group “all” per link: the frame `queues`. What is shown "
    "as something is also in `queues` of the summary, and in stores for the link that sizing looks at.",
    keys=(SEED, LINK, GROUP),
    metrics=(
        Metric("rate_bps", BITS_PER_S, "Rate of the link, or its mean over the run.", _link_rate),
        Metric(
            "offered_bps",
            BITS_PER_S,
            "What the link could carry in the measured window, over its length: its rate, or where that "
            "varies the mean in the window.",
            _offered,
        ),
        Metric(
            "utilization",
            FRACTION,
            "Bits that left in the measured window over what the link could carry in it: its rate times the "
            "window's length, or where that varies all that was offered, so that an outage costs nothing.",
            plain("busy_fraction"),
            "utilization",
            Better.HIGHER,
        ),
        _THROUGHPUT,
        _LOSS,
        _DROPPED,
        _LOST,
        _MARKED,
        *_WAITS,
        _backlog("backlog_mean_packets", PACKETS, "Time average", "mean"),
        *_BACKLOG_QUANTILES,
        _backlog("backlog_max_packets", PACKETS, "Most", "largest"),
        _backlog("backlog_mean_bytes", BYTES, "Time average", "mean"),
        _backlog("backlog_max_bytes", BYTES, "Most", "largest"),
        Metric(
            "empty_fraction",
            FRACTION,
            "Share of the measured window in which nothing waits. A packet may be in transmission.",
            _of_all("empty_fraction"),
            "queue empty",
        ),
        _ARRIVED,
        _ARRIVED_BYTES,
        _DROPPED_BYTES,
        _DEPARTED,
        _DEPARTED_BYTES,
        _SERVED,
        *map(whole, (_ARRIVED, _DROPPED, _LOST, _DEPARTED)),
        _LEFT,
    ),
)

CLASSES: Final = Dimension(
    "class",
    "One row per link and class of its queue discipline, if that has classes: SplitBuff's sub-buffers, "
    "DualPI2's queues (0 L4S, 1 all others). The frame `classes`.",
    keys=(SEED, LINK, CLASS),
    metrics=(
        _THROUGHPUT,
        _LOSS,
        *_WAITS,
        _ARRIVED,
        _ARRIVED_BYTES,
        _DROPPED,
        _DROPPED_BYTES,
        _MARKED,
        _DEPARTED,
        _DEPARTED_BYTES,
        _SERVED,
        *map(whole, (_ARRIVED, _DROPPED, _DEPARTED)),
        _LEFT,
    ),
)
