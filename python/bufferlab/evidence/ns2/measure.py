"""One simulated run in the terms of ns-2's measurements."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import polars as pl

from bufferlab import _core
from bufferlab.evidence.ns2.equivalent import AS_IS, Variant, groups_of, plan_of
from bufferlab.evidence.ns2.reference import MIX, Setting
from bufferlab.results.tables import ALL_GROUPS


def simulate(
    setting: Setting, seed: int, control: _core.Control | None = None, variant: Variant = AS_IS
) -> dict[str, float] | None:
    """Run a setting once and measure what ns-2 measured: the same keys as a reference row.

    `None` if `control` canceled the run.
    """
    plan = plan_of(setting, seed, variant)
    outcome = _core.simulate(json.dumps(plan), control)
    if outcome.canceled:
        return None
    return measurements(setting, plan, pl.DataFrame(outcome.flows()), pl.DataFrame(outcome.queues()))


def measurements(
    setting: Setting, plan: dict[str, Any], flows: pl.DataFrame, queues: pl.DataFrame
) -> dict[str, float]:
    """The reference's columns from the engine's tables.

    Goodput counts bytes on the wire, as ns-2's rows do.
    """
    measured_s = setting.duration_s - setting.warmup_s
    bottleneck = queues.filter(pl.col("link") == 0)
    total = bottleneck.row(by_predicate=pl.col("group") == ALL_GROUPS, named=True)
    values = {
        "mean_queue_packets": float(total["backlog_mean_packets"]),
        "utilization": total["departed_bytes"] * 8 / (setting.rate_bps * measured_s),
    }
    mbps_a_byte = setting.wire_bytes / plan["groups"][0]["source"]["mss_bytes"] * 8 / measured_s / 1e6
    groups = groups_of(setting)
    for kind in sorted({kind for kind, _ in groups}):
        own = [index for index, (each, _) in enumerate(groups) if each == kind]
        queue = bottleneck.filter(pl.col("group").is_in(own))
        values |= _of_type(kind + 1, mbps_a_byte, flows.filter(pl.col("group").is_in(own)), queue)
    if setting.stack == MIX:
        for control in sorted({control for _, control in groups}):
            own = [index for index, (_, each) in enumerate(groups) if each == control]
            delivered = flows.filter(pl.col("group").is_in(own))["delivered_bytes"]
            values[f"goodput_{control}_mbps"] = _mean(delivered * mbps_a_byte)
    return values


def _of_type(kind: int, mbps_a_byte: float, flows: pl.DataFrame, queue: pl.DataFrame) -> dict[str, float]:
    goodput_mbps = flows["delivered_bytes"] * mbps_a_byte
    arrived, departed, dropped = (
        int(queue[f"{what}_packets"].sum()) for what in ("arrived", "departed", "dropped")
    )
    waited_ps = float((queue["wait_mean_ps"] * queue["departed_packets"]).sum())
    timeouts = float(flows["timeouts"].sum())
    return {
        f"goodput{kind}_mbps": _mean(goodput_mbps),
        f"goodput{kind}_sd_mbps": float(goodput_mbps.std(ddof=0) or 0.0),  # type: ignore[arg-type]
        f"loss{kind}": dropped / arrived if arrived else 0.0,
        f"wait{kind}_ms": waited_ps / max(departed, 1) / 1e9,
        f"arrivals{kind}": float(arrived),
        f"drops{kind}": float(dropped),
        f"timeouts{kind}": timeouts,
        f"window_cuts{kind}": float(flows["recoveries"].sum()) + timeouts,
    }


def _mean(values: pl.Series) -> float:
    return float(values.mean() or 0.0)  # type: ignore[arg-type]


def with_share(values: dict[str, float], setting: Setting) -> dict[str, float]:
    """The measurements of a run and shares of the goodput: type 1's, and in a mix each control's."""
    if "goodput2_mbps" not in values:
        return values
    first, second = (values[f"goodput{kind + 1}_mbps"] * setting.flow_counts[kind] for kind in (0, 1))
    total = first + second if first + second > 0 else math.nan
    shares = {"share1": first / total}
    if setting.stack == MIX:
        for name, flows in Counter(setting.control_of).items():
            shares[f"share_{name}"] = values[f"goodput_{name}_mbps"] * flows / total
    return values | shares
