"""Flows at the threshold between two sub-buffers: packets that overtake each other, and remedies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from bufferlab.evidence.splitbuff.beyond.cases import COLUMNS, Case, Effort, Row, group, measure, scenario
from bufferlab.evidence.splitbuff.beyond.figure import draw_bars
from bufferlab.evidence.splitbuff.beyond.study import Study, register, tabulate
from bufferlab.results.result import Result

DISORDER: Final = ("reordered_percent", "spurious_percent")
"""Of all data packets sent: those that came after one sent later, those that came though they were there."""

FLOWS: Final[Mapping[str, list[Row]]] = {
    "10, 55 and 100 ms": [
        group("short", 10, "10 ms"),
        group("middle", 10, "55 ms"),
        group("long", 10, "100 ms"),
    ],
    "all at 50 ms": [group("middle", 30, "50 ms", rtt_spread=0.0)],
    "10 and 100 ms": [group("short", 15, "10 ms"), group("long", 15, "100 ms")],
}
"""The mean lies at the middle flows, at all flows, at none."""

QUEUES: Final[Mapping[str, Mapping[str, Any]]] = {
    "one buffer": {"buffer": "1 bdp", "queue": "fifo"},
    "SplitBuff": {"queue": "splitbuff"},
    "header of 4 bits": {"queue": {"discipline": "splitbuff", "rtt": "header(4 bits)"}},
    "hysteresis of 0.2": {"queue": {"discipline": "splitbuff", "hysteresis": 0.2}},
    "gaps": {"queue": {"discipline": "splitbuff", "thresholds": "gaps", "sub_buffers": 4}},
    "gaps, hysteresis of 0.2": {
        "queue": {"discipline": "splitbuff", "thresholds": "gaps", "sub_buffers": 4, "hysteresis": 0.2}
    },
    "weighted (in gaps)": {"queue": "splitbuff-weighted"},
}
"""Without and with remedies."""


def threshold_cases(effort: Effort) -> list[Case]:
    """Each set of flows under each queue."""
    return [
        Case({"flows": title, "queue": queue}, scenario(link, flows, effort))
        for title, flows in FLOWS.items()
        for queue, link in QUEUES.items()
    ]


def measure_disorder(result: Result) -> Row:
    """`COLUMNS` and `DISORDER` of a run."""
    totals = result.flows.select("sent_packets", "reordered_packets", "spurious_retransmissions").sum()
    sent, reordered, spurious = totals.row(0)
    return measure(result) | {
        "reordered_percent": 100.0 * reordered / max(sent, 1),
        "spurious_percent": 100.0 * spurious / max(sent, 1),
    }


def compare(points: pl.DataFrame) -> pl.DataFrame:
    """One row a set of flows and queue; nothing is published."""
    return tabulate(
        points,
        ("flows", "queue"),
        pl.col("reordered_percent").alias("reordered %"),
        pl.col("spurious_percent").alias("spurious %"),
        "fairness",
        "utilization",
        "wait_ms",
        "loss_percent",
    )


_PANELS: Final = (
    ("reordered_percent", "reordered data packets (%)"),
    ("spurious_percent", "spurious retransmissions (%)"),
    ("fairness", "Jain's fairness index of the flows"),
)


register(
    Study(
        name="threshold",
        title="Flows at the threshold: reordering, spurious retransmissions, and remedies",
        cases=threshold_cases,
        draw=lambda points: draw_bars(points, "flows", panels=_PANELS),
        compare=compare,
        notes=("Round-trip times ± 20 %, those at 50 ms all alike.",),
        measured=measure_disorder,
        columns=(*DISORDER, *COLUMNS),
    )
)
