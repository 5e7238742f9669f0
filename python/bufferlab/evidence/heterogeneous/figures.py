"""The pictures of the heterogeneous-TCP document's figures and tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bufferlab.evidence.documents import Work
from bufferlab.evidence.heterogeneous.settings import (
    AS_PUBLISHED,
    CORRECTED,
    MAX_LOSS,
    NAMES,
    RATE_BPS,
    VARIANTS,
    bdp_packets,
)
from bufferlab.render.plots.style import COLORS, line_style, new_figure
from bufferlab.theory.protocols import PROTOCOLS

_STEP: Final = 0.085
_NS2_SHADES: Final = ("0.2", "0.55")


def draw_fig1(work: Work) -> dict[str, Figure]:
    """One figure for RENO alone, one for the mix: the histograms, one panel per number of flows."""
    bins = work.tables["histograms"]
    names = {"reno": "fig1", "mix": "fig1-mix"}
    return {
        names[protocols]: _histograms(bins.filter(pl.col("protocols") == protocols))
        for protocols in bins["protocols"].unique(maintain_order=True)
    }


def _histograms(bins: pl.DataFrame) -> Figure:
    """Densities as steps, the normal density of the same moments dotted."""
    numbers = bins["flows"].unique(maintain_order=True)
    figure, panels = new_figure(rows=len(numbers))
    figure.set_figheight(2.3 * len(numbers) + 0.5)
    for panel, flows in zip(panels, numbers, strict=True):
        _histogram(panel, bins.filter(pl.col("flows") == flows))
        panel.set_title(f"{flows} flows", loc="left", fontsize="medium")
        panel.set_ylabel("density")
    panels[-1].set_xlabel("W / BDP (dotted: normal distribution of the same mean and deviation)")
    return _with_legend(figure, panels[-1])


def _histogram(panel: Axes, bins: pl.DataFrame) -> None:
    for index, hosts in enumerate(bins["hosts"].unique(maintain_order=True)):
        part = bins.filter(pl.col("hosts") == hosts)
        low, high = (part[f"w_over_bdp_{end}"].to_numpy() for end in ("from", "to"))
        panel.stairs(part["density"].to_numpy(), np.append(low, high[-1]), label=hosts, **line_style(index))
        panel.plot(
            (low + high) / 2.0,
            part["normal_density"].to_numpy(),
            color=COLORS[index % len(COLORS)],
            linestyle="dotted",
        )


def draw_fig4(work: Work) -> Figure:
    """The least buffer over the number of flows."""
    return _lines(work, ("flows", "buffer_mb"), ("number of flows", "minimum buffer (MB)"), _from_zero)


def draw_fig5(work: Work) -> Figure:
    """The least number of flows over the loss bound."""
    labels = ("bound of the loss, phi", "least number of flows")
    return _lines(work, ("max_loss", "flows"), labels, _logarithmic)


def draw_fig6(work: Work) -> Figure:
    """What the loss bound adds to the buffer, over the bound."""
    return _lines(
        work, ("max_loss", "increase_percent"), ("bound of the loss, phi", "more buffer (%)"), _from_zero
    )


def draw_fig7(work: Work) -> Figure:
    """The z-score that a smaller buffer leaves."""
    return _lines(work, ("gamma", "z_q"), ("gamma = (BDP + B) / (BDP + B_l)", "z_q"), lambda _panel: None)


def _lines(
    work: Work, columns: tuple[str, str], labels: tuple[str, str], finish: Callable[[Axes], None]
) -> Figure:
    """Two panels, as published and corrected, with a line for each protocol, and for the mix if it is there.

    Args:
        work: Its points have the columns `variant`, `protocol` and those of `columns`.
        columns: What is drawn along and up.
        labels: The labels of the axes.
        finish: Called with each panel at the end.
    """
    figure, panels = new_figure(rows=len(VARIANTS))
    for panel, variant in zip(panels, VARIANTS.values(), strict=True):
        part = work.points.filter(pl.col("variant") == variant.name)
        for name in part["protocol"].unique(maintain_order=True):
            line = part.filter(pl.col("protocol") == name)
            index = NAMES.index(name) if name in NAMES else len(NAMES)
            title = PROTOCOLS[name].title if name in PROTOCOLS else name
            along, up = (line[column].to_numpy().astype(np.float64) for column in columns)
            panel.plot(along, up, label=title, **line_style(index))
        panel.set_title(variant.title, loc="left", fontsize="medium")
        panel.set_xlabel(labels[0])
        panel.set_ylabel(labels[1])
        finish(panel)
    return _with_legend(figure, panels[-1])


def _from_zero(panel: Axes) -> None:
    panel.set_ylim(bottom=0)


def _logarithmic(panel: Axes) -> None:
    panel.set_xscale("log")
    panel.set_yscale("log")


def draw_table2(work: Work) -> Figure:
    """The window over the epoch."""
    figure, (panel,) = new_figure()
    for index, name in enumerate(NAMES):
        part = work.tables["growth"].filter(pl.col("protocol") == name)
        along, up = (part[column].to_numpy() for column in ("epoch_share", "window"))
        panel.plot(along, up, label=PROTOCOLS[name].title, **line_style(index))
    panel.set_xlabel("time / epoch")
    panel.set_ylabel("window / w_max")
    panel.legend(fontsize="x-small", frameon=False)
    return figure


def draw_table3(work: Work) -> Figure:
    """The characteristic values as printed, and from the growth functions."""
    figure, (panel,) = new_figure()
    frame = work.points
    _pairs(panel, frame, {"table_iii": "Table III", "characteristic": "from (4) and (5)"})
    panel.set_xticks(range(frame.height), [str(title).split(" (")[0] for title in frame["title"]])
    panel.set_ylabel("characteristic value a")
    return figure


def draw_table4(work: Work) -> Figure:
    """The bandwidth-delay products as printed, and 622 Mbps times the round-trip time."""
    figure, (panel,) = new_figure()
    frame = work.points
    _pairs(panel, frame, {"stated_mb": "Table IV", "bdp_mb": "622 Mbps × RTT"})
    panel.set_xticks(range(frame.height), [f"{rtt:g} ms" for rtt in frame["rtt_ms"]])
    panel.set_ylabel("BDP (MB)")
    return figure


def _pairs(panel: Axes, frame: pl.DataFrame, columns: Mapping[str, str]) -> None:
    """Two bars side by side, distinguished by color and hatching."""
    places = np.arange(frame.height, dtype=np.float64)
    for index, ((column, label), hatch) in enumerate(zip(columns.items(), ("", "//"), strict=True)):
        panel.bar(
            places + (index - 0.5) * 0.38,
            frame[column].to_numpy(),
            width=0.36,
            color=COLORS[index],
            hatch=hatch,
            label=label,
        )
    panel.legend(fontsize="small", frameon=False)


@dataclass(frozen=True)
class _Series:
    """The points of one kind: ours for one sort of hosts, or ns-2's."""

    frame: pl.DataFrame
    label: str
    color: str
    hollow: bool
    offset: float
    links: Sequence[float]

    @property
    def places(self) -> NDArray[np.float64]:
        nearest = [int(np.argmin([abs(rtt - known) for known in self.links])) for rtt in self.frame["rtt_ms"]]
        return np.asarray(nearest, dtype=np.float64) + self.offset


