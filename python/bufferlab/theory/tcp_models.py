"""Closed-form models of TCP's throughput.

Numbers (1) to (3) are those of S. Jabeen et al., SplitBuff: Improving the interaction of heterogeneous RTT
flows on the Internet; (1) is M. Mathis, J. Semke, J. Mahdavi and T. Ott, The macroscopic behavior of the
TCP congestion avoidance algorithm, ACM CCR 27(3), 1997, with the constant for periodic loss and delayed
acknowledgments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bufferlab.theory.arrays import FloatArray

MATHIS_CONSTANT = 0.87
"""C in S = C·MSS / (T·sqrt p) for periodic loss and an acknowledgment for every second segment: sqrt(3/4),
the constant of SplitBuff's equation (1)."""

MATHIS_CONSTANT_PER_SEGMENT = 1.22
"""C for periodic loss and an acknowledgment for each segment, sqrt(3/2) (Mathis et al. 1997, table 1)."""

MATHIS_CONSTANT_RANDOM = 0.93
"""C for random loss and an acknowledgment for every second segment (Mathis et al. 1997, table 1)."""

MATHIS_CONSTANT_RANDOM_PER_SEGMENT = 1.31
"""C for random loss and an acknowledgment for each segment (Mathis et al. 1997, table 1)."""


def mathis_rate_bps(
    mss_bytes: ArrayLike, rtt_s: ArrayLike, loss: ArrayLike, constant: float = MATHIS_CONSTANT
) -> FloatArray:
    """SplitBuff (1): the rate C·MSS / (T·sqrt p) of one flow, bit/s.

    Args:
        mss_bytes: Segment size, bytes. The result counts the same bytes (payload or wire).
        rtt_s: Round-trip time with queueing, s.
        loss: Probability that a packet is lost, 0 < p <= 1.
        constant: C; see `MATHIS_CONSTANT`.
    """
    size, rtt, chance = (np.asarray(value, dtype=np.float64) for value in (mss_bytes, rtt_s, loss))
    with np.errstate(divide="ignore"):
        return np.asarray(constant * 8.0 * size / (rtt * np.sqrt(chance)), dtype=np.float64)


