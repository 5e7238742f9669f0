"""The network of "Bufferbloat Problem", and the four series that are read off a run of it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import polars as pl

from bufferlab.evidence.bloat_mininet.published import QUEUES
from bufferlab.evidence.registry import Request
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.simulation import prepare
from bufferlab.results.result import Result

RATE_BPS: Final = 10_000_000
"""The bottleneck's, as in the author's set-up; the text has no rates."""

FRAME_BYTES: Final = 1514
"""A full packet with its Ethernet header, as Linux's queues count it."""

PAGE_BYTES: Final = 177_669

MODELS: Final[Mapping[str, Mapping[str, Any]]] = {
    "without offload": {},
    "with offload": {"offload": "auto"},
}
"""What a queued packet is: one segment, or as many as Linux's segmentation offload puts into it."""

DURATION_S: Final = 60.0
_QUICK_S: Final = 20.0
_SEEDS: Final = 5

_ETHERNET: Final[Mapping[str, Any]] = {
    "stack": "linux",
    "congestion": "reno",
    "header": "66 B",
    "ack": "66 B",
    "window": "16 MB",
    "jitter": "uniform(0 s, 100 us)",
}


def scenario(queue: int, model: str, *, quick: bool = False) -> dict[str, Any]:
    """h1, s0, h2: 1 Gbps, then 10 Mbps; 1 ms a link and direction; a queue of so many packets at each.

    A long-lived flow, two pings every 0.1 s, as the author had, and a page every 2 s, all from h1 to h2.
    """
    there = {"path": ["h1-s0", "s0-h2"], "reverse_path": ["h2-s0", "s0-h1"], "rtt": "4 ms"}
    tcp = {**there, **_ETHERNET, **MODELS[model]}
    links = (("h1-s0", "1 Gbps"), ("s0-h2", "10 Mbps"), ("h2-s0", "10 Mbps"), ("s0-h1", "1 Gbps"))
    return {
        "run": {
            "name": f"Bufferbloat Problem, Q = {queue}, {model}",
            "duration": f"{_QUICK_S if quick else DURATION_S:g} s",
            "warmup": "0 s",
        },
        "links": [
            {"name": name, "rate": rate, "delay": "1 ms", "buffer": f"{queue} packets"}
            for name, rate in links
        ],
        "flows": [
            {"name": "long", "application": {"kind": "bulk"}, **tcp},
            {
                "name": "page",
                "application": {"kind": "web", "size": f"{PAGE_BYTES} B", "every": "2 s"},
                "start": "uniform(0 s, 100 ms)",
                **tcp,
            },
            {
                "name": "ping",
                "count": 2,
                "application": {"kind": "ping", "interval": "100 ms", "packet": "98 B"},
                "start": "uniform(0 s, 100 ms)",
                **there,
            },
        ],
        "probes": {"interval": "20 ms", "links": ["s0-h2"], "flows": ["long"]},
    }


@lru_cache(maxsize=2)
def simulated(request: Request) -> dict[tuple[int, str], list[Result]]:
    """All runs by queue and model, in order of seeds; figures and table share them, so they are kept."""
    settings = itertools.product(QUEUES, MODELS)
    scenarios = {each: prepare(scenario(*each, quick=request.quick)) for each in settings}
    seeds = request.seeds or (1 if request.quick else _SEEDS)
    grouped: dict[tuple[int, str], list[Result]] = {}
    for done in request.runner().all(Experiment("bloat-mininet", scenarios, seeds=seeds)):
        grouped.setdefault(done.key, []).append(done.value)
    return grouped


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


def lost_pings(results: Sequence[Result]) -> float:
    """The share of pings without a reply, of those that had a second for it."""
    asked = [each.exchanges.filter(pl.col("group") == "ping") for each in results]
    due = [each.filter(pl.col("start_s") < float(each["start_s"].to_numpy().max()) - 1) for each in asked]
    rows = pl.concat(due)
    return round(rows["end_s"].null_count() / rows.height, 3)
