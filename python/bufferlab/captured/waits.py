"""What waits in the queue of a captured link."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl

from bufferlab.captured.link import CapturedLink
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

_LITTLE: Final = 0.05
"""Part of a known round-trip time up to which smallest ones in the capture are as long. Our choice."""


def waits_of(
    observation: Observation, interface: int, direction: int, *, ahead: bool
) -> dict[str, Any] | None:
    """The row of the queue of a direction, of the side that is given if it has samples; else `None`."""
    place = (pl.col("interface") == interface) & (pl.col("direction") == direction)
    rows = observation.queueing.filter(place & (pl.col("samples") > 0))
    own = rows.filter(pl.col("is_ahead") == int(ahead))
    rows = rows if own.is_empty() else own
    return None if rows.is_empty() else rows.sort("p95_ns", descending=True).row(0, named=True)


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
