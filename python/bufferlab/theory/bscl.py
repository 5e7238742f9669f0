"""BSCL: buffers for partly synchronized losses and bounded loss.

A. Dhamdhere, H. Jiang and C. Dovrolis, Buffer sizing for congested Internet links, IEEE INFOCOM 2005.

Only the abstract was available (doi.org/10.1109/INFCOM.2005.1498335). It says that the buffer depends on the
harmonic mean of the round-trip times and on the degree of loss synchronization; that, above some number of
flows, bounded loss needs a buffer proportional to the number of flows bottlenecked here; and that such flows
carry 80 to 90 % of the traffic. A summary by others (adrian.idv.hk, "small buffer") gives C times the
harmonic mean for synchronized flows. The equations here are derived. They agree with both, but were not
compared with the paper's own:

- At a loss, a share q of the N flows halves its windows, and the others grow by a segment M. Before the loss,
  C·T + B is in flight. The link stays busy if (1 − q/2)(C·T + B) + M·N·(1 − q) ≥ C·T, so
  B ≥ (q·C·T − 2·M·N·(1 − q)) / (2 − q). For q = 1 that is C·T, as the summary says.
- With loss p a flow's mean window is 0.87/√p segments, and N windows fill link and buffer, so B ≥
  N·0.87/√p − C·T.

Neither source contains the model of q, 1 − (1 − 1/N)^L for L packets lost at random at once, or L = 0.155·N,
which is said to be an average of the authors' simulations.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from bufferlab.theory.arrays import FloatArray, flow_numbers, fraction, positive
from bufferlab.theory.demand import Demand
from bufferlab.theory.rules import rule
from bufferlab.theory.tcp_models import MATHIS_CONSTANT

LOST_PER_FLOW: Final = 0.155
"""L/N, packets lost at once per flow; no available text has it, see the module."""


def effective_rtt_s(rtts_s: ArrayLike) -> float:
    """T_e, the harmonic mean of the flows' round-trip times, s.

    Flows of equal windows send at rates W/T_i, so W = C·T_e/N fills the link.
    """
    times = positive("rtts_s", rtts_s)
    return float(times.size / np.sum(1.0 / times))


def synchronized_share(flows: ArrayLike, lost_per_flow: float = LOST_PER_FLOW) -> FloatArray:
    """The share of the flows that lose a packet, q = 1 − (1 − 1/N)^L, if L packets are lost at random.

    Args:
        flows: N.
        lost_per_flow: L/N.
    """
    count = flow_numbers(flows)
    return np.asarray(1.0 - (1.0 - 1.0 / count) ** (lost_per_flow * count), dtype=np.float64)


def bscl_utilization_buffer(
    pipe_packets: ArrayLike, flows: ArrayLike, lost_per_flow: float = LOST_PER_FLOW
) -> FloatArray:
    """(q·C·T_e − 2·N·(1 − q)) / (2 − q) packets for full utilization, at least 0.

    Args:
        pipe_packets: C·T_e, packets.
        flows: N, the flows that are bottlenecked here.
        lost_per_flow: L/N.
    """
    count, share = flow_numbers(flows), synchronized_share(flows, lost_per_flow)
    need = (share * positive("pipe_packets", pipe_packets) - 2.0 * count * (1.0 - share)) / (2.0 - share)
    return np.asarray(np.maximum(need, 0.0), dtype=np.float64)


def bscl_loss_buffer(pipe_packets: ArrayLike, flows: ArrayLike, max_loss: ArrayLike) -> FloatArray:
    """N·0.87/√p − C·T_e packets for a loss of at most p, at least 0.

    Args:
        pipe_packets: C·T_e, packets.
        flows: N.
        max_loss: p, in (0, 1).
    """
    chance = positive("max_loss", fraction("max_loss", max_loss))
    windows = flow_numbers(flows) * MATHIS_CONSTANT / np.sqrt(chance)
    return np.asarray(np.maximum(windows - positive("pipe_packets", pipe_packets), 0.0), dtype=np.float64)


@rule(
    name="bscl",
    title="BSCL, partial synchronization",
    citation="A. Dhamdhere, H. Jiang, C. Dovrolis, Buffer sizing for congested Internet links, INFOCOM 2005",
    assumptions=(
        "long-lived Reno flows bottlenecked at this link carry 80 to 90 % of the traffic",
        "the round-trip time is the harmonic mean",
        "equations derived here, not compared with the paper's; no available source for L = 0.155 N",
    ),
)
def bscl(demand: Demand) -> FloatArray:
    """The buffer for full utilization; with a loss bound, the larger of it and the buffer for loss."""
    pipe = demand.rate_bps * demand.harmonic_mean_rtt_s / 8.0 / demand.packet_bytes
    packets = bscl_utilization_buffer(pipe, demand.flow_count)
    if demand.targets.max_loss:
        packets = np.maximum(packets, bscl_loss_buffer(pipe, demand.flow_count, demand.targets.max_loss))
    return packets * demand.packet_bytes
