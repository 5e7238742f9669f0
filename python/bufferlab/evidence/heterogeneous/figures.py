"""The pictures of the heterogeneous-TCP document's figures 4 to 7."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bufferlab.evidence.heterogeneous.settings import NAMES, VARIANTS
from bufferlab.render.plots.style import line_style, new_figure
from bufferlab.theory.protocols import PROTOCOLS


def draw(
    frame: pl.DataFrame, columns: tuple[str, str], labels: tuple[str, str], finish: Callable[[Axes], None]
) -> Figure:
    """Two panels, as published and corrected, with a line for each protocol, and for the mix if it is there.

    Args:
        frame: Columns `variant`, `protocol` and those of `columns`.
        columns: What is drawn along and up.
        labels: The axes' labels.
        finish: Called with each panel at the end.
    """
    figure, panels = new_figure(rows=len(VARIANTS))
    for panel, variant in zip(panels, VARIANTS, strict=True):
        part = frame.filter(pl.col("variant") == variant.name)
        for name in part["protocol"].unique(maintain_order=True):
            line = part.filter(pl.col("protocol") == name)
            index = NAMES.index(name) if name in NAMES else len(NAMES)
            title = PROTOCOLS[name].title if name in PROTOCOLS else name
            along, up = (line[column].to_numpy().astype(np.float64) for column in columns)
            panel.plot(along, up, label=title, **line_style(index))
        panel.set_title(variant.title, loc="left", fontsize="medium")
        panel.set_xlabel(labels[0])
        panel.set_ylabel(labels[1])
        finish(panel)
    handles, names = panels[-1].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    return figure


def from_zero(panel: Axes) -> None:
    """The vertical axis starts at 0."""
    panel.set_ylim(bottom=0)


def logarithmic(panel: Axes) -> None:
    """Both axes are logarithmic."""
    panel.set_xscale("log")
    panel.set_yscale("log")


def as_it_is(_panel: Axes) -> None:
    """Nothing more to do."""
