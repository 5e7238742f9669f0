"""The flows that send in one direction of a captured link."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import polars as pl

from bufferlab.captured.apart import Groups, groups_apart
from bufferlab.captured.link import LONG_BYTES, LONG_S, TCP
from bufferlab.captured.observation import NS_PER_MS, NS_PER_S, Observation
from bufferlab.captured.shared import Array, Hidden, hidden

_LEAST_PART: Final = 0.1
_NEAR_S: Final = 1.0
"""Long flows have a sample in most bins of 100 ms; where they have none, those of a second before or behind
count. Our choice."""

_MUCH_PART: Final = 0.5
_LITTLE_PART: Final = 0.05

_FEWEST_SILENCES: Final = 3
_SILENT_PART: Final = 0.1
"""A flow pauses if it is silent that many times, and for that part of its time. One that stops once or twice
may be done, and hosts are late now and then. Our choice."""

_NO_WAIT_PART: Final = 0.02
_NO_WAIT_NS: Final = 500_000
_OFTEN_EMPTY: Final = 0.25
_FEWEST_EMPTY: Final = 10
"""A flow meets an empty queue often if in that part of its bins, of ten or more, some round trip is no longer
than its smallest but for the first part and time. Of on-off flows beside others that fill the queue up to
0.12 of the bins were so, of those alone on a link that is idle at times up to 0.97. Our choice."""

_KEYS: Final = ["connection", "sender"]

LEAST_RTT_MS: Final = 0.01
"""Smaller round trips, of acknowledgments by the host that is captured, count as this. Our choice."""

_UDP: Final = 17
_QUIC_PORT: Final = 443


def flows_of(
    observation: Observation, interface: int, direction: int, *, is_ahead: bool
) -> tuple[pl.DataFrame, Hidden | None, Groups | None]:
    """One row a flow: its connection's columns, its direction's, and what is known of both.

    That is `seconds`, `rtt_ms`, and whether it is `elastic` and `long`, and `pauses`.
    `wire_packets` and `wire_ip_bytes` are those on the wire, where hosts joined segments or will cut them.
    The round-trip time is the flow's smallest, and no less than `LEAST_RTT_MS`.
    What others show to hide in it is taken off (`shared.py`), unless groups of them wait apart. A
    flow that is not long may never meet an empty queue: the least that others waited while it lasted is taken
    off its time. So is it of a long one that is too brief to compare, where others can be: a page that takes
    seconds as its packets wait. `new_bytes` is payload without what was sent again.

    Returns:
        The flows, what was taken off the long ones, if that is known, and which of these wait apart from
        others (`groups_apart`).

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
        _pauses(seconds).alias("pauses"),
        _of_wire(pl.col("packets"), pl.lit(1)).alias("wire_packets"),
        _of_wire(pl.col("ip_bytes"), _header_bytes()).alias("wire_ip_bytes"),
    )
    long = flows.filter(pl.col("long") & pl.col("elastic"))
    trips = _trips(observation, is_ahead=is_ahead)
    groups = groups_apart(trips, long.select(*_KEYS, "first_ns", "last_ns"))
    # what short flows alone wait is known of few of them
    waits, found = _waits(
        observation, interface, direction, is_ahead=is_ahead, long=long, is_apart=bool(groups)
    )
    known = long.select(_KEYS)
    if found is not None:
        flows, known = _without_hidden(flows, found.flows), found.flows.select(_KEYS)
    if not waits.is_empty():
        flows = _without_waiting(flows, waits, known, _hidden_by_moments(trips, waits))
    is_seen = pl.col("rtt_ms").is_finite() & (pl.col("rtt_ms") > 0)
    least = pl.when(is_seen).then(pl.max_horizontal("rtt_ms", pl.lit(LEAST_RTT_MS))).otherwise("rtt_ms")
    return flows.with_columns(least.alias("rtt_ms")), found, groups


def _trips(observation: Observation, *, is_ahead: bool) -> pl.DataFrame:
    return observation.trips.filter(pl.col("is_ahead") == int(is_ahead))


