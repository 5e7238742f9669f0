"""What queues and flows did over time."""

from __future__ import annotations

from textwrap import fill
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from bufferlab.errors import InputError
from bufferlab.render.plots.series import draw, lines_over_seeds
from bufferlab.render.plots.style import new_figure
from bufferlab.results.metrics.keys import TIME
from bufferlab.results.metrics.metric import Dimension
from bufferlab.results.metrics.samples import FLOW_SAMPLES, QUEUE_SAMPLES
from bufferlab.results.result import Result, RunSet
from bufferlab.results.tables import BITS_PER_BYTE

GOODPUT_POINTS: Final = 200
"""Number of intervals over which goodput is averaged: within a round trip it is noise."""

_TITLE_WIDTH: Final = 60


def backlog(runs: Result | RunSet) -> Figure:
    """Packets that wait in each sampled queue over time.

    Raises:
        InputError: If no queue was sampled.
    """
    samples = _samples(runs.queue_samples, "link")
    return _figure(runs, samples, "backlog_packets", "link", QUEUE_SAMPLES)


def cwnd(runs: Result | RunSet) -> Figure:
    """Congestion window over time, the mean of the sampled flows of each group.

    Raises:
        InputError: If no TCP flow was sampled.
    """
    samples = _samples(runs.flow_samples.filter(pl.col("cwnd_segments").is_not_null()), "flow")
    return _figure(runs, _group_means(samples, "cwnd_segments"), "cwnd_segments", "group", FLOW_SAMPLES)


def rtt(runs: Result | RunSet) -> Figure:
    """The senders' smoothed round-trip time over time, the mean of the sampled flows of each group.

    Raises:
        InputError: If no TCP flow was sampled.
    """
    samples = _samples(runs.flow_samples.filter(pl.col("srtt_ms").is_not_null()), "flow")
    return _figure(runs, _group_means(samples, "srtt_ms"), "srtt_ms", "group", FLOW_SAMPLES)


def goodput(runs: Result | RunSet) -> Figure:
    """Goodput over time, the mean of the sampled flows of each group.

    Raises:
        InputError: If no flow was sampled.
    """
    samples = _samples(runs.flow_samples.filter(pl.col("delivered_bytes").is_not_null()), "flow")
    return _figure(runs, _group_means(_coarse(samples), "goodput_bps"), "goodput_bps", "group", FLOW_SAMPLES)


def _figure(
    runs: Result | RunSet, samples: pl.DataFrame, value: str, by: str, dimension: Dimension
) -> Figure:
    metric = dimension[value]
    samples = samples.with_columns(metric.unit.scaled(pl.col(value)))
    figure, (axes,) = new_figure()
    draw(axes, lines_over_seeds(samples, value, by), least=0)
    axes.set_xlabel(TIME.axis)
    axes.set_ylabel(metric.axis)
    axes.set_ylim(bottom=0)
    axes.set_title(title(runs))
    axes.legend()
    return figure


def title(runs: Result | RunSet) -> str:
    """The scenario's name, and what line and band are."""
    name = fill(runs.name, _TITLE_WIDTH)
    if isinstance(runs, RunSet) and len(runs) > 1:
        return f"{name}\nmean of {len(runs)} seeds, band: 95 % confidence"
    return name


def _samples(samples: pl.DataFrame, what: str) -> pl.DataFrame:
    if samples.is_empty():
        raise InputError(
            f"no {what} was sampled",
            key="probes.interval",
            accepted="a scenario with [probes] and an interval",
        )
    return samples


def _group_means(samples: pl.DataFrame, value: str) -> pl.DataFrame:
    """Mean over the sampled flows of each group, whose name gets their number."""
    means = samples.group_by("seed", "group", "time_s", maintain_order=True).agg(pl.col(value).mean())
    counts = samples.group_by("group").agg(pl.col("flow").n_unique().alias("flows"))
    label = (
        pl.when(pl.col("flows") > 1)
        .then(pl.format("{} (mean of {} sampled flows)", "group", "flows"))
        .otherwise("group")
    )
    return means.join(counts, on="group", maintain_order="left").with_columns(label.alias("group"))


def _coarse(samples: pl.DataFrame) -> pl.DataFrame:
    """Goodput of each flow over stretches of some samples."""
    flow = ["seed", "flow"]
    longest = samples.select(pl.len().over(flow).max()).item()
    step = max(longest // GOODPUT_POINTS, 1)
    position = pl.int_range(pl.len()).over(flow)
    ends = samples.sort("seed", "flow", "time_s").filter(position % step == step - 1)
    bits = pl.col("delivered_bytes").cast(pl.Float64).diff().over(flow) * BITS_PER_BYTE
    rate_bps = bits / pl.col("time_s").diff().over(flow)
    return ends.with_columns(rate_bps.alias("goodput_bps")).drop_nulls("goodput_bps")
