"""The error-function form of the BDP/√n rule: utilization from buffer, and buffer from utilization.

G. Appenzeller, I. Keslassy, N. McKeown, Sizing router buffers, ACM SIGCOMM 2004, section 3.2, equation (6);
numbers as in the extended version (Stanford HPNG Technical Report TR04-HPNG-06-08-00). The sum of the windows
is normal around BDP + B/2 with a standard deviation of at most a·(BDP + B)/√n. The link is busy and drops
nothing while the sum lies between BDP and BDP + B. Hence P = erf( B·√n / (2√2·a·(BDP + B)) ), whose factor is
3√3/(2√2) for Reno's a = 1/(3√3). P is a lower bound of the utilization, as it also excludes times of loss.

The paper's examples for n = 10 000: BDP/√n keeps 98.99 %, as printed; 1.5 times that keeps 99.988 % by (6),
but the paper prints 99.99988 %.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from bufferlab.theory.arrays import FloatArray, flow_numbers, not_negative, positive
from bufferlab.theory.demand import Demand
from bufferlab.theory.rules import rule

RENO_CHARACTERISTIC: Final = 1.0 / (3.0 * math.sqrt(3.0))


def erf_utilization(
    bdp: ArrayLike, buffer: ArrayLike, flows: ArrayLike, characteristic: float = RENO_CHARACTERISTIC
) -> FloatArray:
    """Lower bound of the utilization with a buffer.

    Args:
        bdp: Bandwidth-delay product, any unit.
        buffer: The buffer, in the same unit.
        flows: Number of long-lived flows that are not synchronized.
        characteristic: Standard deviation over mean of one flow's window.
    """
    from scipy import special  # noqa: PLC0415 - slow to import

    pipe, room, count = positive("bdp", bdp), not_negative("buffer", buffer), flow_numbers(flows)
    scale = 2.0 * math.sqrt(2.0) * characteristic
    return np.asarray(special.erf(room * np.sqrt(count) / (scale * (pipe + room))), dtype=np.float64)


def erf_buffer(
    bdp: ArrayLike, utilization: ArrayLike, flows: ArrayLike, characteristic: float = RENO_CHARACTERISTIC
) -> FloatArray:
    """The buffer for which `erf_utilization` is `utilization`; infinite where no buffer is enough.

    With y = erfinv(u)·2√2·a/√n it is BDP·y/(1 − y).

    Raises:
        ValueError: A utilization outside of [0, 1).
    """
    from scipy import special  # noqa: PLC0415 - slow to import

    wanted = not_negative("utilization", utilization)
    if not np.all(wanted < 1.0):
        raise ValueError(f"utilization must be below 1, not {utilization!r}")
    y = special.erfinv(wanted) * 2.0 * math.sqrt(2.0) * characteristic / np.sqrt(flow_numbers(flows))
    with np.errstate(divide="ignore"):
        return np.asarray(positive("bdp", bdp) * y / np.maximum(1.0 - y, 0.0), dtype=np.float64)


@rule(
    name="stanford-erf",
    title="erf bound for the utilization",
    citation="G. Appenzeller, I. Keslassy, N. McKeown, Sizing router buffers, ACM SIGCOMM 2004, section 3.2",
    assumptions=(
        "many long-lived Reno flows that are not synchronized",
        "the sum of their windows is normal around BDP + B/2",
        "a lower bound, as it also excludes times of loss",
    ),
)
def stanford_erf(demand: Demand) -> FloatArray:
    """Smallest buffer whose error-function bound reaches the target utilization, for Reno flows."""
    return erf_buffer(demand.bdp_bytes, demand.targets.utilization, demand.flow_count)
