"""Metrics of runs."""

from __future__ import annotations

from typing import Final

from bufferlab.results.metrics.metric import COUNT, NUMBER, SECONDS, Better, Dimension, Metric

RUNS: Final = Dimension(
    "run",
    "One per run: the summary's top level, and in stores.",
    metrics=(
        Metric(
            "packets",
            COUNT,
            "Packets that left a link, summed over the links.",
            lambda run: run.packets,
            "packets that left a link",
        ),
        Metric("events", COUNT, "Events that the engine processed.", lambda run: run.events, "engine events"),
        Metric(
            "cpu_s", SECONDS, "CPU time of the simulation.", lambda run: run.cpu_s, "CPU time", Better.LOWER
        ),
        Metric(
            "packets_per_cpu_s",
            NUMBER,
            "Packets that left a link per second of CPU time; null if the run took no time.",
            lambda run: run.packets_per_cpu_s,
            "packets per CPU second",
            Better.HIGHER,
        ),
    ),
)
