"""One epoch of a congestion control's window, between two congestion events, by its growth function.

An epoch starts at beta·w_max and ends at the assumed next loss. `w_max` is `window_packets` below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bufferlab.errors import InputError
from bufferlab.theory.characteristic import Growth, Moments, integrate_growth

CUBIC_C: Final = 0.4
"""CUBIC's constant C, packets/s³: Table II; RFC 9438, section 5."""


@dataclass(frozen=True)
class Epoch:
    """A window between two congestion events.

    Attributes:
        growth: Window in packets at a time since the start, s.
        duration_s: Length, s.
        breaks_s: Where the slope jumps, s.
    """

    growth: Growth
    duration_s: float
    breaks_s: tuple[float, ...] = ()

    @property
    def moments(self) -> Moments:
        """(4) and (5)."""
        return integrate_growth(self.growth, self.duration_s, self.breaks_s)


def reno_epoch(window_packets: float, rtt_s: float, beta: float = 0.5) -> Epoch:
    """One packet per round trip from beta·w_max; Table II, RENO."""
    return Epoch(lambda time: beta * window_packets + time / rtt_s, (1.0 - beta) * window_packets * rtt_s)


def bic_epoch(window_packets: float, rtt_s: float) -> Epoch:
    """A tenth of w_max per round trip from 0.8·w_max, for one round trip; Table II, BIC.

    That is the first step of BIC's binary search, half way to w_max. The epoch ends at 0.9·w_max, although
    the paper assumes that windows reach w_max.
    """
    return Epoch(lambda time: (0.8 + 0.1 * time / rtt_s) * window_packets, rtt_s)


def cubic_epoch(window_packets: float, rtt_s: float, beta: float = 0.7, c: float = CUBIC_C) -> Epoch:
    """C·(t − T)³ + w_max with T = cbrt(w_max·(1 − beta)/C); Table II, CUBIC, with T corrected.

    Table II prints beta, but only 1 − beta starts the epoch at beta·w_max and gives Table III.

    Args:
        window_packets: w_max, packets.
        rtt_s: Unused, as CUBIC's growth does not depend on it.
        beta: Window kept at a congestion event.
        c: CUBIC's constant C, packets/s³.
    """
    del rtt_s
    duration_s = math.cbrt(window_packets * (1.0 - beta) / c)
    return Epoch(lambda time: c * (time - duration_s) ** 3 + window_packets, duration_s)


def cubic_reno_friendly_epoch(
    window_packets: float, rtt_s: float, beta: float = 0.7, c: float = CUBIC_C
) -> Epoch:
    """RFC 9438 with its Reno-friendly region: the larger of the cubic and of the linear W_est.

    W_est grows by alpha = 3(1 − beta)/(1 + beta) per round trip (section 4.3). The epoch ends when the larger
    one reaches w_max. With small windows and short round trips growth is linear from 0.7: a = 0.1019.
    """
    cubic_only = cubic_epoch(window_packets, rtt_s, beta, c)
    slope = 3.0 * (1.0 - beta) / (1.0 + beta) / rtt_s
    duration_s = min(cubic_only.duration_s, (1.0 - beta) * window_packets / slope)

    def growth(time: float) -> float:
        return max(cubic_only.growth(time), beta * window_packets + slope * time)

    return Epoch(growth, duration_s, _crossings(cubic_only, beta * window_packets, slope, duration_s))


def ctcp_epoch(window_packets: float, rtt_s: float, beta: float = 0.5) -> Epoch:
    """(t/32 + (beta·w_max)^¼)⁴ until w_max; Table II, CTCP, whose T = 5.1·w_max^¼ is 32·(1 − 0.5^¼) rounded.

    The round-trip time does not appear (the paper's formula holds for its authors' round-trip time).
    """
    del rtt_s
    start = (beta * window_packets) ** 0.25
    return Epoch(lambda time: (time / 32.0 + start) ** 4, 32.0 * (window_packets**0.25 - start))


def scalable_epoch(window_packets: float, rtt_s: float, beta: float = 0.875) -> Epoch:
    """0.01 packets per acknowledgment, so exponential growth of 1 % per round trip, from 7/8·w_max.

    T. Kelly, Scalable TCP: Improving performance in highspeed wide area networks, ACM CCR 33(2), 2003.
    """
    rate = 0.01 / rtt_s
    return Epoch(lambda time: beta * window_packets * math.exp(rate * time), math.log(1.0 / beta) / rate)


def htcp_epoch(window_packets: float, rtt_s: float, beta: float = 0.5) -> Epoch:
    """H-TCP: 2(1 − beta)·alpha(t) packets per round trip.

    alpha is 1 for the first second and 1 + 10(t − 1) + ((t − 1)/2)² from then on: D. Leith and R. Shorten,
    H-TCP: TCP for high-speed and long-distance networks, PFLDnet 2004. beta is their lower bound 0.5, which
    the adaptive back-off RTT_min/RTT_max (at most 0.8) reaches with a buffer of a BDP or more.
    """
    factor = 2.0 * (1.0 - beta) / rtt_s

    def growth(time: float) -> float:
        late = max(time - 1.0, 0.0)
        return beta * window_packets + factor * (time + 5.0 * late**2 + late**3 / 12.0)

    return Epoch(growth, _reached(growth, window_packets), (1.0,))


