"""SplitBuff's figures 4 to 6, from simulation; see `splitbuff_sweep`."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from bufferlab.papers.registry import Reproduced, Request, reproduction
from bufferlab.papers.splitbuff import CITATION
from bufferlab.papers.splitbuff_sweep import Queue, notes_of, ns2_points, points_of, sweep, with_ns2
from bufferlab.papers.splitbuff_sweep_comparison import compare_fig4, compare_fig5, compare_fig6
from bufferlab.papers.splitbuff_sweep_figures import DELAY, LOSS, THROUGHPUT, draw

_SINGLE_AND_SPLIT: Sequence[Queue] = ("bdp", "stanford", "splitbuff")
_BLIND: Sequence[Queue] = ("bdp", "blind", "splitbuff")


@reproduction(
    name="splitbuff/fig4",
    title="Throughput of short and long flows under the BDP rule, the Stanford model and SplitBuff",
    citation=CITATION,
)
def fig4(request: Request) -> Reproduced:
    """Throughput a type over the long flows' propagation delay, 2 to 500 flows."""
    runs, points = _simulate(_SINGLE_AND_SPLIT, request)
    ns2 = ns2_points()
    return Reproduced(
        name="splitbuff/fig4",
        tables={"runs": runs, "points": points, "ns2": with_ns2(points)},
        figures={"fig4": draw(points, ns2, _SINGLE_AND_SPLIT, THROUGHPUT)},
        comparison=compare_fig4(points, ns2),
        notes=notes_of(request),
    )


@reproduction(
    name="splitbuff/fig5",
    title="Queueing delay and loss of short and long flows under the same three",
    citation=CITATION,
)
def fig5(request: Request) -> Reproduced:
    """Mean queueing delay and loss rate a type."""
    runs, points = _simulate(_SINGLE_AND_SPLIT, request)
    ns2 = ns2_points()
    return Reproduced(
        name="splitbuff/fig5",
        tables={"runs": runs, "points": points, "ns2": with_ns2(points)},
        figures={
            "fig5": draw(points, ns2, _SINGLE_AND_SPLIT, DELAY),
            "fig5-loss": draw(points, ns2, _SINGLE_AND_SPLIT, LOSS),
        },
        comparison=compare_fig5(points, ns2),
        notes=notes_of(request),
    )


@reproduction(
    name="splitbuff/fig6",
    title="Blind-SplitBuff: flows in sub-buffers at random",
    citation=CITATION,
)
def fig6(request: Request) -> Reproduced:
    """Throughput and delay under Blind-SplitBuff, beside the BDP rule and SplitBuff."""
    runs, points = _simulate(_BLIND, request)
    ns2 = ns2_points()
    return Reproduced(
        name="splitbuff/fig6",
        tables={"runs": runs, "points": points, "ns2": with_ns2(points)},
        figures={
            "fig6a": draw(points, ns2, _BLIND, THROUGHPUT),
            "fig6b": draw(points, ns2, _BLIND, DELAY),
        },
        comparison=compare_fig6(points, ns2),
        notes=notes_of(request),
    )


def _simulate(queues: Sequence[Queue], request: Request) -> tuple[pl.DataFrame, pl.DataFrame]:
    runs = pl.concat([sweep(queue, request) for queue in queues])
    return runs, points_of(runs)
