"""The course of a search: rate and buffer over time, and the interval as it narrows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bufferlab.plots.style import BAND_ALPHA, COLORS, new_figure

if TYPE_CHECKING:
    from bufferlab.searching.study import Searched


def draw(searched: Searched) -> Figure:
    """Two panels: the rate of every measurement, and the buffer with the interval that is known by then."""
    course = searched.found.course
    figure, (rates, buffers) = new_figure(rows=2)
    places, label = _places(course)
    _draw_rates(rates, searched, places)
    _draw_buffers(buffers, searched, places)
    buffers.set_xlabel(label)
    rates.sharex(buffers)
    figure.suptitle(f"{searched.name}: {searched.found.goal}", fontsize="medium")
    return figure


def _places(course: pl.DataFrame) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], str]:
    """Where each measurement stands: its time in a live run, else the simulated time spent before it."""
    if (course["began_s"] > 0).any():
        return course["began_s"].cast(pl.Float64).to_numpy(), "time (s)"
    spent = course["simulated_s"].cum_sum() - course["simulated_s"]
    return spent.cast(pl.Float64).to_numpy(), "simulated time spent (s)"


def _draw_rates(axes: Axes, searched: Searched, places: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    course, goal = searched.found.course, searched.found.goal
    lengths = course["simulated_s"].to_numpy()
    for meets, name, color in ((True, "kept", COLORS[2]), (False, "not kept", COLORS[1])):
        chosen = (course["meets"] == meets).to_numpy()
        times, values = [], []
        for place, length, readings in zip(
            places[chosen], lengths[chosen], course["readings_bps"].filter(pl.Series(chosen)), strict=True
        ):
            times += [place + length * (k + 1) / len(readings) for k in range(len(readings))]
            values += [float(reading) / 1e6 for reading in readings]
        axes.plot(times, values, color=color, linestyle="none", marker=".", markersize=4, label=name)
    if goal.utilization is not None:
        target = goal.utilization * searched.found.full_rate_bps / 1e6
        axes.axhline(target, color="black", linewidth=0.8, linestyle="dashed", label="target")
    axes.set_ylabel("rate (Mbps)")
    axes.legend(fontsize="small", frameon=False)


def _draw_buffers(
    axes: Axes, searched: Searched, places: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> None:
    found = searched.found
    course = found.course
    top = found.sizes[-1]
    low = course["low"].cast(pl.Float64).clip(found.sizes[0], top).to_numpy()
    high = course["high"].fill_null(top).cast(pl.Float64).clip(found.sizes[0], top).to_numpy()
    axes.fill_between(
        places, low, high, step="post", color=COLORS[0], alpha=BAND_ALPHA, linewidth=0,
        label=f"{found.confidence * 100:g} % interval",
    )  # fmt: skip
    axes.step(places, course["buffer_packets"].to_numpy(), where="post", color=COLORS[0], linewidth=0.6)
    axes.plot(places, course["buffer_packets"].to_numpy(), ".", color=COLORS[0], markersize=4, label="buffer")
    axes.set_yscale("log")
    axes.set_ylabel("buffer (packets)")
    axes.legend(fontsize="small", frameon=False)