def bbr_epoch(window_packets: float, rtt_s: float, probe_rtt: bool = False) -> Epoch:
    """BBR v1 in ProbeBW, as packets in flight: our own model.

    A cycle of eight round trips at pacing gains 1.25, 0.75 and six times 1 (N. Cardwell et al., BBR:
    Congestion-based congestion control, ACM Queue 14(5), 2016): the packets in flight rise linearly from 1
    to 1.25 estimated BDPs in the first, drain back in the second and stay. The model leaves out cwnd as the
    bound (2 BDPs, where several BBR flows end up if they overestimate the rate), losses, and by default
    ProbeRTT.

    Args:
        window_packets: Peak of the packets in flight, 1.25 estimated BDPs.
        rtt_s: Round-trip time, s.
        probe_rtt: After every 10 s, 200 ms and a round trip have 4 packets in flight. Then a is 0.18 instead
            of 0.06. But flows that share a link drain its queue together, so their dips are not independent,
            as (3) requires.
    """
    pipe = window_packets / 1.25
    cycle_s = 8.0 * rtt_s

    def cruise(time: float) -> float:
        rounds = (time % cycle_s) / rtt_s
        return pipe * (1.0 + 0.25 * max(0.0, 1.0 - abs(rounds - 1.0)))

    if not probe_rtt:
        return Epoch(cruise, cycle_s, (rtt_s, 2.0 * rtt_s))
    total_s = 10.0 + 0.2 + rtt_s
    starts = [index * cycle_s for index in range(math.ceil(10.0 / cycle_s))]
    breaks = tuple(start + step * rtt_s for start in starts for step in (0, 1, 2))
    return Epoch(lambda time: cruise(time) if time < 10.0 else min(4.0, pipe), total_s, (*breaks, 10.0))


def bbr3_epoch(window_packets: float, rtt_s: float) -> Epoch:
    """BBR v3 in ProbeBW without losses, as packets in flight: our own model.

    From draft-ietf-ccwg-bbr, ProbeBW: the pacing gain 1.25 for a round trip (ProbeBW_UP) lifts the
    packets in flight from 1 to 1.25 estimated BDPs, the gain 0.9 (ProbeBW_DOWN) drains them in two and a
    half; then they stay (CRUISE, REFILL) for 2 to 3 s, here 2.5 s, or for as many round trips as a BDP has
    packets, at most 63. The model leaves out losses, which bound the packets in flight and shorten the climb,
    and ProbeRTT.

    Args:
        window_packets: Peak of the packets in flight, 1.25 estimated BDPs.
        rtt_s: Round-trip time, s.
    """
    pipe, drained = window_packets / 1.25, 1.0 + 0.25 / 0.1
    rounds = max(min(2.5 / rtt_s, pipe, 63.0), drained)

    def in_flight(time: float) -> float:
        done = time / rtt_s
        climbed = done if done < 1.0 else max(0.0, (drained - done) / (drained - 1.0))
        return pipe * (1.0 + 0.25 * climbed)

    return Epoch(in_flight, rounds * rtt_s, (rtt_s, drained * rtt_s))


def dctcp_epoch(window_packets: float, rtt_s: float) -> Epoch:
    """DCTCP's sawtooth on a link that marks: one packet per round trip from (1 − alpha/2)·w_max.

    M. Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, section 3.3: with W* = w_max − 1, the window
    that fills pipe and threshold, the share of marked packets is alpha²·(1 − alpha/4) = (2·W* + 1)/(W* + 1)²,
    about 2/W*. The paper assumes synchronized flows; only the shape is used here. Windows so small that each
    round trip has marks are halved, like Reno's.
    """
    alpha = _marked_share(window_packets)
    low = (1.0 - alpha / 2.0) * window_packets
    return Epoch(lambda time: low + time / rtt_s, alpha / 2.0 * window_packets * rtt_s)


def _marked_share(window_packets: float) -> float:
    """DCTCP's alpha, in (0, 1], by bisection: alpha²·(1 − alpha/4) grows there."""
    wanted = (2.0 * window_packets - 1.0) / window_packets**2
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2.0
        low, high = (middle, high) if middle**2 * (1.0 - middle / 4.0) < wanted else (low, middle)
    return high


def no_epoch(name: str) -> Callable[[float, float], Epoch]:
    """For a congestion control without an epoch in theory: using it is an error that names it."""

    def refuse(window_packets: float, rtt_s: float) -> Epoch:
        del window_packets, rtt_s
        raise InputError(
            "has no model of its window, and theory needs to know how much that varies",
            key="congestion",
            value=name,
            accepted=f"a measured value: --measured {name}=0.1, in Python measured={{'{name}': 0.1}} (see "
            "bufferlab.theory.measured); or another congestion control",
        )

    return refuse


def fixed_epoch(window_packets: float, rtt_s: float) -> Epoch:
    """A window that never changes."""
    return Epoch(lambda _time: window_packets, rtt_s)


def _crossings(cubic: Epoch, start: float, slope: float, duration_s: float) -> tuple[float, ...]:
    """Where the cubic crosses the line, at the resolution of 512 steps."""
    steps = [duration_s * index / 512 for index in range(513)]
    ahead = [cubic.growth(time) > start + slope * time for time in steps]
    return tuple(steps[index] for index in range(1, 513) if ahead[index] != ahead[index - 1])


def _reached(growth: Growth, window_packets: float) -> float:
    """When an increasing window reaches `window_packets`, s, by bisection."""
    low, high = 0.0, 1.0
    while growth(high) < window_packets:
        high *= 2.0
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (middle, high) if growth(middle) < window_packets else (low, middle)
    return high
