"""The large link: that of examples/internet-exchange.toml, at any rate and with any number of flows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

RTT: Final = "lognormal(median=60 ms, sigma=0.6, min=10 ms, max=300 ms)"
SHARES: Final[Mapping[str, int]] = {"reno": 2, "cubic": 5, "bbr3": 3}
"""Tenths of the flows."""

LOSS_BASED: Final[Mapping[str, int]] = {"reno": 3, "cubic": 7}
"""Without BBR, which fills a link whatever its buffer."""


def exchange(
    *,
    rate_bps: float,
    flows: int,
    buffer: str = "stanford",
    duration_s: float = 20.0,
    shares: Mapping[str, int] = SHARES,
) -> dict[str, Any]:
    """Long flows of mixed congestion controls and mixed round-trip times, measured in a run's second half.

    Args:
        rate_bps: Rate of the link, bit/s.
        flows: Number of flows, a multiple of ten.
        buffer: As scenarios write it.
        duration_s: Length, s.
        shares: Tenths of the flows by congestion control.
    """
    groups = [
        {
            "name": control,
            "congestion": control,
            "count": flows * tenths // 10,
            "rtt": RTT,
            "jitter": "0 s",
            "start": "uniform(0 s, 2 s)",
        }
        for control, tenths in shares.items()
    ]
    return {
        "run": {"duration": f"{duration_s:g} s", "warmup": f"{duration_s / 2:g} s", "stack": "linux"},
        "bottleneck": {"rate": f"{rate_bps:.0f} bps", "delay": "1 ms", "buffer": buffer},
        "flows": groups,
    }
