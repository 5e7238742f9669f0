"""The rate of a captured link: how certain it is, from how many windows, or why it is not known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from bufferlab.captured.link import RATE_BY, VANTAGES
from bufferlab.captured.observation import NS_PER_MS
from bufferlab.units import format_rate

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
"""Packets wait seldom if in less than that part of a capture's windows. Our choice."""

_MUCH_LOSS: Final = 0.01
"""Losses from which on acknowledgments come in lumps that blur rates before the queue. Our choice."""

_SOME_LOSS: Final = 1e-3
"""A link without waits that loses that much is not called idle. Our choice."""

LOSSY: Final = (
    ", though some were lost: the buffer holds very few, whose waits are too short to fill a window, or "
    "losses are elsewhere"
)
_BRIEFLY: Final = ", though some were lost: the buffer is full for less than a window at a time"

_MORE: Final = 1.05
"""What arrives can be this many times the rate of the link, by errors of both."""

_MANY_IDLE: Final = 0.4
"""Traffic comes in bursts where the link is idle for a while in more than that part of the windows in which
packets wait. Our choice."""

_LEAST_IN_TRAINS: Final = 0.05
"""Behind a queue that part of the packets at least comes in trains (`paced.py`). Of flows that pace two or
three come as close by chance, over and over. Our choice."""

_APART: Final = 0.15
_NOTABLE: Final = 0.15
"""A link varies if as many of its windows have another rate, which is as far from the first: in captures of
links that do not, others are within 9 %, as packets cross windows' edges, or fewer. Our choice."""


_NEARLY_ALL: Final = 0.8
_FEWEST_SECONDS: Final = 5
"""All seconds carry one rate if that part of them does, of as many. Our choice."""

_FEWEST_ALIKE: Final = 3
"""So do fewer if all of them do. Our choice."""

_LEAST_WAIT_MS: Final = 1.0
_LEAST_WAIT_PART: Final = 0.1
"""A queue stands if round trips exceed their own by both, as in the observer (queueing.rs)."""


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


def always_full(link: dict[str, Any]) -> dict[str, Any]:
    """The same row, with what it carries as the rate, of a link with a queue that was hardly ever empty.

    The observer compares a round trip with the smallest so far. Where flows meet an empty queue late, it sees
    packets wait in no window. But in the end they waited all the time (`is_standing`), and each second
    carries the same: distances of packets are then of another link. In a capture of a few seconds the
    windows of 1 s are fewer than the observer wants, and before the queue those of 100 ms are blurred by
    acknowledgments that come in lumps; if all seconds carry the same, that is the rate.

    Args:
        link: The row of the direction in the table of links.
    """
    is_steady = link["steady_1s_windows"] >= _FEWEST_SECONDS and link["steady_1s_share"] >= _NEARLY_ALL
    is_unseen = link["queued_100ms_windows"] < _FEWEST and is_steady
    is_brief = (
        not link["rate_by"] and link["steady_1s_windows"] >= _FEWEST_ALIKE and link["steady_1s_share"] == 1
    )
    if not is_unseen and not is_brief:
        return link
    return {
        **link,
        "rate_bps": link["steady_1s_bps"],
        "rate_error_bps": link["steady_1s_error_bps"],
        "rate_by": 1,
        "plateau_1s_share": link["steady_1s_share"],
        "queued_1s_windows": link["steady_1s_windows"],
    }


def is_standing(waits: Mapping[str, Any] | None, rtt_ms: float | None) -> bool:
    """Whether packets mostly wait in a queue that fills and drops some.

    Args:
        waits: What waits, with what hides in round trips; `None` where flows do not wait in one queue.
        rtt_ms: The flows' round-trip time without waiting.
    """
    if waits is None:
        return False
    least_ms = max(_LEAST_WAIT_MS, _LEAST_WAIT_PART * (rtt_ms or 0.0))
    return bool(waits["is_filled"]) and waits["median_ns"] > least_ms * NS_PER_MS


