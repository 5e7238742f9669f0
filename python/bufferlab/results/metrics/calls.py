"""Figures of a run's groups of flows, as stores keep them where nothing else was measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from bufferlab.results.groups import flow_groups
from bufferlab.results.latency.load import groups_with_latency
from bufferlab.results.measurement import Measurement
from bufferlab.results.metrics.groups import FLOW_GROUPS
from bufferlab.results.metrics.latency import LATENCY
from bufferlab.results.metrics.metric import Metric
from bufferlab.results.tables import ALL

CALLS: Final[dict[str, Metric]] = {
    metric.name: metric
    for metric in LATENCY
    if metric.name in {"call_r", "call_mos", "call_delay_ms", "call_lost_fraction"}
}
"""The figures of calls that lists of runs have."""

_TITLES: Final = {
    "goodput_bps": "goodput a flow",
    "exchange_p50_s": "took, median",
    "exchange_p95_s": "took, 95th percentile",
    "frame_p95_ms": "pictures took, 95th percentile",
    "frames_late": "late",
    "stalls": "stalled",
    "loaded_rtt_ms": "round trip, mean",
}

OF_GROUPS: Final[dict[str, Metric]] = {
    metric.name: replace(metric, title=_TITLES[metric.name])
    for dimension in (FLOW_GROUPS, LATENCY)
    for metric in dimension
    if metric.name in _TITLES
}
"""The figures of single groups that lists of runs can have, with what stands behind the group's name."""


def group_figures(run: Measurement) -> str | None:
    """The figures of each group by its name, as JSON; `None` if there is none."""
    found = {key: value for key, value in _figures(run) if value is not None}
    return json.dumps(found) if found else None


def _figures(run: Measurement) -> Iterator[tuple[str, float | None]]:
    counts = {metric.censored_by for metric in OF_GROUPS.values()}
    wanted = {*CALLS, *OF_GROUPS, *counts}
    for dimension, groups in ((FLOW_GROUPS, flow_groups(run)), (LATENCY, groups_with_latency(run))):
        metrics = [metric for metric in dimension if metric.name in wanted]
        for group in groups:
            if group.name != ALL:
                yield from (
                    (f"{group.name}.{each.name}", each.compute(group)) for each in metrics if each.compute
                )
