"""ns-2's runs of the heterogeneous-TCP document's evaluation: what others measured in its settings."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal, cast


@dataclass(frozen=True)
class Ns2Run:
    """One run of ns-2 2.35: 42 RENO, 51 BIC, 71 CUBIC' and 34 CTCP flows of Agent/TCP/Linux over an OC-12.

    Attributes:
        rule: Where the buffer came from: (7) or (14), as published.
        rtt_ms: Mean round-trip time, ms.
        spread: Round-trip times are rtt·(1 ± spread), on twenty pairs of hosts.
        limit_packets: ns-2's queue limit L: L - 1 packets wait and one is in transmission.
        utilization: Of 60 s, from 30 s on; so is all that follows.
        loss: Drops over arrivals at the bottleneck.
        mean_windows: Mean of the sum of all windows, packets.
        deviation: Its standard deviation, packets.
    """

    rule: Literal["utilization", "both"]
    rtt_ms: float
    spread: float
    limit_packets: int
    utilization: float
    loss: float
    mean_windows: float
    deviation: float


@cache
def ns2_runs() -> tuple[Ns2Run, ...]:
    """All runs, in the order of the data file."""
    path = resources.files("bufferlab.evidence.heterogeneous") / "ns2.csv"
    with path.open(encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return tuple(_run(row) for row in rows)


def _run(row: dict[str, str]) -> Ns2Run:
    return Ns2Run(
        rule=cast("Literal['utilization', 'both']", row["rule"]),
        rtt_ms=float(row["rtt_ms"]),
        spread=float(row["spread"]),
        limit_packets=int(row["limit_packets"]),
        utilization=float(row["utilization"]),
        loss=int(row["drops"]) / int(row["arrivals"]),
        mean_windows=float(row["cwnd_sum_mean"]),
        deviation=float(row["cwnd_sum_sd"]),
    )
