"""Metrics of single exchanges: the columns of the frame `exchanges`."""

from __future__ import annotations

from typing import Final

import polars as pl

from bufferlab.results.metrics.expressions import Table, unless_none
from bufferlab.results.metrics.keys import FLOW, GROUP, SEED
from bufferlab.results.metrics.metric import (
    BITS_PER_S,
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


def _start(table: Table) -> pl.Series:
    return table["start_ps"] / PS_PER_S


def _end(table: Table) -> pl.Series:
    return unless_none(table["end_ps"]) / PS_PER_S


def _due(table: Table) -> pl.Series:
    return unless_none(table["due_ps"]) / PS_PER_S


def _play(table: Table) -> pl.Series:
    return unless_none(table["play_ps"]) / PS_PER_S


def _stall(table: Table) -> pl.Series:
    return table["stall_ps"] / PS_PER_S


def _duration(table: Table) -> pl.Series:
    return (unless_none(table["end_ps"]) - table["start_ps"]) / PS_PER_S


EXCHANGES: Final = Dimension(
    "exchange",
    "One row per burst of an on-off application with a size, fetch, segment of a video, recorded datagram, "
    "packet of a video call or ping: the frame `exchanges`.",
    keys=(SEED, FLOW, GROUP, Metric("number", COUNT, "Number of the exchange within its flow.")),
    metrics=(
        Metric(
            "start_s",
            SECONDS,
            "When there was data, the client asked, or the packet was sent; of a video call's packet when "
            "its frame was taken.",
            _start,
        ),
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
        Metric("bitrate_bps", BITS_PER_S, "Its bitrate (segments of videos)."),
        Metric(
            "due_s",
            SECONDS,
            "When playback came to its turn: the one before it had been played, or for the first one the "
            "client asked; null if that was not by the run's end (segments of videos).",
            _due,
        ),
        Metric(
            "play_s",
            SECONDS,
            "When it began to be played; null if it did not by the run's end (segments of videos).",
            _play,
        ),
        Metric(
            "stall_s",
            SECONDS,
            "How long playback stood still before it, for the first one the start-up; until the run's or the "
            "flow's end if it was due and did not come (segments of videos).",
            _stall,
        ),
    ),
)
