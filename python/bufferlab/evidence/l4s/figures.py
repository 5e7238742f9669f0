"""The picture of docs/l4s.md: shares and waits over the rate, a line for each round-trip time."""

from __future__ import annotations

from typing import Final

import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.documents import Work
from bufferlab.render.plots.style import Drawing

_PARTS: Final = (
    ("ratio", "goodput of Prague over CUBIC's", 1.0),
    ("wait_p99_ms", "99th percentile of Prague's wait, ms", 2.0),
)
"""Columns, their names for people, and what the paper promises."""


def slow(work: Work) -> Figure:
    """A panel for each round-trip time: shares over the rate with both steps."""
    figure = Drawing(figsize=(9, 3.2), layout="constrained")
    trips = work.points["rtt_ms"].unique().sort()
    for axis, rtt_ms in zip(
        figure.subplots(1, len(trips), sharey=True, squeeze=False)[0], trips, strict=True
    ):
        for step in work.points["step"].unique(maintain_order=True):
            rows = work.points.filter(pl.col("rtt_ms") == rtt_ms, pl.col("step") == step).sort("rate_mbps")
            axis.plot(rows["rate_mbps"], rows["ratio"], "-o", markersize=3, label=step)
        axis.axhline(1.0, color="gray", linewidth=0.8)
        axis.set(title=f"{rtt_ms:g} ms", xlabel="rate of the link, Mbps", yscale="log")
    figure.axes[0].set_ylabel(_PARTS[0][1])
    figure.axes[0].legend(title="step", fontsize=7)
    return figure


def draw(work: Work) -> Figure:
    """A panel for each column."""
    figure = Drawing(figsize=(9, 3.6), layout="constrained")
    for axis, (column, label, promised) in zip(figure.subplots(1, len(_PARTS)), _PARTS, strict=True):
        for rtt_ms in work.points["rtt_ms"].unique().sort():
            rows = work.points.filter(pl.col("rtt_ms") == rtt_ms).sort("rate_mbps")
            axis.plot(rows["rate_mbps"], rows[column], "-o", markersize=3, label=f"{rtt_ms:g} ms")
        axis.axhline(promised, color="gray", linewidth=0.8)
        axis.set(xlabel="rate of the link, Mbps", ylabel=label, xscale="log", yscale="log")
        axis.legend(title="round trip", fontsize=7)
    return figure
