"""How long packets waited, as distribution functions."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from bufferlab.errors import InputError
from bufferlab.render.plots.series import FloatArray, Line, draw
from bufferlab.render.plots.style import new_figure
from bufferlab.render.plots.time_series import title
from bufferlab.results.metrics.samples import HISTOGRAMS
from bufferlab.results.result import Result, RunSet
from bufferlab.results.tables import ALL
from bufferlab.stats import t_quantile

MAX_LINKS: Final = 20
"""Most links in one figure, one below the other."""

GRID_POINTS: Final = 500
"""Number of waits at which means over seeds are taken."""


def wait_cdf(runs: Result | RunSet, links: list[str] | None = None) -> Figure:
    """The share of packets that waited at most so long, for each link and flow group.

    Args:
        runs: What to draw.
        links: Names of the links; default all with traffic.

    Raises:
        InputError: If no packet was measured there, or there are more links than a figure holds.
    """
    histograms = runs.histograms
    shown = histograms["link"].unique(maintain_order=True).to_list() if links is None else links
    if not 1 <= len(shown) <= MAX_LINKS:
        raise InputError("is no number of links for a figure", value=len(shown), accepted=f"1 to {MAX_LINKS}")
    figure, all_axes = new_figure(len(shown))
    wait = HISTOGRAMS["lower_ms"]
    for link, axes in zip(shown, all_axes, strict=True):
        draw(axes, _lines(histograms.filter(pl.col("link") == link)), least=0, most=1)
        axes.set_xlabel(wait.unit.axis(f"{wait.title} at {link}"))
        axes.set_ylabel("share of packets")
        axes.set_ylim(0, 1.02)
        axes.set_xlim(left=0)
        axes.legend(loc="lower right")
    all_axes[0].set_title(title(runs))
    return figure


def _lines(histograms: pl.DataFrame) -> list[Line]:
    groups = histograms["group"].unique(maintain_order=True).to_list()
    if len(groups) == 2:  # a single group is all there is
        groups = [ALL]
    return [_line(group, histograms.filter(pl.col("group") == group)) for group in groups]


def _line(label: str, histograms: pl.DataFrame) -> Line:
    if histograms.is_empty():
        raise InputError(
            "no packet was measured", value=label, accepted="a link with traffic after the warm-up"
        )
    curves = [_cdf(part) for part in histograms.partition_by("seed", maintain_order=True)]
    if len(curves) == 1:
        return Line(label, *curves[0])
    edges = np.unique(np.concatenate([waits_ms for waits_ms, _ in curves]))
    grid_ms = (
        edges
        if len(edges) <= GRID_POINTS
        else np.interp(np.linspace(0, len(edges) - 1, GRID_POINTS), np.arange(len(edges)), edges)
    )
    shares = np.array([np.interp(grid_ms, waits_ms, share, left=0, right=1) for waits_ms, share in curves])
    factor = t_quantile(len(curves)) / np.sqrt(len(curves))
    return Line(label, grid_ms, shares.mean(axis=0), shares.std(axis=0, ddof=1) * factor)


def _cdf(buckets: pl.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Waits and the share of packets that waited less, straight within a bucket and level between two."""
    buckets = buckets.sort("lower_ms")
    reached = buckets["packets"].cast(pl.Float64).cum_sum().to_numpy()
    before = np.concatenate([[0.0], reached[:-1]])
    waits_ms = np.column_stack([buckets["lower_ms"].to_numpy(), buckets["upper_ms"].to_numpy()]).ravel()
    return waits_ms, np.column_stack([before, reached]).ravel() / reached[-1]
