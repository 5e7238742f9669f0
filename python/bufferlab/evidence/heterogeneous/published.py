"""Numbers that the heterogeneous-TCP document states: targets of comparisons, never inputs of a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Stated:
    """One stated number.

    Attributes:
        value: The number.
        unit: Its unit.
        statement: What it is.
    """

    value: float
    unit: str
    statement: str


TABLE_II_CTCP_DURATION: Final = Stated(5.1, "s", "CTCP, epoch over the fourth root of w_max")

TABLE_IV: Final[tuple[tuple[float, float], ...]] = ((28.0, 2.3), (67.0, 5.5), (90.0, 18.0))
"""Round-trip time, ms, and BDP of an OC-12 of 622 Mbps, MB."""

FIG4_SLOPE: Final = Stated(-0.5, "", "slope of log B over log n: B falls as 1/sqrt n")

FIG5: Final[Mapping[str, Stated]] = {
    "bic": Stated(24.0, "flows", "BIC, any buffer keeps the loss below 1 % from n on"),
    "reno": Stated(1526.0, "flows", "RENO, any buffer keeps the loss below 1 % from n on"),
}

FIG6: Final[Mapping[str, Stated]] = {
    "bic": Stated(0.0, "%", "BIC, more buffer for a loss of 0.0035, n = 200"),
    "reno": Stated(87.0, "%", "RENO, more buffer for a loss of 0.0035, n = 200"),
}

SECTION_VIII_INCREASE: Final = Stated(
    45.45, "%", "mix of 198 flows, more buffer for a loss of 0.01 (fig. 11)"
)

FIG7_Z: Final = Stated(0.0, "", "z_q without a buffer")
FIG7_REDUCTION: Final = Stated(0.24, "", "tau - q without a buffer")

FIG9_UTILIZATION: Final = 0.99
"""Asked of the buffers of (7); the figure's own numbers are lost, the text says "a high link utilization"."""

FIG10_RATIO: Final = 1.0
"""Mean of W over (1)'s bound: "closely matches the lower bound", "within reasonable errors"."""

FIG11_LEAST_UTILIZATION: Final = 0.9739
"""Lowest mean utilization of the three BDPs."""

FIG11_LEAST_LOSS: Final = 0.005
"""Lowest loss rate of the three BDPs."""

FIG11_MORE_BUFFER: Final = 45.45
"""Buffer of (14) over that of (7), minus 1, %, at all three BDPs."""

FIG12_MARGIN: Final = 0.0
"""Buffer minus (10)'s bound is above this at all three BDPs."""
