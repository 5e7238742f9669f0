"""Which buffers meet all constraints, and what it costs if none does.

The bounds are those of P. Yang, E. Zhang and L. Xu, Sizing Router Buffer for the Internet with Heterogeneous
TCP (2013), section VII: lower bounds (7) and (13), upper bound C·lambda, and the compromise (18) and (19).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from bufferlab.theory import heterogeneous as theory
from bufferlab.theory.demand import Demand
from bufferlab.theory.normal import probability_of

_MOST_FLOWS: Final = 10**9
_TOLERANCE: Final = 1e-9


@dataclass(frozen=True)
class Compromise:
    """What the delay bound costs if it allows a smaller buffer than utilization and loss need.

    Attributes:
        utilization: q, the highest probability of a busy link that remains, by (18).
        utilization_given_up: tau − q.
        loss_added: The smallest increase of the loss, by (19); 0 without a loss bound.
    """

    utilization: float
    utilization_given_up: float
    loss_added: float


@dataclass(frozen=True)
class WayOut:
    """One change that makes all constraints compatible while the others stay as they are.

    Attributes:
        constraint: What to change: `delay`, `loss`, `utilization` or `flows`.
        value: Its new value: s, a share, a share, a number.
    """

    constraint: str
    value: float


@dataclass(frozen=True)
class Feasibility:
    """The buffers that meet all constraints in theory.

    Attributes:
        utilization_bytes: Smallest buffer for the utilization, (7); infinite if there is none.
        loss_bytes: Smallest buffer for the loss bound, (13); 0 if any buffer meets it; `None` without one.
        delay_bytes: Largest buffer for the delay bound; `None` without one.
        binding: The constraint that needs the largest buffer: `utilization` or `loss`.
        any_buffer_bounds_loss: Whether (12) holds; `None` without a loss bound.
        compromise: What the delay bound costs; `None` if all constraints can be met.
        ways_out: Changes that make the constraints compatible; empty if they already are.
    """

    utilization_bytes: float
    loss_bytes: float | None
    delay_bytes: float | None
    binding: str
    any_buffer_bounds_loss: bool | None
    compromise: Compromise | None = None
    ways_out: tuple[WayOut, ...] = ()

    @property
    def least_bytes(self) -> float:
        """Smallest buffer for utilization and loss, (14)."""
        return max(self.utilization_bytes, self.loss_bytes or 0.0)

    @property
    def feasible(self) -> bool:
        """Whether any buffer meets all constraints."""
        most = math.inf if self.delay_bytes is None else self.delay_bytes
        return math.isfinite(self.least_bytes) and self.least_bytes <= most * (1.0 + _TOLERANCE)


def feasibility(demand: Demand) -> Feasibility:
    """The range of buffers that meets a demand's targets.

    Args:
        demand: The link and its flows; `flows` must be one number.
    """
    found = _bounds(demand)
    if found.feasible or found.delay_bytes is None:
        return found
    return replace(found, compromise=_compromise(demand, found), ways_out=_ways_out(demand, found))


def _bounds(demand: Demand) -> Feasibility:
    pipe, spread, targets = demand.bdp_bytes, float(demand.spread), demand.targets
    standing = float(demand.standing_bytes)
    busy = float(theory.utilization_buffer(pipe, spread, demand.z_tau)) + standing
    loss, anyway = None, None
    if targets.max_loss is not None:
        bounded = bool(theory.any_buffer_bounds_loss(spread, demand.z_rho, targets.max_loss))
        anyway = bounded and standing == 0
        exact = theory.utilization_and_loss_buffer(pipe, spread, demand.z_tau, demand.z_rho, targets.max_loss)
        loss = standing + (0.0 if bounded else max(float(exact), 0.0))
    most = None
    if targets.max_delay_s is not None:
        most = float(theory.delay_buffer(demand.rate_bps / 8.0, targets.max_delay_s))
    return Feasibility(
        utilization_bytes=busy,
        loss_bytes=loss,
        delay_bytes=most,
        binding="loss" if loss is not None and loss > busy else "utilization",
        any_buffer_bounds_loss=anyway,
    )


def _compromise(demand: Demand, found: Feasibility) -> Compromise | None:
    """(18) and (19) at the delay bound; they do not apply to windows that do not vary."""
    if found.delay_bytes is None or not math.isfinite(found.least_bytes) or float(demand.spread) == 0:
        return None
    tau, room = demand.targets.utilization, found.delay_bytes
    left = tau
    if room < found.utilization_bytes:
        gamma = theory.shrinkage(demand.bdp_bytes, room, found.utilization_bytes)
        z = theory.compromised_z(demand.z_tau, demand.spread, gamma)
        left = float(probability_of(z, demand.targets.convention))
    added = 0.0
    if found.loss_bytes is not None:
        added = float(theory.extra_loss(demand.bdp_bytes, room, found.loss_bytes))
    return Compromise(left, tau - left, added)


def _ways_out(demand: Demand, found: Feasibility) -> tuple[WayOut, ...]:
    ways = {
        "delay": found.least_bytes * 8.0 / demand.rate_bps if math.isfinite(found.least_bytes) else None,
        "loss": _loss_that_fits(demand, found),
        "utilization": _utilization_that_fits(demand),
        "flows": _flows_that_fit(demand),
    }
    return tuple(WayOut(name, value) for name, value in ways.items() if value is not None)


def _loss_that_fits(demand: Demand, found: Feasibility) -> float | None:
    """(13), solved for phi with B = C·lambda, if the utilization alone fits."""
    if found.loss_bytes is None or found.delay_bytes is None or found.utilization_bytes > found.delay_bytes:
        return None
    mean = float(theory.least_mean(demand.bdp_bytes, demand.spread, demand.z_tau))
    peak = demand.z_rho * float(demand.spread) + 1.0
    return 1.0 - (demand.bdp_bytes + found.delay_bytes) / (peak * mean)


def _utilization_that_fits(demand: Demand) -> float | None:
    """The highest utilization above 1/2 that fits loss and delay, by bisection: the bounds fall with it."""
    low, high = 0.5 + 1e-9, demand.targets.utilization

    def fits(utilization: float) -> bool:
        return _bounds(replace(demand, targets=replace(demand.targets, utilization=utilization))).feasible

    if low >= high or not fits(low):
        return None
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _flows_that_fit(demand: Demand) -> int | None:
    """The least number of flows of the same mix that fits, by bisection: the bounds fall with the number."""
    low = int(demand.flow_count)
    high = 2 * low
    while not _bounds(replace(demand, flows=high)).feasible:
        if high >= _MOST_FLOWS:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _bounds(replace(demand, flows=middle)).feasible else (middle, high)
    return high
