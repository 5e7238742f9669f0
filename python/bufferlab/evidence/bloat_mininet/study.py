"""Bufferbloat Problem (T. Xia, 2020): a long-lived flow, pings and page fetches through three queues.

The document ran Linux in Mininet. Its author's measurements are beside ours, with and without segmentation
offload, which decides what a queued packet is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bufferlab.evidence.bloat_mininet import figures, published, runs
from bufferlab.evidence.bloat_mininet.published import QUEUES, Measured, summary
from bufferlab.evidence.bloat_mininet.runs import MODELS
from bufferlab.evidence.registry import Reproduced, Request, reproduction
from bufferlab.results.result import Result

CITATION: Final = "T. Xia, Bufferbloat Problem, University of Toronto, CSC458 assignment 2, 2020"

_RTT_MS: Final = 4.0
_NOTES: Final = (
    "h1 – s0 – h2: 1 Gbps, then 10 Mbps, 1 ms a link and direction, Q packets at each; Linux hosts with "
    "Reno; a long-lived flow, two pings each 0.1 s, a page of 177669 bytes each 2 s (begin to begin, "
    "later if the last is not done), 60 s. The text has no rates; these are the author's.",
)


@reproduction(
    name="bloat-mininet/table1",
    title="time of a page's fetch for queues of 5, 20 and 100 packets: published, measured, ours",
    citation=CITATION,
)
def table1(request: Request) -> Reproduced:
    """Mean and standard deviation of the fetch time."""
    measured, raw = _measured(request)
    ours = {key: _values(results, "fetch_s") for key, results in _by_model(request).items()}
    rows = pl.DataFrame([_fetch_row(queue, measured, ours) for queue in QUEUES], infer_schema_length=None)
    return Reproduced(
        name="bloat-mininet/table1",
        tables=raw | {"fetches": _fetches(request)},
        figures={"table1": figures.draw_fetches(rows)},
        comparison=rows,
        notes=(
            *_notes(request),
            f"Equation (1), the time to drain 1000 packets of 1500 bytes at 100 Mbps: published "
            f"{published.DRAIN_S} s, computed {1000 * 1500 * 8 / 100e6:g} s.",
        ),
    )


def _fetch_row(
    queue: int,
    measured: Mapping[tuple[int, str], Measured],
    ours: Mapping[tuple[int, str], list[NDArray[np.float64]]],
) -> dict[str, Any]:
    stated, found = published.TABLE_1[queue], measured[queue, "fetch_s"]
    row: dict[str, Any] = {
        "queue_packets": queue,
        "published_mean_s": stated.mean_s,
        "published_sd_s": stated.sd_s,
        "measured_mean_s": round(found.mean, 5),
        "measured_sd_s": round(found.sd, 5),
    }
    for model in MODELS:
        key, own = model.replace(" ", "_"), ours[queue, model]
        means = [float(each.mean()) for each in own]
        row |= {f"{key}_mean_s": round(float(np.mean(means)), 3)}
        row |= {f"{key}_mean_s_min": round(min(means), 3), f"{key}_mean_s_max": round(max(means), 3)}
        row |= {f"{key}_sd_s": round(float(np.mean([each.std() for each in own])), 3)}
    return row | {"why": _TABLE_WHY}


_TABLE_WHY: Final = (
    "The table says ms; the author's file shows seconds. With Q = 100 a page's segments wait behind the "
    "long-lived flow's; with Q = 5 they get lost. Ours have no connection set-up but a SYN, no server "
    "that has to start a process, and no local drops at the sender's own queue."
)


@reproduction(
    name="bloat-mininet/fig4",
    title="ping's mean round-trip time over the queue's limit, with regressions",
    citation=CITATION,
)
def fig4(request: Request) -> Reproduced:
    """The regression with slope, intercept, r, p-value and standard error."""
    measured, raw = _measured(request)
    ours = _by_model(request)
    points = {"measured": [measured[queue, "rtt_ms"].mean for queue in QUEUES]}
    for model in MODELS:
        points[model] = [_mean(ours[queue, model], "rtt_ms") for queue in QUEUES]
    stated = {"source": "published", "slope_ms": published.SLOPE_MS, "intercept_ms": published.INTERCEPT_MS}
    rows = [stated | {"r": 1.0, "why": _FIT_WHY}, *(regression(*each) for each in points.items())]
    full = {
        "source": "a full queue of single frames",
        "slope_ms": _frame_ms(),
        "intercept_ms": _RTT_MS + _frame_ms(),
    }
    comparison = pl.DataFrame([*rows, full | {"why": _FULL_WHY}], infer_schema_length=None)
    lines = {str(row["source"]): (row["slope_ms"], row["intercept_ms"]) for row in rows}
    return Reproduced(
        name="bloat-mininet/fig4",
        tables=raw | {"means": pl.DataFrame({"queue_packets": list(QUEUES)} | points)},
        figures={
            "fig4": figures.draw_regression(
                {source: (list(QUEUES), values) for source, values in points.items()}, lines
            )
        },
        comparison=comparison,
        notes=_notes(request),
    )


def regression(source: str, means_ms: Sequence[float]) -> dict[str, Any]:
    """The least-squares line through the three queues' means, as the document's script fits it."""
    from scipy.stats import linregress  # noqa: PLC0415 - slow to import, and needed here only

    fit = linregress(QUEUES, means_ms)
    return {
        "source": source,
        "slope_ms": round(float(fit.slope), 3),
        "intercept_ms": round(float(fit.intercept), 2),
        "r": round(float(fit.rvalue), 5),
        "p": round(float(fit.pvalue), 4),
        "standard_error_ms": round(float(fit.stderr), 4),
        "why": _FIT_WHY,
    }


def _frame_ms() -> float:
    return round(runs.FRAME_BYTES * 8 / runs.RATE_BPS * 1000, 3)


_FIT_WHY: Final = (
    "A slope of 1.71 ms a packet is not what 10 Mbps give for frames of 1514 bytes, 1.21 ms, and the "
    "queue is not full on average: without offload the slope is below that. A queued packet was more than "
    "one segment."
)
_FULL_WHY: Final = "The most that single frames could give: 4 ms and Q + 1 frames."


@reproduction(
    name="bloat-mininet/fig1",
    title="cwnd, ping's RTT, fetch time and queue over time, Q = 5",
    citation=CITATION,
)
def fig1(request: Request) -> Reproduced:
    """The four series with a queue of 5 packets."""
    return _time_series("fig1", 5, request)


@reproduction(name="bloat-mininet/fig2", title="the same, Q = 20", citation=CITATION)
def fig2(request: Request) -> Reproduced:
    """The four series with a queue of 20 packets."""
    return _time_series("fig2", 20, request)


@reproduction(name="bloat-mininet/fig3", title="the same, Q = 100", citation=CITATION)
def fig3(request: Request) -> Reproduced:
    """The four series with a queue of 100 packets."""
    return _time_series("fig3", 100, request)


def _time_series(name: str, queue: int, request: Request) -> Reproduced:
    measured, raw = _measured(request)
    results = _by_model(request)
    first: dict[str, dict[str, pl.DataFrame]] = {}
    known = {series: measured[queue, series] for series in published.SERIES}
    rows = [_series_row(series, "measured", figure) for series, figure in known.items()]
    for model in MODELS:
        own_results = results[queue, model]
        parts = [runs.series(each) for each in own_results]
        first[model] = parts[0]
        rows += [
            _series_row(name, model, summary(np.concatenate([part[name]["value"] for part in parts])))
            for name in figures.AXES
        ]
        rows.append({"series": "pings_lost_share", "source": model, "mean": runs.lost_pings(own_results)})
    comparison = pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.lit(_SERIES_WHY).alias("why"))
    own = raw["measured"].filter(pl.col("queue") == queue) if raw else None
    shown = None if own is None else {str(key[0]): frame for key, frame in own.group_by("series")}
    table = [
        frame.select(pl.lit(model).alias("model"), pl.lit(series).alias("series"), "time_s", "value")
        for model, parts in first.items()
        for series, frame in parts.items()
    ]
    return Reproduced(
        name=f"bloat-mininet/{name}",
        tables=raw | {"series": pl.concat(table)},
        figures={name: figures.draw_series(first, {key: each.mean for key, each in known.items()}, shown)},
        comparison=comparison.sort("series", maintain_order=True),
        notes=(*_notes(request), "Drawn is the first seed's run; the comparison is over all of them."),
    )


def _series_row(series: str, source: str, figure: Measured) -> dict[str, Any]:
    return {"series": series, "source": source} | {
        what: round(getattr(figure, what), 3) for what in ("mean", "sd", "p50", "p95", "most")
    }


_SERIES_WHY: Final = (
    "'The queue tends to be full at any Q': its measured and simulated means agree in packets. Round-trip "
    "times do not, unless packets are as large as offload makes them."
)


def _measured(request: Request) -> tuple[Mapping[tuple[int, str], Measured], dict[str, pl.DataFrame]]:
    """Figures of the author's files: those in the package, or of the files read, which then come along."""
    if request.measured is None:
        return published.MEASURED, {}
    rows = published.read_measured(request.measured)
    return published.summarized(rows), {"measured": rows}


def _by_model(request: Request) -> dict[tuple[int, str], list[Result]]:
    return runs.simulated(replace(request, measured=None))


def _values(results: Sequence[Result], series: str) -> list[NDArray[np.float64]]:
    return [runs.series(each)[series]["value"].to_numpy() for each in results]


def _mean(results: Sequence[Result], series: str) -> float:
    return round(float(np.mean([each.mean() for each in _values(results, series)])), 3)


def _fetches(request: Request) -> pl.DataFrame:
    frames = [
        runs.series(result)["fetch_s"].select(
            pl.lit(queue).alias("queue"), pl.lit(model).alias("model"), pl.lit(seed).alias("seed"),
            "time_s", fetch_s="value",
        )
        for (queue, model), results in _by_model(request).items()
        for seed, result in enumerate(results, start=1)
    ]  # fmt: skip
    return pl.concat(frames)


def _notes(request: Request) -> tuple[str, ...]:
    read = "files read" if request.measured else "the figures of the author's files"
    notes = [*_NOTES, f"Measured: {read} (one run a queue size). Ours: means of the runs' means."]
    if request.quick:
        notes.append("Quick: one run of 20 s a point: shows that it works, not what the document found.")
    return tuple(notes)
