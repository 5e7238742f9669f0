"""SplitBuff's evaluation with two types of flows, simulated: what figures 4 to 6 are drawn from.

N/2 flows of 10 ms and N/2 of a second round-trip time over 100 Mbps, under the BDP rule, the Stanford model
(BDP/sqrt N), SplitBuff and Blind-SplitBuff.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, get_args

import polars as pl

from bufferlab.evidence.ns2.equivalent import scenario_of
from bufferlab.evidence.ns2.reference import Reference, Setting, load_references
from bufferlab.evidence.points import means_of_points, run_points
from bufferlab.evidence.registry import Request
from bufferlab.experiment.simulation import prepare
from bufferlab.results.result import Result

CITATION: Final = (
    "S. Jabeen, M. B. Zafar, I. A. Qazi and Z. A. Uzmi, SplitBuff: Improving the interaction of "
    "heterogeneous RTT flows on the Internet"
)
RATE_BPS: Final = 100e6
WIRE_BYTES: Final = 1040
"""1 KB and ns-2's default header: with N = 100 the document's throughputs sum to 0.96 = 1000/1040."""

PAYLOAD_BYTES: Final = 1000
SHORT_RTT_MS: Final = 10.0
JITTER: Final = "uniform(0 s, 1 ms)"

Queue = Literal["bdp", "stanford", "splitbuff", "blind"]
QUEUES: Final[tuple[Queue, ...]] = get_args(Queue)
TITLES: Final[dict[Queue, str]] = {
    "bdp": "BDP rule",
    "stanford": "Stanford model",
    "splitbuff": "SplitBuff",
    "blind": "Blind-SplitBuff",
}

Senders = Literal["in step", "jitter"]
"""Whether senders answer at once, as ns-2's do, or after up to 1 ms."""

SENDERS: Final[tuple[Senders, ...]] = get_args(Senders)

KEYS: Final = ("queue", "senders", "flows", "long_rtt_ms")
MEASURES: Final = (
    "throughput_short", "throughput_long", "long_over_short", "delay_ms", "delay_short_ms", "delay_long_ms",
    "loss_short_percent", "loss_long_percent", "utilization", "timeouts_short_flow_s", "timeouts_long_flow_s",
)  # fmt: skip
"""What is measured; throughputs of payload, a flow's mean over the link's rate."""


@dataclass(frozen=True)
class Effort:
    """How much is simulated.

    Attributes:
        flows: Numbers of flows.
        long_rtts_ms: Propagation delays of the second type, ms.
        duration_s: Length of a run, s.
        warmup_s: Measured from here on, s.
        seeds: Runs a point with senders in step, and with jitter.
    """

    flows: tuple[int, ...]
    long_rtts_ms: tuple[int, ...]
    duration_s: float
    warmup_s: float
    seeds: tuple[int, int]


FULL: Final = Effort((2, 10, 100, 250, 500), (10, 100, 200, 300, 500), 500.0, 100.0, (10, 3))
QUICK: Final = Effort((2, 100), (100, 500), 40.0, 15.0, (1, 1))


def effort_of(request: Request) -> Effort:
    """The effort that a request asks for."""
    return QUICK if request.quick else FULL


def buffer_packets(queue: Queue, flows: int, long_rtt_ms: float) -> int:
    """The rule's buffer in whole packets; SplitBuff's is a bound that it stays below, of twice the BDP."""
    bdp = (SHORT_RTT_MS + long_rtt_ms) / 2.0 / 1e3 * RATE_BPS / (8.0 * WIRE_BYTES)
    match queue:
        case "stanford":
            return int(bdp / float(flows) ** 0.5)
        case "splitbuff":
            return 2 * int(bdp)
        case _:
            return int(bdp)