def rate_of(
    link: Mapping[str, Any],
    flows: pl.DataFrame,
    *,
    arrived_bps: float,
    has_waits: bool,
    losses: float | None = None,
    duration_s: float = 0.0,
    is_paced: bool = False,
    in_trains: float = 1.0,
    is_standing: bool = False,
    is_filled: bool = False,
) -> Rate:
    """The rate that a capture shows of a direction.

    Args:
        link: Its row of the table of links.
        flows: The flows that send in it.
        arrived_bps: What arrived in the mean, bit/s.
        has_waits: Whether any round trip shows what waits.
        losses: Segments sent again over segments, 0 to 1.
        duration_s: How long the capture lasts, s; 0 if that is not known.
        is_paced: Whether packets wait no longer than their senders' own pace delays them (`is_own_pace`).
        in_trains: The part of the packets that come in trains.
        is_standing: Whether packets mostly wait in the end (`is_standing`), whatever windows show.
        is_filled: Whether losses show how much the buffer holds.
    """
    is_late = is_standing and link["queued_100ms_windows"] < _FEWEST
    few = _LATE if is_late else _few(link, flows, losses, duration_s, is_filled=is_filled)
    bps, by = link["rate_bps"], link["rate_by"]
    if bps is None or not bps > 0:
        return Rate(None, None, RATE_BY[0], why_none=few if has_waits else _UNTIMED)
    other = _other(link, float(bps))
    most_bps = max(float(bps), other[0] or 0.0)
    is_more = is_impossible(most_bps, arrived_bps)
    why = _why_not(link, flows, few, is_more=is_more, is_paced=is_paced, in_trains=in_trains)
    if why is not None:
        return Rate(None, None, RATE_BY[0], why_none=why)
    name = _NAMES[by]
    windows = None if name is None else _windows(link, name)
    return Rate(float(bps), _error_bps(link), RATE_BY[by], windows, None, *other)


def _why_not(
    link: Mapping[str, Any],
    flows: pl.DataFrame,
    few: str,
    *,
    is_more: bool,
    is_paced: bool,
    in_trains: float,
) -> str | None:
    """Why the observer's rate is none of the link, if it is not."""
    by_distances = link["rate_by"] == len(RATE_BY) - 1
    if by_distances and _is_at_senders(flows):
        return f"{few}, and distances between packets are those of their senders here"
    if is_more:
        shown = "their distances show" if by_distances else "its windows show"
        return f"more arrived in the mean than what {shown}"
    if by_distances:
        return _BY_CHANCE if in_trains < _LEAST_IN_TRAINS else None
    if is_paced:
        return _PACED
    return few if _is_by_turns(link) else None


_PACED: Final = (
    "nothing is lost, and packets wait no longer than a few take at their own senders' pace, so what these "
    "windows carry is what was sent"
)
_BY_CHANCE: Final = (
    "packets wait in no window, and hardly any come in a row as close as the rest, so that their distances "
    "are those of their senders"
)


def _is_by_turns(link: Mapping[str, Any]) -> bool:
    """Whether the link is idle for a while in most of the windows in which packets wait."""
    idle, busy = int(link["idle_100ms_windows"]), int(link["queued_100ms_windows"])
    return idle > _MANY_IDLE * (idle + busy)


def _is_exceeded(link: Mapping[str, Any], name: str) -> bool:
    """Whether windows of a length have one rate that is none of the link, as too many exceed it."""
    return _has_plateau(link, name) and int(link["rate_by"]) not in {1, _NAMES.index(name)}


