"""Waits that are not long: a difference between two of them is no reason to take one buffer for another.

In a score a wait of 0.1 ms beside a path of 0.3 ms is a round trip a quarter shorter. Nobody waits for that,
while the throughput, the losses and the shares that it costs are felt. What users feel of single waits, as in
calls and pages, is measured as such, and counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from bufferlab.studies.advise.beside import Beside, Judged, rival_of
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.choosing.objectives import Emphasis, Kind, is_emphasized, judged_by_buffers
from bufferlab.studies.choosing.thresholds import LONG_WAIT_MS, NOTABLE
from bufferlab.studies.targets import Values, mean_over_runs


def felt_at(judged: Judged, wait_ms: float, emphasis: Emphasis | None) -> Judged | None:
    """By what buffers are judged whose waits are at most that long; `None` if nothing is felt of them.

    Args:
        judged: By what longer waits are.
        wait_ms: The longest of their mean waits.
        emphasis: What was said to matter most: of latency, any wait does.
    """
    aspects, weights = judged
    if wait_ms >= LONG_WAIT_MS or is_emphasized("latency", emphasis):
        return judged
    left = [each for each in aspects if each.kind != "latency"]
    weighed: dict[Kind, float] = {kind: each for kind, each in weights.items() if kind != "latency"}
    return (left, weighed) if left and any(weighed.values()) else None


def gains(answer: Entry, half: Beside, judged: Judged, emphasis: Emphasis | None) -> bool:
    """Whether users surely fare better with half of the buffer, and not by waits alone that are brief.

    Args:
        answer: The answer.
        half: Half of its buffer.
        judged: By what users are judged.
        emphasis: What was said to matter most.
    """
    whole, least = judged_by_buffers(*judged, emphasis), -NOTABLE / 2
    felt = felt_at(whole, mean_wait_ms(answer.values), emphasis)
    if half.rival.most_behind >= least or felt is None:
        return False
    if felt == whole:
        return True
    targets = [each.target for each in answer.checks]
    return rival_of(answer, "half", half.values, targets, felt)[0].most_behind < least


def mean_wait_ms(runs: Sequence[Values]) -> float:
    """How long packets wait in runs, in the mean, ms."""
    return mean_over_runs("wait_mean_ms", runs).mean or 0.0