def scenario(
    queue: Queue, senders: Senders, flows: int, long_rtt_ms: float, effort: Effort = FULL
) -> dict[str, Any]:
    """The scenario of one point.

    Args:
        queue: Rule or discipline.
        senders: In step or with jitter.
        flows: N, of both types together.
        long_rtt_ms: Propagation delay of the second type, ms.
        effort: Gives duration and warm-up.
    """
    packets = buffer_packets(queue, flows, long_rtt_ms)
    document = scenario_of(
        Setting(
            scenario="fig4",
            stack="sack1",
            rate_bps=RATE_BPS,
            wire_bytes=WIRE_BYTES,
            flows=flows,
            rtt_ms=(SHORT_RTT_MS, float(long_rtt_ms)),
            buffer_packets=packets,
            buffer_rule=queue,
            duration_s=effort.duration_s,
            warmup_s=effort.warmup_s,
        )
    )
    if queue in ("splitbuff", "blind"):
        document["links"][0]["queue"] = "splitbuff" if queue == "splitbuff" else "splitbuff-blind"
        document["links"][0]["buffer"] = f"{packets} packets"
    if senders == "jitter":
        with_jitter(document)
    return document


def with_jitter(document: dict[str, Any]) -> None:
    """Random delay in the senders of ns-2's dumbbell.

    Acknowledgments then come back by a pure delay: ns-2's queue on their way back, 3 us each, decides phases,
    which jitter undoes, and costs half of the events.
    """
    document["links"] = document["links"][:1]
    for group in document["flows"]:
        group["jitter"] = JITTER
        del group["reverse_path"]


@lru_cache(maxsize=8)
def sweep(queue: Queue, request: Request) -> pl.DataFrame:
    """All runs under one rule; three figures share them, so the answer is kept.

    Returns:
        One row a run: `KEYS`, `seed` and `MEASURES`.
    """
    effort = effort_of(request)
    points = list(itertools.product(SENDERS, effort.flows, effort.long_rtts_ms))
    scenarios = {point: prepare(scenario(queue, *point, effort)) for point in points}
    seeds = {senders: request.seeds or number for senders, number in zip(SENDERS, effort.seeds, strict=True)}

    def measure(point: tuple[Senders, int, int], seed: int, result: Result) -> dict[str, Any]:
        return dict(zip(KEYS, (queue, *point), strict=True)) | {"seed": seed} | row_of(result)

    rows = run_points(
        scenarios,
        lambda point: seeds[point[0]],
        measure,
        request,
        title=f"splitbuff, {TITLES[queue]}",
        weight=lambda point: float(point[1]) ** 0.1,
    )
    return pl.DataFrame(rows, infer_schema_length=None)


def points_of(runs: pl.DataFrame) -> pl.DataFrame:
    """Means over the seeds, one row a point."""
    return means_of_points(runs, KEYS, MEASURES)


def row_of(result: Result) -> dict[str, float | None]:
    """What is measured of a run whose groups are `type1`, the short flows, and `type2`, the long ones."""
    flows = result.flows.group_by("group").agg(pl.col("goodput_bps").mean(), pl.col("timeouts").mean())
    flow = {each["group"]: each for each in flows.iter_rows(named=True)}
    queues = result.queues.filter(pl.col("link") == "bottleneck")
    queue = {each["group"]: each for each in queues.iter_rows(named=True)}
    short, long_ = (flow[kind]["goodput_bps"] / RATE_BPS for kind in ("type1", "type2"))
    return {
        "throughput_short": short,
        "throughput_long": long_,
        "long_over_short": long_ / short if short else None,
        "delay_ms": queue["all"]["wait_mean_ms"],
        "delay_short_ms": queue["type1"]["wait_mean_ms"],
        "delay_long_ms": queue["type2"]["wait_mean_ms"],
        "loss_short_percent": _percent(queue["type1"]["loss"]),
        "loss_long_percent": _percent(queue["type2"]["loss"]),
        "utilization": queue["all"]["utilization"],
        "timeouts_short_flow_s": flow["type1"]["timeouts"] / result.measured_s,
        "timeouts_long_flow_s": flow["type2"]["timeouts"] / result.measured_s,
    }


