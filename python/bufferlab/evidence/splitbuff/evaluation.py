"""SplitBuff's figures 4 to 6: ns-2's points beside ours, and the pictures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from bufferlab.evidence.documents import Work
from bufferlab.evidence.ns2.reference import Reference, load_references
from bufferlab.experiment.simulation import prepare
from bufferlab.render.plots.style import COLORS, Drawing
from bufferlab.resolved import full_packet_bytes, payload_bytes
from bufferlab.results.metrics.registry import QUEUE_SUMMARY

_TWO_TYPES: Final = prepare(Path(__file__).parent / "scenarios" / "two-types.toml").resolved
_RATE_BPS: Final = float(_TWO_TYPES["links"][0]["rate_bps"])
_WIRE_BYTES: Final = full_packet_bytes(_TWO_TYPES["flows"][0])
_PAYLOAD_BYTES: Final = payload_bytes(_TWO_TYPES["flows"][0])
_KEYS: Final = ("queue", "flows", "long_rtt_ms")
_TITLES: Final = {
    "bdp": "BDP rule",
    "stanford": "Stanford model",
    "splitbuff": "SplitBuff",
    "blind": "Blind-SplitBuff",
}


def ns2_evaluation() -> pl.DataFrame:
    """ns-2 2.35 on points of figures 4 and 5 with synchronized senders: those with 1040 bytes on the wire."""
    found = [
        reference
        for reference in load_references()
        if reference.setting.scenario == "fig4" and reference.setting.wire_bytes == _WIRE_BYTES
    ]
    frame = pl.DataFrame([_ns2_row(reference) for reference in found], infer_schema_length=None)
    return frame.sort(*_KEYS).with_columns(senders=pl.lit("synchronized"))


def _ns2_row(reference: Reference) -> dict[str, Any]:
    runs = list(reference.runs.values())
    mean = {name: sum(run[name] for run in runs) / len(runs) for name in runs[0]}
    setting = reference.setting
    departures = [mean[f"arrivals{kind}"] - mean[f"drops{kind}"] for kind in (1, 2)]
    waits_ms = [mean[f"wait{kind}_ms"] for kind in (1, 2)]
    measured_s = setting.duration_s - setting.warmup_s
    counts = setting.flow_counts
    payload = _PAYLOAD_BYTES / _WIRE_BYTES / (_RATE_BPS / 1e6)
    return {
        "queue": setting.buffer_rule,
        "flows": setting.flows,
        "long_rtt_ms": int(setting.rtt_ms[1]),
        "seeds": len(runs),
        "throughput_short": mean["goodput1_mbps"] * payload,
        "throughput_long": mean["goodput2_mbps"] * payload,
        "long_over_short": mean["goodput2_mbps"] / mean["goodput1_mbps"],
        "wait_ms": sum(wait * number for wait, number in zip(waits_ms, departures, strict=True))
        / sum(departures),
        "wait_short_ms": waits_ms[0],
        "wait_long_ms": waits_ms[1],
        "loss_short_percent": mean["loss1"] * 100.0,
        "loss_long_percent": mean["loss2"] * 100.0,
        "utilization": mean["utilization"],
        "timeouts_short_flow_s": mean["timeouts1"] / counts[0] / measured_s,
        "timeouts_long_flow_s": mean["timeouts2"] / counts[1] / measured_s,
    }


def beside_ns2(work: Work) -> dict[str, pl.DataFrame]:
    """ns-2's points beside ours, with synchronized senders and with jitter: columns of ns-2 end in `_ns2`."""
    measures = list(work.document.runs["evaluation"].measure)
    theirs = work.tables["ns2"].drop("senders").rename({name: f"{name}_ns2" for name in ("seeds", *measures)})
    joined = theirs.join(work.points, on=_KEYS, how="inner", maintain_order="left").select(
        *_KEYS, "senders", *(f"{name}{end}" for name in measures for end in ("_ns2", "", "_ci95"))
    )
    return {"beside_ns2": joined}


@dataclass(frozen=True)
class _Quantity:
    """What the vertical axis shows, of short and of long flows.

    Attributes:
        name: Part of the columns' names: `throughput` for `throughput_short` and `throughput_long`.
        label: Label of the axis.
        unit: End of the columns' names.
        least: Where a logarithmic axis begins; `None` for a linear one.
    """

    name: str
    label: str
    unit: str = ""
    least: float | None = None


