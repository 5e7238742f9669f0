"""A sizing for a terminal: the rules, what was simulated, and the buffer to take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import polars as pl
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table

from bufferlab.display import as_text
from bufferlab.render.grid import plain
from bufferlab.render.size import range_text, targets_given, targets_text
from bufferlab.results.metrics.metric import CONFIDENCE_SUFFIX, Metric
from bufferlab.results.metrics.registry import STORED
from bufferlab.studies.size.sizing import Sizing
from bufferlab.studies.size.verify import METRICS

_CONSTRAINTS: Final = ("utilization", "loss", "delay")


@dataclass(frozen=True)
class SizingView:
    """A sizing for a terminal: rich prints it as wide as there is room."""

    sizing: Sizing

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        sizing, demand = self.sizing, self.sizing.demand
        yield (
            f"{sizing.link}: {demand.rate_bps / 1e6:g} Mbps, "
            f"mean round-trip time {demand.rtt_s * 1e3:.4g} ms, "
            f"{int(demand.flow_count)} long-lived flows ({_mix_text(sizing)}), "
            f"packets of {demand.packet_bytes} bytes on the wire"
        )
        yield f"Targets: {targets_text(demand.targets)}"
        yield _rules_table(sizing)
        if sizing.verification is not None:
            yield _verification_table(sizing, sizing.verification)
        yield from range_text(demand, sizing.feasibility)
        chosen = sizing.recommendation
        size_text = f"{chosen.buffer_bytes / 1e3:.4g} KB, {chosen.buffer_ms:.3g} ms"
        yield f"Take {chosen.buffer_packets} packets ({size_text}; {chosen.rule}): {chosen.reason}."


@as_text.register
def _(shown: Sizing) -> str:
    return plain(SizingView(shown))


def _rules_table(sizing: Sizing) -> Table:
    table = Table("rule", "formula")
    for title in ("packets", "KB", "ms"):
        table.add_column(title, justify="right")
    targets = sizing.demand.targets
    shown = [name for name, wanted in zip(_CONSTRAINTS, targets_given(targets), strict=True) if wanted]
    for name in shown:
        table.add_column(f"{name} met in theory", justify="center")
    table.add_column("source")
    for row in sizing.frame.iter_rows(named=True):
        table.add_row(
            row["rule"],
            row["title"],
            str(row["buffer_packets"]),
            f"{row['buffer_bytes'] / 1e3:.4g}",
            f"{row['buffer_ms']:.4g}",
            *["yes" if row[f"meets_{name}"] else "no" for name in shown],
            row["citation"],
        )
    return table


def _mix_text(sizing: Sizing) -> str:
    return ", ".join(f"{count:.0f} {name}" for name, count in sizing.demand.mix)


def _verification_table(sizing: Sizing, verification: pl.DataFrame) -> Table:
    table = Table("rule", title=f"Simulated, {sizing.seeds} seeds, ± 95 % confidence", title_justify="left")
    for title in ("packets", *(STORED[name].label for name in METRICS)):
        table.add_column(title, justify="right")
    for row in verification.iter_rows(named=True):
        table.add_row(
            row["rule"] or "·",
            str(row["buffer_packets"]),
            *(_with_confidence(row, STORED[name]) for name in METRICS),
        )
    return table


def _with_confidence(row: dict[str, Any], metric: Metric) -> str:
    scale = metric.unit.scale
    value, half = row[metric.name] * scale, row[metric.name + CONFIDENCE_SUFFIX] * scale
    return f"{value:.4g}" if math.isnan(half) else f"{value:.4g} ± {half:.2g}"
