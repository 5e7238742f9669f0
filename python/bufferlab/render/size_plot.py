"""The picture of a sizing: utilization, loss and delay against the buffer, with the rules marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator
from numpy.typing import ArrayLike

from bufferlab.display import as_figure
from bufferlab.render.plots.style import COLORS, LINE_STYLES
from bufferlab.results.metrics.metric import CONFIDENCE_SUFFIX, MILLISECONDS, PACKETS, Metric
from bufferlab.results.metrics.registry import STORED
from bufferlab.studies.size.sizing import Sizing


@dataclass(frozen=True)
class _Curve:
    """One line of a panel."""

    metric: Metric
    color: str
    marker: str

    @property
    def label(self) -> str:
        """What the legend calls it: means over the seeds, if nothing else is said."""
        return self.metric.statistic or "mean"


_UTILIZATION: Final = _Curve(STORED["utilization"], COLORS[0], "o")
_LOSS: Final = _Curve(STORED["loss"], COLORS[0], "o")
_WAITS: Final = (
    _Curve(STORED["wait_mean_ms"], COLORS[0], "o"),
    _Curve(STORED["wait_p99_ms"], COLORS[1], "s"),
)


@as_figure.register
def draw(sizing: Sizing) -> Figure:
    """Three panels over the buffer in packets (drain time on top), error bars of 95 % over the seeds.

    Raises:
        ValueError: Nothing was simulated.
    """
    if sizing.verification is None:
        raise ValueError("there is nothing to draw: size with verify=True")
    ms_per_packet = sizing.demand.packet_bytes * 8e3 / sizing.demand.rate_bps
    target = sizing.target_utilization
    figure = Figure(figsize=(11, 4.4), layout="constrained")
    used, lost, late = figure.subplots(1, 3)
    points = sizing.verification.unique("buffer_packets").sort("buffer_packets")
    _plot(used, points, _UTILIZATION)
    wanted = _UTILIZATION.metric.unit.scaled(target)
    used.axhline(wanted, color="0.5", linewidth=0.8, label=f"target {target:.4g}")
    _plot(lost, points, _LOSS)
    for curve in _WAITS:
        _plot(late, points, curve)
    late.legend(loc="upper left", fontsize="small", frameon=False)
    for panel, curve in ((used, _UTILIZATION), (lost, _LOSS), (late, _WAITS[0])):
        panel.set_ylabel(curve.metric.unit.axis(curve.metric.what))
        _axis(panel, ms_per_packet)
        _annotate_rules(panel, sizing.frame)
    lost.set_ylim(bottom=0)
    if points["wait_mean_ms"].min() > 0:  # type: ignore[operator]
        late.set_yscale("log")
        late.yaxis.set_major_formatter(FuncFormatter(_plain))
    handles, labels = used.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize="small")
    return figure


def _plot(panel: Axes, points: pl.DataFrame, curve: _Curve) -> None:
    name, unit = curve.metric.name, curve.metric.unit
    panel.errorbar(
        points["buffer_packets"].to_numpy(),
        unit.scaled(points[name].to_numpy()),
        yerr=np.nan_to_num(unit.scaled(points[name + CONFIDENCE_SUFFIX].to_numpy())),
        color=curve.color,
        marker=curve.marker,
        markersize=4,
        linewidth=1.2,
        capsize=2,
        label=curve.label,
    )


def _axis(panel: Axes, ms_per_packet: float) -> None:
    def to_ms(packets: ArrayLike) -> ArrayLike:
        return np.asarray(packets) * ms_per_packet

    def to_packets(ms: ArrayLike) -> ArrayLike:
        return np.asarray(ms) / ms_per_packet

    panel.set_xscale("log")
    panel.set_xlabel(PACKETS.axis("buffer"))
    top = panel.secondary_xaxis("top", functions=(to_ms, to_packets))
    top.set_xlabel(MILLISECONDS.axis("drain time"), fontsize="small")
    for axis in (panel.xaxis, top.xaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(_plain))
    panel.tick_params(axis="x", labelsize="small")
    top.tick_params(axis="x", labelsize="small")
    panel.grid(visible=True, alpha=0.3)


def _plain(value: float, _position: int) -> str:
    return f"{value:g}"


def _annotate_rules(panel: Axes, rules: pl.DataFrame) -> None:
    for index, row in enumerate(rules.iter_rows(named=True)):
        panel.axvline(
            row["buffer_packets"],
            color=COLORS[(index + 2) % len(COLORS)],
            linestyle=LINE_STYLES[(index + 1) % len(LINE_STYLES)],
            linewidth=1.2,
            label=f"{row['rule']}: {row['title']}",
        )
