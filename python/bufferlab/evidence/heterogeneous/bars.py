"""The pictures that go with the heterogeneous-TCP document's tables."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bufferlab.evidence.heterogeneous.settings import NAMES
from bufferlab.render.plots.style import COLORS, line_style, new_figure
from bufferlab.theory.protocols import PROTOCOLS


def epochs(frame: pl.DataFrame) -> Figure:
    """Table II: the window over the epoch.

    Args:
        frame: Columns `protocol`, `epoch_share`, `window`.
    """
    figure, (panel,) = new_figure()
    for index, name in enumerate(NAMES):
        part = frame.filter(pl.col("protocol") == name)
        panel.plot(
            part["epoch_share"].to_numpy(),
            part["window"].to_numpy(),
            label=PROTOCOLS[name].title,
            **line_style(index),
        )
    panel.set_xlabel("time / epoch")
    panel.set_ylabel("window / w_max")
    panel.legend(fontsize="x-small", frameon=False)
    return figure


def characteristics(frame: pl.DataFrame) -> Figure:
    """Table III: a as printed, and from the growth functions.

    Args:
        frame: Columns `title`, `table_iii`, `characteristic`.
    """
    figure, (panel,) = new_figure()
    _pairs(panel, frame, ("table_iii", "characteristic"), ("Table III", "from (4) and (5)"))
    panel.set_xticks(range(frame.height), [str(title).split(" (")[0] for title in frame["title"]])
    panel.set_ylabel("characteristic value a")
    return figure


def products(frame: pl.DataFrame) -> Figure:
    """Table IV: BDPs as printed, and 622 Mbps times the round-trip time.

    Args:
        frame: Columns `rtt_ms`, `stated_mb`, `bdp_mb`.
    """
    figure, (panel,) = new_figure()
    _pairs(panel, frame, ("stated_mb", "bdp_mb"), ("Table IV", "622 Mbps × RTT"))
    panel.set_xticks(range(frame.height), [f"{rtt:g} ms" for rtt in frame["rtt_ms"]])
    panel.set_ylabel("BDP (MB)")
    return figure


def _pairs(panel: Axes, frame: pl.DataFrame, columns: tuple[str, str], labels: tuple[str, str]) -> None:
    """Two bars side by side, told apart by color and hatching."""
    places = np.arange(frame.height, dtype=np.float64)
    for index, (column, label, hatch) in enumerate(zip(columns, labels, ("", "//"), strict=True)):
        panel.bar(
            places + (index - 0.5) * 0.38,
            frame[column].to_numpy(),
            width=0.36,
            color=COLORS[index],
            hatch=hatch,
            label=label,
        )
    panel.legend(fontsize="small", frameon=False)
