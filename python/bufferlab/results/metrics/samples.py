"""Time series and distributions: the columns of the frames of samples and of histograms."""

from __future__ import annotations

from typing import Final

import polars as pl

from bufferlab.results.metrics.expressions import (
    Table,
    by_query,
    divided,
    interval_rate,
    known,
    milliseconds,
    plain,
    when,
)
from bufferlab.results.metrics.keys import CLASS, FLOW, GROUP, LINK, SEED, TIME
from bufferlab.results.metrics.metric import (
    BITS_PER_S,
    BYTES,
    COUNT,
    MILLISECONDS,
    NUMBER,
    PACKETS,
    SEGMENTS,
    Dimension,
    Metric,
)  # fmt: skip
from bufferlab.results.tables import ALL_CLASSES
from bufferlab.units import PS_PER_MS

_BACKLOG: Final = (
    Metric("backlog_packets", PACKETS, "Packets that wait.", title="backlog"),
    Metric("backlog_bytes", BYTES, "Bytes that wait.", title="backlog"),
)


def _class(table: Table) -> pl.Series:
    return when(table["class"] != ALL_CLASSES, table["class"])


def _active_flows(table: Table) -> pl.Series:
    return when(table["flows"] >= 0, table["flows"])


def _smoothed_rtt(table: Table) -> pl.Series:
    return when(table["srtt_ps"] > 0, divided(table["srtt_ps"], PS_PER_MS))


def _rtt_sample() -> pl.Expr:
    """The mean of the samples since the row before; where there are none, of those before that."""
    total, count = (
        pl.col(name) - pl.col(name).shift(1, fill_value=0) for name in ("rtt_sum_ps", "rtt_samples")
    )
    fresh = pl.when(count > 0).then(total / count / PS_PER_MS)
    return fresh.forward_fill().over("flow")


QUEUE_SAMPLES: Final = Dimension(
    "queue over time",
    "One row per sample of a sampled link: the frame `queue_samples`. Counters run from the run's start.",
    keys=(SEED, TIME, LINK),
    metrics=(
        *_BACKLOG,
        Metric("arrived_packets", COUNT, "Packets that have arrived at the queue."),
        Metric("dropped_packets", COUNT, "Packets that the queue has dropped."),
        Metric("departed_bytes", BYTES, "Bytes that have left the link."),
        Metric(
            "throughput_bps",
            BITS_PER_S,
            "Bits that left the link since the previous sample, over the time since then.",
            interval_rate("departed_bytes", "link"),
            "throughput",
        ),
    ),
)

FLOW_SAMPLES: Final = Dimension(
    "flow over time",
    "One row per sample of a sampled flow: the frame `flow_samples`. Counters run from the run's start.",
    keys=(SEED, TIME, FLOW, GROUP),
    metrics=(
        Metric("cwnd_segments", SEGMENTS, "Congestion window.", title="congestion window", short="cwnd"),
        Metric("ssthresh_segments", SEGMENTS, "Slow-start threshold."),
        Metric(
            "srtt_ms",
            MILLISECONDS,
            "The sender's smoothed round-trip time; null before its first sample.",
            _smoothed_rtt,
            "smoothed round-trip time",
            short="RTT",
        ),
        Metric(
            "rtt_sample_ms",
            MILLISECONDS,
            "The mean of the sender's round-trip samples since the previous row; if there are none, of those "
            "before; null before its first.",
            by_query(_rtt_sample()),
            "round-trip time sample",
        ),
        Metric("inflight_segments", SEGMENTS, "Segments in flight, by the sender's count."),
        Metric("retransmissions", COUNT, "Packets retransmitted so far."),
        Metric("delivered_bytes", BYTES, "Payload that has arrived in order."),
        Metric(
            "goodput_bps",
            BITS_PER_S,
            "Payload that arrived in order since the previous sample, over the time since then.",
            interval_rate("delivered_bytes", "flow"),
            "goodput per flow",
            short="goodput",
        ),
    ),
)

CLASS_SAMPLES: Final = Dimension(
    "class over time",
    "One row per sample and class of a sampled link's discipline, and one with class null for the whole: the "
    "frame `class_samples`. These are the router's estimates; what it does not know (yet) is null.",
    keys=(SEED, TIME, LINK, Metric("class", COUNT, CLASS.definition, _class)),
    metrics=(
        *_BACKLOG,
        Metric("limit_packets", PACKETS, "How much may wait.", known("limit_packets")),
        Metric("limit_bytes", BYTES, "How much may wait.", known("limit_bytes")),
        Metric(
            "threshold_ms",
            MILLISECONDS,
            "Round-trip time from which packets belong to the next class.",
            milliseconds("threshold_ps", may_be_none=True),
        ),
        Metric(
            "rtt_ms",
            MILLISECONDS,
            "Mean round-trip time without queueing.",
            milliseconds("rtt_ps", may_be_none=True),
        ),
        Metric("wait_ms", MILLISECONDS, "Smoothed wait.", milliseconds("delay_ps")),
        Metric("flows", NUMBER, "Number of active flows.", _active_flows),
        Metric("weight", NUMBER, "Share of the service, relative to the class with the least."),
        Metric("state_bytes", BYTES, "What a router must keep in memory besides the packets."),
    ),
)

HISTOGRAMS: Final = Dimension(
    "histogram of waits",
    "One row per link, group and bucket of waits with packets: the frame `histograms`.",
    keys=(SEED, LINK, GROUP),
    metrics=(
        Metric("lower_ms", MILLISECONDS, "Least wait of the bucket.", milliseconds("lower_ps"), "wait"),
        Metric("upper_ms", MILLISECONDS, "Least wait of the next bucket.", milliseconds("upper_ps")),
        Metric("packets", COUNT, "Packets with such a wait.", plain("count")),
    ),
)
