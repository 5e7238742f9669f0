"""The pictures of SplitBuff's figures, and ns-2's points beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from bufferlab.evidence.document import Claim
from bufferlab.evidence.documents import Work
from bufferlab.evidence.ns2.reference import load_references
from bufferlab.render.plots.style import COLORS, Drawing
from bufferlab.results.metrics.registry import QUEUE_SUMMARY

_STYLES = {1040: (COLORS[0], "solid", "o"), 1000: (COLORS[1], "dashed", "s")}
_NS2_MARKERS = {1040: "^", 1000: "v"}
_NS2_OFFSET_MS = 4
"""ns-2's points are drawn a little to the right, or they would hide ours."""


def ns2_fig1() -> pl.DataFrame:
    """ns-2 2.35 on the points of figure 1: mean, least and greatest over its seeds."""
    rows = []
    for reference in load_references():
        if reference.setting.scenario != "fig1":
            continue
        runs = pl.DataFrame([_ns2_row(run) for run in reference.runs.values()])
        row: dict[str, Any] = {
            "wire_bytes": reference.setting.wire_bytes,
            "buffer_ms": int(reference.setting.buffer_rule.removesuffix("ms")),
            "seeds": runs.height,
        }
        for column in runs.columns:
            values = runs[column]
            row |= {column: values.mean(), f"{column}_min": values.min(), f"{column}_max": values.max()}
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None).sort(
        "wire_bytes", "buffer_ms", descending=[True, False]
    )


def _ns2_row(run: dict[str, float]) -> dict[str, float]:
    return {
        "ratio": run["goodput1_mbps"] / run["goodput2_mbps"],
        "rate_short_mbps": run["goodput1_mbps"],
        "rate_long_mbps": run["goodput2_mbps"],
        "wait_short_ms": run["wait1_ms"],
        "wait_long_ms": run["wait2_ms"],
        "loss_short_percent": run["loss1"] * 100,
        "loss_long_percent": run["loss2"] * 100,
        "utilization": run["utilization"],
    }


_SECOND_KIND: Final = 3.0
"""A run with this many times the least ratio of its point is of the second kind; the kinds are far apart."""


def distributions(work: Work) -> dict[str, pl.DataFrame]:
    """The points with quartiles of the ratio over their runs, and how many are far above the least."""
    keys = ["wire_bytes", "buffer_ms"]
    ratio, least = pl.col("ratio"), pl.col("ratio").min()
    usual = ratio <= _SECOND_KIND * least
    of_runs = (
        work.tables["runs"]
        .group_by(keys, maintain_order=True)
        .agg(
            *(ratio.quantile(part / 100, "linear").alias(f"ratio_p{part}") for part in (25, 50, 75)),
            runs_above=(~usual).sum().cast(pl.Float64),
            most_below=ratio.filter(usual).max(),
        )
    )
    return {"points": work.tables["points"].join(of_runs, on=keys, how="left", maintain_order="left")}


@dataclass(frozen=True)
class _Line:
    """What to draw of one packet size: a column, and its name in the legend."""

    column: str
    wire_bytes: int
    name: str = ""
    fill: Literal["full", "none"] = "full"

    @property
    def label(self) -> str:
        return f"{self.name}{self.wire_bytes} B"


