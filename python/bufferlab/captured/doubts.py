"""What may be wrong with what a capture says: sentences for the reader."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any, Final

import polars as pl

from bufferlab.captured.flows import TCP, timed
from bufferlab.captured.observation import NS_PER_S, Observation

_NOTABLE: Final = 0.02
"""Part of the payload from which on it matters that it goes the other way."""

_TWICE: Final = 0.01
_IMPLAUSIBLE: Final = 0.3
"""Part of the packets that come twice in a row, and of the segments that come again, from which on the
capture is rather to blame than the link. Our choice."""

_BUSY: Final = 0.97
_LEAST_BUSY: Final = 0.5
"""Parts of the rate: what arrives in each second on a full link behind its queue; before it in the mean of
all seconds, and in each at least. Our choice."""

_FEWEST_SECONDS: Final = 3

_MORE: Final = 1.05
"""What arrives can be this many times the rate of the link, by errors of both."""


def is_impossible(rate_bps: float, arrived_bps: float) -> bool:
    """Whether more arrived than a link of that rate carries."""
    return arrived_bps > _MORE * rate_bps


def doubts(
    observation: Observation, link: dict[str, Any], long: pl.DataFrame, *, named: bool, ahead: bool
) -> Iterator[str]:
    """What to beware of, as sentences.

    Args:
        observation: The capture, with its own addresses.
        link: The row of the direction in the table of links.
        long: Its long flows.
        named: Whether the operator named the networks of one side.
        ahead: Whether the queue lies beyond the place of the capture.
    """
    share = _other_way(observation, link)
    if not named and share > _NOTABLE and _is_guessed(observation, link["interface"]):
        yield (
            "which way packets go is a guess, as both ends have addresses of one kind, and "
            f"{100 * share:.0f} % of the payload goes the other way: --inside names the networks of one side"
        )
    yield from _doubled(long)
    if _is_one_way(observation, link):
        yield (
            "most bytes are of connections of which only this direction was captured, and those have no "
            "round trips: capture both directions (two ports of a tap: --joined), or name the round trip by "
            "--rtt"
        )
    if _is_begun_busy(observation, link, long, ahead=ahead):
        yield (
            "the capture begins in the middle of flows on a busy link: if the queue was never empty, round "
            "trips are shorter than these, waits and the buffer longer; begin earlier, or add a ping"
        )


def _doubled(long: pl.DataFrame) -> Iterator[str]:
    """Whether packets seem to be captured more than once, which looks like losses."""
    packets, doubled = int(long["packets"].sum()), int(long["doubled_packets"].sum())
    segments, again = int(long["segments"].sum()), int(long["retransmitted_segments"].sum())
    if doubled > _TWICE * packets:
        sign = f"{doubled:,} packets come twice in a row"
    elif again > _IMPLAUSIBLE * segments:
        sign = f"{100 * again / segments:.0f} % of the segments come again"
    else:
        return
    yield (
        f"{sign}, so the capture may have packets twice (tcpdump -i any, two interfaces in one): losses and "
        "rates are then wrong. Capture one interface, or all with -y LINUX_SLL2, which names that of each "
        "packet"
    )


def _other_way(observation: Observation, link: dict[str, Any]) -> float:
    """The part of the interface's payload that goes the other way."""
    own = observation.connections.filter(pl.col("interface") == link["interface"]).select("connection")
    sent = observation.directions.join(own, on="connection", how="semi")
    total = int(sent["payload_bytes"].sum())
    other = sent.filter(pl.col("direction") != link["direction"])
    return int(other["payload_bytes"].sum()) / total if total else 0.0


def _is_one_way(observation: Observation, link: dict[str, Any]) -> bool:
    """Whether most of TCP's bytes in this direction have no packet the other way."""
    own = observation.connections.filter(
        (pl.col("interface") == link["interface"]) & (pl.col("protocol") == TCP)
    ).select("connection")
    sent = observation.directions.join(own, on="connection", how="semi")
    back = sent.filter((pl.col("direction") != link["direction"]) & (pl.col("packets") > 0))
    there = sent.filter(pl.col("direction") == link["direction"])
    lonely = there.join(back, on="connection", how="anti")
    return 2 * int(lonely["ip_bytes"].sum()) > int(there["ip_bytes"].sum())


def _is_guessed(observation: Observation, interface: int) -> bool:
    """Whether most connections have two private ends, or two public ones."""
    ends = observation.connections.filter(pl.col("interface") == interface).select("initiator", "responder")
    same = [
        ipaddress.ip_address(first).is_private == ipaddress.ip_address(second).is_private
        for first, second in ends.iter_rows()
    ]
    return 2 * sum(same) > len(same)


def _is_begun_busy(
    observation: Observation, link: dict[str, Any], long: pl.DataFrame, *, ahead: bool
) -> bool:
    """Whether the link was full all the time, and most long flows were there before.

    Before the queue, more or less than the link carries arrives in a second; what arrives in the mean tells.
    """
    if not link["rate_bps"] or timed(long).is_empty() or 2 * int(long["is_opened"].sum()) > len(long):
        return False
    bins = observation.seconds.filter(
        (pl.col("interface") == link["interface"]) & (pl.col("direction") == link["direction"])
    ).sort("start_ns")[1:-1]
    loads = bins["wire_bytes"] * 8 / (bins["width_ns"] / NS_PER_S)
    if len(bins) < _FEWEST_SECONDS:
        return False
    rate_bps = float(link["rate_bps"])
    found: list[float] = loads.to_list()
    if ahead:
        return sum(found) >= _BUSY * rate_bps * len(found) and min(found) >= _LEAST_BUSY * rate_bps
    return min(found) >= _BUSY * rate_bps
