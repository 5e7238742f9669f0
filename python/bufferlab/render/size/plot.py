"""The picture of a sizing: what every simulated buffer does, and where the answer and the rules lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator
from numpy.typing import ArrayLike

from bufferlab.display import as_figure
from bufferlab.render.plots.style import COLORS, LINE_STYLES, Drawing
from bufferlab.render.size.view import ANSWER
from bufferlab.render.words import metric_of
from bufferlab.studies.size.sizing import Sizing


@as_figure.register
def draw(sizing: Sizing) -> Figure:
    """A panel a metric over the buffer in packets (drain time on top), error bars of 95 % over the runs."""
    names = sizing.metrics()
    ms_per_packet = sizing.site.packet_bytes * 8e3 / sizing.site.rate_bps
    figure = Drawing(figsize=(11 / 3 * len(names), 4.4), layout="constrained")
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    points = sizing.curve()
    for panel, name in zip(panels, names, strict=True):
        _plot(panel, points, name)
        _bounds(panel, sizing, name)
        _axis(panel, ms_per_packet)
        _verticals(panel, sizing)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize="small")
    return figure


def _plot(panel: Axes, points: pl.DataFrame, name: str) -> None:
    group, metric = name.rpartition(".")[0], metric_of(name)
    known = points.filter(pl.col(name).is_not_null()) if points.schema[name] != pl.Null else points.head(0)
    values = metric.unit.scaled(known[name].to_numpy())
    half_widths = metric.unit.scaled(known[f"{name}_ci95"].cast(pl.Float64).fill_null(0.0).to_numpy())
    panel.errorbar(
        known["buffer_packets"].to_numpy(),
        values,
        yerr=half_widths,
        color=COLORS[0],
        marker="o",
        markersize=4,
        linewidth=1.2,
        capsize=2,
        label="mean",
    )
    panel.set_ylabel(f"{group}: {metric.axis}" if group else metric.axis)
    if metric.name.startswith("wait_") and values.size and values.min() > 0:
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter(FuncFormatter(_plain))
    elif metric.name == "loss":
        panel.set_ylim(bottom=0)


def _bounds(panel: Axes, sizing: Sizing, name: str) -> None:
    for target in sizing.goal.targets:
        if target.name == name:
            bound = target.metric.unit.scaled(target.bound)
            panel.axhline(bound, color="0.5", linewidth=0.8, label="target")


def _axis(panel: Axes, ms_per_packet: float) -> None:
    def to_ms(packets: ArrayLike) -> ArrayLike:
        return np.asarray(packets) * ms_per_packet

    def to_packets(ms: ArrayLike) -> ArrayLike:
        return np.asarray(ms) / ms_per_packet

    panel.set_xscale("log")
    panel.set_xlabel("buffer (packets)")
    top = panel.secondary_xaxis("top", functions=(to_ms, to_packets))
    top.set_xlabel("drain time (ms)", fontsize="small")
    for axis in (panel.xaxis, top.xaxis):
        axis.set_major_locator(LogLocator())
        axis.set_major_formatter(FuncFormatter(_plain))
    panel.tick_params(axis="x", labelsize="small")
    top.tick_params(axis="x", labelsize="small")
    panel.grid(visible=True, alpha=0.3)


def _plain(value: float, _position: int) -> str:
    return f"{value:g}"


def _verticals(panel: Axes, sizing: Sizing) -> None:
    """The answer and the rules' buffers."""
    if sizing.packets is not None:
        panel.axvline(
            sizing.packets, color="black", linewidth=2.0, label=f"{ANSWER}: {sizing.packets} packets"
        )
    for index, (packets, rules) in enumerate(_of_rules(sizing)):
        panel.axvline(
            packets,
            color=COLORS[(index + 1) % len(COLORS)],
            linestyle=LINE_STYLES[(index + 1) % len(LINE_STYLES)],
            linewidth=1.2,
            label=f"{', '.join(rules)}: {packets}",
        )


def _of_rules(sizing: Sizing) -> Iterator[tuple[int, Sequence[str]]]:
    """Each buffer of rules, and which of them give it."""
    of_size: dict[int, list[str]] = {}
    for each in sizing.judged:
        of_size.setdefault(each.packets, []).append(each.rule)
    yield from of_size.items()
