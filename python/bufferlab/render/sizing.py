"""A sizing: the rules, what was simulated, and the buffer to take."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from bufferlab.display import as_view
from bufferlab.render.grid import Column, Grid
from bufferlab.render.scenario import ScenarioLines
from bufferlab.render.size import range_text, targets_given, targets_text
from bufferlab.render.view import Terms, View
from bufferlab.results.metrics.metric import (
    BITS_PER_S,
    BRIEF_SECONDS,
    BYTES,
    CONFIDENCE_SUFFIX,
    MILLISECONDS,
    PACKETS,
    Metric,
)  # fmt: skip
from bufferlab.results.metrics.registry import STORED
from bufferlab.studies.size.sizing import Sizing
from bufferlab.studies.size.verify import METRICS

_CONSTRAINTS: Final = ("utilization", "loss", "delay")


@as_view.register
def sizing_view(sizing: Sizing) -> View:
    """The link, the rules, what was simulated, and the buffer to take."""
    demand, chosen = sizing.demand, sizing.recommendation
    simulated: list[Terms | Grid] = []
    if sizing.verification is not None:
        scenario = ScenarioLines(sizing.resolved, varied={sizing.link: ("buffer",)})
        simulated = [scenario.terms(), _verification(sizing, sizing.verification)]
    size_text = f"{BYTES.quantity(chosen.buffer_bytes)}, {MILLISECONDS.quantity(chosen.buffer_ms, digits=3)}"
    return View(
        [
            f"{sizing.link}: {BITS_PER_S.quantity(demand.rate_bps, digits=6)}, "
            f"mean round-trip time {BRIEF_SECONDS.quantity(demand.rtt_s)}, "
            f"{int(demand.flow_count)} long-lived flows ({_mix_text(sizing)}), "
            f"packets of {demand.packet_bytes} bytes on the wire",
            f"Targets: {targets_text(demand.targets)}",
            _rules(sizing),
            *simulated,
            *range_text(demand, sizing.feasibility),
            f"Take {chosen.buffer_packets} packets ({size_text}; {chosen.rule}): {chosen.reason}.",
        ]
    )


def _rules(sizing: Sizing) -> Grid:
    targets = sizing.demand.targets
    shown = [name for name, wanted in zip(_CONSTRAINTS, targets_given(targets), strict=True) if wanted]
    columns: list[str | Column] = [
        *(unit.shown for unit in (PACKETS, BYTES, MILLISECONDS)),
        *(Column(f"{name} met in theory", "center") for name in shown),
        Column("source", "left", wraps=True),
    ]
    rows = [
        [
            row["rule"],
            row["title"],
            str(row["buffer_packets"]),
            BYTES.text(row["buffer_bytes"]),
            MILLISECONDS.text(row["buffer_ms"]),
            *["yes" if row[f"meets_{name}"] else "no" for name in shown],
            row["citation"],
        ]
        for row in sizing.frame.iter_rows(named=True)
    ]
    return Grid(["rule", Column("formula", "left", wraps=True)], columns, rows)


def _verification(sizing: Sizing, verification: pl.DataFrame) -> Grid:
    metrics = [STORED[name] for name in METRICS]
    rows = [
        [
            row["rule"] or "·",
            str(row["buffer_packets"]),
            *(_with_confidence(row, metric) for metric in metrics),
        ]
        for row in verification.iter_rows(named=True)
    ]
    title = f"Simulated, {sizing.seeds} seeds, ± 95 % confidence"
    return Grid(["rule", Column(PACKETS.shown)], [metric.label for metric in metrics], rows, title)


def _mix_text(sizing: Sizing) -> str:
    return ", ".join(f"{count:.0f} {name}" for name, count in sizing.demand.mix)


def _with_confidence(row: dict[str, Any], metric: Metric) -> str:
    return metric.unit.text(row[metric.name], row[metric.name + CONFIDENCE_SUFFIX])
