"""The course of a search: rate and buffer over time, and the interval as it narrows."""

from __future__ import annotations

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bufferlab.display import as_figure
from bufferlab.render.plots.style import BAND_ALPHA, COLORS, new_figure
from bufferlab.results.metrics.keys import TIME
from bufferlab.results.metrics.metric import BITS_PER_S, FRACTION, PACKETS
from bufferlab.studies.search.answer import Searched


@as_figure.register
def draw(searched: Searched) -> Figure:
    """Two panels: the rate of every measurement, and the buffer with the interval that is known by then."""
    course = searched.found.course
    live = bool((course["began_s"] > 0).any())
    spent = pl.col("simulated_s").cum_sum() - pl.col("simulated_s")
    course = course.with_columns((pl.col("began_s") if live else spent).alias("place")).sort("place")
    figure, (rates, buffers) = new_figure(rows=2)
    _draw_rates(rates, searched, course)
    _draw_buffers(buffers, searched, course)
    buffers.set_xlabel(TIME.axis if live else TIME.unit.axis("simulated time spent"))
    rates.sharex(buffers)
    figure.suptitle(f"{searched.name}: {searched.found.goal}", fontsize="medium")
    return figure


def _draw_rates(axes: Axes, searched: Searched, course: pl.DataFrame) -> None:
    goal = searched.found.goal
    for meets, name, color in ((True, "kept", COLORS[2]), (False, "not kept", COLORS[1])):
        points = [
            (row["place"] + row["simulated_s"] - row["reading_s"] * k, BITS_PER_S.scaled(rate))
            for row in course.filter(pl.col("meets") == meets).iter_rows(named=True)
            for k, rate in enumerate(reversed(row["readings_bps"]))
        ]
        places, rates = [x for x, _ in points], [y for _, y in points]
        axes.plot(places, rates, ".", color=color, markersize=4, label=name)
    if goal.utilization is not None:
        target = BITS_PER_S.scaled(goal.utilization * searched.found.full_rate_bps)
        axes.axhline(target, color="black", linewidth=0.8, linestyle="dashed", label="target")
    axes.set_ylabel(BITS_PER_S.axis("rate"))
    axes.legend(fontsize="small", frameon=False)


def _draw_buffers(axes: Axes, searched: Searched, course: pl.DataFrame) -> None:
    found = searched.found
    top = found.sizes[-1]
    places, sizes = course["place"].to_numpy(), course["buffer_packets"].to_numpy()
    low = course["low"].cast(pl.Float64).clip(found.sizes[0], top).to_numpy()
    high = course["high"].fill_null(top).cast(pl.Float64).clip(found.sizes[0], top).to_numpy()
    axes.fill_between(
        places, low, high, step="post", color=COLORS[0], alpha=BAND_ALPHA, linewidth=0,
        label=f"{FRACTION.quantity(found.confidence, digits=10)} interval",
    )  # fmt: skip
    axes.step(places, sizes, where="post", color=COLORS[0], linewidth=0.6)
    axes.plot(places, sizes, ".", color=COLORS[0], markersize=4, label="buffer")
    axes.set_yscale("log")
    axes.set_ylabel(PACKETS.axis("buffer"))
    axes.legend(fontsize="small", frameon=False)