def draw_fig9(work: Work) -> Figure:
    """Mean utilization, with the lowest and the highest of a second."""
    figure, (panel,) = new_figure()
    _utilization(panel, work)
    return _finished(figure, panel, work)


def draw_fig10(work: Work) -> Figure:
    """Mean of W (+) and the bound of (1) (×), over the BDP."""
    figure, (panel,) = new_figure()
    for series in _series(work, corrected=False):
        mean = series.frame["mean_windows"].to_numpy() / _bdps(series.frame)
        _pair(panel, series, mean, mean / series.frame["mean_over_bound"].to_numpy())
    panel.set_ylabel("W / BDP: mean (+), bound by (1) (×)")
    return _finished(figure, panel, work)


def draw_fig11(work: Work) -> Figure:
    """Utilization above, loss below."""
    figure, (above, below) = new_figure(rows=2)
    _utilization(above, work)
    _published_line(above, work, "fig11-lowest-utilization", "lowest, published", "dotted")
    for series in _series(work):
        _points(below, series, "loss", ("loss_min", "loss_max"))
    _line(below, MAX_LOSS, "asked for", "dashed")
    _published_line(below, work, "fig11-lowest-loss", "lowest, published", "dotted")
    below.set_yscale("log")
    below.set_ylabel("loss (bars: over seeds)")
    _ticks(above, work)
    return _finished(figure, below, work)


