"""The pictures of "Bufferbloat Problem"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.bloat_mininet.author import SERIES
from bufferlab.evidence.documents import Work
from bufferlab.render.plots.style import COLORS, line_style, new_figure
from bufferlab.results.metrics.keys import TIME

AXES: Final[Mapping[str, str]] = {
    "cwnd_segments": "cwnd (segments)",
    "rtt_ms": "ping's RTT (ms)",
    "fetch_s": "time of a fetch (s)",
    "queue_packets": "queue (packets)",
}
"""The four series and their axes' labels."""

_MEASURED: Final[dict[str, Any]] = {"color": "black", "linewidth": 0.7, "alpha": 0.7}
_MARKERS: Final = {"published": "x", "measured": "s", "without offload": "o", "with offload": "D"}


def draw_series(work: Work) -> Figure:
    """The four series over time, a line a model, with what was measured."""
    (queue,) = work.figure.only["queue"]
    drawn = work.tables["series"]
    measured = work.tables["author"].filter(pl.col("queue") == queue).row(0, named=True)
    raw = work.tables.get("measured")
    figure, panels = new_figure(rows=len(AXES))
    for panel, (name, label) in zip(panels, AXES.items(), strict=True):
        of_panel = drawn.filter(pl.col("series") == name)
        for index, ((model,), frame) in enumerate(of_panel.group_by("model", maintain_order=True)):
            marker = "." if name == "fetch_s" else None
            panel.plot(frame["time_s"], frame["value"], label=str(model), marker=marker, **_thin(index))
        if raw is not None and name in SERIES:
            shown = raw.filter(pl.col("queue") == queue, pl.col("series") == name)
            panel.plot(shown["time_s"], shown["value"], label="measured", **_MEASURED)
        elif name in SERIES:
            panel.axhline(measured[f"{name}_mean"], label="measured, mean", linestyle="dotted", **_MEASURED)
        panel.set_ylabel(label)
    panels[0].legend(fontsize="x-small", frameon=False, ncols=3)
    panels[1].legend(fontsize="x-small", frameon=False, ncols=3)
    panels[-1].set_xlabel(TIME.axis)
    return figure


def _thin(index: int) -> dict[str, Any]:
    return line_style(index) | {"linewidth": 0.8}


def draw_fetches(work: Work) -> Figure:
    """Mean time of a fetch and its standard deviation, by queue and source."""
    points, author = work.points, work.tables["author"]
    stated = {
        quantity: [claim.value for claim in work.document.claims_of("table1") if claim.quantity == quantity]
        for quantity in ("fetch_s_mean", "fetch_s_sd")
    }
    sources = {
        "published": pl.DataFrame(stated),
        "measured": author.filter(pl.col("model") == "with offload"),
        **{str(key[0]): frame for key, frame in points.group_by("model", maintain_order=True)},
    }
    figure, (axes,) = new_figure()
    queues = points["queue"].unique(maintain_order=True).to_list()
    places = np.arange(len(queues))
    for index, (source, frame) in enumerate(sources.items()):
        axes.errorbar(
            places + 0.12 * (index - 1.5), frame["fetch_s_mean"], yerr=frame["fetch_s_sd"], label=source,
            color=COLORS[index], linestyle="none", marker=_MARKERS[source], markersize=5, capsize=3,
        )  # fmt: skip
    axes.set_xticks(places, [f"{each}" for each in queues])
    axes.set_xlabel("queue (packets)")
    axes.set_ylabel("time of a fetch: mean ± sd (s)")
    axes.legend(fontsize="x-small", frameon=False)
    return figure


def draw_lines(work: Work) -> Figure:
    """Mean round-trip time over the queue's limit, with least-squares lines."""
    means = work.tables["means"]
    stated = {claim.id: claim.value for claim in work.document.claims_of("fig4")}
    published = {
        "source": "published",
        "slope_ms": stated["fig4-slope"],
        "intercept_ms": stated["fig4-intercept"],
    }
    figure, (axes,) = new_figure()
    ends = np.array([0.0, 105.0])
    fitted = work.points.filter(pl.col("r").is_not_null()).rows(named=True)
    for index, row in enumerate([published, *fitted]):
        source, slope, intercept = str(row["source"]), row["slope_ms"], row["intercept_ms"]
        label = f"{source}: {slope:.2f}·Q + {intercept:.1f} ms"
        axes.plot(ends, slope * ends + intercept, label=label, **line_style(index))
        if source in means.columns:
            axes.plot(
                means["queue_packets"], means[source], linestyle="none", marker=_MARKERS[source],
                color=COLORS[index], markersize=5,
            )  # fmt: skip
    axes.set_xlabel("queue Q (packets)")
    axes.set_ylabel("ping's RTT, mean (ms)")
    axes.legend(fontsize="x-small", frameon=False)
    return figure
