"""What readers of "Bufferbloat: A simulation" asked for: the window's growth explained, and many flows."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from bufferlab.evidence.bloat_inet import figures, runs
from bufferlab.evidence.bloat_inet.runs import FRAME_BYTES, INITIAL_SSTHRESH, RATE_BPS, SEGMENT_BYTES, Setting
from bufferlab.evidence.bloat_inet.study import CITATION, LARGEST_BYTES
from bufferlab.evidence.points import means_of_points
from bufferlab.evidence.registry import Reproduced, Request, reproduction
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.simulation import prepare
from bufferlab.results.result import Result
from bufferlab.stats import jain_index

FLOWS: Final = (1, 10, 30, 100, 300, 1000)
_QUICK_FLOWS: Final = (10, 30)

RULES: Final[Mapping[str, str]] = {
    "500 frames a flow": "{} packets",
    "one bandwidth-delay product": "1 bdp",
    "bandwidth-delay product / √n": "1 stanford",
}
"""Buffers by title; the first is what never fills in the document's run, for each flow."""

_BASE_S: Final = 0.04
_FRAMES_A_FLOW: Final = 500
_MEASURES: Final = ("utilization", "wait_mean_ms", "wait_p99_ms", "loss_percent", "fairness")
_TIMES_S: Final = (20, 60, 100, 150)
_FULL_S: Final = 174.0
"""When event A alone ends."""
_QUICK_S: Final = 90.0


@reproduction(
    name="bloat-inet/inflation",
    title="event A alone: how the window that fills the queue slows its own growth",
    citation=CITATION,
)
def inflation(request: Request) -> Reproduced:
    """The window against two explanations: a segment a base round trip, a segment an inflated one."""
    result = runs.simulated([Setting(LARGEST_BYTES, alone=True)], request)[0]
    sending = result.flow_samples.filter(pl.col("inflight_segments") > 0).drop_nulls("srtt_ms")
    frame = grown(sending.select("time_s", "cwnd_segments", rtt_ms="srtt_ms"), LARGEST_BYTES)
    rows = [
        _inflation_row(frame, time_s)
        for time_s in _TIMES_S
        if time_s < (_QUICK_S if request.quick else _FULL_S)
    ]
    return Reproduced(
        name="bloat-inet/inflation",
        tables={"window": frame},
        figures={"inflation": figures.draw_inflation(frame)},
        comparison=pl.DataFrame(rows, infer_schema_length=None),
        notes=(
            "Congestion avoidance adds a segment a round trip (RFC 5681, section 3.1). Beyond a "
            "bandwidth-delay product each segment more waits, so a window of w takes w·τ, τ = 583 bytes / "
            "1 Mbps = 4.66 ms: dw/dt = 1/(w·τ), w = √(w₀² + 2t/τ). Without waiting it would be w₀ + t/40 "
            "ms, and the advertised window would be reached within 17 s. Nothing but a loss or the "
            "advertised window ends the growth.",
        ),
    )


def grown(samples: pl.DataFrame, window_bytes: int) -> pl.DataFrame:
    """Adds what the window would be with the base and with the inflated round-trip time.

    Args:
        samples: `time_s`, `cwnd_segments`, `rtt_ms`.
        window_bytes: Advertised window, which bounds both.
    """
    advertised = window_bytes // SEGMENT_BYTES
    began_s = float(samples.filter(pl.col("cwnd_segments") >= INITIAL_SSTHRESH)["time_s"][0])
    frame_s = FRAME_BYTES * 8 / RATE_BPS
    since = (pl.col("time_s") - began_s).clip(lower_bound=0)
    square = INITIAL_SSTHRESH**2 + 2 * since / frame_s
    return samples.with_columns(
        at_base_segments=(INITIAL_SSTHRESH + since / _BASE_S).clip(upper_bound=advertised),
        at_inflated_segments=square.sqrt().clip(upper_bound=advertised),
        advertised_segments=pl.lit(advertised),
    ).filter(pl.col("time_s") >= began_s)


