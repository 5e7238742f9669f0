"""The four series of a run of "Bufferbloat Problem", their figures, and the line through the mean pings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bufferlab.evidence.bloat_mininet import author
from bufferlab.evidence.documents import Work
from bufferlab.experiment.simulation import prepare
from bufferlab.resolved import full_packet_bytes
from bufferlab.results.result import Result

_FIGURES: Final = ("mean", "sd", "p50", "p95", "most")
_FULL_QUEUE: Final = "a full queue of single frames"
_TESTBED: Final = prepare(Path(__file__).parent / "scenarios" / "testbed.toml").resolved
_RATE_BPS: Final = {link["name"]: link["rate_bps"] for link in _TESTBED["links"]}["s0-h2"]
_FRAME_MS: Final = full_packet_bytes(_TESTBED["flows"][0]) * 8 / _RATE_BPS * 1000
_RTT_MS: Final = 4.0
_REPLY_S: Final = 1.0
"""A ping that left later than this before the last one may still have its reply under way."""


def measure(result: Result, keys: Mapping[str, Any]) -> dict[str, float]:
    """Mean, deviation, median, 95th percentile and maximum of each series, and the share of lost pings."""
    del keys
    row: dict[str, float] = {}
    for name, frame in series(result).items():
        figures = author.summary(frame["value"].to_numpy())
        row |= {f"{name}_{figure}": getattr(figures, figure) for figure in _FIGURES}
    return row | {"pings_lost_share": _lost_pings(result)}


def series(result: Result) -> dict[str, pl.DataFrame]:
    """The four series of a run, each with `time_s` and `value`.

    Returns:
        `cwnd_segments` of the long-lived flow, `rtt_ms` of the pings that came back, `fetch_s` of the pages
        that were done, `queue_packets` at the bottleneck.
    """
    done = result.exchanges.filter(pl.col("duration_s").is_not_null())
    pings, pages = (done.filter(pl.col("group") == group).sort("start_s") for group in ("ping", "page"))
    return {
        "cwnd_segments": result.flow_samples.select("time_s", value="cwnd_segments").drop_nulls(),
        "rtt_ms": pings.select(time_s="start_s", value=pl.col("duration_s") * 1000),
        "fetch_s": pages.select(time_s="start_s", value="duration_s"),
        "queue_packets": result.queue_samples.select(
            "time_s", value=pl.col("backlog_packets").cast(pl.Float64)
        ),
    }


def drawn_series(result: Result, keys: Mapping[str, Any]) -> pl.DataFrame:
    """The series of the first seed's run, which are drawn; of other runs no rows."""
    frames = [
        frame.select(
            pl.lit(keys["queue"]).alias("queue"), pl.lit(keys["model"]).alias("model"),
            pl.lit(name).alias("series"), "time_s", "value",
        )
        for name, frame in series(result).items()
    ]  # fmt: skip
    rows = pl.concat(frames)
    return rows if keys["seed"] == 1 else rows.clear()


def fetches(result: Result, keys: Mapping[str, Any]) -> pl.DataFrame:
    """The pages of a run: when each was asked for, and how long it took."""
    return series(result)["fetch_s"].select(
        *(pl.lit(keys[key]).alias(key) for key in ("queue", "model", "seed")), "time_s", fetch_s="value"
    )


def beside_author(work: Work) -> dict[str, pl.DataFrame]:
    """The author's figures from the files that were named, if any; else those of the package stay."""
    if work.request.measured is None:
        return {}
    rows = author.read_measured(work.request.measured)
    return {"measured": rows, "author": author.points(author.summarized(rows))}


def lines(work: Work) -> dict[str, pl.DataFrame]:
    """A line through the mean round-trip times of each source, and that of full queues."""
    own = beside_author(work)
    measured = own.get("author", author.author_points())
    points = work.tables["points"]
    queues = points["queue"].unique(maintain_order=True).to_list()
    means = {"measured": _means(measured, "with offload", "rtt_ms_mean")}
    for model in points["model"].unique(maintain_order=True):
        means[model] = _means(points, model, "rtt_ms_mean")
    rows = [regression(source, queues, values) for source, values in means.items()]
    rows.append({"source": _FULL_QUEUE, "slope_ms": _FRAME_MS, "intercept_ms": _RTT_MS + _FRAME_MS})
    return {
        **own,
        "lines": pl.DataFrame(rows, infer_schema_length=None),
        "means": pl.DataFrame({"queue_packets": queues} | means),
    }


def regression(source: str, queues: Sequence[int], means_ms: Sequence[float]) -> dict[str, Any]:
    """The least-squares line through the queues' means, as the document's script fits it."""
    from scipy.stats import linregress  # noqa: PLC0415 - slow to import, and needed here only

    fit = linregress(queues, means_ms)
    return {
        "source": source,
        "slope_ms": float(fit.slope),
        "intercept_ms": float(fit.intercept),
        "r": float(fit.rvalue),
        "p": float(fit.pvalue),
        "standard_error_ms": float(fit.stderr),
    }


def _means(points: pl.DataFrame, model: str, column: str) -> list[float]:
    return [round(value, 3) for value in points.filter(pl.col("model") == model)[column]]


def _lost_pings(result: Result) -> float:
    """The share of pings without a reply, among those that had a second for it."""
    asked = result.exchanges.filter(pl.col("group") == "ping")
    last: NDArray[np.float64] = asked["start_s"].to_numpy()
    due = asked.filter(pl.col("start_s") < float(last.max()) - _REPLY_S)
    return due["end_s"].null_count() / due.height
