"""The picture of docs/data-center.md: utilization and wait over the threshold."""

from __future__ import annotations

from typing import Final

import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.documents import Work
from bufferlab.render.plots.style import Drawing

_PARTS: Final = (("utilization", "utilization"), ("wait_us", "mean wait, µs"))


def draw(work: Work) -> Figure:
    """A panel for each column, a line for each link and number of flows."""
    figure = Drawing(figsize=(9, 3.6), layout="constrained")
    lines = work.points.select("link", "flows").unique(maintain_order=True)
    for axis, (column, label) in zip(figure.subplots(1, len(_PARTS)), _PARTS, strict=True):
        for link, flows in lines.iter_rows():
            rows = work.points.filter(pl.col("link") == link, pl.col("flows") == flows).sort("part")
            style = "-o" if link == 1 else "--s"
            axis.plot(rows["part"], rows[column], style, markersize=3, label=f"link {link}, {flows} flows")
        axis.axvline(1.0, color="gray", linewidth=0.8)
        axis.set(xlabel="threshold over C · RTT / 7", ylabel=label, xscale="log")
    figure.axes[0].legend(fontsize=7)
    return figure