def _other(link: Mapping[str, Any], bps: float) -> tuple[float | None, float]:
    """The rate that many windows have in place of the first, and which part of them.

    Where windows are idle for a while, others may have been for less. And where most do not have the first,
    they carry what was sent, and not what a link that varies can. In windows of 1 s packets may wait for most
    of it, and the link be idle for the rest, as flows pause: where most of 100 ms have a rate, these tell.
    """
    if link["idle_100ms_windows"] > _NOTABLE * link["queued_100ms_windows"]:
        return None, 0.0
    seconds, tenths = (_second(link, bps, name) for name in ("1s", "100ms"))
    if tenths is None and _has_plateau(link, "100ms"):
        return None, 0.0
    return seconds or tenths or (None, 0.0)


def _second(link: Mapping[str, Any], bps: float, name: str) -> tuple[float, float] | None:
    """The second rate of the windows of a length, with their part, if it is another than the first."""
    other, share = link[f"second_{name}_bps"], link[f"second_{name}_share"]
    is_many = share >= _NOTABLE and link[f"queued_{name}_windows"] >= _FEWEST
    is_carried = abs(link[f"plateau_{name}_bps"] / bps - 1.0) <= _APART
    is_other = is_many and is_carried and abs(other / bps - 1.0) > _APART
    return (float(other), float(share)) if is_other else None


def _has_plateau(link: Mapping[str, Any], name: str) -> bool:
    """Whether most windows of a length in which packets wait have one rate."""
    share = float(link[f"plateau_{name}_share"])
    return int(link[f"queued_{name}_windows"]) >= _FEWEST and share >= _LEAST_PART


_LATE: Final = (
    "flows met an empty queue too late to tell in which windows packets waited, though they did in most: "
    "capture longer, or from the flows' beginning"
)
_UNTIMED: Final = "no round trip shows when packets wait"


def _few(
    link: Mapping[str, Any], flows: pl.DataFrame, losses: float | None, duration_s: float, *, is_filled: bool
) -> str:
    """Why no windows show a rate: too few with waiting packets, or no rate that most of them have."""
    tenths, all_tenths = int(link["queued_100ms_windows"]), duration_s / (_WINDOW_S[2] or 1.0)
    idle = int(link["idle_100ms_windows"])
    if _is_by_turns(link):
        return (
            f"packets waited for a while in {idle + tenths:,} windows of 100 ms, and in {idle:,} of these "
            "the link was idle for a quarter or more: they come in bursts"
        )
    for name, width in (("1s", "1 s"), ("100ms", "100 ms")):
        if _is_exceeded(link, name):
            carried = format_rate(link[f"plateau_{name}_bps"], 3)
            return (
                f"windows of {width} carry {carried} alike, but many of 100 ms carry more: packets come in "
                "bursts or at their senders' pace, and the link is faster"
            )
    is_seldom = tenths < _SELDOM * all_tenths
    is_lossy = (losses or 0.0) >= _SOME_LOSS
    is_unseen = is_lossy and tenths < _FEWEST  # else waits say what the buffer holds
    why_lossy = _BRIEFLY if is_filled else LOSSY
    hardly = why_lossy if is_seldom and is_unseen else ""
    if not tenths:
        return f"packets waited long enough to tell in no window of 100 ms{hardly}"
    if tenths < _FEWEST:
        of = "1 window" if tenths == 1 else f"{tenths} windows"
        return f"packets waited long enough to tell in {of} of 100 ms, and {_FEWEST} are needed{hardly}"
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
        why = (
            "it varies, senders have a pace of their own, or other traffic shares the link, such as "
            "acknowledgments"
        )
    enough = [name for name in ("1s", "100ms") if link[f"queued_{name}_windows"] >= _FEWEST]
    most = max(link[f"plateau_{name}_share"] for name in enough)
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


def _is_at_senders(flows: pl.DataFrame) -> bool:
    """Whether the distances of packets are their senders', and say nothing of a link beyond the capture."""
    at_senders = flows.filter(pl.col("vantage") == VANTAGES.index("near the sender"))
    return 2 * int(at_senders["packets"].sum()) > int(flows["packets"].sum())
