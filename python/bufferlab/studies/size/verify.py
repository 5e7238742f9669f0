"""Simulates the buffers that the rules give: which runs, and what they come to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from bufferlab.experiment.experiment import Done, Experiment
from bufferlab.experiment.simulation import prepare, seed_list
from bufferlab.results.result import Result
from bufferlab.results.summary import estimates, queue_values
from bufferlab.results.tables import ALL
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


def buffers_experiment(
    scenario: Scenario, link: int, buffers: Sequence[Candidate], seeds: int
) -> Experiment[int]:
    """A scenario with each buffer, equal ones once; its own buffer of the link is replaced.

    Args:
        scenario: The scenario.
        link: Index of the link.
        buffers: What to try.
        seeds: Runs a buffer.

    Raises:
        InputError: The scenario cannot be used with one of them.
    """
    sizes = sorted({each.buffer_packets for each in buffers})
    return Experiment(
        "verifying buffers",
        {size: prepare(scenario, {f"links[{link}].buffer": f"{size} packets"}) for size in sizes},
        partial(queue_figures, scenario.links[link]["name"]),
        seeds=seed_list(seeds, scenario.run["seed"]),
        parameters=lambda size: {f"links[{link}].buffer": f"{size} packets"},
    )


def queue_figures(link: str, result: Result) -> dict[str, float | None]:
    """`METRICS` of a link's whole queue."""
    queue = next(row for row in queue_values(result) if row["link"] == link and row["group"] == ALL)
    return {metric: queue[metric] for metric in METRICS}


def conclude(buffers: Sequence[Candidate], runs: Sequence[Done[int]]) -> pl.DataFrame:
    """What the simulated buffers do.

    Returns:
        One row per candidate: `rule`, `buffer_packets` and for each of `METRICS` its mean over the seeds and
        the half width of its 95 % confidence interval (`…_ci95`; NaN for one seed).
    """
    of_size: dict[int, list[dict[str, float | None]]] = {}
    for done in runs:
        of_size.setdefault(done.key, []).append(done.value)
    measured = {size: estimates(METRICS, values) for size, values in of_size.items()}
    rows = [
        {"rule": each.rule, "buffer_packets": each.buffer_packets}
        | {key: math.nan if value is None else value for key, value in measured[each.buffer_packets].items()}
        for each in buffers
    ]
    return pl.DataFrame(rows)