def waits_over_time(
    observation: Observation, interface: int, direction: int, *, is_ahead: bool, long: pl.DataFrame
) -> pl.DataFrame:
    """The moments of a direction, by time, with what long flows waited, `wait_ms`.

    Args:
        observation: The capture.
        interface: The interface.
        direction: 0 for out, 1 for in.
        is_ahead: Whether the link's queue lies beyond the place of the capture.
        long: The long flows of the direction.
    """
    return _waits(observation, interface, direction, is_ahead=is_ahead, long=long)[0]


def _waits(
    observation: Observation,
    interface: int,
    direction: int,
    *,
    is_ahead: bool,
    long: pl.DataFrame,
    is_apart: bool = False,
) -> tuple[pl.DataFrame, Hidden | None]:
    """The same, and what hides in the round-trip times of long flows, unless groups of them wait apart."""
    place = (pl.col("interface") == interface) & (pl.col("direction") == direction)
    moments = observation.moments.filter(place & (pl.col("is_ahead") == int(is_ahead)))
    trips = _trips(observation, is_ahead=is_ahead)
    begun = long.select("connection", "sender", "first_ns", "last_ns", "is_opened")
    found = None if is_apart or _is_often_empty(trips, long) else hidden(trips, begun)
    return _with_waits(moments, trips, long, found), found


def _is_often_empty(trips: pl.DataFrame, long: pl.DataFrame) -> bool:
    """Whether a flow that pauses met an empty queue again and again, so that nothing hides in round trips.

    Flows that pause have samples at other moments than each other, so that their waits cannot be compared.
    """
    pausing = trips.filter(pl.col("samples") > 0).join(long.filter("pauses").select(_KEYS), on=_KEYS)
    at_least = pl.col("lowest_ns") <= (1.0 + _NO_WAIT_PART) * pl.col("least_ns") + _NO_WAIT_NS
    bins = pausing.group_by(_KEYS).agg(at_least.mean().alias("empty"), pl.len().alias("bins"))
    return not bins.filter(pl.col("empty") >= _OFTEN_EMPTY, pl.col("bins") >= _FEWEST_EMPTY).is_empty()


def _without_hidden(flows: pl.DataFrame, hides: pl.DataFrame) -> pl.DataFrame:
    """What all wait for together, taken off the round-trip times of those of which it is known."""
    known = flows.join(hides, on=_KEYS, how="left", maintain_order="left")
    rtt_ms = pl.col("rtt_ms") - pl.col("hidden_ms").fill_null(0.0)
    return known.with_columns(rtt_ms.alias("rtt_ms")).select(flows.columns)


def _of_wire(captured: pl.Expr, each: pl.Expr) -> pl.Expr:
    """What was captured, and as much again for each further segment that a packet stands for."""
    return captured + (pl.col("large_segments") - pl.col("large_packets")) * each


def _header_bytes() -> pl.Expr:
    """The mean of a packet's."""
    return (pl.col("ip_bytes") - pl.col("payload_bytes")) / pl.max_horizontal(pl.col("packets"), 1)


def _pauses(seconds: pl.Expr) -> pl.Expr:
    """Whether a flow has nothing to send by turns."""
    silent_s = pl.col("silences") * pl.col("silence_mean_ns").fill_nan(0.0) / NS_PER_S
    return (pl.col("silences") >= _FEWEST_SILENCES) & (silent_s >= _SILENT_PART * seconds)


def _new_bytes() -> pl.Expr:
    """Payload without second copies; what was lost before the place of the capture comes once."""
    second = pl.col("retransmitted_segments") - pl.col("lost_before_segments")
    part = second / pl.max_horizontal(pl.col("retransmitted_segments"), 1)
    return pl.col("payload_bytes") - (part * pl.col("retransmitted_bytes")).round(0).cast(pl.UInt64)


