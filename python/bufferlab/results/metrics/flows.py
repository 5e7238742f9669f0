"""Metrics of single flows: the columns of the frame `flows`."""

from __future__ import annotations

from typing import Final

import polars as pl

from bufferlab.results.metrics.expressions import (
    Table,
    divided,
    milliseconds,
    rate,
    ratio,
    seconds,
    when,
)
from bufferlab.results.metrics.keys import FLOW, GROUP, SEED
from bufferlab.results.metrics.metric import (
    BITS_PER_S,
    BYTES,
    COUNT,
    MILLISECONDS,
    SECONDS,
    Better,
    Dimension,
    Metric,
)  # fmt: skip
from bufferlab.results.tables import NONE
from bufferlab.units import PS_PER_MS, PS_PER_S


def _finished(table: Table) -> pl.Series:
    # a flow that was stopped is done with what it had sent, which is not the transfer
    is_done = table["whole_delivered_bytes"] >= table["transfer_bytes"]
    return when(is_done, seconds("finished_ps", may_be_none=True)(table))


def _completion(table: Table) -> pl.Series:
    received_ps = table["received_ps"]
    return when(received_ps != NONE, divided(received_ps - table["start_ps"], PS_PER_S))


_COUNTERS: Final = (
    Metric("retransmissions", COUNT, "Retransmitted packets.", better=Better.LOWER),
    Metric("timeouts", COUNT, "Retransmission timeouts.", better=Better.LOWER),
    Metric("recoveries", COUNT, "Fast recoveries.", better=Better.LOWER),
    Metric(
        "reordered_packets",
        COUNT,
        "Packets that arrived after one that was sent later (RFC 4737, by sending time).",
        better=Better.LOWER,
    ),
    Metric(
        "spurious_retransmissions",
        COUNT,
        "Data packets that arrived although the receiver had the data.",
        better=Better.LOWER,
    ),
)


def whole(metric: Metric) -> Metric:
    """The same over the whole run."""
    return Metric(f"whole_{metric.name}", metric.unit, f"`{metric.name}` over the whole run.")


_DELIVERED: Final = Metric("delivered_bytes", BYTES, "Payload that arrived in order.", better=Better.HIGHER)
_SENT: Final = Metric("sent_packets", COUNT, "Packets sent.")

FLOWS: Final = Dimension(
    "flow",
    "One row per flow: the frame `flows`.",
    keys=(SEED, FLOW, GROUP),
    metrics=(
        Metric("start_s", SECONDS, "Start of the flow.", seconds("start_ps")),
        Metric(
            "propagation_ms",
            MILLISECONDS,
            "Round trip without any wait or transmission.",
            milliseconds("rtt_ps"),
        ),
        Metric(
            "goodput_bps",
            BITS_PER_S,
            "Payload that arrived in order, over the whole measured window, even if the flow starts later or "
            "ends earlier.",
            rate("delivered_bytes"),
            better=Better.HIGHER,
        ),
        Metric(
            "rtt_ms",
            MILLISECONDS,
            "Mean of the sender's round-trip samples.",
            ratio(lambda table: table["rtt_sum_ps"] / PS_PER_MS, "rtt_samples"),
            better=Better.LOWER,
        ),
        Metric("rtt_samples", COUNT, "Number of these samples."),
        _DELIVERED,
        _SENT,
        *_COUNTERS,
        *map(whole, (_DELIVERED, _SENT, *_COUNTERS)),
        Metric("transfer_bytes", BYTES, "What a transfer has to send; null for flows without an end."),
        Metric(
            "finished_s",
            SECONDS,
            "When the last byte of a transfer was acknowledged; null if it was not by the run's end.",
            _finished,
        ),
        Metric(
            "completion_s",
            SECONDS,
            "Time from a transfer's start (its SYN, or without a handshake its first segment) until its last "
            "byte was received; null if it was not by the run's end.",
            _completion,
            better=Better.LOWER,
        ),
    ),
)
