"""A runnable scenario of what was captured: rate, long flows and round trips, short flows, datagrams."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from bufferlab.captured.flows import timed
from bufferlab.captured.laws import law
from bufferlab.captured.link import CapturedLink
from bufferlab.captured.long import long_groups
from bufferlab.errors import InputError
from bufferlab.scenario import Scenario
from bufferlab.studies.internet import STACK
from bufferlab.units import format_rate

_LEAST_SHARE: Final = 0.005
"""Traffic with less of the link's rate is left out."""

_CALL_BYTES: Final = (60.0, 400.0)
_CALL_RATE: Final = (20.0, 120.0)
_CALL_S: Final = 5.0
"""Datagrams of that many bytes in the mean, that many a second, for at least that long, are taken for a call.
Our choice: G.711 has 50 packets of 200 bytes a second, Opus of 20 kbit/s 50 of 90, G.729 with 30 ms 33 of 70.
A game may look the same, and its players feel the same."""

_DIGITS: Final = 4

_USUAL_RTT_MS: Final = 40.0
"""Of datagrams in a capture without any round trip; it changes nothing but their own delay."""


def scenario_of(
    link: CapturedLink, *, rate: str | None = None, mix: Sequence[tuple[str, float]] | None = None
) -> Scenario:
    """The scenario.

    Args:
        link: What was captured of a direction.
        rate: The link's rate, where the operator knows it.
        mix: Congestion controls of the long flows with their shares, in place of the Internet's mix.

    Raises:
        InputError: The link's rate is not known, or no flow has a round-trip time.
    """
    if rate is None:
        rate = _rate(link)
    flows = [*_long(link, mix), *_short(link), *_calls(link), *_datagrams(link)]
    if not flows:
        raise InputError(
            "has no flow with a round-trip time in this direction",
            file=link.observation.file,
            accepted="a capture with handshakes, timestamps, or both directions of its flows",
        )
    table = {
        "run": {
            "name": f"As captured in {link.observation.file.rsplit('/', 1)[-1]}"[:80],
            "duration": "60 s",
            "stack": STACK,
        },
        "bottleneck": {"rate": rate, "buffer": _buffer(link)},
        "flows": flows,
    }
    return Scenario.from_dict(table)


def _rate(link: CapturedLink) -> str:
    if link.rate_bps is None:
        raise InputError(
            "does not show the link's rate: nothing waited long enough",
            file=link.observation.file,
            accepted="a rate that you give, or a capture from a busy hour",
        )
    return format_rate(_rounded(link.rate_bps))


def _rounded(value: float) -> int:
    digits = _DIGITS - 1 - math.floor(math.log10(value))
    return round(round(value, digits))


def _buffer(link: CapturedLink) -> str:
    waits = link.waits
    if waits is None or not waits["is_filled"] or link.rate_bps is None:
        return "1 bdp"
    # a scenario's buffer in ms is of full packets, and what waited is of all sizes
    sizes = link.flows.select(pl.col("ip_bytes").sum(), pl.col("packets").sum())
    packet_bytes = sizes["ip_bytes"][0] / sizes["packets"][0]
    depth_bytes = waits["depth_ns"] / 1e9 * link.rate_bps / 8
    return f"{max(round(depth_bytes / packet_bytes), 1)} packets"


def _long(link: CapturedLink, mix: Sequence[tuple[str, float]] | None) -> list[dict[str, Any]]:
    known = timed(link.long)
    count = round(link.long_flows)
    if known.is_empty() or not count:
        return []
    segment = _segment(known)
    common = {**({"segment": segment} if segment else {}), "start": "uniform(0 s, 5 s)"}
    return [{**group, **common} for group in long_groups(known, count, mix)]


def _short(link: CapturedLink) -> list[dict[str, Any]]:
    short = link.short
    payload = float(short["payload_bytes"].sum())
    if short.is_empty() or not _matters(link, payload):
        return []
    rtts = timed(short if not timed(short).is_empty() else link.long)
    if rtts.is_empty():
        return []
    interval_s = link.observation.duration_s / len(short)
    ones = pl.Series([1.0] * len(short))
    return [
        {
            "name": "short",
            "rtt": law(rtts["rtt_ms"], pl.Series([1.0] * len(rtts)), "ms"),
            "application": {
                "kind": "short-flows",
                "size": law(short["new_bytes"].cast(pl.Float64), ones, "B"),
                "interval": f"{interval_s * 1e3:.4g} ms",
            },
        }
    ]


def left_out(link: CapturedLink) -> dict[str, float]:
    """What the scenario does not have, with its share of the link's rate; of the load if that is unknown."""
    reference = (link.rate_bps or link.load_bps) * link.observation.duration_s / 8
    rest = link.datagrams.filter(~_is_call())
    given = {
        "short flows": (float(link.short["payload_bytes"].sum()), _short(link)),
        "datagrams": (float(rest["ip_bytes"].sum()), _datagrams(link)),
    }
    return {name: sent / reference for name, (sent, groups) in given.items() if sent and not groups}


def _is_call() -> pl.Expr:
    size, rate = pl.col("ip_bytes") / pl.col("packets"), pl.col("packets") / pl.col("seconds")
    return (pl.col("seconds") >= _CALL_S) & size.is_between(*_CALL_BYTES) & rate.is_between(*_CALL_RATE)


def _calls(link: CapturedLink) -> list[dict[str, Any]]:
    """Voices of calls, however little of the link they are: whoever calls feels its queue most."""
    calls = link.datagrams.filter(_is_call())
    seconds = float(calls["seconds"].sum())
    if calls.is_empty():
        return []
    packets = int(calls["packets"].sum())
    return [
        {
            "name": "call",
            "count": max(round(seconds / link.observation.duration_s), 1),
            "rtt": _rtt_of_datagrams(link),
            "application": {
                "kind": "udp",
                "packet": f"{round(float(calls['ip_bytes'].sum()) / packets)} B",
                "interval": f"{seconds / (packets - len(calls)) * 1e3:.4g} ms",
            },
        }
    ]


def _rtt_of_datagrams(link: CapturedLink) -> str:
    rtts = timed(link.flows)["rtt_ms"]
    rtt_ms = rtts[len(rtts) // 2] if len(rtts) else _USUAL_RTT_MS
    return f"{rtt_ms:.4g} ms"


def _datagrams(link: CapturedLink) -> list[dict[str, Any]]:
    sent = link.datagrams.filter(~_is_call())
    total, packets = float(sent["ip_bytes"].sum()), int(sent["packets"].sum())
    if not packets or not _matters(link, total):
        return []
    return [
        {
            "name": "datagrams",
            "rtt": _rtt_of_datagrams(link),
            "application": {
                "kind": "udp",
                "packet": f"{max(round(total / packets), 29)} B",
                "rate": format_rate(_rounded(total * 8 / link.observation.duration_s)),
                "arrivals": "poisson",
            },
        }
    ]


def _matters(link: CapturedLink, sent_bytes: float) -> bool:
    reference = link.rate_bps or link.load_bps
    return sent_bytes * 8 / link.observation.duration_s >= _LEAST_SHARE * reference


def _segment(flows: pl.DataFrame) -> str | None:
    """The largest segment of most bytes."""
    sizes = flows.filter(pl.col("largest_segment_bytes") > 0)
    if sizes.is_empty():
        return None
    by_bytes = sizes.group_by("largest_segment_bytes").agg(pl.col("ip_bytes").sum())
    most = by_bytes.sort("ip_bytes", "largest_segment_bytes", descending=True).row(0, named=True)
    return f"{most['largest_segment_bytes']} B"
