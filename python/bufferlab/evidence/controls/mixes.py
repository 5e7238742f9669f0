"""The flows that are simulated: each congestion control alone, and mixes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

PACKET_BYTES: Final = 1500
RTT_S: Final = 0.1
SPREAD: Final = 0.2


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


DOCUMENT_MIX: Final = Mix(
    "mix of 2013", (("reno", 42), ("bic", 51), ("cubic-0.8", 30), ("cubic-0.7", 41), ("ctcp", 34))
)
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
    spread: float = SPREAD,
    sample_ms: float = 0.0,
) -> dict[str, Any]:
    """Linux hosts at one link whose bandwidth-delay product is `window_packets` a flow; the buffer is 1 BDP.

    Args:
        counts: Flows of each congestion control.
        window_packets: Bandwidth-delay product over the number of flows, packets.
        duration_s: Length, s.
        warmup_s: Measured from here on, s.
        spread: Round-trip times are spaced evenly over ± this share.
        sample_ms: Interval of samples of every flow; 0 for none.
    """
    flows = sum(counts.values())
    rate_bps = flows * window_packets * PACKET_BYTES * 8 / RTT_S
    groups = [
        {
            "name": control.replace(".", "_"),
            "congestion": control,
            "count": count,
            "rtt": f"{RTT_S * 1e3:g} ms",
            "jitter": "0 s",
            "start": "uniform(0 s, 2 s)" if flows > 1 else "0 s",
            **({"rtt_spread": spread} if count > 1 else {}),
        }
        for control, count in counts.items()
    ]
    document: dict[str, Any] = {
        "run": {"duration": f"{duration_s:g} s", "warmup": f"{warmup_s:g} s", "stack": "linux"},
        "bottleneck": {"rate": f"{rate_bps:.0f} bps", "delay": "1 ms", "buffer": "1 bdp"},
        "flows": groups,
    }
    if sample_ms:
        document["probes"] = {"interval": f"{sample_ms:g} ms", "per_group": max(counts.values())}
    return document
