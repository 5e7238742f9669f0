"""What decides the runs of a setting: classes, from criteria.toml."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.evidence.ns2.criteria import criteria
from bufferlab.evidence.ns2.equivalent import Variant
from bufferlab.evidence.ns2.judging import Figure
from bufferlab.evidence.ns2.reference import SHIFT, Setting

FEW_FLOWS: Final = 10
"""This many flows of Agent/TCP/Linux may lock others out."""

METRICS: Final = tuple(Figure(**table) for table in criteria()["figures"])
"""What is compared."""


@dataclass(frozen=True)
class RowClass:
    """Settings that the same thing decides.

    Attributes:
        name: Short name.
        reason: What decides these runs, hence how they are run.
        variants: Circumstances in which each seed is run.
        margins: Figure → margin, if runs are compared one by one as chance has no part in them; else empty.
        least_seeds: Our runs, if ns-2 has fewer.
        in_pairs: Whether runs of a seed belong together, as it draws the same on both sides.
    """

    name: str
    reason: str
    variants: tuple[Variant, ...]
    margins: dict[str, float]
    least_seeds: int
    in_pairs: bool


def _row_class(table: dict[str, Any]) -> RowClass:
    vary: dict[str, list[Any]] = table.get("vary", {})
    return RowClass(
        name=table["name"],
        reason=table["reason"],
        variants=tuple(
            Variant(**dict(zip(vary, values, strict=True))) for values in itertools.product(*vary.values())
        ),
        margins=_margins(**table["by_run"]) if "by_run" in table else {},
        least_seeds=table.get("least_seeds", 1),
        in_pairs=table.get("in_pairs", False),
    )


def _margins(utilization: float, queue: float, loss: float, share: float) -> dict[str, float]:
    delays = dict.fromkeys(("mean_queue_packets", "wait1_ms", "wait2_ms"), queue)
    shares = {metric.name: share for metric in METRICS if metric.name.startswith("share")}
    return {"utilization": utilization, "loss1": loss, "loss2": loss, **shares, **delays}


CLASSES: Final = {table["name"]: _row_class(table) for table in criteria()["classes"]}
"""By name."""


def class_of(setting: Setting) -> RowClass:
    """The class that a setting belongs to."""
    return CLASSES["drawn" if setting.option(SHIFT) else _class_name(setting)]


def _class_name(setting: Setting) -> str:
    if setting.stack.startswith("linux-"):
        return "locked" if setting.flows <= FEW_FLOWS else "kernel"
    if setting.flows == 1:
        return "single"
    if setting.option("overhead") or setting.option("spread"):
        return "averaged"
    if is_tied(setting):
        return "tied"
    exact = {
        "fig1": setting.stack == "sack1",
        "fig4": setting.flows == 2 and setting.rtt_ms[0] == setting.rtt_ms[1],
    }
    family = "fig1" if setting.scenario.startswith("fig1") else setting.scenario
    if family in exact:
        return "exact" if exact[family] else "chaotic"
    return "synchronized"


def is_tied(setting: Setting) -> bool:
    """Whether packets of both types come at the same moments: both RTTs are multiples of a transmission."""
    packet_us = setting.wire_bytes * 8 / setting.rate_bps * 1e6
    first, second = (rtt * 1e3 / packet_us for rtt in setting.rtt_ms)
    apart = abs(second - first)
    return apart > 0 and abs(apart - round(apart)) < 1e-6
