"""What tells rows apart."""

from __future__ import annotations

from typing import Final

from bufferlab.results.metrics.expressions import group_names, link_names, seconds, seeds
from bufferlab.results.metrics.metric import COUNT, SECONDS, TEXT, Metric

SEED: Final = Metric("seed", COUNT, "Seed of the run.", seeds)
GROUP: Final = Metric("group", TEXT, "Flow group, or “all” for all groups together.", group_names)
LINK: Final = Metric("link", TEXT, "Link.", link_names)
FLOW: Final = Metric("flow", COUNT, "Number of the flow, from 0.")
CLASS: Final = Metric(
    "class",
    COUNT,
    "Class of the link's queue discipline. SplitBuff's have the shortest round trips first; DualPI2's are 0 "
    "for L4S packets, 1 for all others.",
)
TIME: Final = Metric("time_s", SECONDS, "Time of the sample.", seconds("time_ps"), "time")
