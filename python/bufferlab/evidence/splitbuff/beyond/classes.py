"""How many sub-buffers, and where to cut: about the mean, or in the gaps of the round-trip times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from bufferlab.evidence.splitbuff.beyond.cases import Case, Effort, Row, group, scenario
from bufferlab.evidence.splitbuff.beyond.figure import draw_lines
from bufferlab.evidence.splitbuff.beyond.study import Study, register, tabulate

NUMBERS: Final = (2, 3, 4, 5, 6, 8)
"""Of sub-buffers."""

LAWS: Final[Mapping[str, list[Row]]] = {
    "two modes": [group("short", 50, "10 ms"), group("long", 50, "100 ms")],
    "10 short, 90 long": [group("short", 10, "10 ms"), group("long", 90, "100 ms")],
    "uniform": [group("any", 100, "uniform(10 ms, 300 ms)")],
    "heavy tail": [group("any", 100, "lognormal(median=60 ms, sigma=1, min=10 ms, max=1000 ms)")],
}
"""Flow groups by the law of their round-trip times."""

KINDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "in gaps, weighted": {"thresholds": "gaps", "weighted": True},
    "in gaps": {"thresholds": "gaps"},
    "about the mean": {},
    "about the mean, weighted": {"weighted": True},
}
"""Keys of SplitBuff by title."""


def classes_cases(effort: Effort) -> list[Case]:
    """Each law under one buffer, a queue a flow, and SplitBuff with each kind and number of sub-buffers."""
    numbers = NUMBERS[:2] if effort.quick else NUMBERS
    single = {"one buffer": {"buffer": "1 bdp", "queue": "fifo"}, "DRR": {"buffer": "1 bdp", "queue": "drr"}}
    cases = []
    for law, flows in LAWS.items():
        for title, link in single.items():
            cases.append(Case({"law": law, "kind": title, "sub_buffers": 1}, scenario(link, flows, effort)))
        for title, keys in KINDS.items():
            for number in numbers:
                queue = {"discipline": "splitbuff", "sub_buffers": number, **keys}
                own = {"law": law, "kind": title, "sub_buffers": number}
                cases.append(Case(own, scenario({"queue": queue}, flows, effort)))
    return cases


def compare(points: pl.DataFrame) -> pl.DataFrame:
    """One row a case; nothing is published."""
    return tabulate(
        points,
        ("law", "kind"),
        pl.col("sub_buffers").alias("sub-buffers"),
        "fairness",
        "fairness_ci95",
        "utilization",
        "wait_ms",
        "loss_percent",
    )


register(
    Study(
        name="classes",
        title="Two to eight sub-buffers, cut about the mean or where the round-trip times leave gaps",
        cases=classes_cases,
        draw=lambda points: draw_lines(points, "law", "kind", "sub_buffers"),
        compare=compare,
        notes=("Two modes: 10 and 100 ms, ± 20 %.",),
    )
)
