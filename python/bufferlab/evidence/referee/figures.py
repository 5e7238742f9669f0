"""What is compared of a drawn setting, computed alike from both sides' measurements."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from bufferlab.evidence.ns2.criteria import criteria
from bufferlab.evidence.ns2.judging import Figure
from bufferlab.evidence.ns2.reference import Setting

FIGURES: Final = tuple(Figure(**table) for table in criteria(__package__)["figures"])


def figures_of(setting: Setting, measured: Mapping[str, float]) -> dict[str, float]:
    """The figures of a run, from the measurements of either side; what it has not is left out."""
    kinds = [kind for kind in (1, 2) if setting.flow_counts[kind - 1]]

    def total(name: str) -> float:
        return math.fsum(measured[f"{name}{kind}"] for kind in kinds)

    arrivals, drops = total("arrivals"), total("drops")
    wait_ms = math.fsum(
        measured[f"wait{kind}_ms"] * (measured[f"arrivals{kind}"] - measured[f"drops{kind}"])
        for kind in kinds
    )
    packet_ms = setting.wire_bytes * 8 / setting.rate_bps * 1e3
    values = {
        "utilization": measured["utilization"],
        "mean_queue_packets": measured["mean_queue_packets"],
        "delay_packets": wait_ms / max(arrivals - drops, 1.0) / packet_ms,
        "loss": drops / max(arrivals, 1.0),
    }
    if "marks1" in measured:
        values["marked"] = total("marks") / max(arrivals, 1.0)
    values |= {name: total(name) for name in ("timeouts", "window_cuts") if f"{name}1" in measured}
    return values | _sharing(setting, measured, kinds)


def _sharing(setting: Setting, measured: Mapping[str, float], kinds: list[int]) -> dict[str, float]:
    counts = {kind: setting.flow_counts[kind - 1] for kind in kinds}
    goodput = {kind: measured[f"goodput{kind}_mbps"] for kind in kinds}
    sum_mbps = math.fsum(counts[kind] * goodput[kind] for kind in kinds)
    if setting.flows == 1 or sum_mbps == 0:
        return {}
    squares = math.fsum(
        counts[kind] * (measured[f"goodput{kind}_sd_mbps"] ** 2 + goodput[kind] ** 2) for kind in kinds
    )
    mean = sum_mbps / setting.flows
    values = {"goodput_spread": math.sqrt(max(0.0, squares / setting.flows - mean**2)) / mean}
    if setting.rtt_ms[0] != setting.rtt_ms[1]:
        values["share1"] = counts[1] * goodput[1] / sum_mbps
    return values
