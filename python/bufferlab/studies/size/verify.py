"""Simulating the buffers that the rules give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from bufferlab.experiment.batch import run_batch
from bufferlab.experiment.simulation import prepare, seed_list, simulate
from bufferlab.results.frames import ALL
from bufferlab.results.result import RunSet
from bufferlab.scenario import Scenario

METRICS = ("utilization", "loss", "wait_mean_ms", "wait_p99_ms")
"""What is measured for each buffer: fraction of the rate, drops over arrivals, wait in the queue."""


@dataclass(frozen=True)
class Candidate:
    """A buffer to simulate.

    Attributes:
        rule: Name of its rule, or "" for a point that only the plot's curve needs.
        buffer_packets: The buffer, packets.
    """

    rule: str
    buffer_packets: int


def candidates(rules: dict[str, int], curve_points: int, around: Sequence[int] = ()) -> list[Candidate]:
    """The rules' buffers, and between and around them a geometric grid for the curve.

    Args:
        rules: Packets of each rule.
        curve_points: Points of the grid, from a quarter of the smallest buffer to twice the largest; 0 for
            none.
        around: The buffers between and around which the grid lies; default the rules'.
    """
    ends = list(around or rules.values())
    low, high = max(min(ends) / 4, 1.0), max(ends) * 2.0
    grid = {round(float(value)) for value in np.geomspace(low, high, curve_points)} if curve_points else set()
    named = [Candidate(name, packets) for name, packets in rules.items()]
    others = [Candidate("", packets) for packets in grid - set(rules.values())]
    return sorted(named + others, key=lambda each: each.buffer_packets)


def simulate_buffers(
    scenario: Scenario,
    link: int,
    buffers: list[Candidate],
    *,
    seeds: int = 5,
    threads: int | None = None,
    progress: bool | None = None,
) -> pl.DataFrame:
    """Simulate a scenario with each buffer.

    Args:
        scenario: The scenario; its own buffer of the link is replaced.
        link: Index of the link.
        buffers: What to try. Equal buffers of several rules are simulated once.
        seeds: Runs a buffer.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.

    Returns:
        One row a candidate: `rule`, `buffer_packets` and for each of `METRICS` its mean over the seeds and
        the half width of its 95 % confidence interval (`…_ci95`; NaN for one seed).

    Raises:
        InputError: The scenario cannot be run.
        BatchInterrupted: At Ctrl-C.
    """
    sizes = sorted({each.buffer_packets for each in buffers})
    cases = {size: prepare(scenario, {f"links[{link}].buffer": f"{size} packets"}) for size in sizes}
    wanted = seed_list(seeds, scenario.run.seed)
    tasks = [(size, seed) for size in sizes for seed in wanted]
    results = run_batch(
        lambda task, control: simulate(cases[task[0]], task[1], control),
        tasks,
        title="verifying buffers",
        threads=threads,
        progress=progress,
        durations_ps=[scenario.run.duration_ps] * len(tasks),
    )
    name = scenario.links[link].name
    count = len(wanted)
    measured = {
        size: _figures(RunSet(results[index * count : (index + 1) * count]).summary(), name)
        for index, size in enumerate(sizes)
    }
    return pl.DataFrame(
        [
            {"rule": each.rule, "buffer_packets": each.buffer_packets} | measured[each.buffer_packets]
            for each in buffers
        ]
    )


def _figures(summary: dict[str, Any], link: str) -> dict[str, float]:
    queue = next(each for each in summary["queues"] if each["link"] == link and each["group"] == ALL)
    keys = [key for metric in METRICS for key in (metric, f"{metric}_ci95")]
    return {key: float("nan") if queue[key] is None else float(queue[key]) for key in keys}
