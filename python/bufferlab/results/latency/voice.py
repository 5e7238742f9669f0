"""Calls: what their listeners get of the datagrams that were recorded.

A flow of recorded datagrams of one size at equal distances of at most 200 ms counts as a call, one direction
of it: a receiver should accept up to that much speech in a packet (RFC 3551, section 4.2). Its codec
is G.729A if the payload beyond the headers of IP, UDP and RTP (40 bytes) comes at no more than 8 kbit/s, else
G.711.

The listener's jitter buffer is a fixed one: each packet is played a constant time after it was sent, a
quantile of the delays of those that came; of the quantiles `PLAYED` that with the best rating, as listeners
would like it set. Packets that take longer are late, which is to be lost. From mouth to ear it takes the
speech in a packet (their distance), what the codec looks ahead, and that constant time.

The best fixed buffer: L. Sun and E. Ifeachor, "New models for perceived voice quality prediction and their
applications in playout buffer optimization for VoIP networks", ICC 2004, "minimum overall impairment".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from bufferlab.results.latency.emodel import G711, G729A, Codec, opinion_score, rating
from bufferlab.results.tables import BITS_PER_BYTE
from bufferlab.units import PS_PER_MS, PS_PER_S

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedApplication

Floats = NDArray[np.float64]

PLAYED: Final = (0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0)
"""Shares of the packets that come which a jitter buffer may wait for."""

PATIENCE_S: Final = 1.0
"""After which a call of which nothing came is dead; our choice."""

MOST_SPEECH_PS: Final = 200 * PS_PER_MS
"""In a packet (RFC 3551, section 4.2)."""

_HEADER_BYTES: Final = 40  # IPv4 20 (RFC 791), UDP 8 (RFC 768), RTP 12 (RFC 3550)


@dataclass(frozen=True)
class Call:
    """How one direction of a call went.

    Attributes:
        delay_ms: From mouth to ear, ms; not a number if nothing came.
        buffer_ms: What the jitter buffer adds to the fastest packet, ms; not a number if nothing came.
        lost: Share of the packets that did not come.
        late: Share of the packets that came too late to be played.
        burst_ratio: Mean length of a run of lost and late packets over that under random loss, at least 1.
        rating: R of the E-model.
        score: Mean opinion score.
    """

    delay_ms: float
    buffer_ms: float
    lost: float
    late: float
    burst_ratio: float
    rating: float
    score: float


def codec_of(application: ResolvedApplication) -> Codec | None:
    """The codec of a group's calls; `None` if it has no calls."""
    if application["kind"] != "udp" or not application["record"]:
        return None
    if (application["arrivals"], application["sizes"]) != ("constant", "constant"):
        return None
    speech_bits = (application["packet_bytes"] - _HEADER_BYTES) * BITS_PER_BYTE
    if speech_bits <= 0 or application["interval_ps"] > MOST_SPEECH_PS:
        return None
    return G729A if speech_bits * PS_PER_S <= G729A.payload_bps * application["interval_ps"] else G711


def assess(start_s: Floats, end_s: Floats, interval_ps: int, codec: Codec, reached_s: float) -> Call | None:
    """Rate a call by when its packets were sent and came; not a number if one did not come.

    What was sent so late that it may still come after the run's end is left out. A call of which nothing came
    is as bad as can be; `None` if that may still come.
    """
    came = ~np.isnan(end_s)
    if not came.any():
        return _DEAD if (start_s < reached_s - PATIENCE_S).any() else None
    delays_ms = (end_s - start_s) * 1e3
    longest_s = float(np.nanmax(delays_ms)) / 1e3
    known = came | (start_s < reached_s - longest_s)
    # rounded to ps, so that equal delays are equal
    delays_ms, came = np.round(delays_ms[known], 9), came[known]
    waits_ms = np.unique(np.quantile(delays_ms[came], PLAYED, method="higher"))
    ahead_ms = interval_ps / PS_PER_MS + codec.lookahead_ms
    calls = [_with_buffer(delays_ms, float(wait_ms), ahead_ms, codec) for wait_ms in waits_ms]
    return max(calls, key=lambda call: call.rating)


def _with_buffer(delays_ms: Floats, wait_ms: float, ahead_ms: float, codec: Codec) -> Call:
    came = ~np.isnan(delays_ms)
    late = came & (delays_ms > wait_ms)
    missing = ~came | late
    bursts = burst_ratio(missing)
    rated = rating(ahead_ms + wait_ms, float(missing.mean()), codec, burst_ratio=bursts)
    return Call(
        delay_ms=ahead_ms + wait_ms,
        buffer_ms=wait_ms - float(np.nanmin(delays_ms)),
        lost=float((~came).mean()),
        late=float(late.mean()),
        burst_ratio=bursts,
        rating=rated,
        score=opinion_score(rated),
    )


_DEAD: Final = Call(math.nan, math.nan, 1.0, 0.0, 1.0, 0.0, opinion_score(0.0))


def burst_ratio(missing: NDArray[np.bool_]) -> float:
    """BurstR of G.107: mean run of missing packets over 1/(1 - p), that of random loss; at least 1.

    >>> burst_ratio(np.array([True, True, False, False]))
    1.0
    >>> burst_ratio(np.array([True] * 4 + [False] * 12))
    3.0
    """
    lost = int(missing.sum())
    if lost in {0, missing.size}:
        return 1.0
    runs = int(missing[0]) + int((missing[1:] & ~missing[:-1]).sum())
    return max(lost / runs * (1 - lost / missing.size), 1.0)


def mean_of(calls: Sequence[Call], name: str) -> float | None:
    """The mean of an attribute over the calls that have it, `None` without any."""
    values = [value for call in calls if not math.isnan(value := getattr(call, name))]
    return math.fsum(values) / len(values) if values else None
