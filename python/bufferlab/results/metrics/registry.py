"""All metrics, by dimension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bufferlab.results.metrics.exchanges import EXCHANGES
from bufferlab.results.metrics.flows import FLOWS
from bufferlab.results.metrics.groups import FLOW_GROUPS
from bufferlab.results.metrics.latency import LATENCY
from bufferlab.results.metrics.metric import Dimension, Metric
from bufferlab.results.metrics.queues import CLASSES, QUEUES
from bufferlab.results.metrics.runs import RUNS
from bufferlab.results.metrics.samples import CLASS_SAMPLES, FLOW_SAMPLES, HISTOGRAMS, QUEUE_SAMPLES

FRAMES: Final[Mapping[str, Dimension]] = {
    "flows": FLOWS,
    "queues": QUEUES,
    "histograms": HISTOGRAMS,
    "queue_samples": QUEUE_SAMPLES,
    "flow_samples": FLOW_SAMPLES,
    "classes": CLASSES,
    "class_samples": CLASS_SAMPLES,
    "exchanges": EXCHANGES,
}
"""The dimension of each frame's rows; a frame's columns are its keys and metrics."""

QUEUE_SUMMARY: Final = QUEUES.in_summary()
"""What summaries and stores have of queues."""

SUMMARY: Final = (FLOW_GROUPS, QUEUE_SUMMARY, LATENCY, RUNS)
"""The dimensions of a summary."""

STORED: Final[Mapping[str, Metric]] = {
    metric.name: metric for dimension in (QUEUE_SUMMARY, FLOW_GROUPS, RUNS) for metric in dimension
}
"""The metrics that stores keep of every run: of the link that sizing looks at, all flows, and the run."""

DIMENSIONS: Final = (
    RUNS,
    FLOW_GROUPS,
    QUEUES,
    LATENCY,
    *(each for each in FRAMES.values() if each is not QUEUES),
)
"""Everything, as the documentation prints it."""

__all__ = [
    "DIMENSIONS",
    "FLOW_GROUPS",
    "FRAMES",
    "LATENCY",
    "QUEUE_SUMMARY",
    "RUNS",
    "STORED",
    "SUMMARY",
]
