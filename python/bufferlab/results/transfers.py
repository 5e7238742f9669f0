"""Transfers: flows that end when a number of bytes is sent."""

from __future__ import annotations

import polars as pl

from bufferlab.results.tables import NONE, Plan


def transfers(plan: Plan) -> pl.DataFrame:
    """What flows have to send: `transfer_bytes`, null without an end; `is_short` for short flows."""
    flows = plan["flows"]
    of_groups = [group.get("source", {}).get("transfer_bytes") for group in plan["groups"]]
    table = pl.DataFrame(
        {
            "of_group": pl.Series([of_groups[group] for group in flows["group"]], dtype=pl.UInt64),
            "own": pl.Series(flows.get("transfer_bytes") or [NONE] * len(flows["group"]), dtype=pl.UInt64),
        }
    )
    short = pl.col("own") != NONE
    return table.select(
        pl.when(short).then("own").otherwise("of_group").alias("transfer_bytes"), short.alias("is_short")
    )


def with_transfers(flows: pl.DataFrame, plan: Plan, *, warmup_s: float, reached_s: float) -> pl.DataFrame:
    """The frame `flows` with `counts`, which transfers metrics count, and `lasted_s`, how long each was seen.

    Transfers that had begun by the run's end count; short flows only if they began in the measured window.
    """
    planned = transfers(plan)[flows["flow"].to_list()]
    began = pl.col("start_s") < reached_s
    in_window = ~planned["is_short"] | (flows["start_s"] >= warmup_s)
    return flows.with_columns(
        counts=began & planned["transfer_bytes"].is_not_null() & in_window,
        lasted_s=pl.col("completion_s").fill_null(reached_s - pl.col("start_s")),
    )
