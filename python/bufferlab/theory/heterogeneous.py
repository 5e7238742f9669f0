"""Equations of the paper on buffers for heterogeneous TCP.

P. Yang, E. Zhang and L. Xu, Sizing Router Buffer for the Internet with Heterogeneous TCP (2013). n
long-lived flows with one round-trip time share a link. W, the sum of their windows, is assumed to be normal
with mean mu and standard deviation delta = a·mu/sqrt n. Equation numbers are the paper's. Assumptions: the
flows' windows are independent (not synchronized) and have equal means; n is large; each flow meets a
congestion event only at its own w_max; there is no slow start.

Sizes are in any one unit (bytes, packets); probabilities and losses are shares; functions take arrays.
`spread` is delta/mu = a/sqrt n, (6). z-scores come from `bufferlab.theory.normal.z_score`. An error of the
paper is corrected: (13) and (14) print z_rho in the denominator, where (8) has z_tau (the paper's examples
use one value for both).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bufferlab.theory.arrays import FloatArray, flow_numbers, fraction, not_negative, positive


def mix_characteristic(characteristics: ArrayLike, weights: ArrayLike) -> float:
    """The a of a mix, below (6): the root of the mean of a_i² over the flows.

    Args:
        characteristics: a_i of each protocol.
        weights: Flows, or shares of them, with each protocol.

    Raises:
        ValueError: Negative values, different lengths, or no flow at all.
    """
    values, counts = not_negative("characteristics", characteristics), not_negative("weights", weights)
    if values.shape != counts.shape or values.ndim != 1 or counts.sum() <= 0:
        raise ValueError("characteristics and weights must be lists of one length, with at least one flow")
    return float(np.sqrt(np.average(values**2, weights=counts)))


def relative_deviation(characteristic: ArrayLike, flows: ArrayLike) -> FloatArray:
    """(6): delta/mu = a/sqrt n of the sum of the windows, the `spread` of the other functions.

    Raises:
        ValueError: A negative a, or less than one flow.
    """
    value = not_negative("characteristic", characteristic)
    return np.asarray(value / np.sqrt(flow_numbers(flows)), dtype=np.float64)


def least_mean_by_deviation(bdp: ArrayLike, deviation: ArrayLike, z_tau: ArrayLike) -> FloatArray:
    """Theorem 1, (1): mu ≥ z_tau·delta + BDP, so that W ≥ BDP with probability tau.

    Args:
        bdp: Bandwidth-delay product.
        deviation: delta, in the same unit.
        z_tau: z-score of the utilization.
    """
    delta = not_negative("deviation", deviation)
    return np.asarray(np.asarray(z_tau) * delta + positive("bdp", bdp), dtype=np.float64)


def least_mean(bdp: ArrayLike, spread: ArrayLike, z_tau: ArrayLike) -> FloatArray:
    """(8): mu ≥ BDP / (1 − z_tau·a/sqrt n); infinite where z_tau·a ≥ sqrt n: no buffer helps so few flows.

    Args:
        bdp: Bandwidth-delay product.
        spread: a/sqrt n.
        z_tau: z-score of the utilization.
    """
    left = 1.0 - np.asarray(z_tau) * not_negative("spread", spread)
    with np.errstate(divide="ignore"):
        return np.asarray(positive("bdp", bdp) / np.maximum(left, 0.0), dtype=np.float64)


def utilization_buffer(bdp: ArrayLike, spread: ArrayLike, z_tau: ArrayLike) -> FloatArray:
    """Theorem 2, (7) and (9): BDP/(1 − z_tau·a/sqrt n) − BDP, the least buffer for utilization; at least 0.

    Args:
        bdp: Bandwidth-delay product.
        spread: a/sqrt n.
        z_tau: z-score of the utilization; below 0 (tau < 1/2) no buffer is needed.

    Returns:
        The buffer in the unit of `bdp`; infinite where z_tau·a ≥ sqrt n.
    """
    return np.asarray(np.maximum(least_mean(bdp, spread, z_tau) - np.asarray(bdp), 0.0), dtype=np.float64)


def loss_buffer_by_moments(
    bdp: ArrayLike, mean: ArrayLike, deviation: ArrayLike, z_rho: ArrayLike, max_loss: ArrayLike
) -> FloatArray:
    """(10): B ≥ (z_rho·delta + mu)(1 − phi) − BDP for measured mu and delta; negative: any buffer suffices.

    Args:
        bdp: Bandwidth-delay product.
        mean: mu.
        deviation: delta.
        z_rho: z-score of the probability that the loss stays below phi.
        max_loss: phi, in [0, 1).
    """
    phi, delta = fraction("max_loss", max_loss), not_negative("deviation", deviation)
    peak = np.asarray(z_rho) * delta + positive("mean", mean)
    return np.asarray(peak * (1.0 - phi) - positive("bdp", bdp), dtype=np.float64)


def loss_buffer(
    bdp: ArrayLike, mean: ArrayLike, spread: ArrayLike, z_rho: ArrayLike, max_loss: ArrayLike
) -> FloatArray:
    """Theorem 3, (11): B ≥ (z_rho·a/sqrt n + 1)(1 − phi)·mu − BDP; see `loss_buffer_by_moments`."""
    delta = not_negative("spread", spread) * positive("mean", mean)
    return loss_buffer_by_moments(bdp, mean, delta, z_rho, max_loss)


def any_buffer_bounds_loss(spread: ArrayLike, z_rho: ArrayLike, max_loss: ArrayLike) -> NDArray[np.bool_]:
    """(12): whether (z_rho·a/sqrt n + 1)(1 − phi) ≤ 1, so that the loss bound holds for any buffer."""
    peak = np.asarray(z_rho) * not_negative("spread", spread) + 1.0
    return np.asarray(peak * (1.0 - fraction("max_loss", max_loss)) <= 1.0)


def least_flows_for_loss(characteristic: ArrayLike, z_rho: ArrayLike, max_loss: ArrayLike) -> FloatArray:
    """(12), solved for n: the least number of flows, at least 1, for which any buffer keeps the loss bound.

    n ≥ (z_rho·a·(1 − phi)/phi)²; infinite for phi = 0.
    """
    phi, value = fraction("max_loss", max_loss), not_negative("characteristic", characteristic)
    weighted = np.maximum(np.asarray(z_rho), 0.0) * value
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.where(weighted > 0, (weighted * (1.0 - phi) / phi) ** 2, 1.0)
    # a product just above a whole number by rounding must not need one flow more
    return np.asarray(np.maximum(np.ceil(exact * (1.0 - 1e-12)), 1.0), dtype=np.float64)


def loss_of_any_buffer(spread: ArrayLike, z_rho: ArrayLike) -> FloatArray:
    """(12), solved for phi: the least loss bound that holds for any buffer, 1 − 1/(1 + z_rho·a/sqrt n)."""
    weighted = np.maximum(np.asarray(z_rho) * not_negative("spread", spread), 0.0)
    return np.asarray(weighted / (1.0 + weighted), dtype=np.float64)


def utilization_and_loss_buffer(
    bdp: ArrayLike, spread: ArrayLike, z_tau: ArrayLike, z_rho: ArrayLike, max_loss: ArrayLike
) -> FloatArray:
    """(13): the buffer for the loss bound when mu is the least that keeps the link busy, (8).

    Below `utilization_buffer`, or even negative, if the loss bound needs no more.
    """
    phi = fraction("max_loss", max_loss)
    peak = np.asarray(z_rho) * not_negative("spread", spread) + 1.0
    return np.asarray(peak * (1.0 - phi) * least_mean(bdp, spread, z_tau) - np.asarray(bdp), dtype=np.float64)


def combined_buffer(
    bdp: ArrayLike, spread: ArrayLike, z_tau: ArrayLike, z_rho: ArrayLike, max_loss: ArrayLike
) -> FloatArray:
    """(14): the least buffer for both the utilization and the loss bound, the larger of (7) and (13)."""
    return np.maximum(
        utilization_buffer(bdp, spread, z_tau),
        utilization_and_loss_buffer(bdp, spread, z_tau, z_rho, max_loss),
    )


def delay_buffer(rate: ArrayLike, max_delay_s: ArrayLike) -> FloatArray:
    """Section VI: C·lambda, the largest buffer that drains within the delay bound.

    Args:
        rate: C, per second, in the unit of the result.
        max_delay_s: lambda, s.
    """
    return np.asarray(positive("rate", rate) * not_negative("max_delay_s", max_delay_s), dtype=np.float64)


def shrinkage(bdp: ArrayLike, buffer: ArrayLike, wanted_buffer: ArrayLike) -> FloatArray:
    """(BDP + B)/(BDP + B_l), the gamma of section VII-B: 1 for the wanted buffer B_l."""
    pipe = positive("bdp", bdp)
    wanted = pipe + not_negative("wanted_buffer", wanted_buffer)
    return np.asarray((pipe + not_negative("buffer", buffer)) / wanted, dtype=np.float64)


def z_by_mean(bdp: ArrayLike, mean: ArrayLike, deviation: ArrayLike) -> FloatArray:
    """(16): the z-score of the utilization for a mean and a deviation, (mu − BDP)/delta."""
    delta = positive("deviation", deviation)
    return np.asarray((positive("mean", mean) - positive("bdp", bdp)) / delta, dtype=np.float64)


def compromised_z(z_tau: ArrayLike, spread: ArrayLike, gamma: ArrayLike) -> FloatArray:
    """(17) and (18): the largest z-score left by a shrinkage, z_tau/gamma − (1/gamma − 1)·sqrt n/a.

    Args:
        z_tau: z-score with the full buffer B_l.
        spread: a/sqrt n, above 0.
        gamma: See `shrinkage`; above 0.
    """
    factor = 1.0 / positive("gamma", gamma)
    return np.asarray(
        np.asarray(z_tau) * factor - (factor - 1.0) / positive("spread", spread), dtype=np.float64
    )


def extra_loss(bdp: ArrayLike, buffer: ArrayLike, wanted_buffer: ArrayLike) -> FloatArray:
    """(19): a buffer that is D smaller than B_p adds at least D/(BDP + B_p) to the loss.

    Args:
        bdp: Bandwidth-delay product.
        buffer: The buffer, C·lambda.
        wanted_buffer: B_p, which keeps the loss bound; if it is not larger than the buffer, nothing is added.
    """
    wanted = not_negative("wanted_buffer", wanted_buffer)
    missing = np.maximum(wanted - not_negative("buffer", buffer), 0.0)
    return np.asarray(missing / (positive("bdp", bdp) + wanted), dtype=np.float64)