def ns2_points() -> pl.DataFrame:
    """ns-2 2.35 on points of figures 4 and 5 with senders in step: those with 1040 bytes on the wire."""
    found = [
        reference
        for reference in load_references()
        if reference.setting.scenario == "fig4" and reference.setting.wire_bytes == WIRE_BYTES
    ]
    frame = pl.DataFrame([_ns2_row(reference) for reference in found], infer_schema_length=None)
    return frame.sort("queue", "flows", "long_rtt_ms")


def _ns2_row(reference: Reference) -> dict[str, Any]:
    runs = list(reference.runs.values())
    mean = {name: sum(run[name] for run in runs) / len(runs) for name in runs[0]}
    setting = reference.setting
    departures = [mean[f"arrivals{kind}"] - mean[f"drops{kind}"] for kind in (1, 2)]
    waits_ms = [mean[f"queueing_delay{kind}_ms"] for kind in (1, 2)]
    measured_s = setting.duration_s - setting.warmup_s
    counts = setting.flow_counts
    payload = PAYLOAD_BYTES / WIRE_BYTES / (RATE_BPS / 1e6)
    return {
        "queue": setting.buffer_rule,
        "flows": setting.flows,
        "long_rtt_ms": int(setting.rtt_ms[1]),
        "seeds": len(runs),
        "throughput_short": mean["goodput1_mbps"] * payload,
        "throughput_long": mean["goodput2_mbps"] * payload,
        "long_over_short": mean["goodput2_mbps"] / mean["goodput1_mbps"],
        "delay_ms": sum(wait * number for wait, number in zip(waits_ms, departures, strict=True))
        / sum(departures),
        "delay_short_ms": waits_ms[0],
        "delay_long_ms": waits_ms[1],
        "loss_short_percent": mean["loss1"] * 100.0,
        "loss_long_percent": mean["loss2"] * 100.0,
        "utilization": mean["utilization"],
        "timeouts_short_flow_s": mean["timeouts1"] / counts[0] / measured_s,
        "timeouts_long_flow_s": mean["timeouts2"] / counts[1] / measured_s,
    }


def with_ns2(points: pl.DataFrame) -> pl.DataFrame:
    """ns-2's points beside ours, with senders in step and with jitter: columns of ns-2 end in `_ns2`."""
    theirs = ns2_points().rename({name: f"{name}_ns2" for name in ("seeds", *MEASURES)})
    keys = ("queue", "flows", "long_rtt_ms")
    return theirs.join(points, on=keys, how="inner", maintain_order="left").select(
        *keys, "senders", *(f"{name}{end}" for name in MEASURES for end in ("_ns2", "", "_ci95"))
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100.0


def notes_of(request: Request) -> tuple[str, ...]:
    """Settings, departures from the document."""
    effort = effort_of(request)
    in_step, jitter = (request.seeds or number for number in effort.seeds)
    notes = [
        f"ns-2's Sack1, 100 Mbit/s, 1040 bytes on the wire, {effort.duration_s:g} s, measured from "
        f"{effort.warmup_s:g} s, starts uniform in 0 … 5 s; means of {in_step} runs in step, {jitter} with "
        "up to 1 ms of random delay in the senders (jitter).",
        "Buffers count whole packets of 1040 bytes: BDP of the mean propagation delay; Stanford: / sqrt N. "
        "Blind-SplitBuff has two sub-buffers of half the BDP.",
        "SplitBuff: round-trip times from headers, period 0.5 s, smoothing 1/2 (the document has no values); "
        "until the first period is over, one queue of at most 2 BDP.",
        "Throughput: payload of a flow over the link's rate, so N flows have 1000/1040 together at most.",
        "Delays are those of each type's packets; a type's own sub-buffer is not told apart.",
    ]
    if request.quick:
        notes.append("Quick: few points, short runs: shows that it works, not what the document found.")
    return tuple(notes)
