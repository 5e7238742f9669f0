"""A band around the √n rule for Reno, CUBIC and BBR.

B. Spang, S. Arslan and N. McKeown, Updating the theory of buffer sizing, arXiv:2109.11693, 2021. They
prove the √n rule under weaker assumptions, and measure the smallest buffer for full utilization (10 Gbps,
1.2 ms, packets of 9000 bytes): it lies between BDP/√n and 2·BDP/√n, except for unfair flows and some
settings of ECN. The lower end is the rule `stanford`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bufferlab.theory.arrays import FloatArray, flow_numbers, positive
from bufferlab.theory.demand import Demand
from bufferlab.theory.rules import ANY_CONTROL, rule


def band(bdp: ArrayLike, flows: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The two ends, BDP/√n and 2·BDP/√n.

    Args:
        bdp: Bandwidth-delay product, any unit.
        flows: n, 1 or more.
    """
    low = np.asarray(positive("bdp", bdp) / np.sqrt(flow_numbers(flows)), dtype=np.float64)
    return low, 2.0 * low


@rule(
    name="spang",
    title="2·BDP/√n",
    citation="B. Spang, S. Arslan, N. McKeown, Updating the theory of buffer sizing, arXiv:2109.11693, 2021",
    assumptions=(
        "long-lived Reno, CUBIC or BBR flows that share the link fairly",
        "measured: the need is between BDP/√n and this, except for unfair flows and some uses of ECN",
    ),
    controls=ANY_CONTROL,
)
def spang(demand: Demand) -> FloatArray:
    """Upper end of the band in which the smallest sufficient buffers were measured."""
    return band(demand.bdp_bytes, demand.flow_count)[1]
