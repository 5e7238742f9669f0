"""The large link: that of examples/internet-exchange.toml, at any rate and with any number of flows."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bufferlab.scenario import Scenario

MIXED: Final = "exchange.toml"
LOSS_BASED: Final = "loss-based.toml"
"""Without BBR, which fills a link whatever its buffer."""

_SCENARIOS: Final = Path(__file__).parent / "scenarios"


def exchange(
    *,
    rate_bps: float,
    flows: int,
    buffer: str = "stanford",
    duration_s: float = 20.0,
    scenario: str = MIXED,
) -> Scenario:
    """Long flows of mixed congestion controls and mixed round-trip times, measured in a run's second half.

    Args:
        rate_bps: Rate of the link, bit/s.
        flows: Number of flows, a multiple of ten, in the scenario's shares.
        buffer: As scenarios write it.
        duration_s: Length, s.
        scenario: The file.
    """
    large = Scenario.load(_SCENARIOS / scenario)
    counts = {group["name"]: group["count"] for group in large.resolved["flows"]}
    total = sum(counts.values())
    return large.with_overrides(
        {
            "run.duration": f"{duration_s:g} s",
            "run.warmup": f"{duration_s / 2:g} s",
            "links[0].rate": f"{rate_bps:.0f} bps",
            "links[0].buffer": buffer,
            **{f"flows.{name}.count": flows * count // total for name, count in counts.items()},
        }
    )