_THROUGHPUT = _Quantity("throughput", "flow's throughput / link's rate", least=1e-5)
_WAIT = _Quantity("wait", "mean wait (ms)", unit="_ms")
_LOSS = _Quantity("loss", QUEUE_SUMMARY["loss"].axis, unit="_percent", least=1e-3)


def draw_throughput(work: Work) -> Figure:
    """Figure 4: a flow's throughput."""
    return _draw(work.points, _THROUGHPUT)


def draw_wait_and_loss(work: Work) -> dict[str, Figure]:
    """Figure 5: mean wait, and loss."""
    return {"fig5": _draw(work.points, _WAIT), "fig5-loss": _draw(work.points, _LOSS)}


def draw_blind(work: Work) -> dict[str, Figure]:
    """Figure 6: throughput and mean wait."""
    return {"fig6a": _draw(work.points, _THROUGHPUT), "fig6b": _draw(work.points, _WAIT)}


def _draw(points: pl.DataFrame, quantity: _Quantity) -> Figure:
    """One quantity over the long flows' propagation delay: a row a kind of senders, a column a queue."""
    ns2 = ns2_evaluation()
    queues = points["queue"].unique(maintain_order=True).to_list()
    kinds = points["senders"].unique(maintain_order=True).to_list()
    figure = Drawing(figsize=(4.6 * len(queues), 7.2), layout="constrained")
    panels = figure.subplots(len(kinds), len(queues), sharex=True, sharey=True, squeeze=False)
    for row, senders in zip(panels, kinds, strict=True):
        for panel, queue in zip(row, queues, strict=True):
            own = points.filter(pl.col("queue") == queue, pl.col("senders") == senders)
            theirs = ns2.filter(pl.col("queue") == queue, pl.col("senders") == senders)
            _draw_panel(panel, own, theirs, quantity)
            panel.set_title(f"{_TITLES[queue]}, {senders}", loc="left")
        row[0].set_ylabel(quantity.label)
    for panel in panels[-1]:
        panel.set_xlabel("propagation delay of the long flows (ms)")
    figure.legend(handles=_legend(points), loc="outside lower center", ncols=9, frameon=False)
    return figure


def _draw_panel(panel: Axes, own: pl.DataFrame, theirs: pl.DataFrame, quantity: _Quantity) -> None:
    for index, flows in enumerate(own["flows"].unique().sort()):
        ours, ns2 = (frame.filter(pl.col("flows") == flows) for frame in (own, theirs))
        for kind, style, fill in (("short", "dashed", "none"), ("long", "solid", "full")):
            column = f"{quantity.name}_{kind}{quantity.unit}"
            panel.plot(
                ours["long_rtt_ms"].to_numpy(),
                _drawable(ours, column, quantity),
                color=COLORS[index],
                linestyle=style,
                marker=".",
            )
            panel.plot(
                ns2["long_rtt_ms"].to_numpy(),
                _drawable(ns2, column, quantity),
                color=COLORS[index],
                linestyle="none",
                marker="^",
                fillstyle="full" if fill == "full" else "none",
                markersize=6,
            )
    if quantity.least is not None:
        panel.set_yscale("log")
        panel.set_ylim(bottom=quantity.least)
    panel.grid(visible=True, alpha=0.3)


def _drawable(frame: pl.DataFrame, column: str, quantity: _Quantity) -> NDArray[np.float64]:
    """Values without gaps; those that a logarithmic axis has no place for lie on its edge."""
    values = frame[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return values if quantity.least is None else np.maximum(values, quantity.least)


def _legend(points: pl.DataFrame) -> list[Line2D]:
    numbers = points["flows"].unique().sort()
    return [
        *(Line2D([], [], color=COLORS[index], label=f"N = {flows}") for index, flows in enumerate(numbers)),
        Line2D([], [], color="black", label="long flows"),
        Line2D([], [], color="black", linestyle="dashed", label="short flows"),
        Line2D([], [], color="black", linestyle="none", marker="^", label="ns-2"),
    ]
