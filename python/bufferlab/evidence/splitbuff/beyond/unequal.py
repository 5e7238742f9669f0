"""Classes with unequal numbers of flows: 90 short and 10 long, and the reverse."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from bufferlab.evidence.splitbuff.beyond.cases import QUEUES, Case, Effort, group, scenario
from bufferlab.evidence.splitbuff.beyond.figure import draw_fairness
from bufferlab.evidence.splitbuff.beyond.study import Study, register

MIXES: Final = ((90, 10), (50, 50), (10, 90))
"""Numbers of short and long flows."""

OF_PER_FLOW: Final = 0.9
"""What weighted SplitBuff is to reach of the fairness that a queue a flow gives."""

PER_FLOW: Final = "DRR"


def unequal_cases(effort: Effort) -> list[Case]:
    """Each mix under each queue."""
    return [
        Case({"mix": mix_name(*mix), "queue": title}, scenario(link, _flows(*mix), effort))
        for mix in MIXES
        for title, link in QUEUES.items()
    ]


def mix_name(short: int, long: int) -> str:
    """How a mix is called."""
    return f"{short} short, {long} long"


def _flows(short: int, long: int) -> list[dict[str, Any]]:
    return [group("short", short, "10 ms"), group("long", long, "100 ms")]


def compare(points: pl.DataFrame) -> pl.DataFrame:
    """Fairness of SplitBuff and its weighted kind over that of a queue a flow."""
    rows = []
    for mix in points["mix"].unique(maintain_order=True):
        of_queue = {
            row["queue"]: row["fairness"] for row in points.filter(pl.col("mix") == mix).iter_rows(named=True)
        }
        for queue in ("BDP rule", "SplitBuff", "SplitBuff, weighted"):
            ours = of_queue[queue] / of_queue[PER_FLOW]
            rows.append(
                {
                    "what": f"{mix}: Jain's index, {queue} over {PER_FLOW}",
                    "bound": OF_PER_FLOW if "weighted" in queue else None,
                    "ours": ours,
                    "holds": ours >= OF_PER_FLOW if "weighted" in queue else None,
                    "why": _WHY[queue],
                }
            )
    return pl.DataFrame(
        rows, schema_overrides={"bound": pl.Float64, "holds": pl.Boolean}, infer_schema_length=None
    )


_WHY: Final = {
    "BDP rule": "One queue: rate falls with the round-trip time.",
    "SplitBuff": "Round robin gives each class half of the link, whatever the number of its flows.",
    "SplitBuff, weighted": "Each class gets its flows' part of the link, and a buffer for it.",
}


register(
    Study(
        name="unequal",
        title="Classes with unequal numbers of flows: who gets how much under each queue",
        cases=unequal_cases,
        draw=lambda points: draw_fairness(points, "mix"),
        compare=compare,
        notes=("Short flows have 10 ms, long ones 100 ms, each ± 20 %.",),
    )
)
