"""The pictures of "Bufferbloat Problem"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bufferlab.render.plots.style import COLORS, line_style, new_figure

AXES: Final[Mapping[str, str]] = {
    "cwnd_segments": "cwnd (segments)",
    "rtt_ms": "ping's RTT (ms)",
    "fetch_s": "time of a fetch (s)",
    "queue_packets": "queue (packets)",
}
"""The four series and their axes' labels."""

_MEASURED: Final[dict[str, Any]] = {"color": "black", "linewidth": 0.7, "alpha": 0.7}
_MARKERS: Final = {"published": "x", "measured": "s", "without offload": "o", "with offload": "D"}


def draw_series(
    models: Mapping[str, Mapping[str, pl.DataFrame]],
    means: Mapping[str, float],
    raw: Mapping[str, pl.DataFrame] | None,
) -> Figure:
    """The four series over time, a line a model, with what was measured.

    Args:
        models: Series by name for each model, with `time_s` and `value`.
        means: Measured mean of each series that was measured.
        raw: The measured series themselves, if their files were read.
    """
    figure, panels = new_figure(rows=len(AXES))
    for panel, (name, label) in zip(panels, AXES.items(), strict=True):
        for index, (title, series) in enumerate(models.items()):
            marker = "." if name == "fetch_s" else None
            panel.plot(
                series[name]["time_s"], series[name]["value"], label=title, marker=marker, **_thin(index)
            )
        if raw is not None and name in raw:
            panel.plot(raw[name]["time_s"], raw[name]["value"], label="measured", **_MEASURED)
        elif name in means:
            panel.axhline(means[name], label="measured, mean", linestyle="dotted", **_MEASURED)
        panel.set_ylabel(label)
    panels[0].legend(fontsize="x-small", frameon=False, ncols=3)
    panels[1].legend(fontsize="x-small", frameon=False, ncols=3)
    panels[-1].set_xlabel("time (s)")
    return figure


def _thin(index: int) -> dict[str, Any]:
    return line_style(index) | {"linewidth": 0.8}


def draw_fetches(rows: pl.DataFrame) -> Figure:
    """Mean time of a fetch and its standard deviation, by queue and source.

    Args:
        rows: `queue_packets`, and for each source `SOURCE_mean_s` and `SOURCE_sd_s`, with `_` for a space.
    """
    figure, (axes,) = new_figure()
    places = np.arange(rows.height)
    for index, source in enumerate(_MARKERS):
        key = source.replace(" ", "_")
        axes.errorbar(
            places + 0.12 * (index - 1.5), rows[f"{key}_mean_s"], yerr=rows[f"{key}_sd_s"], label=source,
            color=COLORS[index], linestyle="none", marker=_MARKERS[source], markersize=5, capsize=3,
        )  # fmt: skip
    axes.set_xticks(places, [f"{each}" for each in rows["queue_packets"]])
    axes.set_xlabel("queue (packets)")
    axes.set_ylabel("time of a fetch: mean ± sd (s)")
    axes.legend(fontsize="x-small", frameon=False)
    return figure


def draw_regression(
    points: Mapping[str, tuple[list[int], list[float]]], lines: Mapping[str, tuple[float, float]]
) -> Figure:
    """Mean round-trip time over the queue's limit, with least-squares lines.

    Args:
        points: Queues and means, ms, by source.
        lines: Slope and intercept by source.
    """
    figure, (axes,) = new_figure()
    for index, (source, (slope, intercept)) in enumerate(lines.items()):
        style = line_style(index)
        ends = np.array([0.0, 105.0])
        axes.plot(
            ends, slope * ends + intercept, label=f"{source}: {slope:.2f}·Q + {intercept:.1f} ms", **style
        )
        if source in points:
            _scatter(axes, points[source], source, index)
    axes.set_xlabel("queue Q (packets)")
    axes.set_ylabel("ping's RTT, mean (ms)")
    axes.legend(fontsize="x-small", frameon=False)
    return figure


def _scatter(axes: Axes, points: tuple[list[int], list[float]], source: str, index: int) -> None:
    axes.plot(*points, linestyle="none", marker=_MARKERS[source], color=COLORS[index], markersize=5)