def draw_fig12(work: Work) -> Figure:
    """Buffer (+) and the bound of (10) (×), % of the BDP."""
    figure, (panel,) = new_figure()
    for series in _series(work, corrected=False):
        unit = _bdps(series.frame) / 100.0
        buffer, bound = (
            series.frame[name].to_numpy() / unit for name in ("buffer_packets", "bound_10_packets")
        )
        _pair(panel, series, buffer, bound)
    panel.set_ylabel("% of BDP: buffer (+), bound (×)")
    return _finished(figure, panel, work)


def _series(work: Work, *, corrected: bool = True) -> Iterator[_Series]:
    """Ours as published, ours corrected, and ns-2's."""
    ns2 = work.tables["ns2"]
    links = tuple(_links(work))
    known = work.points["hosts"].unique(maintain_order=True).to_list()
    colors = dict(zip(known, COLORS, strict=False))
    ns2_hosts = ns2["hosts"].unique(maintain_order=True).to_list()
    kinds = [(hosts, AS_PUBLISHED) for hosts in known if hosts not in ns2_hosts]
    if corrected:
        kinds += [(hosts, CORRECTED) for hosts, _ in kinds]
    kinds += [(hosts, AS_PUBLISHED) for hosts in ns2_hosts]
    middle = (len(kinds) + len(ns2_hosts) - 1) / 2.0
    for index, (hosts, variant) in enumerate(kinds):
        frame = work.points.filter(pl.col("hosts") == hosts, pl.col("variant") == variant.name)
        title = hosts if variant == AS_PUBLISHED else f"{hosts}, corrected"
        yield _Series(frame, title, colors[hosts], variant == CORRECTED, (index - middle) * _STEP, links)
    for index, hosts in enumerate(ns2_hosts):
        frame = ns2.filter(pl.col("hosts") == hosts)
        offset = (index + len(kinds) - middle) * _STEP
        yield _Series(frame, f"ns-2 itself, {hosts.split(', ')[1]}", _NS2_SHADES[index], False, offset, links)


def _utilization(panel: Axes, work: Work) -> None:
    for series in _series(work):
        of_seconds = "utilization_low_min" in series.frame.columns
        ends = (
            ("utilization_low_min", "utilization_high_max")
            if of_seconds
            else ("utilization_min", "utilization_max")
        )
        _points(panel, series, "utilization", ends)
    _published_line(panel, work, "fig9-utilization", "asked for", "dashed")
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


def _published_line(panel: Axes, work: Work, claim_id: str, label: str, style: str) -> None:
    """A line at the number that a claim states."""
    for claim in work.document.claims:
        if claim.id == claim_id and claim.number is not None:
            _line(panel, claim.number, label, style)


def _line(panel: Axes, height: float, label: str, style: str) -> None:
    panel.axhline(height, color="0.4", linewidth=0.9, linestyle=style, label=label)


def _bdps(frame: pl.DataFrame) -> NDArray[np.float64]:
    return np.asarray([bdp_packets(rtt) for rtt in frame["rtt_ms"]], dtype=np.float64)


def _links(work: Work) -> dict[float, str]:
    """Table IV's links by round-trip time, and the last one again with the time that its product takes."""
    links, last = {}, (math.nan, "")
    for number, claim in enumerate(work.document.claims_of("table4"), start=1):
        rtt_ms, stated_mb = float(claim.setting["rtt_ms"]), claim.number or math.nan
        links[rtt_ms] = f"BDP{number}\n{rtt_ms:g} ms"
        taken_ms = round(stated_mb * 8e9 / RATE_BPS, 1)
        last = (taken_ms, f"BDP{number}\n{stated_mb:g} MB ({taken_ms:g} ms)")
    return links | dict([last])


def _ticks(panel: Axes, work: Work) -> None:
    links = _links(work)
    panel.set_xticks(range(len(links)), list(links.values()))
    panel.grid(visible=False, axis="x")


def _finished(figure: Figure, last: Axes, work: Work) -> Figure:
    _ticks(last, work)
    return _with_legend(figure, last)


def _with_legend(figure: Figure, panel: Axes) -> Figure:
    handles, names = panel.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    return figure