def _with_waits(
    moments: pl.DataFrame, trips: pl.DataFrame, long: pl.DataFrame, found: Hidden | None
) -> pl.DataFrame:
    """The moments of long flows with what those waited, `wait_ms`: the larger of two that err downward.

    The median of what their round trips exceed each connection's smallest by is of that moment, but the
    flows that had samples then may all have begun in a full queue: what hides in that which saw the emptiest
    is added. Of each flow by itself it is known what
    hides, but a bin is a 64th of a long one, so its smallest round trip counts. Where it is known what hides,
    moments that no such flow has a sample of are left out.
    """
    moments = moments.filter(pl.col("long_samples") > 0).sort("start_ns")
    medians = moments["median_ns"].to_numpy() / NS_PER_MS
    hides = found.flows if found else long.with_columns(hidden_ms=0.0)
    known = trips.filter(pl.col("samples") > 0).join(hides.select(*_KEYS, "hidden_ms"), on=_KEYS)
    waits = (known["lowest_ns"] - known["least_ns"]).to_numpy() / NS_PER_MS + known["hidden_ms"].to_numpy()
    weights = (known["samples"] / known["width_ns"]).to_numpy()
    starts = moments["start_ns"].to_numpy()
    begins = np.searchsorted(starts, known["start_ns"].to_numpy())
    ends = np.searchsorted(starts, (known["start_ns"] + known["width_ns"]).to_numpy())
    sums, totals = np.zeros(len(starts)), np.zeros(len(starts))
    least = np.full(len(starts), np.inf)
    for begin, end, wait, weight, hidden_ms in zip(
        begins, ends, waits, weights, known["hidden_ms"].to_numpy(), strict=True
    ):
        sums[begin:end] += weight * wait
        totals[begin:end] += weight
        least[begin:end] = np.minimum(least[begin:end], hidden_ms)
    medians += np.where(np.isfinite(least), least, 0.0)
    larger = np.maximum(medians, sums / np.where(totals > 0, totals, 1.0))
    is_known = totals > 0 if found else totals >= 0
    return moments.with_columns(pl.Series("wait_ms", larger)).filter(pl.Series(is_known))


def _hidden_by_moments(trips: pl.DataFrame, moments: pl.DataFrame) -> pl.DataFrame:
    """What others wait beyond a flow's own round trips at the same moments, in the median: `most_ms`.

    One that saw the queue fill from nothing has nothing hidden in its smallest round trip, however much
    others waited at the least while it lasted.
    """
    starts, sums = moments["start_ns"].to_numpy(), np.append(0.0, moments["wait_ms"].to_numpy().cumsum())
    begins = np.searchsorted(starts, trips["start_ns"].to_numpy())
    ends = np.searchsorted(starts, (trips["start_ns"] + trips["width_ns"]).to_numpy())
    waited = (sums[ends] - sums[begins]) / np.maximum(ends - begins, 1)
    beyond = (trips["mean_ns"] - trips["least_ns"].cast(pl.Float64)).to_numpy() / NS_PER_MS
    return (
        trips.select(*_KEYS, most_ms=pl.Series(waited - beyond))
        .filter(pl.Series(ends > begins))
        .group_by(_KEYS)
        .agg(pl.col("most_ms").median())
    )


def _without_waiting(
    flows: pl.DataFrame, moments: pl.DataFrame, known: pl.DataFrame, most: pl.DataFrame
) -> pl.DataFrame:
    """The least median wait of long flows while a flow lasted, taken off the times of those not known.

    No more is taken off than `most` has of a flow.
    """
    most_ms = flows.select(_KEYS).join(most, on=_KEYS, how="left", maintain_order="left")["most_ms"]
    least_ms = np.clip(most_ms.fill_null(math.inf).to_numpy(), 0.0, _least_waits_ms(flows, moments))
    # what others waited is an estimate, too: a part of the time stays
    nearly = (1.0 - _LEAST_PART) * pl.col("rtt_ms")
    off = pl.min_horizontal(pl.Series("off", np.where(np.isfinite(least_ms), least_ms, 0.0)), nearly)
    is_known = flows.join(known.with_columns(is_known=True), on=_KEYS, how="left", maintain_order="left")
    return flows.with_columns(
        pl.when(is_known["is_known"].fill_null(value=False))
        .then(pl.col("rtt_ms"))
        .otherwise(pl.col("rtt_ms") - off)
        .alias("rtt_ms")
    )


