"""The pictures of "Bufferbloat: A simulation", and those that its readers missed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bufferlab.evidence.documents import Work
from bufferlab.render.plots.style import COLORS, line_style, new_figure, new_figure_row
from bufferlab.results.metrics.keys import TIME
from bufferlab.results.metrics.registry import STORED

_MARKERS: Final = "osD^vPX"
_BINS: Final = 60

_ZOOM_MS: Final = 100.0
"""Axis of figure 6, each way; the document's is lost."""


def draw_queues(work: Work) -> Figure:
    """Router 1's queue over time, a line a setting."""
    return _lines(_by_title(work), "frames", "queue at router 1 (frames)")


def draw_round_trips(work: Work) -> Figure:
    """Event A's round-trip time over time, a line a window."""
    return _lines(_by_title(work), "rtt_ms", STORED["rtt_ms"].axis)


def draw_variations(work: Work) -> dict[str, Figure]:
    """Event C's delay variation: over time, and its distribution."""
    series, name = _by_title(work), work.figure.name
    zoom_ms = _ZOOM_MS if name == "fig6" else None
    return {name: _variation(series, zoom_ms), f"{name}_distribution": _distribution(series)}


def _by_title(work: Work) -> dict[str, pl.DataFrame]:
    series = work.tables["series"]
    return {str(key[0]): frame for key, frame in series.group_by(series.columns[0], maintain_order=True)}


def _lines(series: Mapping[str, pl.DataFrame], value: str, label: str) -> Figure:
    figure, (axes,) = new_figure()
    for index, (title, frame) in enumerate(series.items()):
        axes.plot(frame["time_s"], frame[value], label=title, **line_style(index))
    axes.set_xlabel(TIME.axis)
    axes.set_ylabel(label)
    axes.legend(fontsize="x-small", frameon=False, ncols=2)
    return figure


def _variation(series: Mapping[str, pl.DataFrame], zoom_ms: float | None) -> Figure:
    """Delay variation of each packet when it came; `zoom_ms` bounds the axis on both sides."""
    figure, (axes,) = new_figure()
    for index, (title, frame) in enumerate(series.items()):
        axes.plot(
            frame["time_s"], frame["variation_ms"], color=COLORS[index % len(COLORS)], linestyle="none",
            marker=_MARKERS[index % len(_MARKERS)], markersize=3, mfc="none", mew=0.7, label=title,
        )  # fmt: skip
    if zoom_ms is not None:
        axes.set_ylim(-zoom_ms, zoom_ms)
    axes.set_xlabel(TIME.axis)
    axes.set_ylabel(STORED["delay_variation_ms"].axis)
    axes.legend(fontsize="x-small", frameon=False, ncols=2)
    return figure


def _distribution(series: Mapping[str, pl.DataFrame]) -> Figure:
    """The same as a histogram and as the distribution of its size."""
    figure, (left, right) = new_figure_row(2)
    values = {title: frame["variation_ms"].to_numpy() for title, frame in series.items()}
    edges = _edges(values.values())
    for index, (title, own) in enumerate(values.items()):
        left.hist(own, bins=edges, histtype="step", label=title, **line_style(index))
        sizes = np.sort(np.abs(own))
        shares = np.arange(1, sizes.size + 1) / sizes.size
        right.step(np.maximum(sizes, 0.1), shares, where="post", label=title, **line_style(index))
    left.set_yscale("log")
    left.set_xlabel(STORED["delay_variation_ms"].axis)
    left.set_ylabel("packets")
    right.set_xscale("log")
    right.set_xlabel("size of the delay variation (ms)")
    right.set_ylabel("share of packets at or below")
    right.legend(fontsize="x-small", frameon=False)
    return figure


def _edges(values: Iterable[NDArray[np.float64]]) -> list[float]:
    largest = max((float(np.abs(own).max()) for own in values if own.size), default=1.0)
    return list(np.linspace(-largest, largest, _BINS + 1))


def draw_inflation(work: Work) -> Figure:
    """The window of event A alone, beside what two round-trip times would give; and its round-trip time."""
    frame = work.tables["window"]
    figure, (windows, times) = new_figure(rows=2)
    lines = {
        "simulated": "cwnd_segments",
        "1 segment a round trip of 40 ms (what an empty queue gives)": "at_base_segments",
        "1 segment a round trip that the window itself inflates": "at_inflated_segments",
    }
    for index, (title, column) in enumerate(lines.items()):
        windows.plot(frame["time_s"], frame[column], label=title, **line_style(index))
    windows.set_ylim(0, 1.1 * float(frame["advertised_segments"][0]))
    windows.axhline(frame["advertised_segments"][0], color="black", linewidth=0.8, linestyle="dotted")
    windows.set_ylabel("window (segments)")
    windows.legend(fontsize="x-small", frameon=False)
    times.plot(frame["time_s"], frame["rtt_ms"], label="round-trip time", **line_style(0))
    times.axhline(40, color="black", linewidth=0.8, linestyle="dotted", label="without waiting")
    times.set_ylabel(STORED["rtt_ms"].axis)
    times.set_xlabel(TIME.axis)
    times.legend(fontsize="x-small", frameon=False)
    return figure


def draw_many(work: Work) -> Figure:
    """Mean and 99th percentile of the wait, and utilization, over the number of flows."""
    points = work.points
    rules = points["buffer"].unique(maintain_order=True)
    figure, (waits, use) = new_figure_row(2)
    used = STORED["utilization"]
    for index, rule in enumerate(rules):
        own = points.filter(pl.col("buffer") == rule).sort("flows")
        _with_tail(waits, own, rule, index)
        shares = used.unit.scaled(own[used.name])
        use.plot(own["flows"], shares, label=rule, marker=_MARKERS[index], markersize=4, **line_style(index))
    for axes in (waits, use):
        axes.set_xscale("log")
        axes.set_xlabel("flows (1 Mbps each)")
    waits.set_yscale("log")
    waits.set_ylabel("wait: mean, line to 99 % (ms)")
    use.set_ylabel(used.axis)
    use.legend(fontsize="x-small", frameon=False)
    return figure


def _with_tail(axes: Axes, own: pl.DataFrame, title: str, index: int) -> None:
    above = (own["wait_p99_ms"] - own["wait_mean_ms"]).clip(0).to_list()
    axes.errorbar(
        own["flows"], own["wait_mean_ms"], yerr=[[0.0] * own.height, above], marker=_MARKERS[index],
        markersize=4, capsize=2, label=title, **line_style(index),
    )  # fmt: skip
