"""What senders do by themselves, and what looks like a queue or a rate of the link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from bufferlab.captured.marks import marked
from bufferlab.captured.observation import NS_PER_S, Observation
from bufferlab.captured.shared import weighted_median

_FEW_PACKETS: Final = 6.0
"""A sender that has a pace delays a packet by some of them: one over a link of its own, up to 4.5 by Linux's
pacing, which sends two segments together. Of full links that lose and mark nothing, flows of BBR or with a
fixed window had 40 to 240 packets in the queue at the 95th percentile. Our choice."""

_TRAIN: Final = 4
"""At least that number of packets follow each other as close as a link lets them where they have waited for
it. Our choice."""

_TENTH_NS: Final = 1e8
_SURELY: Final = 0.9
"""A link has sent all the time for as long as a packet waited for it. So if half of the packets wait for that
part of a tenth of a second, some tenth carries as much of the rate, or nearly. Our choice."""

_CLOSER: Final = 1.15
_MOST: Final = 0.5
"""Packets come closer than the rate has it if most distances are those of one that is so much faster. Our
choice."""

_BUSY: Final = 0.9
_SELDOM: Final = 0.5
_DROPS_A_S: Final = 1.0
"""Packets wait in most windows of a link that is as busy as the first; if they do in less than the second
part of these, its rate is what was sent. Not where the queue drops or marks as often as the third: a small
buffer, and one where each flow has a queue of its own, keeps them waiting for less than windows tell. Our
choice."""

_KEYS: Final = ["connection", "sender"]


def is_own_pace(observation: Observation, waits: Mapping[str, Any] | None, long: pl.DataFrame) -> bool:
    """Whether packets wait no longer than a sender's own pace delays them, or a card beside it.

    Where they wait for a link together, it drops some, or marks them, or each flow has several packets in its
    queue. Those that leave at a pace, or over a link of each sender's own, are late by what a few take there.

    Args:
        observation: The capture.
        waits: What waits, of which losses on that side are known.
        long: The long flows of the direction.
    """
    if waits is None or waits["loss_episodes"] or long.is_empty() or marked(long):
        return False
    sides = pl.col("sender") if waits["is_ahead"] else 1 - pl.col("sender")
    legs = observation.directions.select(
        "connection",
        sides.cast(pl.UInt32).alias("sender"),
        (pl.col("rtt_p95_ns") - pl.col("rtt_min_ns")).alias("beyond_ns"),
    )
    waiting = pl.col("wire_packets") / pl.col("seconds") * pl.col("beyond_ns") / NS_PER_S
    found = long.join(legs, on=_KEYS).with_columns(waiting=waiting).filter(pl.col("waiting").is_finite())
    if found.is_empty():
        return False
    return weighted_median(found["waiting"].to_numpy(), found["wire_ip_bytes"].to_numpy()) < _FEW_PACKETS


def is_unexplained(link: Mapping[str, Any], waits: Mapping[str, Any] | None, long: pl.DataFrame) -> bool:
    """Whether round trips vary by more than waits for a link of that rate explain.

    Receivers delay acknowledgments, by 40 ms and more where a sender has a pace (RFC 1122, section 4.2.3.2).

    Args:
        link: The row of the direction in the table of links.
        waits: What waits, of which losses on that side are known.
        long: The long flows of the direction.
    """
    if waits is None or waits["loss_episodes"] or marked(long):
        return False
    busy = min(waits["median_ns"] / _TENTH_NS, 1.0)
    return bool(link["highest_100ms_bps"] < _SURELY * busy * link["rate_bps"])


def closer_bps(link: Mapping[str, Any], losses: float | None, long: pl.DataFrame) -> float | None:
    """The rate at which most packets follow each other, if it is faster than the link's by windows, bit/s.

    Behind a full link they are no closer than it sends them. Where some are lost or marked, it was full.

    Args:
        link: The row of the direction in the table of links.
        losses: Segments sent again over segments, 0 to 1.
        long: The long flows of the direction.
    """
    by_windows = link["rate_by"] in {1, 2}
    if link["is_queue_ahead"] or not by_windows or losses or marked(long):
        return None
    is_faster = link["dispersion_bps"] > _CLOSER * link["rate_bps"] and link["dispersion_share"] >= _MOST
    return float(link["dispersion_bps"]) if is_faster else None


def is_hardly_met(
    link: Mapping[str, Any], waits: Mapping[str, Any] | None, long: pl.DataFrame, duration_s: float
) -> bool:
    """Whether a link would be busy all the time by its rate, and packets wait in few of its windows.

    Senders with a pace send as much in any window, so also in the few in which some wait for what comes
    beside them. Not where losses come at one depth, or half of the packets wait for as long as a window:
    these have waited for the link, though flows met an empty queue too late to tell in which windows.

    Args:
        link: The row of the direction in the table of links.
        waits: What waits, of which losses on that side are known.
        long: The long flows of the direction.
        duration_s: How long the capture lasts, s.
    """
    if _shows_a_queue(waits or {}, marked(long), duration_s):
        return False
    name, width_s = {1: ("1s", 1.0), 2: ("100ms", 0.1)}.get(link["rate_by"], ("", 0.0))
    if not name:
        return False
    is_busy = link["wire_bytes"] * 8 / duration_s >= _BUSY * link["rate_bps"]
    return bool(is_busy and link[f"queued_{name}_windows"] < _SELDOM * duration_s / width_s)


def _shows_a_queue(waits: Mapping[str, Any], marks: int, duration_s: float) -> bool:
    is_long = waits.get("median_ns", 0.0) >= _TENTH_NS
    is_marked = waits.get("loss_episodes", 0) + marks >= _DROPS_A_S * duration_s
    return bool(waits.get("is_filled")) or is_long or is_marked


def part_in_trains(observation: Observation, interface: int, direction: int) -> float:
    """The part of the packets of trains that are at least of four packets, 0 to 1; 1 where there are none.

    Args:
        observation: The capture.
        interface: The interface.
        direction: 0 for out, 1 for in.
    """
    trains = observation.distributions.filter(
        (pl.col("quantity") == "train_packets")
        & (pl.col("interface") == interface)
        & (pl.col("direction") == direction)
    )
    packets = trains["value"] * trains["count"]
    total = float(packets.sum())
    return float(packets.filter(trains["value"] >= _TRAIN).sum()) / total if total else 1.0
