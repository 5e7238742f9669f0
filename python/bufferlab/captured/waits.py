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
_DEPTHS: Final = ("depth_ns", "depth_low_ns", "depth_high_ns")
_PARTS: Final = (0.5, 0.1, 0.9)

_PLATEAU: Final = 0.75
_LEAST_LOSSES: Final = 3
_RESOLUTION: Final = 1.008
"""Values of distributions are within 0.8 %."""

_LEAST_NS: Final = 1e6

_FEWEST_WINDOWS: Final = 10
"""Windows of 100 ms with a queue from which on the side without losses is believed. Our choice."""

_LEAST_KEPT: Final = 96
"""Bytes of a packet below which a file may lack timestamps: Ethernet with a tag, IPv6, and TCP's options."""

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
    return Waiting(None, ahead, _why_none(observation, link, sent) if by_side else "no round trip shows them")


def _is_near_senders(sent: pl.DataFrame) -> bool:
    near = sent.filter(pl.col("vantage") == VANTAGES.index("near the sender"))
    return 2 * int(near["ip_bytes"].sum()) > int(sent["ip_bytes"].sum())


def _is_sure(row: Mapping[str, Any], link: Mapping[str, Any], sent: pl.DataFrame) -> bool:
    """Whether a queue beyond the place of the capture is the one, where nothing shows what is before it."""
    is_seen = link["queued_100ms_windows"] >= _FEWEST_WINDOWS or row["loss_episodes"] > 0
    return is_seen or _is_near_senders(sent)


def _why_none(observation: Observation, link: Mapping[str, Any], sent: pl.DataFrame) -> str:
    tcp = sent.filter(pl.col("protocol") == TCP)
    unstamped = int(tcp.filter(pl.col("has_timestamps") == 0)["ip_bytes"].sum())
    if 2 * unstamped <= int(tcp["ip_bytes"].sum()):
        return "no round trip shows them on that side of this place where packets are lost"
    kept = observation.interfaces[link["interface"]][2]
    if kept and kept < _LEAST_KEPT:
        lacks = f"the file has but {kept} bytes of a packet, without them (128 are enough)"
    else:
        lacks = "most packets have none: capture at the senders' side, before the queue"
    return f"what waits before this place shows in TCP's timestamps, and {lacks}"


def with_hidden(waits: dict[str, Any], found: Hidden, observation: Observation) -> dict[str, Any]:
    """The same row with what hides in the smallest round trips.

    Quantiles are those of each flow's round trips beyond its own, in the median over flows, weighted by
    their samples. The buffer is deeper by what hides in the median loss.

    Args:
        waits: The row.
        found: What hides.
        observation: The capture.
    """
    sides = pl.col("sender") if waits["is_ahead"] else 1 - pl.col("sender")
    legs = observation.directions.select(
        "connection", sides.cast(pl.UInt32).alias("sender"), pl.col("^rtt_.*_ns$").name.suffix("_leg")
    )
    losses = observation.directions.select("connection", "sender", "loss_episodes")
    flows = found.flows.join(legs, on=["connection", "sender"]).join(losses, on=["connection", "sender"])
    hides = flows["hidden_ms"].to_numpy() * NS_PER_MS
    own = flows["rtt_min_ns_leg"].to_numpy() - hides
    samples = flows["samples"].to_numpy()
    row = dict(waits)
    for name in _QUANTILES:
        beyond = flows[f"rtt_{name}_ns_leg"].to_numpy() - own
        row[f"{name}_ns"] = float(beyond.max()) if name == "max" else weighted_median(beyond, samples)
    lost = flows["loss_episodes"].to_numpy()
    distributions = observation.distributions
    return row | depth(row, weighted_median(hides, lost), distributions) if lost.sum() else row


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


def depth(row: Mapping[str, Any], hides_ns: float, distributions: pl.DataFrame) -> dict[str, Any]:
    """The buffer, where that much hides of what waits before a loss, by the observer's rule (queueing.rs)."""
    side = "ahead" if row["is_ahead"] else "behind"
    seen = distributions.filter(
        (pl.col("interface") == row["interface"])
        & (pl.col("direction") == row["direction"])
        & (pl.col("quantity") == f"excess_at_loss_{side}_ns")
    ).sort("value")
    if seen["count"].sum() < _LEAST_LOSSES:
        return {}
    reached = seen["count"].cum_sum() / seen["count"].sum()
    # one number for all flows: of some less hides, and a flow waits no longer before a loss than at any time
    most_ns = _RESOLUTION * row["max_ns"]
    median, low, high = (
        min(float(seen["value"][int((reached < part).sum())]) + hides_ns, most_ns) for part in _PARTS
    )
    is_filled = median >= _PLATEAU * row["p99_ns"] and row["p99_ns"] > _LEAST_NS
    depths = (median, low, high) if is_filled else (math.nan,) * 3
    return {"at_loss_median_ns": median, "is_filled": int(is_filled)} | dict(
        zip(_DEPTHS, depths, strict=True)
    )
