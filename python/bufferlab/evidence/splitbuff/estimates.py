"""SplitBuff's figure 3: how far the router's estimate of the mean propagation delay is from the truth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.documents import Work
from bufferlab.render.plots.style import line_style, new_figure_row
from bufferlab.results.metrics.keys import TIME
from bufferlab.results.result import Result

_MEAN_MS: Final = 100.0
_DRAWN: Final = ("synchronized", 1)
"""Senders and seed of the runs that the figure shows."""


def estimates(result: Result, keys: Mapping[str, Any]) -> pl.DataFrame:
    """The estimates after the warm-up, `time_s` and `estimate_ms`, and the keys of the run."""
    series = _estimates(result)
    return series.with_columns(**{name: pl.lit(value) for name, value in keys.items()})


def _estimates(result: Result) -> pl.DataFrame:
    return result.class_samples.filter(
        pl.col("class").is_null(), pl.col("time_s") >= result.warmup_s, pl.col("rtt_ms").is_not_null()
    ).select("time_s", estimate_ms="rtt_ms")


def errors(result: Result, _keys: Mapping[str, Any]) -> dict[str, float]:
    """How far a run's estimates are from the mean over its flows.

    Root mean square distance, mean distance and standard deviation over time, ms.
    """
    actual_ms = float(result.flows["propagation_ms"].to_numpy().mean())
    distances = _estimates(result)["estimate_ms"].to_numpy() - actual_ms
    bias = float(distances.mean())
    deviation = float(distances.std())
    return {"error_ms": math.hypot(bias, deviation), "bias_ms": bias, "deviation_ms": deviation}


def draw_fig3(work: Work) -> Figure:
    """A panel a law of the round-trip times: estimates over time, a line a number of flows."""
    senders, seed = _DRAWN
    runs = work.tables["estimates"].filter(pl.col("senders") == senders, pl.col("seed") == seed)
    laws = runs["law"].unique(maintain_order=True).to_list()
    figure, panels = new_figure_row(len(laws))
    for panel, law in zip(panels, laws, strict=True):
        own = runs.filter(pl.col("law") == law)
        for index, ((flows,), line) in enumerate(own.group_by("flows", maintain_order=True)):
            panel.plot(
                line["time_s"].to_numpy(),
                line["estimate_ms"].to_numpy(),
                **line_style(index),
                label=f"{flows} flows",
            )
        panel.axhline(_MEAN_MS, color="black", linewidth=1)
        panel.set_title(f"{law}, {senders}", loc="left")
        panel.set_xlabel(TIME.axis)
    panels[0].set_ylabel("estimated mean propagation delay (ms)")
    panels[-1].legend(fontsize="small", frameon=False)
    return figure
