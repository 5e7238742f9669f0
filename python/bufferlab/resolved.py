"""What a resolved scenario says of its groups of flows, and how it names parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedApplication, ResolvedFlow, ResolvedLink, ResolvedStack

FELT_BY_GOODPUT: Final = frozenset({"bulk", "on-off"})
"""Kinds of applications of which users feel the goodput: they send as much as they can while they send."""

_RATED: Final = frozenset({"ping", "web", "echo", "video-call"})

_UNITS: Final = ("_ps", "_bps", "_bytes")


def key_of(parameter: str) -> str:
    """The key of a parameter as scenarios write it: its name without the unit."""
    unit = next((unit for unit in _UNITS if parameter.endswith(unit)), "")
    return parameter.removesuffix(unit)


def varies(link: ResolvedLink) -> bool:
    """Whether a link's rate varies, so that its `rate_bps` is a mean."""
    changes = any(each["rate_bps"] is not None for each in link["changes"])
    handover = link["handover"]
    outages = handover is not None and (handover == "starlink" or "outage" in handover)
    return changes or outages or link["capacity"] is not None


def full_packet_bytes(flow: ResolvedFlow) -> int:
    """Size of a group's full packet of data on the wire, bytes."""
    application = flow["application"]
    if application["kind"] == "udp" or application["kind"] == "ping" or application["kind"] == "video-call":
        return application["packet_bytes"]
    return payload_bytes(flow) + _tcp_of(flow)["header_bytes"]


def datagrams_bps(flow: ResolvedFlow) -> float:
    """What a group of datagrams sends while it does, all its flows together, bit/s; of others nothing."""
    sent = flow["application"]
    if sent["kind"] != "udp":
        return 0.0
    if sent["rate_bps"] is not None:
        return float(flow["count"] * sent["rate_bps"])
    return flow["count"] * sent["packet_bytes"] * 8 * PS_PER_S / sent["interval_ps"]


def payload_bytes(flow: ResolvedFlow) -> int:
    """Size of the data in a full packet of a group of TCP, bytes."""
    return _tcp_of(flow)["segment_bytes"]


def _tcp_of(flow: ResolvedFlow) -> ResolvedStack:
    tcp = flow["tcp"]
    if tcp is None:
        raise TypeError(f"a {flow['application']['kind']} application has no packets of its own")
    return tcp


def lasts(flow: ResolvedFlow) -> bool:
    """Whether a group is TCP that is there for all of the run, or comes again and again."""
    return flow["tcp"] is not None and flow["application"]["kind"] != "transfer"


def is_endless(flow: ResolvedFlow) -> bool:
    """Whether a group is TCP that always has something to send.

    Fewer kinds than `FELT_BY_GOODPUT`: an on-off flow pauses, so that with more such flows, or another
    control, the link has another load and not only other windows.
    """
    return flow["tcp"] is not None and flow["application"]["kind"] == "bulk"


def is_rated(application: ResolvedApplication) -> bool:
    """Whether users feel single waits and losses: in calls, and of pings, pages and echoes."""
    return is_recorded(application) or application["kind"] in _RATED


def feels_waits(application: ResolvedApplication) -> bool:
    """Whether users wait for packets: those of what is rated, and of videos, which have a buffer at home."""
    return is_rated(application) or application["kind"] == "video"


def is_recorded(application: ResolvedApplication) -> bool:
    """Whether each packet is an exchange of its own: those of calls; a flood's are not."""
    if application["kind"] == "udp":
        return bool(application["record"])
    return application["kind"] == "video-call"
