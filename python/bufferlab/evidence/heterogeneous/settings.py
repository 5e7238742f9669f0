"""The settings of the heterogeneous-TCP document's examples, in its own numbers and corrected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bufferlab.theory.characteristic import TABLE_III
from bufferlab.theory.normal import DOCUMENT_Z_99, Convention, z_score
from bufferlab.theory.protocols import PROTOCOLS

CITATION: Final = (
    "P. Yang, E. Zhang and L. Xu, Sizing Router Buffer for the Internet with Heterogeneous TCP, "
    "University of Nebraska-Lincoln, 2013"
)
NAMES: Final = tuple(TABLE_III)
RATE_BPS: Final = 622e6
RTT_S: Final = 0.1
BDP_BYTES: Final = RATE_BPS * RTT_S / 8.0
FLOWS: Final = 200
MIX: Final = {"reno": 42, "bic": 51, "cubic-0.8": 30, "cubic-0.7": 41, "ctcp": 34}
"""Flows of each protocol in the document's evaluation (section VIII)."""


@dataclass(frozen=True)
class Variant:
    """One reading of the document.

    Attributes:
        name: In tables: `as published` or `corrected`.
        title: In figures.
        characteristics: a_i by protocol.
        z: z-score of 0.99, for the utilization and for the loss.
        convention: How z-scores become probabilities again.
    """

    name: str
    title: str
    characteristics: dict[str, float]
    z: float
    convention: Convention


AS_PUBLISHED: Final = Variant(
    "as published",
    "as published: Table III, z = 2.05",
    {name: value for name, (_, value) in TABLE_III.items()},
    DOCUMENT_Z_99,
    "document",
)
CORRECTED: Final = Variant(
    "corrected",
    "corrected: a from (4) and (5), z = 2.326",
    {name: PROTOCOLS[name].characteristic() for name in TABLE_III},
    float(z_score(0.99)),
    "one-sided",
)
VARIANTS: Final = (AS_PUBLISHED, CORRECTED)

SLIP_Z: Final = (
    "z = 2.05 is the one-sided quantile of 0.98: the document looks up 2 tau - 1; 0.99 needs 2.326."
)
SLIP_BIC: Final = "Table III's 0.0241 for BIC is sqrt 2 less than Table II's growth function gives, 0.0340."
