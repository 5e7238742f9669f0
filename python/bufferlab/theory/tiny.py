"""Tiny buffers, for paced senders.

M. Enachescu, Y. Ganjali, A. Goel, N. McKeown and T. Roughgarden, Routers with very small buffers, IEEE
INFOCOM 2006. Only the abstract was available (csng.cs.toronto.edu/projects/14): "fewer than twenty packet
buffers", O(log W), suffice for high throughput if senders pace their packets, or if their access links are
much slower than the core, at the cost of "a small amount of link capacity". The bound here is derived and was
not compared with the paper's: a smooth arrival at load rho finds B packets with a probability of about rho^B,
and each loss costs at most W_max²/2 packets of throughput. A share theta of the possible throughput remains
if rho^B·W_max²/2 ≤ 1 − theta, so B ≥ log_{1/rho}( W_max² / (2(1 − theta)) ) packets.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from bufferlab.theory.arrays import FloatArray, fraction, positive
from bufferlab.theory.demand import LEAST_WINDOW_PACKETS, Demand
from bufferlab.theory.rules import rule

LOAD: Final = 0.8
"""rho of the registered rule: a load of at most 80 %. Our choice."""

KEPT: Final = 0.9
"""theta of the registered rule: at least 90 % of that load remain. Our choice."""


def tiny_buffer_packets(max_window_packets: ArrayLike, load: ArrayLike, kept: ArrayLike) -> FloatArray:
    """log_{1/rho}( W_max² / (2(1 − theta)) ) packets, at least 1.

    Args:
        max_window_packets: W_max, the largest window of a flow, packets.
        load: rho, in (0, 1).
        kept: theta, share of the throughput that remains, in [0, 1).

    Raises:
        ValueError: A value out of bounds.
    """
    chance = positive("load", fraction("load", load))
    window = positive("max_window_packets", max_window_packets)
    ratio = window**2 / (2.0 * (1.0 - fraction("kept", kept)))
    return np.asarray(np.maximum(np.log(ratio) / np.log(1.0 / chance), 1.0), dtype=np.float64)


@rule(
    name="tiny",
    title="log(W²) / log(1/ρ), paced",
    citation="M. Enachescu, Y. Ganjali, A. Goel, N. McKeown and T. Roughgarden, INFOCOM 2006",
    assumptions=(
        "senders pace their packets, or access links are much slower than this one",
        f"the load is at most {LOAD:.0%}, and at least {KEPT:.0%} of that is carried; the rest is given up",
        "bound derived here, not compared with the paper's; W is 4/3 of a flow's share of the BDP",
    ),
)
def tiny(demand: Demand) -> FloatArray:
    """The bound for a window whose mean, three quarters of W_max, is the flow's share of the BDP."""
    window = np.maximum(demand.bdp_packets / demand.flow_count / 0.75, LEAST_WINDOW_PACKETS)
    return tiny_buffer_packets(window, LOAD, KEPT) * demand.packet_bytes