def _inflation_row(frame: pl.DataFrame, time_s: float) -> dict[str, Any]:
    at = frame.filter(pl.col("time_s") >= time_s).row(0, named=True)
    return {
        "time_s": time_s,
        "window_segments": round(at["cwnd_segments"], 1),
        "with_inflated_rtt": round(at["at_inflated_segments"], 1),
        "with_40_ms": round(at["at_base_segments"], 1),
        "rtt_ms": round(at["rtt_ms"]),
        "growth_segments_s": round(1000 / at["rtt_ms"], 2),
        "why": "The wait behind what the window brought is the round trip in which it grows by one segment.",
    }


@reproduction(
    name="bloat-inet/many_flows",
    title="1 to 1000 flows with 1 Mbps each: wait and utilization under three rules for the buffer",
    citation=CITATION,
)
def many_flows(request: Request) -> Reproduced:
    """Does bufferbloat go away where many flows share?"""
    counts = _QUICK_FLOWS if request.quick else FLOWS
    settings = list(itertools.product(RULES, counts))
    scenarios = {each: prepare(many_scenario(*each, quick=request.quick)) for each in settings}

    experiment = Experiment(
        "bloat-inet, many flows",
        scenarios,
        measure_many,
        seeds=request.seeds or (1 if request.quick else 3),
        weight=lambda setting: setting[1],
        parameters=lambda setting: {"buffer": setting[0], "flows": setting[1]},
    )
    table = request.runner().table(experiment)
    points = means_of_points(table, ("buffer", "flows"), _MEASURES)
    return Reproduced(
        name="bloat-inet/many_flows",
        tables={"runs": table, "points": points},
        figures={"many_flows": figures.draw_many(points, list(RULES))},
        comparison=_many_comparison(points),
        notes=(
            "The document had two flows. Here n flows share n Mbps, so each has the document's share; "
            "round trips of 40 ms ± 20 %, up to 1 ms of jitter in senders, starts within 5 s, window 2^18 "
            "bytes, 100 s measured from 20 s on. Its authors' reader noted: 'they did not try a lot of "
            "flows'.",
        ),
    )


def measure_many(result: Result) -> dict[str, float | None]:
    """`_MEASURES` of a run."""
    queue = result.queues.filter(pl.col("group") == "all").row(0, named=True)
    return {
        "utilization": queue["utilization"],
        "wait_mean_ms": queue["wait_mean_ms"],
        "wait_p99_ms": queue["wait_p99_ms"],
        "loss_percent": queue["loss"] * 100,
        "fairness": jain_index(result.flows["goodput_bps"].to_list()),
    }


def many_scenario(rule: str, flows: int, *, quick: bool = False) -> dict[str, Any]:
    """So many long flows over a link of as many Mbps."""
    return {
        "run": {
            "name": f"Bufferbloat with {flows} flows",
            "duration": "40 s" if quick else "100 s",
            "warmup": "20 s",
            "stack": "inet-reno",
        },
        "bottleneck": {"rate": f"{flows} Mbps", "buffer": RULES[rule].format(_FRAMES_A_FLOW * flows)},
        "flows": [
            {
                "count": flows,
                "rtt": "40 ms",
                "rtt_spread": 0.2,
                "jitter": "uniform(0 s, 1 ms)",
                "start": "uniform(0 s, 5 s)",
                "header": f"{FRAME_BYTES - SEGMENT_BYTES} B",
                "ack": f"{FRAME_BYTES - SEGMENT_BYTES} B",
                "window_scaling": True,
                "window": f"{LARGEST_BYTES} B",
            }
        ],
    }


def _many_comparison(points: pl.DataFrame) -> pl.DataFrame:
    return points.select(
        "buffer",
        "flows",
        utilization_percent=(pl.col("utilization") * 100).round(1),
        wait_mean_ms=pl.col("wait_mean_ms").round(1),
        wait_p99_ms=pl.col("wait_p99_ms").round(1),
        loss_percent=pl.col("loss_percent").round(2),
        fairness=pl.col("fairness").round(3),
        bound_ms=pl.when(pl.col("buffer") == list(RULES)[2])
        .then((_BASE_S * 1000 / pl.col("flows").sqrt()).round(1))
        .otherwise(None),
        why=pl.lit(
            "A buffer for every flow's whole window is filled whatever their number; one of a "
            "bandwidth-delay product for all bounds the wait by 40 ms, one divided by √n by a fraction of "
            "that."
        ),
    )
