"""What is measured of short and long flows, however many groups they are in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from bufferlab.results.result import Result
from bufferlab.stats import jain_index

KINDS: Final = ("short", "long")

ASIDE: Final = "aside"
"""Begins the names of groups that are not judged."""

_USED: Final = 0.01
"""A sub-buffer with less of the packets is not in use: the gaps need fewer than there may be."""

Row = dict[str, Any]


def kinds(result: Result, _keys: Mapping[str, Any]) -> Row:
    """Fairness, and goodput and wait of each kind of flows; `None` for a kind that the scenario lacks.

    `fairness` is Jain's index over the goodputs of all flows but those of groups set aside. Goodputs and
    waits are means over the flows and packets of each kind: of groups called by it, or by it and a hyphen.
    """
    flows = result.flows.with_columns(kind=_kind()).filter(pl.col("kind") != ASIDE)
    queues = result.queues.filter(pl.col("link") == "bottleneck")
    whole = queues.filter(pl.col("group") == "all").row(0, named=True)
    rates = dict(flows.group_by("kind").agg(pl.col("goodput_bps").mean() / 1e6).iter_rows())
    waits = dict(queues.group_by(_kind()).agg(_mean_wait_ms()).iter_rows())
    row: Row = {
        "fairness": jain_index(flows["goodput_bps"].to_list()),
        "utilization": whole["utilization"],
        "wait_ms": whole["wait_mean_ms"],
        "wait_p95_ms": whole["wait_p95_ms"],
        "loss_percent": 100.0 * (whole["loss"] or 0.0),
        "timeouts_flow_s": float(flows["timeouts"].sum()) / max(flows.height, 1) / result.measured_s,
    }
    for kind in KINDS:
        row[f"goodput_{kind}_mbps"] = rates.get(kind)
        row[f"wait_{kind}_ms"] = waits.get(kind)
    return row


def sources(result: Result, keys: Mapping[str, Any]) -> Row:
    """The same, and how far the router's mean propagation delay is from the flows', in parts of that.

    `error_percent` is the root mean square over time for all packets, `error_short_percent` and
    `error_long_percent` for those of the first and the last sub-buffer. `state_bytes` is what the router
    keeps.
    """
    means = dict(result.flows.group_by("group").agg(pl.col("propagation_ms").mean()).iter_rows())
    samples = result.class_samples.filter(pl.col("time_s") >= result.warmup_s)
    whole = samples.filter(pl.col("class").is_null())
    busy = result.classes.filter(pl.col("departed_packets") > _USED * pl.col("departed_packets").sum())
    first, last = (
        samples.filter(pl.col("class") == end) for end in (busy["class"].min(), busy["class"].max())
    )
    return kinds(result, keys) | {
        "error_percent": _error_percent(whole, float(result.flows["propagation_ms"].to_numpy().mean())),
        "error_short_percent": _error_percent(first, means["short"]),
        "error_long_percent": _error_percent(last, means["long"]),
        "state_bytes": whole["state_bytes"].max(),
    }


def _error_percent(samples: pl.DataFrame, true_ms: float) -> float | None:
    known = samples["rtt_ms"].drop_nulls().to_numpy()
    return 100.0 * math.sqrt(float(((known / true_ms - 1.0) ** 2).mean())) if len(known) else None


def disorder(result: Result, keys: Mapping[str, Any]) -> Row:
    """The same as `kinds`, and which parts of the data packets sent were reordered or sent needlessly.

    `reordered_percent` counts those that came after one that was sent later, `spurious_percent` those that
    came though the receiver had them.
    """
    totals = result.flows.select("sent_packets", "reordered_packets", "spurious_retransmissions").sum()
    sent, reordered, spurious = totals.row(0)
    return kinds(result, keys) | {
        "reordered_percent": 100.0 * reordered / max(sent, 1),
        "spurious_percent": 100.0 * spurious / max(sent, 1),
    }


def _kind() -> pl.Expr:
    return pl.col("group").str.split("-").list.first().alias("kind")


def _mean_wait_ms() -> pl.Expr:
    """Over the packets of several groups."""
    served = pl.col("departed_packets")
    return (pl.col("wait_mean_ms") * served).sum() / served.filter(pl.col("wait_mean_ms").is_not_null()).sum()
