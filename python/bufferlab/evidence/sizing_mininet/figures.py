"""The pictures of "Sizing Router Buffers" on Mininet-HiFi."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bufferlab.evidence.sizing_mininet.published import Measured
from bufferlab.render.plots.style import COLORS, line_style, new_figure, new_figure_row
from bufferlab.studies.search.plain import Bisected

_TESTBEDS = {"mininet": ("Mininet-HiFi", "s", "black"), "hardware": ("NetFPGA", "D", "gray")}


def draw_min_buffer(
    ours: pl.DataFrame,
    script: pl.DataFrame,
    testbeds: Mapping[str, Sequence[Measured]],
    bdp_packets: float,
    raw: pl.DataFrame | None,
) -> Figure:
    """Least buffer over the number of flows: our search, and the script's, beside the testbeds'.

    Args:
        ours: Columns of `sizing_mininet_runs.search_all`.
        script: Columns of `sizing_mininet_runs.script_all`.
        testbeds: Medians and ranges.
        bdp_packets: Bandwidth-delay product.
        raw: Every run of the testbeds, if their files were read.
    """
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
        _bound(axes, bdp_packets, [2, 800])
        axes.set_title(f"{title}; senders: {senders}", fontsize="small")
        _finish(axes)
    return figure


def draw_oc3(points: pl.DataFrame, bdp_packets: float) -> Figure:
    """Least buffer over the number of flows for each utilization."""
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
    _bound(axes, bdp_packets, [flows[0], flows[-1]])
    _finish(axes)
    return figure


def draw_trace(found: Bisected, packets: int, rate_bps: float, title: str) -> Figure:
    """Rate and buffer over the course of one of the script's searches."""
    figure, (rates, buffers) = new_figure(rows=2)
    times, values, steps = [], [], []
    for size, sample in found.trials:
        end_s = sample.began_s + sample.simulated_s
        count = len(sample.readings_bps)
        times += [end_s - (count - 1 - k) * sample.reading_s for k in range(count)]
        values += [reading / 1e6 for reading in sample.readings_bps]
        steps.append((sample.began_s, size))
    rates.plot(times, values, ".-", color=COLORS[0], linewidth=0.6, markersize=4, label="rate in a second")
    rates.axhline(rate_bps / 1e6, color="black", linewidth=0.8, linestyle="dotted", label="link")
    rates.axhline(
        0.98 * found.full_rate_bps / 1e6, color=COLORS[1], linewidth=0.8, linestyle="dashed", label="target"
    )
    rates.set_ylabel("rate (Mbps)")
    buffers.step(*zip(*steps, (times[-1], packets), strict=True), where="post", color=COLORS[0])
    buffers.set_yscale("log")
    buffers.set_ylabel("buffer (packets)")
    buffers.set_xlabel("time (s)")
    rates.sharex(buffers)
    rates.legend(fontsize="small", frameon=False)
    figure.suptitle(title, fontsize="medium")
    return figure


def _parts(frame: pl.DataFrame, column: str) -> list[tuple[str, pl.DataFrame]]:
    parts = frame.partition_by(column, maintain_order=True)
    return [(str(part[column][0]), part.sort("flows")) for part in parts]


def _testbeds(axes: Axes, testbeds: Mapping[str, Sequence[Measured]], raw: pl.DataFrame | None) -> None:
    for testbed, points in testbeds.items():
        name, marker, color = _TESTBEDS[testbed]
        bars = [[each.median - each.least for each in points], [each.most - each.median for each in points]]
        axes.errorbar(
            [each.flows for each in points], [each.median for each in points], yerr=bars, color=color,
            linestyle="none", marker=marker, markersize=4, capsize=2, linewidth=0.8,
            label=f"{name}: median, range",
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
