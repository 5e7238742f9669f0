"""One flow, or synchronized flows: the buffer that covers a window reduction.

A flow that keeps the share beta of its window at a loss has BDP + B in flight before it and beta·(BDP + B)
after it. The link stays busy if that is at least the BDP, so B = (1/beta − 1)·BDP: the BDP for Reno (C.
Villamizar and C. Song, High performance TCP in ANSNET, ACM CCR 24(5), 1994), 3/7 of it for CUBIC. The general
form, and the utilizations with smaller buffers, are those of B. Spang, S. Arslan and N. McKeown, Updating the
theory of buffer sizing, arXiv:2109.11693, 2021.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from bufferlab.theory.arrays import FloatArray, not_negative, positive
from bufferlab.theory.demand import Demand
from bufferlab.theory.rules import rule

BBR_BASE_UTILIZATION: Final = 0.75
"""Utilization by one BBR flow without a buffer: its drain phase paces at 3/4 (Spang et al. 2021)."""


def single_flow_buffer(bdp: ArrayLike, beta: ArrayLike) -> FloatArray:
    """(1/beta − 1)·BDP, the least buffer for full utilization by one flow.

    Args:
        bdp: Bandwidth-delay product, any unit.
        beta: Share of the window that a loss leaves, in (0, 1].

    Raises:
        ValueError: beta out of bounds.
    """
    kept = positive("beta", beta)
    if not np.all(kept <= 1.0):
        raise ValueError(f"beta must be 1 or less, not {beta!r}")
    return np.asarray((1.0 / kept - 1.0) * positive("bdp", bdp), dtype=np.float64)


def single_flow_utilization(buffer_over_bdp: ArrayLike, beta: ArrayLike) -> FloatArray:
    """min(beta·(1 + B/BDP), 1): utilization just after a loss, the least in the cycle (Spang et al. 2021).

    The mean over the cycle is higher; for Reno it is `bufferlab.theory.tcp_models.reno_utilization`.
    """
    room = not_negative("buffer_over_bdp", buffer_over_bdp)
    return np.asarray(np.minimum(positive("beta", beta) * (1.0 + room), 1.0), dtype=np.float64)


def bbr_utilization(buffer_over_bdp: ArrayLike) -> FloatArray:
    """min(3/4 + B/BDP, 1): utilization by one BBR flow (Spang et al. 2021), 1 from BDP/4 upward."""
    room = not_negative("buffer_over_bdp", buffer_over_bdp)
    return np.asarray(np.minimum(BBR_BASE_UTILIZATION + room, 1.0), dtype=np.float64)


@rule(
    name="single-flow",
    title="(1/β − 1)·BDP",
    citation="B. Spang, S. Arslan, N. McKeown, Updating the theory of buffer sizing, arXiv:2109.11693, 2021",
    assumptions=(
        "one flow, or flows that reduce their windows together",
        "the protocol with the largest window reduction counts; BBR needs a quarter of the BDP",
    ),
    controls="all as the one with the largest window reduction",
)
def single_flow(demand: Demand) -> FloatArray:
    """The largest (1/beta − 1)·BDP over the protocols of the mix."""
    shares = []
    for protocol in demand.protocols:
        bbr = protocol.name == "bbr"
        shares.append(1.0 - BBR_BASE_UTILIZATION if bbr else float(single_flow_buffer(1.0, protocol.beta)))
    return np.full_like(demand.flow_count, demand.bdp_bytes * max(shares))