def draw_fig1(work: Work) -> Figure:
    """Three panels over the buffer in ms: throughput ratio, wait of the short flow, loss."""
    points, ns2 = work.points, work.tables["ns2"]
    claims = work.document.claims_of(work.figure.name)
    figure = Drawing(figsize=(14, 5), layout="constrained")
    ratio, wait, loss = figure.subplots(1, 3)
    for wire in points["wire_bytes"].unique(maintain_order=True):
        ours, theirs = (frame.filter(pl.col("wire_bytes") == wire) for frame in (points, ns2))
        _pair(ratio, ours, theirs, _Line("ratio", wire))
        _pair(wait, ours, theirs, _Line("wait_short_ms", wire))
        _pair(loss, ours, theirs, _Line("loss_long_percent", wire, "long, "))
        _pair(loss, ours, theirs, _Line("loss_short_percent", wire, "short, ", "none"))
    _models(ratio, points)
    for panel, columns in (
        (ratio, ("ratio",)),
        (wait, ("wait_short_ms",)),
        (loss, ("loss_long_percent", "loss_short_percent")),
    ):
        _published(panel, claims, columns)
    _finish(ratio, "(a)", "throughput ratio, short / long", log=True)
    _finish(wait, "(b)", "mean wait of the short flow (ms)", log=False)
    _finish(loss, "(c)", QUEUE_SUMMARY["loss"].axis, log=True)
    return figure


def _pair(panel: Axes, ours: pl.DataFrame, theirs: pl.DataFrame, line: _Line) -> None:
    _ours(panel, ours, line)
    _ns2(panel, theirs, line)


def _ours(panel: Axes, frame: pl.DataFrame, line: _Line) -> None:
    color, style, marker = _STYLES[line.wire_bytes]
    values = _positive(_floats(frame, line.column))
    half = np.nan_to_num(_floats(frame, f"{line.column}_ci95"))
    low = np.minimum(half, values * 0.999)  # a bar down to 0 or below would leave a logarithmic axis
    panel.errorbar(
        frame["buffer_ms"].to_numpy(),
        values,
        yerr=np.stack([low, half]),
        color=color,
        linestyle=style,
        marker=marker,
        markersize=4,
        capsize=2,
        linewidth=1.2,
        fillstyle=line.fill,
        label=f"{line.label}, ours ± 95 %",
    )


def _ns2(panel: Axes, frame: pl.DataFrame, line: _Line) -> None:
    mean = _positive(_floats(frame, line.column))
    low, high = (_floats(frame, f"{line.column}_{end}") for end in ("min", "max"))
    panel.errorbar(
        frame["buffer_ms"].to_numpy() + _NS2_OFFSET_MS,
        mean,
        yerr=np.maximum(np.stack([np.minimum(mean - low, mean * 0.999), high - mean]), 0),
        color="0.4",
        linestyle="none",
        marker=_NS2_MARKERS[line.wire_bytes],
        markersize=5,
        capsize=2,
        fillstyle=line.fill,
        label=f"{line.label}, ns-2 (range)",
    )


def _models(panel: Axes, points: pl.DataFrame) -> None:
    """Models (2) and (3) with what we measured at the document's packet size."""
    ours = points.filter(pl.col("wire_bytes") == points["wire_bytes"].max())
    for column, color, style, label in (
        ("ratio_model_loss", COLORS[2], "dotted", "model (2), measured losses"),
        ("ratio_model_delay", COLORS[3], "dashdot", "model (3), measured delay"),
    ):
        panel.plot(ours["buffer_ms"], _floats(ours, column), color=color, linestyle=style, label=label)


def _published(panel: Axes, claims: list[Claim], columns: tuple[str, ...]) -> None:
    shown = [claim for claim in claims if claim.quantity in columns and claim.number is not None]
    panel.plot(
        [float(claim.setting["buffer_ms"]) for claim in shown],
        [claim.number or 0.0 for claim in shown],
        color="black",
        linestyle="none",
        marker="*",
        markersize=11,
        label="published",
    )


def _finish(panel: Axes, title: str, label: str, *, log: bool) -> None:
    if log:
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.set_title(title, loc="left")
    panel.set_xlabel("buffer (ms of draining at 100 Mbps)")
    panel.set_ylabel(label)
    panel.grid(visible=True, alpha=0.3)
    panel.legend(fontsize="x-small", frameon=False)


def _floats(frame: pl.DataFrame, column: str) -> NDArray[np.float64]:
    return frame[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _positive(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Zeros have no place on a logarithmic axis."""
    return np.where(values > 0, values, np.nan)
