"""The settings of the document's examples: link, mix of flows, and inputs, as published and corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bufferlab.evidence.heterogeneous.published import table_iii
from bufferlab.experiment.simulation import prepare
from bufferlab.theory import heterogeneous as theory
from bufferlab.theory.normal import Convention, z_score
from bufferlab.theory.protocols import PROTOCOLS

NAMES: Final = tuple(table_iii())
FLOWS: Final = 200
MAX_LOSS: Final = 0.01
"""phi of the evaluation (section VIII)."""

WIRE_BYTES: Final = 1500


_EVALUATION: Final = prepare(Path(__file__).parent / "scenarios" / "mix.toml").resolved

RATE_BPS: Final = float(_EVALUATION["links"][0]["rate_bps"])
RTT_S: Final = 0.1
BDP_BYTES: Final = RATE_BPS * RTT_S / 8.0

MIX: Final[Mapping[str, int]] = {
    group["tcp"]["congestion"]: group["count"] for group in _EVALUATION["flows"] if group["tcp"] is not None
}
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


#: From a table with two decimals.
_PUBLISHED_Z: Final = round(float(z_score(0.99, "document")), 2)

AS_PUBLISHED: Final = Variant(
    "as published",
    f"as published: Table III, z = {_PUBLISHED_Z:g}",
    table_iii(),
    _PUBLISHED_Z,
    "document",
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
