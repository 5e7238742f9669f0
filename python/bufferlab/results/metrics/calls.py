"""Figures of a run's calls, as stores keep them where nothing else was measured."""

from __future__ import annotations

import json
from typing import Final

from bufferlab.results.latency.load import groups_with_latency
from bufferlab.results.measurement import Measurement
from bufferlab.results.metrics.latency import LATENCY
from bufferlab.results.metrics.metric import Metric

CALLS: Final[dict[str, Metric]] = {
    metric.name: metric
    for metric in LATENCY
    if metric.name in {"call_r", "call_mos", "call_delay_ms", "call_lost_fraction"}
}
"""The figures of calls that lists of runs have."""


def call_figures(run: Measurement) -> str | None:
    """The figures of each group of calls by name, as JSON; `None` if no group has rated calls."""
    groups = {group.name: group for group in groups_with_latency(run) if group.call("rating") is not None}
    if not groups:
        return None
    return json.dumps(
        {
            f"{name}.{figure}": metric.compute(group)
            for name, group in groups.items()
            for figure, metric in CALLS.items()
            if metric.compute is not None
        }
    )
