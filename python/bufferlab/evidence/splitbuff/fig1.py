"""SplitBuff: Improving the interaction of heterogeneous RTT flows on the Internet (S. Jabeen et al.)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from bufferlab.evidence.ns2.equivalent import scenario_of
from bufferlab.evidence.ns2.reference import Setting
from bufferlab.evidence.points import run_points
from bufferlab.evidence.registry import Reproduced, Request, reproduction
from bufferlab.evidence.splitbuff.fig1_comparison import (
    LONG_RTT_MS,
    NOMINAL_PACKET_BYTES,
    SHORT_RTT_MS,
    compare,
    ns2_points,
    summarize_points,
)
from bufferlab.evidence.splitbuff.fig1_figure import draw_fig1
from bufferlab.experiment.simulation import prepare
from bufferlab.results.result import Result

CITATION = (
    "S. Jabeen, M. B. Zafar, I. A. Qazi and Z. A. Uzmi, SplitBuff: Improving the interaction of "
    "heterogeneous RTT flows on the Internet"
)

RATE_BPS = 100e6
BUFFERS_MS = (10, 25, 50, 75, 100, 150, 200, 250, 300, 350, 400, 450, 500)
"""The sweep, ms of draining 1000-byte packets at 100 Mbit/s; the figure's own points are not known."""

WIRE_BYTES = (1040, 1000)
"""Packets of 1 KB plus ns-2's default header of 40 bytes, evidently what the document used; and without."""


@dataclass(frozen=True)
class _Sweep:
    buffers_ms: tuple[int, ...]
    wire_bytes: tuple[int, ...]
    duration_s: float
    warmup_s: float
    seeds: int


_FULL = _Sweep(BUFFERS_MS, WIRE_BYTES, 500.0, 100.0, 10)
_QUICK = _Sweep((25, 300, 500), (1040,), 60.0, 20.0, 2)


@reproduction(
    name="splitbuff/fig1",
    title="10 ms and 990 ms flows share a buffer: throughput ratio, queueing delay and loss against its size",
    citation=CITATION,
)
def fig1(request: Request) -> Reproduced:
    """Figure 1, all three panels, with the models, ns-2's values and the document's numbers beside it."""
    sweep = _QUICK if request.quick else _FULL
    seeds = request.seeds or sweep.seeds
    runs = _simulate(sweep, seeds, request)
    points = summarize_points(runs)
    ns2 = ns2_points()
    comparison = compare(points, ns2)
    return Reproduced(
        name="splitbuff/fig1",
        tables={"runs": runs, "points": points, "ns2": ns2},
        figures={"fig1": draw_fig1(points, ns2)},
        comparison=comparison,
        notes=_notes(sweep, seeds, quick=request.quick),
    )


def _simulate(sweep: _Sweep, seeds: int, request: Request) -> pl.DataFrame:
    points = [(wire, buffer_ms) for wire in sweep.wire_bytes for buffer_ms in sweep.buffers_ms]
    cases = {
        point: prepare(scenario(point[1], point[0], sweep.duration_s, sweep.warmup_s)) for point in points
    }

    def measure(point: tuple[int, int], seed: int, result: Result) -> dict[str, Any]:
        return {"wire_bytes": point[0], "buffer_ms": point[1], "seed": seed} | _row(result, point[0])

    rows = run_points(cases, seeds, measure, request, title="splitbuff/fig1")
    return pl.DataFrame(rows, infer_schema_length=None)


def scenario(
    buffer_ms: int, wire_bytes: int, duration_s: float = 500.0, warmup_s: float = 100.0
) -> dict[str, Any]:
    """The scenario of one point: ns-2's dumbbell with one flow of 10 ms and one of 990 ms.

    Args:
        buffer_ms: Buffer, ms of draining 1000-byte packets.
        wire_bytes: A full data packet in the bottleneck, bytes.
        duration_s: Length of the run, s.
        warmup_s: Measured from here on, s.
    """
    packets = int(RATE_BPS * buffer_ms / 1e3 / 8 / NOMINAL_PACKET_BYTES)
    return scenario_of(
        Setting(
            scenario="fig1",
            stack="sack1",
            rate_bps=RATE_BPS,
            wire_bytes=wire_bytes,
            flows=2,
            rtt_ms=(SHORT_RTT_MS, LONG_RTT_MS),
            buffer_packets=packets,
            buffer_rule=f"{buffer_ms}ms",
            duration_s=duration_s,
            warmup_s=warmup_s,
        )
    )


def _row(result: Result, wire_bytes: int) -> dict[str, float | None]:
    goodput = dict(result.flows.select("group", "goodput_bps").iter_rows())
    queues = result.queues.filter(pl.col("link") == "bottleneck")
    queue = {each["group"]: each for each in queues.iter_rows(named=True)}
    on_wire = wire_bytes / (wire_bytes - 40) / 1e6
    short, long_ = goodput["type1"], goodput["type2"]
    return {
        "ratio": short / long_ if long_ else None,
        "rate_short_mbps": short * on_wire,
        "rate_long_mbps": long_ * on_wire,
        "delay_short_ms": queue["type1"]["wait_mean_ms"],
        "delay_long_ms": queue["type2"]["wait_mean_ms"],
        "loss_short_percent": _percent(queue["type1"]["loss"]),
        "loss_long_percent": _percent(queue["type2"]["loss"]),
        "utilization": queue["all"]["utilization"],
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100


def _notes(sweep: _Sweep, seeds: int, *, quick: bool) -> tuple[str, ...]:
    notes = [
        f"Two ns-2 Sack1 flows, 100 Mbit/s, {seeds} runs a point of {sweep.duration_s:g} s, measured from "
        f"{sweep.warmup_s:g} s, starts uniform in 0 … 5 s; error bars: 95 % over the seeds.",
        "A buffer of T ms holds floor(T · 12.5) packets (ns-2's limit: one of them in transmission).",
        "The document states 0.2 and 0.012 as loss rates at 25 ms; ns-2's loss shows that they are per cent.",
        "Model (2) uses propagation delays only, as the document's 990/10 does; (1) and (3) measured delays.",
        "Loss is measured after the warm-up; without a drop then, models that need it have no value.",
    ]
    if quick:
        notes.append("Quick: few points, short runs: shows that it works, not what the document found.")
    return tuple(notes)
