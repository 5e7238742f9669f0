"""The flows that send in one direction of a captured link."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from bufferlab.captured.observation import NS_PER_MS, NS_PER_S, Observation
from bufferlab.captured.shared import Hidden, hidden

LONG_BYTES: Final = 100_000
LONG_S: Final = 1.0
"""A long flow has more than both, as in the observer's series; most of the web's are shorter. Our choice."""

_LEAST_PART: Final = 0.1

TCP: Final = 6
_UDP: Final = 17
_QUIC_PORT: Final = 443


def flows_of(
    observation: Observation, interface: int, direction: int, *, is_ahead: bool
) -> tuple[pl.DataFrame, Hidden | None]:
    """One row a flow: its connection's and direction's columns, `seconds`, `rtt_ms`, `elastic`, `long`.

    The round-trip time is the flow's smallest. What others show to hide in it is taken off (`shared.py`). A
    flow that is not long may never meet an empty queue: the least that others waited while it lasted is taken
    off its time. `new_bytes` is payload without what was sent again.

    Returns:
        The flows, and what was taken off the long ones, if that is known.

    Args:
        observation: The capture.
        interface: The interface.
        direction: 0 for out, 1 for in.
        is_ahead: Whether the link's queue lies beyond the place of the capture.
    """
    connections = observation.connections.filter(pl.col("interface") == interface)
    sent = observation.directions.filter(pl.col("direction") == direction)
    is_quic = (pl.col("protocol") == _UDP) & (
        (pl.col("initiator_port") == _QUIC_PORT) | (pl.col("responder_port") == _QUIC_PORT)
    )
    seconds = (pl.col("last_ns") - pl.col("first_ns")) / NS_PER_S
    joined = sent.join(connections.drop("direction"), on="connection", how="inner", maintain_order="left")
    flows = joined.with_columns(
        seconds.alias("seconds"),
        _new_bytes().alias("new_bytes"),
        (pl.col("path_rtt_ns") / NS_PER_MS).alias("rtt_ms"),
        ((pl.col("protocol") == TCP) | is_quic).alias("elastic"),
        ((pl.col("payload_bytes") > LONG_BYTES) & (seconds > LONG_S)).alias("long"),
    )
    moments = observation.moments.filter(
        (pl.col("interface") == interface)
        & (pl.col("direction") == direction)
        & (pl.col("is_ahead") == int(is_ahead))
        & (pl.col("samples") > 0)
    )
    long = flows.filter(pl.col("long") & pl.col("elastic"))
    trips = observation.trips.filter(pl.col("is_ahead") == int(is_ahead))
    found = hidden(trips, long.select("connection", "sender", "first_ns", "last_ns"))
    if found is not None:
        flows = _without_hidden(flows, found.flows)
    if moments.is_empty() or long.is_empty():  # what short flows alone wait is known of few of them
        return flows, found
    return _without_waiting(flows, moments.sort("start_ns"), found.usual_ms if found else 0.0), found


def _without_hidden(flows: pl.DataFrame, hides: pl.DataFrame) -> pl.DataFrame:
    """What all wait for together, taken off the round-trip times of those of which it is known."""
    known = flows.join(hides, on=["connection", "sender"], how="left", maintain_order="left")
    rtt_ms = pl.col("rtt_ms") - pl.col("hidden_ms").fill_null(0.0)
    return known.with_columns(rtt_ms.alias("rtt_ms")).select(flows.columns)


def _new_bytes() -> pl.Expr:
    """Payload without second copies; what was lost before the place of the capture comes once."""
    second = pl.col("retransmitted_segments") - pl.col("lost_before_segments")
    part = second / pl.max_horizontal(pl.col("retransmitted_segments"), 1)
    return pl.col("payload_bytes") - (part * pl.col("retransmitted_bytes")).round(0).cast(pl.UInt64)


def _without_waiting(flows: pl.DataFrame, moments: pl.DataFrame, hidden_ms: float) -> pl.DataFrame:
    """The least median wait from a flow's first packet to its last, taken off the times of those not long."""
    starts, waits_ms = moments["start_ns"].to_numpy(), moments["median_ns"].to_numpy() / NS_PER_MS + hidden_ms
    last = len(starts) - 1
    begins = np.clip(np.searchsorted(starts, flows["first_ns"].to_numpy(), side="right") - 1, 0, last)
    ends = np.clip(np.searchsorted(starts, flows["last_ns"].to_numpy(), side="right") - 1, begins, last)
    bounds = np.stack((begins, ends + 1), axis=1).ravel()
    least_ms = np.minimum.reduceat(np.append(waits_ms, np.inf), bounds)[::2]
    # what others waited is an estimate, too: a part of the time stays
    most_ms = (1.0 - _LEAST_PART) * pl.col("rtt_ms")
    off = pl.min_horizontal(pl.Series("off", least_ms), most_ms)
    return flows.with_columns(
        pl.when(pl.col("long")).then(pl.col("rtt_ms")).otherwise(pl.col("rtt_ms") - off).alias("rtt_ms")
    )


def timed(flows: pl.DataFrame) -> pl.DataFrame:
    """Those whose round-trip time is known, the shortest first."""
    return flows.filter(pl.col("rtt_ms").is_finite() & (pl.col("rtt_ms") > 0)).sort("rtt_ms")


def rtt_quantile_ms(flows: pl.DataFrame, part: float) -> float | None:
    """A quantile of the round-trip times of `timed` flows, each with the time that its flow lasts, ms."""
    if flows.is_empty():
        return None
    reached = flows["seconds"].cum_sum() / flows["seconds"].sum()
    return float(flows["rtt_ms"][min(int((reached < part).sum()), len(flows) - 1)])


def loss_of(flows: pl.DataFrame) -> float | None:
    """Segments that were sent again over segments, 0 to 1; none without TCP."""
    tcp = flows.filter(pl.col("protocol") == TCP)
    segments = int(tcp["segments"].sum())
    needed = int(tcp["retransmitted_segments"].sum()) - int(tcp["spurious_segments"].sum())
    return max(needed, 0) / segments if segments else None
