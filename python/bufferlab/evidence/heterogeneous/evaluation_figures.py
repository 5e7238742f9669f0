"""The pictures of the heterogeneous-TCP document's figures 9 to 12."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bufferlab.evidence.heterogeneous import published
from bufferlab.evidence.heterogeneous.evaluation import MAX_LOSS, ROUND_TRIPS_MS, Evaluation
from bufferlab.evidence.heterogeneous.hosts import LINUX_HOSTS, NS2_HOSTS, bdp_packets
from bufferlab.evidence.heterogeneous.settings import AS_PUBLISHED, CORRECTED
from bufferlab.render.plots.style import COLORS, new_figure

_TICKS: Final = ("BDP1\n28 ms", "BDP2\n67 ms", "BDP3\n90 ms", "BDP3\n18 MB (231.5 ms)")
_STEP: Final = 0.085


@dataclass(frozen=True)
class _Series:
    """The points of one kind: ours for one sort of hosts, or ns-2's."""

    frame: pl.DataFrame
    label: str
    color: str
    hollow: bool
    offset: float

    @property
    def places(self) -> NDArray[np.float64]:
        nearest = [
            int(np.argmin([abs(rtt - known) for known in ROUND_TRIPS_MS])) for rtt in self.frame["rtt_ms"]
        ]
        return np.asarray(nearest, dtype=np.float64) + self.offset


def draw_utilization(evaluation: Evaluation) -> Figure:
    """Figure 9: mean utilization, with the lowest and the highest of a second."""
    figure, (panel,) = new_figure()
    _utilization(panel, evaluation)
    return _finished(figure, panel)


def draw_utilization_and_loss(evaluation: Evaluation) -> Figure:
    """Figure 11: utilization above, loss rate below."""
    figure, (above, below) = new_figure(rows=2)
    _utilization(above, evaluation)
    _line(above, published.FIG11_LEAST_UTILIZATION, "lowest, published", "dotted")
    for series in _series(evaluation):
        _points(below, series, "loss", ("loss_min", "loss_max"))
    _line(below, MAX_LOSS, "asked for", "dashed")
    _line(below, published.FIG11_LEAST_LOSS, "lowest, published", "dotted")
    below.set_yscale("log")
    below.set_ylabel("loss rate (bars: over seeds)")
    _ticks(above)
    return _finished(figure, below)


def draw_mean_and_bound(evaluation: Evaluation) -> Figure:
    """Figure 10: mean of W (+) and (1)'s bound (×), over the BDP."""
    figure, (panel,) = new_figure()
    for series in _series(evaluation, corrected=False):
        mean = series.frame["mean_windows"].to_numpy() / _bdps(series.frame)
        _pair(panel, series, mean, mean / series.frame["mean_over_bound"].to_numpy())
    panel.set_ylabel("W / BDP: mean (+), bound by (1) (×)")
    return _finished(figure, panel)


def draw_buffer_and_bound(evaluation: Evaluation) -> Figure:
    """Figure 12: buffer (+) and (10)'s bound (×), % of the BDP."""
    figure, (panel,) = new_figure()
    for series in _series(evaluation, corrected=False):
        unit = _bdps(series.frame) / 100.0
        name = "buffer_packets" if "buffer_packets" in series.frame.columns else "limit_packets"
        buffer, bound = (series.frame[column].to_numpy() / unit for column in (name, "bound_10_packets"))
        _pair(panel, series, buffer, bound)
    panel.set_ylabel("% of BDP: buffer (+), bound (×)")
    return _finished(figure, panel)


def _series(evaluation: Evaluation, *, corrected: bool = True) -> Iterator[_Series]:
    kinds = [(hosts, AS_PUBLISHED) for hosts in LINUX_HOSTS]
    if corrected:
        kinds += [(hosts, CORRECTED) for hosts in LINUX_HOSTS]
    kinds += [(hosts, AS_PUBLISHED) for hosts in NS2_HOSTS]
    colors = {hosts.name: color for hosts, color in zip((*LINUX_HOSTS, *NS2_HOSTS), COLORS, strict=False)}
    middle = (len(kinds) + len(NS2_HOSTS) - 1) / 2.0
    for index, (hosts, variant) in enumerate(kinds):
        frame = evaluation.points.filter(pl.col("hosts") == hosts.name, pl.col("variant") == variant.name)
        title = hosts.name if variant == AS_PUBLISHED else f"{hosts.name}, corrected"
        hollow = variant == CORRECTED
        yield _Series(frame, title, colors[hosts.name], hollow, (index - middle) * _STEP)
    for index, hosts in enumerate(NS2_HOSTS, start=len(kinds)):
        frame = evaluation.ns2.filter(pl.col("spread") == hosts.ns2_spread)
        shade = ("0.2", "0.55")[index - len(kinds)]
        title = f"ns-2 itself, {hosts.name.split(', ')[1]}"
        yield _Series(frame, title, shade, hollow=False, offset=(index - middle) * _STEP)


def _utilization(panel: Axes, evaluation: Evaluation) -> None:
    for series in _series(evaluation):
        of_seconds = "utilization_low_min" in series.frame.columns
        ends = (
            ("utilization_low_min", "utilization_high_max")
            if of_seconds
            else ("utilization_min", "utilization_max")
        )
        _points(panel, series, "utilization", ends)
    _line(panel, published.FIG9_UTILIZATION, "asked for", "dashed")
    panel.set_ylabel("utilization")


def _points(panel: Axes, series: _Series, column: str, ends: tuple[str, str]) -> None:
    value, low, high = (series.frame[name].to_numpy().astype(np.float64) for name in (column, *ends))
    style: dict[str, Any] = {"mfc": "white"} if series.hollow else {}
    panel.errorbar(
        series.places,
        value,
        yerr=np.maximum(np.stack([value - low, high - value]), 0.0),
        color=series.color,
        linestyle="none",
        marker="o",
        markersize=4,
        capsize=2,
        linewidth=0.9,
        label=series.label,
        **style,
    )


def _pair(panel: Axes, series: _Series, plus: NDArray[np.float64], cross: NDArray[np.float64]) -> None:
    look: dict[str, Any] = {"color": series.color, "linestyle": "none", "markersize": 7}
    panel.plot(series.places, plus, marker="+", label=series.label, **look)
    panel.plot(series.places, cross, marker="x", **(look | {"markersize": 5}))


def _line(panel: Axes, height: float, label: str, style: str) -> None:
    panel.axhline(height, color="0.4", linewidth=0.9, linestyle=style, label=label)


def _bdps(frame: pl.DataFrame) -> NDArray[np.float64]:
    return np.asarray([bdp_packets(rtt) for rtt in frame["rtt_ms"]], dtype=np.float64)


def _ticks(panel: Axes) -> None:
    panel.set_xticks(range(len(_TICKS)), list(_TICKS))
    panel.grid(visible=False, axis="x")


def _finished(figure: Figure, last: Axes) -> Figure:
    _ticks(last)
    handles, names = last.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    return figure
