"""The settings of the document's examples: link, mix of flows, and inputs, as published and corrected."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bufferlab.theory import heterogeneous as theory
from bufferlab.theory.characteristic import TABLE_III
from bufferlab.theory.normal import DOCUMENT_Z_99, Convention, z_score
from bufferlab.theory.protocols import PROTOCOLS

NAMES: Final = tuple(TABLE_III)
RATE_BPS: Final = 622e6
RTT_S: Final = 0.1
BDP_BYTES: Final = RATE_BPS * RTT_S / 8.0
FLOWS: Final = 200
MAX_LOSS: Final = 0.01
"""phi of the evaluation (section VIII)."""

WIRE_BYTES: Final = 1500


def _mix() -> dict[str, int]:
    file = Path(__file__).parent / "scenarios" / "mix.toml"
    groups = tomllib.loads(file.read_text(encoding="utf-8"))["flows"]
    return {group["congestion"]: group["count"] for group in groups}


MIX: Final[Mapping[str, int]] = _mix()
"""Flows of each congestion control in the evaluation."""


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
    characteristics: Mapping[str, float]
    z: float
    convention: Convention

    def spread(self, flows: Mapping[str, int]) -> float:
        """(6): delta/mu of the sum of the windows of a mix.

        Args:
            flows: Flows of each congestion control.
        """
        a = theory.mix_characteristic([self.characteristics[name] for name in flows], list(flows.values()))
        return float(theory.relative_deviation(a, sum(flows.values())))

    def utilization_packets(self, rtt_ms: float, flows: Mapping[str, int]) -> int:
        """The buffer of (7), which keeps the link busy, in whole packets.

        Args:
            rtt_ms: Round-trip time, ms.
            flows: Flows of each congestion control.
        """
        return round(float(theory.utilization_buffer(bdp_packets(rtt_ms), self.spread(flows), self.z)))

    def both_packets(self, rtt_ms: float, flows: Mapping[str, int]) -> int:
        """The buffer of (14), which keeps the loss below `MAX_LOSS` as well, in whole packets.

        Args:
            rtt_ms: Round-trip time, ms.
            flows: Flows of each congestion control.
        """
        spread = self.spread(flows)
        return round(float(theory.combined_buffer(bdp_packets(rtt_ms), spread, self.z, self.z, MAX_LOSS)))


AS_PUBLISHED: Final = Variant(
    "as published", "as published: Table III, z = 2.05", TABLE_III, DOCUMENT_Z_99, "document"
)
CORRECTED: Final = Variant(
    "corrected",
    "corrected: a from (4) and (5), z = 2.326",
    {name: PROTOCOLS[name].characteristic() for name in NAMES},
    float(z_score(0.99)),
    "one-sided",
)
VARIANTS: Final[Mapping[str, Variant]] = {each.name: each for each in (AS_PUBLISHED, CORRECTED)}


def bdp_packets(rtt_ms: float) -> float:
    """The OC-12's bandwidth-delay product in packets of 1500 bytes."""
    return RATE_BPS * rtt_ms / 1e3 / 8.0 / WIRE_BYTES
