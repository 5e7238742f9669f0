"""The flows that are simulated: each congestion control alone, and mixes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bufferlab.evidence.heterogeneous.settings import MIX

PACKET_BYTES: Final = 1500
RTT_S: Final = 0.1
"""Mean, of the scenarios."""

SCENARIOS: Final = Path(__file__).parent / "scenarios"


@dataclass(frozen=True)
class Mix:
    """Congestion controls and their shares of the flows.

    Attributes:
        name: For tables.
        parts: Congestion control (scenario's word) and weight.
    """

    name: str
    parts: tuple[tuple[str, float], ...]

    def counts(self, flows: int) -> dict[str, int]:
        """The flows divided by share, those with the largest remainders rounded up."""
        total = sum(weight for _, weight in self.parts)
        exact = {control: flows * weight / total for control, weight in self.parts}
        counts = {control: int(value) for control, value in exact.items()}
        by_rest = sorted(exact, key=lambda control: counts[control] - exact[control])
        for control in by_rest[: flows - sum(counts.values())]:
            counts[control] += 1
        return {control: count for control, count in counts.items() if count}


def alone(control: str) -> Mix:
    """One congestion control."""
    return Mix(control, ((control, 1.0),))


DOCUMENT_MIX: Final = Mix("mix of 2013", tuple(MIX.items()))
"""Flows of P. Yang, E. Zhang and L. Xu (2013), figures 9 to 12."""

MODERN_MIX: Final = Mix("cubic and bbr3", (("cubic", 1), ("bbr3", 1)))
"""What hosts run today, half and half."""

CONTROLS: Final = (
    "reno", "bic", "cubic-0.8", "cubic-0.7", "ctcp", "cubic", "scalable", "htcp", "bbr", "bbr3",
)  # fmt: skip
"""Congestion controls with a model of their window."""

MIXES: Final = (*(alone(control) for control in CONTROLS), DOCUMENT_MIX, MODERN_MIX)


def scenario_of(
    counts: Mapping[str, int],
    *,
    window_packets: float,
    duration_s: float,
    warmup_s: float,
    sample_ms: float = 0.0,
) -> dict[str, Any]:
    """Linux hosts at one link whose bandwidth-delay product is `window_packets` a flow; the buffer is 1 BDP.

    Args:
        counts: Flows of each congestion control.
        window_packets: Bandwidth-delay product over the number of flows, packets.
        duration_s: Length, s.
        warmup_s: Measured from here on, s.
        sample_ms: Interval of samples of every flow; 0 for none.
    """
    flows = sum(counts.values())
    document = tomllib.loads((SCENARIOS / "many.toml").read_text(encoding="utf-8"))
    document["run"] |= {"duration": f"{duration_s:g} s", "warmup": f"{warmup_s:g} s"}
    document["bottleneck"]["rate"] = f"{flows * window_packets * PACKET_BYTES * 8 / RTT_S:.0f} bps"
    (like,) = document["flows"]
    document["flows"] = [_group(like, control, count) for control, count in counts.items()]
    if sample_ms:
        document["probes"] = {"interval": f"{sample_ms:g} ms", "per_group": max(counts.values())}
    return document


def _group(like: Mapping[str, Any], control: str, count: int) -> dict[str, Any]:
    """The flows of one control; a lone one has the mean round-trip time."""
    own = {"name": control.replace(".", "_"), "congestion": control, "count": count}
    spread = {} if count > 1 else {"rtt_spread": 0.0}
    return {**like, **own, **spread}
