"""What runs of large links and of their twins cost."""

from __future__ import annotations

from typing import Any, Final

import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.documents import Work
from bufferlab.render.plots.style import COLORS, new_figure_row

_MARKERS: Final = "osD^v"


def draw(work: Work) -> Figure:
    """Processor time against what the link could carry, and time a packet against flows."""
    figure, (total, each) = new_figure_row(2)
    every = work.tables["runs"].with_columns(
        gbit=pl.col("rate_bps") * pl.col("duration_s") / 1e9,
        packet_ns=pl.col("cpu_s") / pl.col("packets") * 1e9,
    )
    for index, (flows,) in enumerate(every.select("flows").unique().sort("flows").iter_rows()):
        shown = every.filter(pl.col("flows") == flows)
        look: dict[str, Any] = {
            "color": COLORS[index % len(COLORS)],
            "marker": _MARKERS[index % len(_MARKERS)],
            "linestyle": "none",
            "markersize": 4,
        }
        total.plot(shown["gbit"].to_numpy(), shown["cpu_s"].to_numpy(), label=f"{flows:,} flows", **look)
        each.plot(shown["flows"].to_numpy(), shown["packet_ns"].to_numpy(), **look)
    for axes in (total, each):
        axes.set_xscale("log")
    total.set_yscale("log")
    total.set_xlabel("rate × simulated time (Gbit)")
    total.set_ylabel("processor time (s)")
    total.legend(fontsize="small")
    each.set_ylim(bottom=0)
    each.set_xlabel("flows")
    each.set_ylabel("processor time per packet (ns)")
    return figure
