"""The picture of a sizing: utilization, loss and delay against the buffer, with the rules marked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator
from numpy.typing import ArrayLike

from bufferlab.display import as_figure
from bufferlab.render.plots.style import COLORS, LINE_STYLES
from bufferlab.results.metrics.registry import STORED
from bufferlab.studies.size.sizing import Sizing


@dataclass(frozen=True)
class _Curve:
    """One line of a panel."""

    metric: str
    color: str
    marker: str
    label: str


_UTILIZATION = _Curve("utilization", COLORS[0], "o", "mean")
_LOSS = _Curve("loss", COLORS[0], "o", "mean")
_DELAYS = (
    _Curve("wait_mean_ms", COLORS[0], "o", "mean"),
    _Curve("wait_p99_ms", COLORS[1], "s", "99th percentile"),
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
    used.axhline(target * 100, color="0.5", linewidth=0.8, label=f"target {target:.4g}")
    _plot(lost, points, _LOSS)
    for curve in _DELAYS:
        _plot(late, points, curve)
    late.legend(loc="upper left", fontsize="small", frameon=False)
    for panel, label in (
        (used, STORED["utilization"].axis),
        (lost, STORED["loss"].axis),
        (late, "wait (ms)"),
    ):
        panel.set_ylabel(label)
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
    scale = STORED[curve.metric].unit.scale
    panel.errorbar(
        points["buffer_packets"].to_numpy(),
        points[curve.metric].to_numpy() * scale,
        yerr=np.nan_to_num(points[f"{curve.metric}_ci95"].to_numpy() * scale),
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
    panel.set_xlabel("buffer (packets)")
    top = panel.secondary_xaxis("top", functions=(to_ms, to_packets))
    top.set_xlabel("drain time (ms)", fontsize="small")
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
