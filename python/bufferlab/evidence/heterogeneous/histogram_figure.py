"""The picture of the heterogeneous-TCP document's figure 1."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bufferlab.render.plots.style import COLORS, line_style, new_figure


def draw_histograms(bins: pl.DataFrame) -> Figure:
    """One panel a number of flows: densities as steps, the normal density of the same moments dotted.

    Args:
        bins: Columns `hosts`, `flows`, `w_over_bdp_from`, `w_over_bdp_to`, `density`, `normal_density`.
    """
    numbers = bins["flows"].unique(maintain_order=True)
    figure, panels = new_figure(rows=len(numbers))
    figure.set_figheight(2.3 * len(numbers) + 0.5)
    for panel, flows in zip(panels, numbers, strict=True):
        _draw(panel, bins.filter(pl.col("flows") == flows))
        panel.set_title(f"{flows} flows", loc="left", fontsize="medium")
        panel.set_ylabel("density")
    panels[-1].set_xlabel("W / BDP (dotted: normal distribution of the same mean and deviation)")
    handles, names = panels[-1].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    return figure


def _draw(panel: Axes, bins: pl.DataFrame) -> None:
    for index, hosts in enumerate(bins["hosts"].unique(maintain_order=True)):
        part = bins.filter(pl.col("hosts") == hosts)
        low, high = (part[f"w_over_bdp_{end}"].to_numpy() for end in ("from", "to"))
        edges = np.append(low, high[-1])
        panel.stairs(part["density"].to_numpy(), edges, label=hosts, **line_style(index))
        panel.plot(
            (low + high) / 2.0,
            part["normal_density"].to_numpy(),
            color=COLORS[index % len(COLORS)],
            linestyle="dotted",
        )
