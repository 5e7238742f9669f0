"""What waits in the queue of a captured link."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from bufferlab.captured.link import TCP, VANTAGES, CapturedLink
from bufferlab.captured.observation import NS_PER_MS, Observation
from bufferlab.captured.shared import Hidden, weighted_median
from bufferlab.errors import InputError
from bufferlab.units import PS_PER_MS, parse_time

_QUANTILES: Final = ("median", "p95", "p99", "max")
_KEYS: Final = ["connection", "sender"]

_PLATEAU: Final = 0.75
_TIGHT: Final = 1.35
"""A buffer fills, too, if the ends of what eight of ten losses come at are no farther apart, as a ratio (some
15 % about the middle), and one packet in twenty waits for no more times the middle. Our choice."""

LEAST_LOSSES: Final = 3
_LEAST_NS: Final = 1e6
"""As in the observer (queueing.rs)."""

_FEWEST_WINDOWS: Final = 10
"""Windows of 100 ms with a queue from which on the side without losses is believed. Our choice."""

_LITTLE: Final = 0.05
"""Part of a known round-trip time up to which smallest ones in the capture are as long. Our choice."""


@dataclass(frozen=True)
class Waiting:
    """What waits for a direction of a link.

    Attributes:
        row: The row of its queue; `None` where no round trip shows it.
        is_ahead: Whether that queue lies beyond the place of the capture.
        why_none: Why it is not known.
    """

    row: dict[str, Any] | None
    is_ahead: bool
    why_none: str | None = None


def waits_of(observation: Observation, link: Mapping[str, Any]) -> Waiting:
    """What waits on the side on which the queue is, if round trips were measured there.

    What waits before a place shows in timestamps alone. Without them, round trips are only those between that
    place and the receivers. Where packets are neither lost nor wait there, a queue may still be before it.

    Args:
        observation: The capture.
        link: The row of the direction in the table of links.
    """
    place = (pl.col("interface") == link["interface"]) & (pl.col("direction") == link["direction"])
    rows = observation.queueing.filter(place & (pl.col("samples") > 0)).rows(named=True)
    by_side = {bool(row["is_ahead"]): row for row in rows}
    sent = observation.directions.filter(pl.col("direction") == link["direction"]).join(
        observation.connections.filter(pl.col("interface") == link["interface"]).drop("direction"),
        on="connection",
    )
    ahead = bool(link["is_queue_ahead"])
    if False not in by_side and not ahead and _is_near_senders(sent):
        ahead = True
    row = by_side.get(ahead)
    if row is not None and (ahead is False or False in by_side or _is_sure(row, link, sent)):
        return Waiting(row, ahead)
    return Waiting(None, ahead, _why_none(observation, sent) if by_side else "no round trip shows them")


def _is_near_senders(sent: pl.DataFrame) -> bool:
    near = sent.filter(pl.col("vantage") == VANTAGES.index("near the sender"))
    return 2 * int(near["ip_bytes"].sum()) > int(sent["ip_bytes"].sum())


def _is_sure(row: Mapping[str, Any], link: Mapping[str, Any], sent: pl.DataFrame) -> bool:
    """Whether a queue beyond the place of the capture is the one, where nothing shows what is before it."""
    is_seen = link["queued_100ms_windows"] >= _FEWEST_WINDOWS or row["loss_episodes"] > 0
    return is_seen or _is_near_senders(sent)


def _why_none(observation: Observation, sent: pl.DataFrame) -> str:
    tcp = sent.filter(pl.col("protocol") == TCP)
    unstamped = int(tcp.filter(pl.col("has_timestamps") == 0)["ip_bytes"].sum())
    if 2 * unstamped <= int(tcp["ip_bytes"].sum()):
        return "no round trip shows them on that side of this place where packets are lost"
    lacks = (
        "the capture cut them off (128 bytes of each packet are enough)"
        if observation.is_cut
        else "most packets have none: capture at the senders' side, before the queue"
    )
    return f"what waits before this place shows in TCP's timestamps, and {lacks}"


def with_hidden(waits: dict[str, Any], found: Hidden, observation: Observation) -> dict[str, Any]:
    """The same row with what hides in the smallest round trips.

    Quantiles are those of each flow's round trips beyond its own, in the median over flows, weighted by
    their samples. What each flow waited before its losses is longer by what hides in its own.

    Args:
        waits: The row.
        found: What hides.
        observation: The capture.
    """
    sides = pl.col("sender") if waits["is_ahead"] else 1 - pl.col("sender")
    legs = observation.directions.select(
        "connection", sides.cast(pl.UInt32).alias("sender"), pl.col("^rtt_.*_ns$").name.suffix("_leg")
    )
    flows = found.flows.join(legs, on=_KEYS)
    hides = flows["hidden_ms"].to_numpy() * NS_PER_MS
    own = flows["rtt_min_ns_leg"].to_numpy() - hides
    samples = flows["samples"].to_numpy()
    row = dict(waits)
    for name in _QUANTILES:
        # quantiles are of buckets, and may be below the smallest
        beyond = np.maximum(flows[f"rtt_{name}_ns_leg"].to_numpy() - own, 0.0)
        row[f"{name}_ns"] = float(beyond.max()) if name == "max" else weighted_median(beyond, samples)
    return with_depth(row, observation, found.flows)


def with_known_rtt(link: CapturedLink, rtt: str | None) -> tuple[CapturedLink, float]:
    """The link with what hides in its flows' smallest round trips where one without waiting is known.

    Where the queue was never empty, no round trip of the capture is without waiting.

    Args:
        link: What was captured.
        rtt: A round-trip time without waiting: "40 ms"; what is a law tells nothing of one flow.

    Returns:
        The link, and what hides in the median, ms; the link as it is and 0 if that is little.
    """
    own_ms = constant_ms(rtt)
    long = link.long.filter(pl.col("path_rtt_ns").is_finite() & (pl.col("path_rtt_ns") > 0))
    if own_ms is None or link.waits is None or long.is_empty():
        return link, 0.0
    above_ms = np.maximum(long["path_rtt_ns"].to_numpy() / NS_PER_MS - own_ms, 0.0)
    samples = np.maximum(long["rtt_samples"].to_numpy(), 1)
    usual_ms = weighted_median(above_ms, samples)
    if usual_ms <= _LITTLE * own_ms:
        return link, 0.0
    flows = long.select("connection", "sender").with_columns(
        pl.Series("samples", samples), pl.Series("hidden_ms", above_ms)
    )
    waits = with_hidden(link.waits, Hidden(flows, usual_ms), link.observation)
    return replace(link, waits=waits), usual_ms


def constant_ms(rtt: str | None) -> float | None:
    """A time, ms; `None` of a law, and of what is refused elsewhere."""
    try:
        return None if rtt is None else parse_time(rtt) / PS_PER_MS
    except InputError:
        return None


def with_depth(waits: dict[str, Any], observation: Observation, flows: pl.DataFrame) -> dict[str, Any]:
    """The same row with the buffer, if it fills: how long a packet waits that comes before others are lost.

    A buffer fills if half of the losses come when at least three quarters of the 99th percentile is waited,
    or if they come at one depth and hardly one packet in twenty waits longer: what one in a hundred waits may
    be a host's.
    What a flow waits before a loss is that of the last packet that was measured, so it errs downward: the
    depth is what two in five losses exceed, or the 95th percentile of all waits if that is more. The clocks
    of senders tick in milliseconds, so a higher quantile errs upward where few packets fit. Its ends are the
    10th and the 90th percentile, and a packet's transmission beyond.

    Args:
        waits: The row, with `packet_ns`, what a packet takes to be sent, if that is known.
        observation: The capture.
        flows: `connection`, `sender` and `hidden_ms`, what hides in its round trips, of the link's flows.
    """
    side = pl.col("is_ahead") == int(waits["is_ahead"])
    lost = observation.losses.filter(side).join(flows.select(*_KEYS, "hidden_ms"), on=_KEYS)
    beyond = lost["trip_ns"].cast(pl.Float64) - lost["least_ns"].cast(pl.Float64)
    waited = (beyond + NS_PER_MS * lost["hidden_ms"]).to_numpy()
    waited = np.repeat(waited, lost["episodes"].cast(pl.Int64).to_numpy())
    found = dict.fromkeys(("at_loss_median_ns", "depth_ns", "depth_low_ns", "depth_high_ns"), math.nan)
    if len(waited) < LEAST_LOSSES:
        return waits | found | {"is_filled": 0, "at_loss_samples": len(waited)}
    low, median, upper, high = (float(value) for value in np.quantile(waited, _PARTS))
    found |= {"at_loss_median_ns": median, "at_loss_low_ns": low, "at_loss_high_ns": high}
    is_tight = high <= _TIGHT * low and waits["p95_ns"] <= _TIGHT * median
    is_filled = (median >= _PLATEAU * waits["p99_ns"] or is_tight) and waits["p99_ns"] > _LEAST_NS
    if is_filled:
        deep = max(upper, waits["p95_ns"])
        # a packet that is being sent is in none of what waits, or in all
        packet_ns = waits.get("packet_ns", 0.0)
        found |= {
            "depth_ns": deep,
            "depth_low_ns": max(min(low, deep) - packet_ns, 0.0),
            "depth_high_ns": max(high, deep) + packet_ns,
        }
    return waits | found | {"is_filled": int(is_filled), "at_loss_samples": len(waited)}


_PARTS: Final = (0.1, 0.5, 0.6, 0.9)