def loss_ratio_model(
    short_rtt_s: ArrayLike, long_rtt_s: ArrayLike, short_loss: ArrayLike, long_loss: ArrayLike
) -> FloatArray:
    """SplitBuff (2): throughput of a short flow over that of a long one, (T_l/T_s)·sqrt(p_l/p_s).

    Args:
        short_rtt_s: Round-trip time of the short flow, s. The document evaluates it without queueing.
        long_rtt_s: That of the long flow, s.
        short_loss: Loss of the short flow. The ratio is NaN if both losses are 0.
        long_loss: Loss of the long flow.
    """
    t_short, t_long = np.asarray(short_rtt_s, dtype=np.float64), np.asarray(long_rtt_s, dtype=np.float64)
    p_short, p_long = np.asarray(short_loss, dtype=np.float64), np.asarray(long_loss, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(t_long / t_short * np.sqrt(p_long / p_short), dtype=np.float64)


def equal_loss_ratio_model(short_rtt_s: ArrayLike, long_rtt_s: ArrayLike, wait_s: ArrayLike) -> FloatArray:
    """SplitBuff (3): (T_l + T_q) / (T_s + T_q), the throughput ratio when both flows have the same loss.

    Args:
        short_rtt_s: Propagation round-trip time of the short flow, s.
        long_rtt_s: That of the long flow, s.
        wait_s: Mean wait, s.
    """
    short, long_, wait = (np.asarray(value, dtype=np.float64) for value in (short_rtt_s, long_rtt_s, wait_s))
    return np.asarray((long_ + wait) / (short + wait), dtype=np.float64)


@dataclass(frozen=True)
class Sawtooth:
    """One period of a single Reno flow, from just after a halving to the next loss.

    Attributes:
        utilization: Share of the link's rate in use.
        period_s: Length of the period, s.
        packets: Packets sent in the period; one of them is lost.
        loss: 1 / packets.
        wait_mean_s: Mean wait of a packet in the queue, s.
        backlog_mean_packets: Time average of the backlog, packets.
    """

    utilization: float
    period_s: float
    packets: float
    loss: float
    wait_mean_s: float
    backlog_mean_packets: float


def reno_utilization(buffer_over_bdp: ArrayLike) -> FloatArray:
    """Utilization of a link by one Reno flow: (3/4) (1+b)² / (1+b+b²) for b < 1, otherwise 1.

    Args:
        buffer_over_bdp: b, the buffer in units of the bandwidth-delay product; 0 or more.

    See `reno_sawtooth` for the derivation. 0.75 for b = 0; 0.9643 for b = 0.5.
    """
    b = np.asarray(buffer_over_bdp, dtype=np.float64)
    below = 0.75 * (1.0 + b) ** 2 / (1.0 + b + b * b)
    return np.asarray(np.where(b < 1.0, below, 1.0), dtype=np.float64)


def reno_sawtooth(
    rate_packets_s: float, rtt_s: float, buffer_packets: float, ack_every: float = 1.0
) -> Sawtooth:
    """The fluid sawtooth of one endless Reno flow through a drop-tail buffer.

    Derivation. Let C be the link's rate in packets/s, T the round-trip time without queueing, D = C·T, B =
    b·D the buffer and d the segments per acknowledgment. The window W grows by 1/d per round trip. A
    round trip takes R(W) = T while W <= D (no queue) and W/C above, where the queue is W − D: growth slows
    down as the queue builds up. A packet is lost at W = (1+b)·D; the window is then halved. With dt =
    d·R(W)·dW a period takes

        t = d·[ T·(D − w) + ((1+b)²·D² − D²) / (2C) ]  for w = (1+b)·D/2 < D, that is b < 1,
        t = d·(3/8)·(1+b)²·D²/C                        for b >= 1 (the link never idles).

    W packets leave in each round trip, so d·∫ W dW = d·(3/8)·(1+b)²·D² packets leave in a period either
    way. Their number over C·t is the utilization: (3/4)·(1+b)² / (1+b+b²) for b < 1, independent of C, T
    and d.
    Waits: a packet sent at window W waits (W − D)/C, hence the mean ∫ (W−D)/C · W dW / ∫ W dW over the
    part above D (the denominator over all of it), and by Little's law its rate times that is the mean
    backlog.

    The fluid model ignores the round trip of recovery, during which half a window is silent. Corrections are
    of relative order 1/(d·D).

    Args:
        rate_packets_s: C, packets/s.
        rtt_s: T, s, including transmission times.
        buffer_packets: B, packets.
        ack_every: d, 1 for an acknowledgment for each segment, 2 for every second.

    Raises:
        ValueError: A rate, delay or d that is not positive, or a negative buffer.
    """
    if min(rate_packets_s, rtt_s, ack_every) <= 0 or buffer_packets < 0:
        raise ValueError("rate, round-trip time and ack_every must be positive, the buffer not negative")
    pipe = rate_packets_s * rtt_s
    top = pipe + buffer_packets
    low = top / 2.0
    queued_from = max(low, pipe)
    packets = ack_every * (top**2 - low**2) / 2.0
    idle_s = ack_every * rtt_s * max(pipe - low, 0.0)
    period_s = idle_s + ack_every * (top**2 - queued_from**2) / (2.0 * rate_packets_s)
    wait_sum = (top**3 - queued_from**3) / 3.0 - pipe * (top**2 - queued_from**2) / 2.0
    wait_mean_s = ack_every * wait_sum / rate_packets_s / packets
    return Sawtooth(
        utilization=packets / (rate_packets_s * period_s),
        period_s=period_s,
        packets=packets,
        loss=1.0 / packets,
        wait_mean_s=wait_mean_s,
        backlog_mean_packets=wait_mean_s * packets / period_s,
    )
