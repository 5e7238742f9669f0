"""The pictures of SplitBuff's figures 4 to 6: a row of panels a kind of senders, a panel a queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from bufferlab.evidence.splitbuff.sweep import SENDERS, TITLES, Queue
from bufferlab.render.plots.style import COLORS


@dataclass(frozen=True)
class Quantity:
    """What the vertical axis shows, of short and of long flows.

    Attributes:
        name: Part of the columns' names: `throughput` for `throughput_short` and `throughput_long`.
        label: Label of the axis.
        unit: End of the columns' names.
        least: Where a logarithmic axis begins; `None` for a linear one.
    """

    name: str
    label: str
    unit: str = ""
    least: float | None = None


THROUGHPUT = Quantity("throughput", "flow's throughput / link's rate", least=1e-5)
DELAY = Quantity("delay", "mean queueing delay (ms)", unit="_ms")
LOSS = Quantity("loss", "loss rate (%)", unit="_percent", least=1e-3)


def draw(points: pl.DataFrame, ns2: pl.DataFrame, queues: Sequence[Queue], quantity: Quantity) -> Figure:
    """One quantity over the long flows' propagation delay.

    Args:
        points: Our means.
        ns2: ns-2's, which are with senders in step.
        queues: One column of panels each.
        quantity: What to draw.
    """
    figure = Figure(figsize=(4.6 * len(queues), 7.2), layout="constrained")
    panels = figure.subplots(len(SENDERS), len(queues), sharex=True, sharey=True, squeeze=False)
    for row, senders in zip(panels, SENDERS, strict=True):
        for panel, queue in zip(row, queues, strict=True):
            own = points.filter(pl.col("queue") == queue, pl.col("senders") == senders)
            theirs = ns2.filter(pl.col("queue") == queue) if senders == "in step" else ns2.clear()
            _draw_panel(panel, own, theirs, quantity)
            panel.set_title(f"{TITLES[queue]}, {senders}", loc="left")
        row[0].set_ylabel(quantity.label)
    for panel in panels[-1]:
        panel.set_xlabel("propagation delay of the long flows (ms)")
    figure.legend(handles=_legend(points), loc="outside lower center", ncols=9, frameon=False)
    return figure


def _draw_panel(panel: Axes, own: pl.DataFrame, theirs: pl.DataFrame, quantity: Quantity) -> None:
    for index, flows in enumerate(own["flows"].unique().sort()):
        ours, ns2 = (frame.filter(pl.col("flows") == flows) for frame in (own, theirs))
        for kind, style, fill in (("short", "dashed", "none"), ("long", "solid", "full")):
            column = f"{quantity.name}_{kind}{quantity.unit}"
            panel.plot(
                ours["long_rtt_ms"].to_numpy(),
                _drawable(ours, column, quantity),
                color=COLORS[index],
                linestyle=style,
                marker=".",
            )
            panel.plot(
                ns2["long_rtt_ms"].to_numpy(),
                _drawable(ns2, column, quantity),
                color=COLORS[index],
                linestyle="none",
                marker="^",
                fillstyle="full" if fill == "full" else "none",
                markersize=6,
            )
    if quantity.least is not None:
        panel.set_yscale("log")
        panel.set_ylim(bottom=quantity.least)
    panel.grid(visible=True, alpha=0.3)


def _drawable(frame: pl.DataFrame, column: str, quantity: Quantity) -> NDArray[np.float64]:
    """Values without gaps; those that a logarithmic axis has no place for lie on its edge."""
    values = frame[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return values if quantity.least is None else np.maximum(values, quantity.least)


def _legend(points: pl.DataFrame) -> list[Line2D]:
    numbers = points["flows"].unique().sort()
    return [
        *(Line2D([], [], color=COLORS[index], label=f"N = {flows}") for index, flows in enumerate(numbers)),
        Line2D([], [], color="black", label="long flows"),
        Line2D([], [], color="black", linestyle="dashed", label="short flows"),
        Line2D([], [], color="black", linestyle="none", marker="^", label="ns-2"),
    ]