def _least_waits_ms(flows: pl.DataFrame, moments: pl.DataFrame) -> Array:
    """The least of the moments from a flow's first packet to its last, and the nearest on both sides.

    A moment that is farther from the flow than `_NEAR_S` says nothing of it; infinite if there is none.
    """
    starts = moments["start_ns"].to_numpy()
    ends = (moments["start_ns"] + moments["width_ns"]).to_numpy()
    waits_ms = np.append(moments["wait_ms"].to_numpy(), np.inf)
    near_ns = int(_NEAR_S * NS_PER_S)
    first, last = flows["first_ns"].to_numpy(), flows["last_ns"].to_numpy()
    # the last moment that begins before the first packet, and the first one that ends behind the last
    begins = np.maximum(np.searchsorted(starts, first, side="right") - 1, 0)
    begins += ends[begins] + near_ns < first
    stops = np.minimum(np.searchsorted(ends, last, side="left"), len(starts) - 1)
    stops -= starts[stops] > last + near_ns
    known = begins <= stops
    bounds = np.stack((np.where(known, begins, len(starts)), np.where(known, stops + 1, 0)), axis=1).ravel()
    return np.where(known, np.minimum.reduceat(waits_ms, bounds)[::2], np.inf)


def behind_a_queue(flows: pl.DataFrame, moments: pl.DataFrame) -> pl.DataFrame:
    """Flows that only met a queue, with the least that others waited meanwhile, `least_ms`.

    Their round trips are too long by as much. Less than half of one is not much, what was taken off
    already says nothing more, and what is longer than one was waited by others elsewhere. Our choice.

    Args:
        flows: Long flows, with their `rtt_ms`.
        moments: What long flows waited over time.
    """
    if moments.is_empty() or flows.is_empty():
        return flows.clear().with_columns(least_ms=pl.lit(0.0))
    least = pl.Series("least_ms", _least_waits_ms(flows, moments))
    own_ms = pl.col("path_rtt_ns") / NS_PER_MS
    return flows.with_columns(least).filter(
        pl.col("least_ms").is_finite(),
        pl.col("least_ms").is_between(_MUCH_PART * pl.col("rtt_ms"), pl.col("rtt_ms")),
        pl.col("rtt_ms") >= (1.0 - _LITTLE_PART) * own_ms,
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


def mean_bytes(flows: pl.DataFrame) -> float:
    """Of the packets on the wire."""
    return float(flows["wire_ip_bytes"].sum()) / max(float(flows["wire_packets"].sum()), 1.0)


def loss_of(flows: pl.DataFrame) -> float | None:
    """Segments that were sent again over segments, 0 to 1; none without TCP."""
    tcp = flows.filter(pl.col("protocol") == TCP)
    segments = int(tcp["segments"].sum())
    needed = int(tcp["retransmitted_segments"].sum()) - int(tcp["spurious_segments"].sum())
    return max(needed, 0) / segments if segments else None


def lasting_loss_of(flows: pl.DataFrame) -> float | None:
    """Segments sent again over segments, 0 to 1, without the starts of long flows.

    A flow has one start, however long it lasts.
    In slow start a sender's window doubles until the buffer overflows, by up to what the path holds
    (RFC 5681, section 3.1), and BBR's start does the same. In a capture of a minute that may be most of what
    is lost, and a scenario's runs, which begin before they are measured, do not have it. A flow that loses
    in its start alone has lost nothing.
    """
    of_start = pl.col("long") & (pl.col("protocol") == TCP)
    zero = pl.lit(0, pl.UInt64)
    return loss_of(
        flows.with_columns(
            (pl.col(name) - pl.when(of_start).then(pl.col(f"start_{name}")).otherwise(zero)).alias(name)
            for name in ("segments", "retransmitted_segments")
        )
    )
