"""What tcp-validation.cc looks at in samples: extremes of the window, rates in intervals of 200 ms, marks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.documents import Work
from bufferlab.render.plots.style import line_style, new_figure_row
from bufferlab.results.metrics.keys import TIME
from bufferlab.results.metrics.samples import FLOW_SAMPLES
from bufferlab.results.result import Result

_INTERVAL_MS: Final = 200

_EARLY_S: Final = (5.43, 5.465)
_REDUCED_S: Final = (5.795, 6.0)
_GROWING_S: Final = (6.0, 14.0)
"""Windows of time that the program checks; in the last one the window grows to its next maximum."""


def windows(result: Result, keys: Mapping[str, Any]) -> pl.DataFrame:
    """The sampled congestion window of a run, segments."""
    recovery = pl.lit(keys["recovery"]).alias("recovery")
    return result.flow_samples.select(recovery, "time_s", "cwnd_segments")


def extremes(result: Result, _keys: Mapping[str, Any]) -> dict[str, float | None]:
    """Greatest and least windows in the spans that the program checks, and when they are reached."""
    early, reduced, growing = (_between(result, *span) for span in (_EARLY_S, _REDUCED_S, _GROWING_S))
    peak, following = (_greatest(each) for each in (_between(result, 5.0, 20.0), growing))
    return {
        "peak_segments": peak[1],
        "peak_s": peak[0],
        "early_least_segments": _least(early),
        "reduced_greatest_segments": _greatest(reduced)[1],
        "reduced_least_segments": _least(reduced),
        "next_peak_segments": following[1],
        "next_peak_s": following[0],
    }


def _between(result: Result, after_s: float, before_s: float) -> pl.DataFrame:
    samples = result.flow_samples.select("time_s", "cwnd_segments")
    return samples.filter((pl.col("time_s") > after_s) & (pl.col("time_s") < before_s))


def _greatest(samples: pl.DataFrame) -> tuple[float, float]:
    time_s, segments = samples.row(samples["cwnd_segments"].arg_max() or 0)
    return float(time_s), float(segments)


def _least(samples: pl.DataFrame) -> float:
    return float(samples["cwnd_segments"].to_numpy().min())


def rates(result: Result, keys: Mapping[str, Any]) -> dict[str, float | None]:
    """Least and greatest goodput in intervals of 200 ms, Mbps, and the part of packets that were marked.

    `settled` are the intervals that the program checks last, `early` and `before_30_s` those before.
    """
    short = keys["rtt_ms"] == 10
    settled = _rates(result, 5.6, 15.0) if short else _rates(result, 32.0, 60.0)
    queue = result.queues.row(0, named=True)
    return {
        "settled_least_mbps": min(settled),
        "settled_greatest_mbps": max(settled),
        "before_14_s_greatest_mbps": None if short else max(_rates(result, 0.0, 14.0)),
        "before_30_s_greatest_mbps": None if short else max(_rates(result, 0.0, 30.0)),
        "marked_share": float(queue["marked_packets"] / queue["departed_packets"]),
    }


def _rates(result: Result, after_s: float, before_s: float) -> list[float]:
    """Goodput in the intervals that end between two moments."""
    milliseconds = (pl.col("time_s") * 1000).round().cast(pl.Int64)
    samples = result.flow_samples.filter((milliseconds % _INTERVAL_MS) == 0)
    found = samples.select(
        "time_s", rate=pl.col("delivered_bytes").cast(pl.Int64).diff() * 8 / (_INTERVAL_MS * 1e3)
    ).filter(
        pl.col("rate").is_not_null()
        & (pl.col("time_s") > after_s + 0.01)
        & (pl.col("time_s") < before_s + 0.01)
    )
    return [float(rate) for rate in found["rate"]]


def draw_cubic(work: Work) -> Figure:
    """The window over time, a line a recovery."""
    figure, (panel,) = new_figure_row(1)
    for index, ((recovery,), own) in enumerate(
        work.tables["windows"].group_by("recovery", maintain_order=True)
    ):
        panel.plot(
            own["time_s"].to_numpy(),
            own["cwnd_segments"].to_numpy(),
            **line_style(index),
            label=str(recovery),
        )
    panel.set_xlabel(TIME.axis)
    panel.set_ylabel(FLOW_SAMPLES["cwnd_segments"].axis)
    panel.legend(fontsize="small", frameon=False)
    return figure
