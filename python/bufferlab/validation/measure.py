"""One simulated run in the terms of ns-2's measurements."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from bufferlab import _core
from bufferlab.validation.equivalent import AS_IS, Variant, plan_of
from bufferlab.validation.reference import Setting

ALL_GROUPS = 2**32 - 1
"""Stands for "all groups" in the engine's tables."""


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
    for kind in range(len(plan["groups"])):
        source = plan["groups"][kind]["source"]
        own = flows.filter(pl.col("group") == kind)
        queue = bottleneck.row(by_predicate=pl.col("group") == kind, named=True)
        goodput = own["delivered_bytes"] * (setting.wire_bytes / source["mss_bytes"]) * 8 / measured_s / 1e6
        values |= _of_type(kind + 1, goodput, own, queue)
    return values


def _of_type(
    kind: int, goodput_mbps: pl.Series, flows: pl.DataFrame, queue: dict[str, Any]
) -> dict[str, float]:
    arrived, dropped = queue["arrived_packets"], queue["dropped_packets"]
    timeouts = float(flows["timeouts"].sum())
    return {
        f"goodput{kind}_mbps": float(goodput_mbps.mean() or 0.0),  # type: ignore[arg-type]
        f"goodput{kind}_sd_mbps": float(goodput_mbps.std(ddof=0) or 0.0),  # type: ignore[arg-type]
        f"loss{kind}": dropped / arrived if arrived else 0.0,
        f"queueing_delay{kind}_ms": queue["sojourn_mean_ps"] / 1e9,
        f"arrivals{kind}": float(arrived),
        f"drops{kind}": float(dropped),
        f"timeouts{kind}": timeouts,
        f"window_cuts{kind}": float(flows["recoveries"].sum()) + timeouts,
    }
