"""The rate of a captured link: how certain it is, from how many windows, or why it is not known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from bufferlab.captured.link import RATE_BY, VANTAGES

_TICK_S: Final = 1e-6
_FULL_BITS: Final = 12_000
"""Clocks and files of captures have microseconds or little better, and full packets 1500 bytes: where all
distances are equal, the rate is still no more certain than that. Our choice."""

_WINDOW_S: Final = (None, 1.0, 0.1, None)
"""How long the windows are that a rate comes from, by `rate_by`; none where it comes from none."""

_NAMES: Final = (None, "1s", "100ms", None)

_FEWEST: Final = 10
_LEAST_PART: Final = 0.5
"""Windows with a queue, and the part of them with one rate, from which on the observer takes it (rate.rs)."""

_SELDOM: Final = 0.2
"""A link is hardly loaded where packets wait in less than that part of a capture's windows. Our choice."""

_MUCH_LOSS: Final = 0.01
"""Losses from which on acknowledgments come in lumps that blur rates before the queue. Our choice."""

_MORE: Final = 1.05
"""What arrives can be this many times the rate of the link, by errors of both."""


_APART: Final = 0.15
_NOTABLE: Final = 0.15
"""A link varies if as many of its windows have another rate, which is as far from the first: in captures of
links that do not, others are within 9 %, as packets cross windows' edges, or fewer. Our choice."""


@dataclass(frozen=True)
class Rate:
    """The rate of a link's direction, in bytes on the wire.

    Attributes:
        bps: The rate, bit/s; `None` where it is not known.
        error_bps: Its standard deviation, bit/s, and never nothing.
        by: What it comes from.
        windows: How many windows have it; `None` where it comes from none.
        why_none: Why it is not known.
        other_bps: Another rate that the link has at times, bit/s; `None` where one is all that it has.
        other_share: The part of the windows with waiting packets that have it.
    """

    bps: float | None
    error_bps: float | None
    by: str
    windows: int | None = None
    why_none: str | None = None
    other_bps: float | None = None
    other_share: float = 0.0


def is_impossible(rate_bps: float, arrived_bps: float) -> bool:
    """Whether more arrived than a link of that rate carries."""
    return arrived_bps > _MORE * rate_bps


def rate_of(
    link: Mapping[str, Any],
    flows: pl.DataFrame,
    *,
    arrived_bps: float,
    has_waits: bool,
    losses: float | None = None,
    duration_s: float = 0.0,
) -> Rate:
    """The rate that a capture shows of a direction.

    Args:
        link: Its row of the table of links.
        flows: The flows that send in it.
        arrived_bps: What arrived in the mean, bit/s.
        has_waits: Whether any round trip shows what waits.
        losses: Segments sent again over segments, 0 to 1.
        duration_s: How long the capture lasts, s; 0 if that is not known.
    """
    few = _few(link, flows, losses, duration_s)
    bps, by = link["rate_bps"], link["rate_by"]
    if bps is None or not bps > 0:
        return Rate(None, None, RATE_BY[0], why_none=few if has_waits else _UNTIMED)
    if is_impossible(bps, arrived_bps):
        return Rate(None, None, RATE_BY[0], why_none="more arrived in the mean than what its windows show")
    if _is_senders_own(RATE_BY[by], flows):
        why = f"{few}, and distances between packets are those of their senders here"
        return Rate(None, None, RATE_BY[0], why_none=why)
    name = _NAMES[by]
    windows = None if name is None else _windows(link, name)
    return Rate(float(bps), _error_bps(link), RATE_BY[by], windows, None, *_other(link, float(bps)))


def _other(link: Mapping[str, Any], bps: float) -> tuple[float | None, float]:
    """The rate that many windows have in place of the first, and which part of them."""
    for name in ("1s", "100ms"):
        other, share = link[f"second_{name}_bps"], link[f"second_{name}_share"]
        is_many = share >= _NOTABLE and link[f"queued_{name}_windows"] >= _FEWEST
        if is_many and abs(other / bps - 1.0) > _APART:
            return float(other), float(share)
    return None, 0.0


_UNTIMED: Final = "no round trip shows when packets wait"


def _few(link: Mapping[str, Any], flows: pl.DataFrame, losses: float | None, duration_s: float) -> str:
    """Why no windows show a rate: too few with waiting packets, or no rate that most of them have."""
    tenths, all_tenths = int(link["queued_100ms_windows"]), duration_s / (_WINDOW_S[2] or 1.0)
    is_seldom = tenths < _SELDOM * all_tenths
    hardly = ": the link was hardly loaded" if is_seldom else ""
    if not tenths:
        return f"packets waited in no window of 100 ms{hardly}"
    if tenths < _FEWEST:
        of = "1 window" if tenths == 1 else f"{tenths} windows"
        return f"packets waited in {of} of 100 ms, and {_FEWEST} are needed{hardly}"
    if is_seldom:
        of = f"{tenths:,} of {all_tenths:,.0f} windows of 100 ms"
        return f"packets waited in {of}, and these have no one rate{hardly}"
    blind = int(flows.filter(pl.col("has_sack") == 0)["packets"].sum())
    if link["is_queue_ahead"] and (losses or 0.0) > _MUCH_LOSS and 2 * blind > int(flows["packets"].sum()):
        why = (
            f"{losses:.1%} is lost, and repairs acknowledge much at once without SACK: capture behind the "
            "queue, at the receivers' side"
        )
    else:
        why = "it varies, or other traffic shares the link, such as acknowledgments"
    most = max(link[f"plateau_{name}_share"] for name in ("1s", "100ms"))
    return (
        f"packets waited in {tenths:,} windows of 100 ms, but fewer than {_LEAST_PART:.0%} of these, or of "
        f"those of 1 s, have one rate ({most:.0%} at most): {why}"
    ).replace("%", " %")


def _windows(link: Mapping[str, Any], name: str) -> int:
    number: float = link[f"plateau_{name}_share"] * link[f"queued_{name}_windows"]
    return round(number)


def _error_bps(link: Mapping[str, Any]) -> float:
    """The rate's standard deviation, no less than a microsecond of a distance or a packet of a window makes.

    A packet that crosses a window's edge counts in one of both. So windows that are all alike, or a single
    one, are no more certain than that.
    """
    own = float(link["rate_error_bps"])
    width_s = _WINDOW_S[link["rate_by"]]
    if width_s is None:
        return max(own, float(link["rate_bps"]) ** 2 * _TICK_S / _FULL_BITS)
    return max(own, _FULL_BITS / width_s)


def _is_senders_own(rate_by: str, flows: pl.DataFrame) -> bool:
    """Whether the distances of packets are their senders', and say nothing of a link beyond the capture."""
    at_senders = flows.filter(pl.col("vantage") == VANTAGES.index("near the sender"))
    return rate_by == RATE_BY[-1] and 2 * int(at_senders["packets"].sum()) > int(flows["packets"].sum())
