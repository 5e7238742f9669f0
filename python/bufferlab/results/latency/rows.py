"""What a run says of latency under load, a row a flow group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from bufferlab.results.exchanges import begun_of
from bufferlab.results.figure import Figure
from bufferlab.results.frames import BITS_PER_BYTE
from bufferlab.results.latency import voice
from bufferlab.results.latency.bloat import grade
from bufferlab.results.latency.responsiveness import Responsiveness, responsiveness
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab.results.result import Result

LATENCY_FIGURES: Final = (
    Figure("idle_rtt_ms", "round trip: idle, ms"),
    Figure("loaded_rtt_ms", "round trip: mean, ms"),
    Figure("loaded_rtt_p50_ms", "round trip: median, ms"),
    Figure("loaded_rtt_p95_ms", "round trip: 95 %, ms"),
    Figure("loaded_rtt_p99_ms", "round trip: 99 %, ms"),
    Figure("rtt_increase_ms", "added by load: mean, ms"),
    Figure("rpm", "round trips a minute"),
    Figure("foreign_rpm", "… of the probes"),
    Figure("loaded_rpm", "… of the load"),
    Figure("call_delay_ms", "call: mouth to ear, ms"),
    Figure("call_buffer_ms", "call: jitter buffer, ms"),
    Figure("call_lost_fraction", "call: lost, %", 100),
    Figure("call_late_fraction", "call: late, %", 100),
    Figure("call_burst_ratio", "call: burst ratio"),
    Figure("call_r", "call: rating R"),
    Figure("call_mos", "call: opinion score"),
)
"""The numbers of a row; beside them stand the words `kind` and `bloat_grade`."""

GRADED: Final = "rtt_increase_ms"
"""The figure that `bloat_grade` grades."""

_QUANTILES: Final[Mapping[str, float]] = {
    "loaded_rtt_p50_ms": 0.50,
    "loaded_rtt_p95_ms": 0.95,
    "loaded_rtt_p99_ms": 0.99,
}
_WAITS: Final = ("wait_p50_ms", "wait_p95_ms", "wait_p99_ms")
_CALL: Final[Mapping[str, str]] = {
    "call_delay_ms": "delay_ms",
    "call_buffer_ms": "buffer_ms",
    "call_lost_fraction": "lost",
    "call_late_fraction": "late",
    "call_burst_ratio": "burst_ratio",
    "call_r": "rating",
    "call_mos": "score",
}

Row = dict[str, Any]


@dataclass(frozen=True)
class _Run:
    """A result by its groups that have flows."""

    result: Result
    groups: Mapping[str, Mapping[str, Any]]
    flows: Mapping[str, pl.DataFrame]


def latency_values(result: Result) -> list[Row]:
    """The latency of one run's groups: those with round trips, or calls."""
    flows = {str(part["group"][0]): part for part in result.flows.partition_by("group", maintain_order=True)}
    groups = {group["name"]: group for group in result.plan["groups"] if group["name"] in flows}
    rows = [_row(_Run(result, groups, flows), name) for name in groups]
    return [row for row in rows if any(row[figure.key] is not None for figure in LATENCY_FIGURES[1:])]


def with_grades(rows: Iterable[Row]) -> list[Row]:
    """The rows with the grade of the mean increase in each."""
    return [row | {"bloat_grade": None if row[GRADED] is None else grade(row[GRADED])} for row in rows]


def _row(run: _Run, name: str) -> Row:
    result, group, flows = run.result, run.groups[name], run.flows[name]
    row: Row = {"group": name, "kind": _kind(group)}
    row |= dict.fromkeys(figure.key for figure in LATENCY_FIGURES)
    pieces = begun_of(result.exchanges, name, result.warmup_s)
    if row["kind"] not in {"TCP", "page", "ping"}:
        return row | _call_row(group, pieces, result.reached_ps / PS_PER_S)
    # each flow counts as often as it was sampled, so that the difference to the loaded mean is what load adds
    idle_ms = _mean_by_samples(flows, "propagation_ms")
    if idle_ms is None:
        idle_ms = float(flows["propagation_ms"].to_numpy().mean())
    idle_ms += _transmission_ms(group, result.plan["links"])
    row |= {"idle_rtt_ms": idle_ms}
    if row["kind"] == "ping":
        row |= _of_pings(pieces)
    else:
        row |= {"loaded_rtt_ms": _mean_by_samples(flows, "rtt_ms")} | _of_waits(result, name, group, idle_ms)
    if row["loaded_rtt_ms"] is not None:
        row["rtt_increase_ms"] = row["loaded_rtt_ms"] - idle_ms
    return row | _responsiveness_row(run, group, row["kind"], pieces)


