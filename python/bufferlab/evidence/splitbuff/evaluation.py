"""SplitBuff's figures 4 to 6, from simulation; see `splitbuff_sweep`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from bufferlab.evidence.registry import Reproduced, Request, reproduction
from bufferlab.evidence.splitbuff.sweep import (
    CITATION,
    Queue,
    notes_of,
    ns2_points,
    points_of,
    sweep,
    with_ns2,
)
from bufferlab.evidence.splitbuff.sweep_comparison import compare_fig4, compare_fig5, compare_fig6
from bufferlab.evidence.splitbuff.sweep_figures import DELAY, LOSS, THROUGHPUT, Quantity, draw

_SINGLE_AND_SPLIT: Sequence[Queue] = ("bdp", "stanford", "splitbuff")
_BLIND: Sequence[Queue] = ("bdp", "blind", "splitbuff")


@reproduction(
    name="splitbuff/fig4",
    title="Throughput of short and long flows under the BDP rule, the Stanford model and SplitBuff",
    citation=CITATION,
)
def fig4(request: Request) -> Reproduced:
    """Throughput a type over the long flows' propagation delay, 2 to 500 flows."""
    return _reproduced("fig4", _SINGLE_AND_SPLIT, {"fig4": THROUGHPUT}, compare_fig4, request)


@reproduction(
    name="splitbuff/fig5",
    title="Queueing delay and loss of short and long flows under the same three",
    citation=CITATION,
)
def fig5(request: Request) -> Reproduced:
    """Mean queueing delay and loss rate a type."""
    return _reproduced("fig5", _SINGLE_AND_SPLIT, {"fig5": DELAY, "fig5-loss": LOSS}, compare_fig5, request)


@reproduction(
    name="splitbuff/fig6",
    title="Blind-SplitBuff: flows in sub-buffers at random",
    citation=CITATION,
)
def fig6(request: Request) -> Reproduced:
    """Throughput and delay under Blind-SplitBuff, beside the BDP rule and SplitBuff."""
    return _reproduced("fig6", _BLIND, {"fig6a": THROUGHPUT, "fig6b": DELAY}, compare_fig6, request)


def _reproduced(
    name: str,
    queues: Sequence[Queue],
    figures: Mapping[str, Quantity],
    compare: Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame],
    request: Request,
) -> Reproduced:
    runs = pl.concat([sweep(queue, request) for queue in queues])
    points, ns2 = points_of(runs), ns2_points()
    return Reproduced(
        name=f"splitbuff/{name}",
        tables={"runs": runs, "points": points, "ns2": with_ns2(points)},
        figures={file: draw(points, ns2, queues, quantity) for file, quantity in figures.items()},
        comparison=compare(points, ns2),
        notes=notes_of(request),
    )
