"""Transfers: flows that end when a number of bytes is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from bufferlab.plan import Plan
from bufferlab.results.columns import repeated
from bufferlab.results.tables import NONE

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedFlow, ResolvedScenario


def with_sizes(flows: pl.DataFrame, resolved: ResolvedScenario, plan: Plan) -> pl.DataFrame:
    """The engine's table of flows with `transfer_bytes`, what each has to send, null without an end.

    Only the plan knows what was drawn for each flow; what a group has in common is the scenario's.
    """
    drawn_bytes = plan["flows"].get("transfer_bytes")
    of_groups = [_transfer_bytes(flow) for flow in resolved["flows"]]
    if not drawn_bytes and not any(of_groups):
        return flows.hstack([repeated(None, pl.UInt64(), flows.height).alias("transfer_bytes")])
    drawn = pl.Series(drawn_bytes or [NONE] * flows.height, dtype=pl.UInt64)
    of_group = pl.Series([of_groups[group] for group in flows["group"]], dtype=pl.UInt64)
    own = drawn[flows["flow"]]
    return flows.hstack([own.zip_with(own != NONE, of_group).alias("transfer_bytes")])


def counted_transfers(
    flows: pl.DataFrame, resolved: ResolvedScenario, *, warmup_s: float, reached_s: float
) -> pl.DataFrame:
    """The rows of the frame `flows` that are transfers which metrics count.

    Transfers that had begun by the run's end count; short flows only if they began in the measured window.
    """
    if flows["transfer_bytes"].null_count() == flows.height:  # a filter takes longer than a small run
        return flows.clear()
    whole = [flow["name"] for flow in resolved["flows"] if flow["application"]["kind"] == "transfer"]
    began = pl.col("start_s") < reached_s
    in_window = pl.col("group").is_in(whole) | (pl.col("start_s") >= warmup_s)
    return flows.filter(began & pl.col("transfer_bytes").is_not_null() & in_window)


def _transfer_bytes(flow: ResolvedFlow) -> int | None:
    application = flow["application"]
    return application["transfer_bytes"] if application["kind"] == "transfer" else None