def _kind(group: Mapping[str, Any]) -> str | None:
    """What a group's flows are: TCP, a probe (a page of one segment at most, or a ping), or a codec's."""
    source = group["source"]
    if source["kind"] != "tcp":
        codec = voice.codec_of(source)
        name = codec.name if codec else None
        return "ping" if source.get("echo") else name
    turns = source.get("on_off") or {}
    size = (turns.get("on") or {}).get("bytes") or {}
    fits = size.get("kind") == "constant" and size["value"] <= source["mss_bytes"]
    return "page" if turns.get("fetch") and source["handshake"] and fits else "TCP"


def _transmission_ms(group: Mapping[str, Any], links: list[Mapping[str, Any]]) -> float:
    """A full packet's own transmission, and its answer's if the way back has links."""
    source = group["source"]
    if source["kind"] == "tcp":
        there, back = source["mss_bytes"] + source["header_bytes"], source["ack_bytes"]
    else:
        there = back = source["packet_bytes"]
    seconds = sum(there * BITS_PER_BYTE / links[index]["rate_bps"] for index in group["forward"])
    seconds += sum(back * BITS_PER_BYTE / links[index]["rate_bps"] for index in group["reverse"])
    if group.get("access_bps"):
        seconds += there * BITS_PER_BYTE / group["access_bps"]
    return float(seconds * 1e3)


def _of_pings(pieces: pl.DataFrame) -> Row:
    answered_ms = pieces["duration_s"].drop_nulls().to_numpy() * 1e3 if pieces.height else np.array([])
    if not answered_ms.size:
        return {}
    quantiles = np.quantile(answered_ms, list(_QUANTILES.values()))
    return {"loaded_rtt_ms": float(answered_ms.mean())} | dict(
        zip(_QUANTILES, map(float, quantiles), strict=True)
    )


def _mean_by_samples(flows: pl.DataFrame, column: str) -> float | None:
    """Mean of a column over the flows' round-trip samples; `None` without any."""
    sampled = flows.filter(pl.col("rtt_samples") > 0)
    if not sampled.height:
        return None
    return float(np.average(sampled[column].to_numpy(), weights=sampled["rtt_samples"].to_numpy()))


def _of_waits(result: Result, name: str, group: Mapping[str, Any], idle_ms: float) -> Row:
    """Quantiles of the wait in the only queue on the way, and the idle round trip."""
    if len(group["forward"]) != 1 or group["reverse"]:
        return {}
    link = result.plan["links"][group["forward"][0]]["name"]
    waits = result.queues.filter((pl.col("link") == link) & (pl.col("group") == name)).select(_WAITS)
    if not waits.height:
        return {}
    return {
        key: None if wait_ms is None else idle_ms + wait_ms
        for key, wait_ms in zip(_QUANTILES, waits.row(0), strict=True)
    }


def _responsiveness_row(run: _Run, group: Mapping[str, Any], kind: str, pieces: pl.DataFrame) -> Row:
    """RPM, for groups of probes: with the load of all flows without end that share a link with them."""
    if kind == "TCP" or not pieces.height:
        return {}
    # a page of one segment takes two round trips: its handshake, and request and response
    trips = 2 if kind == "page" else 1
    foreign_ms = (pieces["duration_s"].drop_nulls() / trips * 1e3).to_list()
    loaded_ms = [
        rtt_ms
        for name, other in run.groups.items()
        if _makes_load(other, run.flows[name]) and _links(other) & _links(group)
        for rtt_ms in run.flows[name]["rtt_ms"].drop_nulls().to_list()
    ]
    found: Responsiveness = responsiveness(foreign_ms, loaded_ms)
    return {"rpm": found.rpm, "foreign_rpm": found.foreign, "loaded_rpm": found.loaded}


def _makes_load(group: Mapping[str, Any], flows: pl.DataFrame) -> bool:
    """Whether a group's flows send without end."""
    source, endless = group["source"], not flows["transfer_bytes"].is_not_null().any()
    return source["kind"] == "tcp" and endless and not source.get("on_off")


def _links(group: Mapping[str, Any]) -> set[int]:
    return {*group["forward"], *group["reverse"]}


def _call_row(group: Mapping[str, Any], pieces: pl.DataFrame, reached_s: float) -> Row:
    source = group["source"]
    codec = voice.codec_of(source)
    if codec is None or not pieces.height:
        return {}
    found = [
        voice.assess(
            flow["start_s"].to_numpy(),
            flow["end_s"].cast(pl.Float64).fill_null(float("nan")).to_numpy(),
            source["interval_ps"],
            codec,
            reached_s,
        )
        for flow in pieces.sort("flow", "number").partition_by("flow", maintain_order=True)
    ]
    calls = [call for call in found if call is not None]
    return {key: voice.mean_of(calls, name) for key, name in _CALL.items()}
