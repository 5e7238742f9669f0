"""The heterogeneous-TCP document's figures 9 to 12, from simulation; see `heterogeneous_evaluation`."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.heterogeneous.evaluation import Evaluation, evaluate
from bufferlab.evidence.heterogeneous.evaluation_comparison import (
    compare_fig9,
    compare_fig10,
    compare_fig11,
    compare_fig12,
)
from bufferlab.evidence.heterogeneous.evaluation_figures import (
    draw_buffer_and_bound,
    draw_mean_and_bound,
    draw_utilization,
    draw_utilization_and_loss,
)
from bufferlab.evidence.heterogeneous.settings import CITATION
from bufferlab.evidence.registry import Reproduced, Request, reproduction


@reproduction(
    name="heterogeneous/fig9",
    title="Utilization with the buffers for utilization, at three BDPs",
    citation=CITATION,
)
def fig9(request: Request) -> Reproduced:
    """Mean, highest and lowest utilization with the buffers of (7)."""
    evaluation = evaluate("utilization", request)
    return _reproduced("fig9", evaluation, draw_utilization(evaluation), compare_fig9(evaluation))


@reproduction(
    name="heterogeneous/fig10",
    title="Mean of the sum of the windows against its bound, at three BDPs",
    citation=CITATION,
)
def fig10(request: Request) -> Reproduced:
    """Measured mu and (1)'s bound, with the buffers of (7)."""
    evaluation = evaluate("utilization", request)
    return _reproduced("fig10", evaluation, draw_mean_and_bound(evaluation), compare_fig10(evaluation))


@reproduction(
    name="heterogeneous/fig11",
    title="Utilization and loss with the buffers for both, at three BDPs",
    citation=CITATION,
)
def fig11(request: Request) -> Reproduced:
    """Utilization and loss rate with the buffers of (14)."""
    evaluation = evaluate("both", request)
    return _reproduced("fig11", evaluation, draw_utilization_and_loss(evaluation), compare_fig11(evaluation))


@reproduction(
    name="heterogeneous/fig12",
    title="Buffers for utilization and loss against the bound by measured windows, at three BDPs",
    citation=CITATION,
)
def fig12(request: Request) -> Reproduced:
    """The buffers of (14) and (10)'s bound."""
    evaluation = evaluate("both", request)
    return _reproduced("fig12", evaluation, draw_buffer_and_bound(evaluation), compare_fig12(evaluation))


def _reproduced(name: str, evaluation: Evaluation, figure: Figure, comparison: pl.DataFrame) -> Reproduced:
    return Reproduced(
        name=f"heterogeneous/{name}",
        tables={
            "runs": evaluation.runs,
            "points": evaluation.points,
            "windows": evaluation.windows,
            "ns2": evaluation.ns2,
        },
        figures={name: figure},
        comparison=comparison,
        notes=evaluation.notes,
    )
