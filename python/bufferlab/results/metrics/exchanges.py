"""Metrics of single exchanges: the columns of the frame `exchanges`."""

from __future__ import annotations

from typing import Final

import polars as pl

from bufferlab.results.metrics.expressions import Run, unless_none
from bufferlab.results.metrics.keys import FLOW, GROUP, SEED
from bufferlab.results.metrics.metric import (
    BRIEF_SECONDS,
    BYTES,
    COUNT,
    MILLISECONDS,
    SECONDS,
    Better,
    Dimension,
    Metric,
)  # fmt: skip
from bufferlab.units import PS_PER_S


def _start(_run: Run) -> pl.Expr:
    return pl.col("start_ps") / PS_PER_S


def _end(_run: Run) -> pl.Expr:
    return unless_none("end_ps") / PS_PER_S


def _duration(_run: Run) -> pl.Expr:
    return (unless_none("end_ps") - pl.col("start_ps")) / PS_PER_S


EXCHANGES: Final = Dimension(
    "exchange",
    "One row per burst of an on-off application with a size, fetch, recorded datagram or ping: the frame "
    "`exchanges`.",
    keys=(SEED, FLOW, GROUP, Metric("number", COUNT, "Number of the exchange within its flow.")),
    metrics=(
        Metric("start_s", SECONDS, "When there was data, the client asked, or the packet was sent.", _start),
        Metric(
            "end_s",
            SECONDS,
            "When the last byte, or the ping's answer, was received; null if it was not by the run's end.",
            _end,
        ),
        Metric("duration_s", BRIEF_SECONDS, "`end_s` less `start_s`.", _duration, "duration", Better.LOWER),
        Metric("bytes", BYTES, "Its size."),
        Metric(
            "variation_ms",
            MILLISECONDS,
            "Time since the flow's previous arrival less the mean of these times (recorded datagrams).",
        ),
        Metric("jitter_ms", MILLISECONDS, "Estimate of jitter by RFC 3550 (recorded datagrams)."),
    ),
)
