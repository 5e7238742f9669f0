"""The picture of a capture: round trips of the flows, load and waiting over time."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bufferlab.captured.findings import Findings
from bufferlab.captured.flows import timed, waits_over_time
from bufferlab.captured.link import DIRECTIONS
from bufferlab.captured.observation import NS_PER_MS, NS_PER_S
from bufferlab.display import as_figure
from bufferlab.render.plots.style import COLORS, line_style, new_figure
from bufferlab.results.metrics.keys import TIME

_BITS_PER_MBIT: Final = 1e6
_HEADROOM: Final = 1.05


@as_figure.register
def draw(findings: Findings) -> Figure:
    """Three panels below each other: round-trip times, load and long flows, waiting."""
    figure, (round_trips, load, waits) = new_figure(3)
    _round_trips(round_trips, findings)
    _load(load, findings)
    _waits(waits, findings)
    return figure


def _round_trips(panel: Axes, findings: Findings) -> None:
    for index, (label, flows) in enumerate((("long flows", findings.long), ("short flows", findings.short))):
        known = timed(flows)
        if not known.is_empty():
            shares = np.arange(1, len(known) + 1) / len(known)
            panel.step(known["rtt_ms"].to_numpy(), shares, where="post", label=label, **line_style(index))
    panel.set_xlabel("round-trip time without waiting (ms)")
    panel.set_ylabel("part of the flows")
    panel.set_ylim(0, 1)
    _legend(panel)


def _load(panel: Axes, findings: Findings) -> None:
    seconds = _of(findings.observation.seconds, findings)
    at_s = seconds["start_ns"].to_numpy() / NS_PER_S
    mbps = seconds["wire_bytes"].to_numpy() * 8 / (seconds["width_ns"].to_numpy() / NS_PER_S) / _BITS_PER_MBIT
    panel.step(at_s, mbps * findings.ip_share, where="post", label="load", **line_style(0))
    if findings.rate_bps is not None:
        panel.axhline(findings.rate_bps / _BITS_PER_MBIT, color="0.5", linewidth=0.8, label="rate")
    panel.set_xlabel(TIME.axis)
    panel.set_ylabel("load (Mbps)")
    panel.set_ylim(0, _HEADROOM * panel.get_ylim()[1])
    beside = panel.twinx()
    ends_s = at_s + seconds["width_ns"].to_numpy() / NS_PER_S
    beside.step(
        at_s, _long_at_a_time(findings, at_s, ends_s), where="post", label="long flows", **line_style(1)
    )
    beside.set_ylabel("long flows")
    beside.set_ylim(0, _HEADROOM * beside.get_ylim()[1])
    lines = [*panel.get_lines(), *beside.get_lines()]
    labels = [str(line.get_label()) for line in lines]
    panel.legend(lines, labels, loc="lower right", fontsize="small")


def _long_at_a_time(
    findings: Findings, starts_s: npt.NDArray[np.float64], ends_s: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """How many long flows there are in each second, in the mean."""
    first_s, last_s = (findings.long[name].to_numpy() / NS_PER_S for name in ("first_ns", "last_ns"))
    within = np.minimum(ends_s[:, None], last_s) - np.maximum(starts_s[:, None], first_s)
    counts: npt.NDArray[np.float64] = np.maximum(within, 0.0).sum(axis=1) / (ends_s - starts_s)
    return counts


def _waits(panel: Axes, findings: Findings) -> None:
    panel.set_xlabel(TIME.axis)
    panel.set_ylabel("waiting (ms)")
    if findings.waits is None:
        panel.set_title("no round trip was seen", fontsize="small")
        return
    ahead, way = bool(findings.waits["is_ahead"]), DIRECTIONS.index(findings.direction)
    seen = findings.observation
    moments = waits_over_time(seen, findings.interface, way, is_ahead=ahead, long=findings.long)
    whose = "long flows, median"
    if moments.is_empty():
        whose = "median"
        moments = _of(seen.moments, findings).filter(pl.col("is_ahead") == int(ahead), pl.col("samples") > 0)
        moments = moments.with_columns(wait_ms=pl.col("median_ns") / NS_PER_MS)
    at_s = moments["start_ns"].to_numpy() / NS_PER_S
    panel.plot(at_s, moments["wait_ms"].to_numpy(), label=whose, **line_style(0))
    if findings.waits["is_filled"]:
        depth_ms = findings.waits["depth_ns"] / NS_PER_MS
        panel.axhline(depth_ms, color=COLORS[2], linewidth=0.8, label="where losses come")
    panel.set_ylim(bottom=0)
    _legend(panel)


def _of(table: pl.DataFrame, findings: Findings) -> pl.DataFrame:
    return table.filter(
        (pl.col("interface") == findings.interface)
        & (pl.col("direction") == DIRECTIONS.index(findings.direction))
    ).sort("start_ns")


def _legend(panel: Axes) -> None:
    if panel.get_legend_handles_labels()[0]:
        panel.legend(fontsize="small")
