"""The pictures of "Sizing Router Buffers" on Mininet-HiFi."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bufferlab.evidence.documents import Work
from bufferlab.evidence.sizing_mininet import oc3
from bufferlab.evidence.sizing_mininet.searches import TESTBED, link_of
from bufferlab.render.plots.style import COLORS, line_style, new_figure, new_figure_row
from bufferlab.results.metrics.keys import TIME

_TESTBEDS = {"mininet": ("Mininet-HiFi", "s", "black"), "hardware": ("NetFPGA", "D", "gray")}


def draw_min_buffer(work: Work) -> Figure:
    """Least buffer over the number of flows: our search, and the script's, beside the testbeds'."""
    ours, script, testbeds = (work.tables[name] for name in ("ours", "script", "testbeds"))
    raw = work.tables.get("measured")
    figure, (left, right) = new_figure_row(2)
    senders = ours["senders"][0]
    for index, (control, part) in enumerate(_parts(ours.filter(pl.col("senders") == senders), "control")):
        known = part.filter(pl.col("packets").is_not_null() & pl.col("high").is_not_null())
        below, above = known["packets"] - known["low"], known["high"] - known["packets"]
        bars = [below.clip(0).to_list(), above.clip(0).to_list()]
        left.errorbar(
            known["flows"], known["packets"], yerr=bars, label=control, marker="o", markersize=3, capsize=2,
            **line_style(index),
        )  # fmt: skip
    for index, (control, part) in enumerate(_parts(script.filter(pl.col("senders") == senders), "control")):
        packets = pl.col("packets")
        points = part.group_by("flows", maintain_order=True).agg(
            packets.median().alias("median"), packets.min().alias("least"), packets.max().alias("most")
        )
        bars = [(points["median"] - points["least"]).to_list(), (points["most"] - points["median"]).to_list()]
        right.errorbar(
            points["flows"], points["median"], yerr=bars, label=control, marker="o", markersize=3, capsize=2,
            **line_style(index),
        )  # fmt: skip
    for axes, title in ((left, "our search, 95 % intervals"), (right, "the script's search, ranges")):
        _testbeds(axes, testbeds, raw)
        _bound(axes, link_of(TESTBED).bdp_packets, [2, 800])
        axes.set_title(f"{title}; senders: {senders}", fontsize="small")
        _finish(axes)
    return figure


def draw_oc3(work: Work) -> Figure:
    """Least buffer over the number of flows for each utilization."""
    points = work.points
    figure, (axes,) = new_figure()
    for index, (target, part) in enumerate(_parts(points, "target")):
        known = part.filter(pl.col("packets").is_not_null() & pl.col("high").is_not_null())
        bars = [
            (known["packets"] - known["low"]).clip(0).to_list(),
            (known["high"] - known["packets"]).clip(0).to_list(),
        ]
        axes.errorbar(
            known["flows"], known["packets"], yerr=bars, marker="o", markersize=3, capsize=2,
            label=f"{float(target) * 100:g} %", **line_style(index),
        )  # fmt: skip
    flows = points["flows"].unique().sort().to_list()
    _bound(axes, link_of(oc3.OC3).bdp_packets, [flows[0], flows[-1]])
    _finish(axes)
    return figure


def draw_trace(work: Work) -> Figure:
    """Rate and buffer over the course of one of the script's searches."""
    figure, (rates, buffers) = new_figure(rows=2)
    readings = work.tables["readings"]
    times: list[float] = []
    values: list[float] = []
    steps: list[tuple[float, int]] = []
    for trial in work.points.rows(named=True):
        of_trial = readings.filter(pl.col("buffer_packets") == trial["buffer_packets"])
        count = of_trial.height
        times += [trial["ends_s"] - (count - 1 - k) * trial["reading_s"] for k in range(count)]
        values += of_trial["reading_mbps"].to_list()
        steps.append((of_trial["began_s"][0], trial["buffer_packets"]))
    target, answer = (work.points[name][0] for name in ("target_mbps", "answer_packets"))
    rates.plot(times, values, ".-", color=COLORS[0], linewidth=0.6, markersize=4, label="rate in a second")
    rates.axhline(
        link_of(TESTBED).rate_bps / 1e6, color="black", linewidth=0.8, linestyle="dotted", label="link"
    )
    rates.axhline(target, color=COLORS[1], linewidth=0.8, linestyle="dashed", label="target")
    rates.set_ylabel("rate (Mbps)")
    buffers.step(*zip(*steps, (times[-1], answer), strict=True), where="post", color=COLORS[0])
    buffers.set_yscale("log")
    buffers.set_ylabel("buffer (packets)")
    buffers.set_xlabel(TIME.axis)
    rates.sharex(buffers)
    rates.legend(fontsize="small", frameon=False)
    figure.suptitle(f"{work.figure.title}: {answer} packets", fontsize="medium")
    return figure


def _parts(frame: pl.DataFrame, column: str) -> list[tuple[str, pl.DataFrame]]:
    parts = frame.partition_by(column, maintain_order=True)
    return [(str(part[column][0]), part.sort("flows")) for part in parts]


def _testbeds(axes: Axes, testbeds: pl.DataFrame, raw: pl.DataFrame | None) -> None:
    for testbed, points in _parts(testbeds, "testbed"):
        name, marker, color = _TESTBEDS[testbed]
        bars = [
            (points["median"] - points["least"]).to_list(),
            (points["most"] - points["median"]).to_list(),
        ]
        axes.errorbar(
            points["flows"], points["median"], yerr=bars, color=color, linestyle="none", marker=marker,
            markersize=4, capsize=2, linewidth=0.8, label=f"{name}: median, range",
        )  # fmt: skip
        if raw is not None:
            runs = raw.filter(pl.col("testbed") == testbed)
            axes.plot(runs["flows"], runs["packets"], "_", color=color, markersize=5, alpha=0.6)


def _bound(axes: Axes, bdp_packets: float, flows: Sequence[float]) -> None:
    values = [bdp_packets / math.sqrt(each) for each in flows]
    axes.plot(flows, values, color="black", linewidth=0.8, linestyle="dashed", label="RTT·C/√n")


def _finish(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("flows")
    axes.set_ylabel("least buffer (packets)")
    axes.legend(fontsize="x-small", frameon=False)
