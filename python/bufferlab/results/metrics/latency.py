"""Metrics of latency under load; docs/latency.md tells more of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from bufferlab.results.latency.bloat import grade
from bufferlab.results.latency.load import GroupLatency
from bufferlab.results.latency.responsiveness import Responsiveness
from bufferlab.results.metrics.keys import GROUP
from bufferlab.results.metrics.metric import (
    FRACTION,
    MILLISECONDS,
    NUMBER,
    QUANTILES,
    TEXT,
    Better,
    Dimension,
    Metric,
    Unit,
    Values,
)  # fmt: skip

KIND: Final = Metric(
    "kind",
    TEXT,
    "Kind of the flows: “TCP”, “page”, “ping”, or the codec of a call.",
    lambda group: group.kind,
)


def _grade_of_mean(metric: Metric, _of_seeds: Sequence[Values], row: Values) -> dict[str, str | None]:
    increase_ms = row["rtt_increase_ms"]
    return {metric.name: None if increase_ms is None else grade(increase_ms)}


def _trip(name: str, definition: str, compute: Callable[[GroupLatency], float | None], title: str) -> Metric:
    return Metric(name, MILLISECONDS, definition, compute, title, Better.LOWER)


def _rpm(name: str, definition: str, compute: Callable[[Responsiveness], float | None], title: str) -> Metric:
    return Metric(name, NUMBER, definition, lambda group: compute(group.responsiveness), title, Better.HIGHER)


def _call(name: str, unit: Unit, definition: str, *, mean_of: str, title: str) -> Metric:
    """A mean over a group's calls."""
    better = Better.HIGHER if mean_of in {"rating", "score"} else Better.LOWER
    return Metric(name, unit, definition, lambda group: group.call(mean_of), f"call: {title}", better)


def _quantile(percent: int, words: str) -> Metric:
    return _trip(
        f"loaded_rtt_p{percent}_ms",
        f"{words.capitalize()} of the round trips; TCP's are the idle one and the wait in the queue.",
        lambda group: group.loaded_quantile_ms(percent),
        f"RTT: {words}",
    )


LATENCY: Final = Dimension(
    "latency of a flow group",
    "One row per flow group with round trips or calls: `latency` of the summary.",
    keys=(GROUP, KIND),
    metrics=(
        _trip(
            "idle_rtt_ms",
            "Round trip in empty queues: propagation, and transmission of a full packet and of its answer.",
            GroupLatency.idle_ms,
            "RTT: idle",
        ),
        _trip(
            "loaded_rtt_ms",
            "Mean of the round trips; TCP's as senders measure them, so with acknowledgments that come late.",
            GroupLatency.loaded_ms,
            "RTT: mean",
        ),
        *(_quantile(percent, words) for percent, words in QUANTILES),
        _trip(
            "rtt_increase_ms",
            "`loaded_rtt_ms` less `idle_rtt_ms`.",
            GroupLatency.increase_ms,
            "RTT: added by load",
        ),
        Metric(
            "bloat_grade",
            TEXT,
            "Grade of the mean increase by DSLReports: A+ below 5 ms, A 30, B 60, C 200, D 400, F.",
            title="bufferbloat grade",
            aggregate=_grade_of_mean,
        ),
        _rpm(
            "rpm",
            "Responsiveness: the mean of the two below.",
            lambda found: found.rpm,
            "round trips per minute",
        ),
        _rpm(
            "foreign_rpm",
            "Round trips per minute of the probes.",
            lambda found: found.foreign,
            "… of the probes",
        ),
        _rpm(
            "loaded_rpm",
            "Round trips per minute of the connections that load the link.",
            lambda found: found.loaded,
            "… of the load",
        ),
        _call(
            "call_delay_ms",
            MILLISECONDS,
            "Delay from mouth to ear.",
            mean_of="delay_ms",
            title="mouth to ear",
        ),
        _call(
            "call_buffer_ms",
            MILLISECONDS,
            "What the jitter buffer adds to the fastest packet.",
            mean_of="buffer_ms",
            title="jitter buffer",
        ),
        _call("call_lost_fraction", FRACTION, "Packets that did not arrive.", mean_of="lost", title="lost"),
        _call(
            "call_late_fraction",
            FRACTION,
            "Packets that arrived too late to be played.",
            mean_of="late",
            title="late",
        ),
        _call(
            "call_burst_ratio",
            NUMBER,
            "Mean run of missing packets over that under random loss, at least 1 (ITU-T G.107).",
            mean_of="burst_ratio",
            title="burst ratio",
        ),
        _call("call_r", NUMBER, "Rating R (ITU-T G.107), 0 to 100.", mean_of="rating", title="rating R"),
        _call(
            "call_mos",
            NUMBER,
            "Mean opinion score (ITU-T G.107), 1 to 4.5.",
            mean_of="score",
            title="mean opinion score",
        ),
    ),
)
