"""The rules of the heterogeneous-TCP paper: Theorem 2, (14) and the delay bound."""

from __future__ import annotations

from typing import Final

import numpy as np

from bufferlab.theory.arrays import FloatArray
from bufferlab.theory.demand import Demand
from bufferlab.theory.heterogeneous import combined_buffer, delay_buffer, utilization_buffer
from bufferlab.theory.rules import ANY_CONTROL, rule

_CITATION: Final = (
    "P. Yang, E. Zhang and L. Xu, Sizing Router Buffer for the Internet with Heterogeneous TCP, 2013"
)
_ASSUMPTIONS: Final = (
    "many long-lived flows with one round-trip time that are not synchronized",
    "their windows have equal means, and reach w_max before each loss",
)
_CONTROLS = "each by its own variation, with equal windows"


@rule(
    name="heterogeneous",
    title="BDP/(1 − z·a/√n) − BDP",
    citation=f"{_CITATION}, Theorem 2",
    assumptions=_ASSUMPTIONS,
    controls=_CONTROLS,
    rounding="up",
)
def heterogeneous(demand: Demand) -> FloatArray:
    """(7), plus what flows always keep queued: W fills the link with the requested probability."""
    return utilization_buffer(demand.bdp_bytes, demand.spread, demand.z_tau) + demand.standing_bytes


@rule(
    name="heterogeneous-loss",
    title="utilization and loss, (14)",
    citation=f"{_CITATION}, (14)",
    assumptions=_ASSUMPTIONS,
    controls=_CONTROLS,
    needs=("max_loss",),
    rounding="up",
)
def heterogeneous_loss(demand: Demand) -> FloatArray:
    """(14): as `heterogeneous`, and loss stays below its bound with the probability `confidence`."""
    loss = demand.targets.max_loss
    both = combined_buffer(demand.bdp_bytes, demand.spread, demand.z_tau, demand.z_rho, loss or 0.0)
    return both + demand.standing_bytes


@rule(
    name="delay",
    title="C·λ, at most",
    citation=f"{_CITATION}, section VI",
    assumptions=("a full buffer is the longest wait; no priority, no other queue",),
    controls=ANY_CONTROL,
    needs=("max_delay_s",),
    bound="most",
    rounding="down",
)
def delay(demand: Demand) -> FloatArray:
    """The largest buffer that drains within the delay bound."""
    most = delay_buffer(demand.rate_bps / 8.0, demand.targets.max_delay_s or 0.0)
    return np.full_like(demand.flow_count, float(most))
