"""Closed forms of elementary queues, to check the simulator and estimate orders of magnitude.

Rates are per second, times in seconds. The queue holds waiting customers; only the `system` functions also
count the customer in service.

Sources: L. Kleinrock, Queueing Systems, volume 1 (Wiley 1975), sections 3.6 (M/M/1/K), 5.6
(Pollaczek-Khinchine) and 5.3 (the imbedded chain of M/G/1).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from bufferlab.theory.arrays import FloatArray


def _stable_load(arrival_rate: float, service_s: float) -> float:
    load = arrival_rate * service_s
    if not 0.0 <= load < 1.0:
        raise ValueError(f"the queue is stable only for a load in [0, 1), not {load:g}")
    return load


def mg1_mean_wait_s(arrival_rate: float, service_mean_s: float, service_square_s2: float) -> float:
    """Mean wait in M/G/1 by Pollaczek and Khinchine: lambda·E[S²] / (2 (1 − rho)).

    Args:
        arrival_rate: Poisson arrivals per second.
        service_mean_s: Mean service time, s.
        service_square_s2: Mean of the squared service time, s².

    Raises:
        ValueError: The load is 1 or more.
    """
    load = _stable_load(arrival_rate, service_mean_s)
    return arrival_rate * service_square_s2 / (2.0 * (1.0 - load))


def md1_mean_wait_s(arrival_rate: float, service_s: float) -> float:
    """Mean wait in M/D/1: rho·S / (2 (1 − rho)), s.

    Raises:
        ValueError: The load is 1 or more.
    """
    return mg1_mean_wait_s(arrival_rate, service_s, service_s * service_s)


def md1_mean_queue_packets(arrival_rate: float, service_s: float) -> float:
    """Mean number waiting in M/D/1, by Little's law.

    Raises:
        ValueError: The load is 1 or more.
    """
    return arrival_rate * md1_mean_wait_s(arrival_rate, service_s)


def mm1_mean_wait_s(arrival_rate: float, service_s: float) -> float:
    """Mean wait in M/M/1 with mean service time `service_s`: rho·S / (1 − rho), s.

    Raises:
        ValueError: The load is 1 or more.
    """
    return mg1_mean_wait_s(arrival_rate, service_s, 2.0 * service_s * service_s)


def md1_system_distribution(load: float, count: int) -> FloatArray:
    """Probabilities of 0, 1, … `count` − 1 packets in M/D/1, the one in service included.

    The imbedded chain at departures has the distribution of an arbitrary instant, by PASTA and level
    crossing. It is solved by counting crossings of a level (upward = downward): with a_k the Poisson
    probability of k arrivals in a service and A_k that of more than k, pi_{j+1} a_0 = pi_0 A_j + sum over
    i = 1 … j of pi_i A_{j−i+1}. All terms are positive, so nothing cancels, in contrast to the textbook's
    alternating sum.

    Raises:
        ValueError: The load is 1 or more, or `count` is less than 1.
    """
    _stable_load(load, 1.0)
    if count < 1:
        raise ValueError(f"count must be 1 or more, not {count}")
    exceed = np.asarray(stats.poisson.sf(np.arange(count), load), dtype=np.float64)
    chance = np.zeros(count)
    chance[0] = 1.0 - load
    none = math.exp(-load)
    for level in range(count - 1):
        # exceed[1 … level] reversed meets chance[level … 1]: indices add up to level + 1
        up = chance[0] * exceed[level] + float(np.dot(chance[1 : level + 1], exceed[level:0:-1]))
        chance[level + 1] = up / none
    return chance


def mm1k_distribution(load: float, capacity: int) -> FloatArray:
    """Probabilities of 0 … K packets in M/M/1/K with `capacity` K, the one in service included.

    p_k = (1 − rho) rho^k / (1 − rho^(K+1)), and 1 / (K + 1) for rho = 1.

    Raises:
        ValueError: A negative load or a capacity below 1.
    """
    if load < 0 or not math.isfinite(load):
        raise ValueError(f"the load must be finite and not negative, not {load:g}")
    if capacity < 1:
        raise ValueError(f"the capacity must be 1 or more, not {capacity}")
    powers = np.arange(capacity + 1, dtype=np.float64)
    # the larger power becomes 1, so that nothing overflows at loads above 1
    weights = load**powers if load <= 1.0 else load ** (powers - capacity)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def mm1k_blocking(load: float, capacity: int) -> float:
    """Probability that a packet finds M/M/1/K full and is lost (by PASTA, that of K in the system).

    Raises:
        ValueError: A negative load or a capacity below 1.
    """
    return float(mm1k_distribution(load, capacity)[-1])


def mm1k_mean_system_packets(load: float, capacity: int) -> float:
    """Mean number in M/M/1/K, the one in service included.

    Raises:
        ValueError: A negative load or a capacity below 1.
    """
    return float(np.dot(np.arange(capacity + 1), mm1k_distribution(load, capacity)))


def mm1k_mean_queue_packets(load: float, capacity: int) -> float:
    """Mean number waiting in M/M/1/K.

    Raises:
        ValueError: A negative load or a capacity below 1.
    """
    chance = mm1k_distribution(load, capacity)
    return mm1k_mean_system_packets(load, capacity) - (1.0 - float(chance[0]))


def mm1k_mean_wait_s(load: float, capacity: int, service_s: float) -> float:
    """Mean wait of the packets that M/M/1/K accepts, s, by Little's law.

    Raises:
        ValueError: A load that is not positive, or a capacity below 1.
    """
    if load <= 0:
        raise ValueError(f"the load must be positive, not {load:g}")
    accepted_rate = load / service_s * (1.0 - mm1k_blocking(load, capacity))
    return mm1k_mean_queue_packets(load, capacity) / accepted_rate
