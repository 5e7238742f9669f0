"""The cases of a study: scenarios of short and long flows under several queues, with common seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from bufferlab.evidence.points import means_of_points, run_points
from bufferlab.evidence.registry import Request
from bufferlab.experiment.simulation import prepare
from bufferlab.results.result import Result
from bufferlab.scenario.queues import QUEUE_WORDS
from bufferlab.stats import jain_index

RATE: Final = "100 Mbps"

WEIGHTED: Final = QUEUE_WORDS["splitbuff-weighted"]
"""What the word stands for, to vary it."""

QUEUES: Final[Mapping[str, Mapping[str, Any]]] = {
    "BDP rule": {"buffer": "1 bdp", "queue": "fifo"},
    "Stanford model": {"buffer": "stanford", "queue": "fifo"},
    "SplitBuff": {"queue": "splitbuff"},
    "SplitBuff, weighted": {"queue": "splitbuff-weighted"},
    "CoDel": {"buffer": "1000 packets", "queue": "codel"},
    "PIE": {"buffer": "1000 packets", "queue": "pie"},
    "DRR": {"buffer": "1 bdp", "queue": "drr"},
    "FQ-CoDel": {"buffer": "10240 packets", "queue": "fq_codel"},
}
"""Keys of the bottleneck by title; those that tell flows apart come last."""

KINDS: Final = ("short", "long")
COLUMNS: Final = (
    "fairness", "utilization", "wait_ms", "wait_p95_ms", "loss_percent", "timeouts_flow_s",
    *(f"{what}_{kind}_{unit}" for kind in KINDS for what, unit in (("goodput", "mbps"), ("wait", "ms"))),
)  # fmt: skip
"""What is measured of each run.

`fairness` is Jain's index over the goodputs of all flows but those of groups set aside; goodputs and waits
are means over the flows and packets of each kind: of groups called by it, or by it and a hyphen.
"""

ASIDE: Final = "aside"
"""Begins the names of groups that are not judged."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Effort:
    """How much is simulated.

    Attributes:
        duration_s: Length of a run, s.
        warmup_s: Measured from here on, s.
        seeds: Runs a case.
        quick: Only shows that it works.
    """

    duration_s: float
    warmup_s: float
    seeds: int
    quick: bool = False


FULL: Final = Effort(200.0, 50.0, 5)
QUICK: Final = Effort(60.0, 20.0, 1, quick=True)


@dataclass(frozen=True)
class Case:
    """One scenario of a study.

    Attributes:
        keys: What tells it from the others; the same names in all cases of a study.
        scenario: Its content, as of a file.
    """

    keys: Mapping[str, Any]
    scenario: Mapping[str, Any]


def effort_of(request: Request) -> Effort:
    """The effort that a request asks for."""
    effort = QUICK if request.quick else FULL
    return replace(effort, seeds=request.seeds or effort.seeds)


def scenario(link: Mapping[str, Any], flows: Sequence[Mapping[str, Any]], effort: Effort) -> Row:
    """Flow groups over one link of 100 Mbps.

    Args:
        link: Keys of the link beside rate and delay.
        flows: The groups.
        effort: Gives duration and warm-up.
    """
    return {
        "run": {"duration": f"{effort.duration_s:g} s", "warmup": f"{effort.warmup_s:g} s"},
        "bottleneck": {"rate": RATE, "delay": "1 ms", **link},
        "flows": list(flows),
    }


def group(name: str, count: int, rtt: str, **keys: object) -> Row:
    """Bulk flows: round-trip times of ± 20 %, up to 0.5 ms of random delay in each sender, starts in 5 s."""
    given: Row = {"name": name, "count": count, "rtt": rtt, "jitter": "uniform(0 s, 0.5 ms)"}
    if "(" not in rtt:
        given["rtt_spread"] = 0.2
    return {"start": "uniform(0 s, 5 s)"} | given | keys


def simulate_cases(
    title: str,
    cases: Sequence[Case],
    seeds: int,
    request: Request,
    measured: Callable[[Result], Row],
) -> pl.DataFrame:
    """Run every case with so many seeds.

    Returns:
        One row a run: the case's keys, `seed`, and what `measured` says.
    """
    scenarios = {index: prepare(case.scenario) for index, case in enumerate(cases)}

    def measure(index: int, seed: int, result: Result) -> Row:
        return {**cases[index].keys, "seed": seed, **measured(result)}

    rows = run_points(scenarios, seeds, measure, request, title=title)
    return pl.DataFrame(rows, infer_schema_length=None)


def points_of(runs: pl.DataFrame, cases: Sequence[Case], columns: Sequence[str] = COLUMNS) -> pl.DataFrame:
    """Means over the seeds, one row a case."""
    return means_of_points(runs, tuple(cases[0].keys), columns)


def measure(result: Result) -> Row:
    """`COLUMNS` of a run; `None` for a kind that the scenario does not have."""
    flows = result.flows.with_columns(kind=_kind()).filter(pl.col("kind") != ASIDE)
    queues = result.queues.filter(pl.col("link") == "bottleneck")
    whole = queues.filter(pl.col("group") == "all").row(0, named=True)
    rates = dict(flows.group_by("kind").agg(pl.col("goodput_bps").mean() / 1e6).iter_rows())
    waits = dict(queues.group_by(_kind()).agg(_mean_wait_ms()).iter_rows())
    row: Row = {
        "fairness": jain_index(flows["goodput_bps"].to_list()),
        "utilization": whole["utilization"],
        "wait_ms": whole["wait_mean_ms"],
        "wait_p95_ms": whole["wait_p95_ms"],
        "loss_percent": 100.0 * (whole["loss"] or 0.0),
        "timeouts_flow_s": float(flows["timeouts"].sum()) / max(flows.height, 1) / result.measured_s,
    }
    for kind in KINDS:
        row[f"goodput_{kind}_mbps"] = rates.get(kind)
        row[f"wait_{kind}_ms"] = waits.get(kind)
    return row


def _kind() -> pl.Expr:
    return pl.col("group").str.split("-").list.first().alias("kind")


def _mean_wait_ms() -> pl.Expr:
    """Over the packets of several groups."""
    served = pl.col("departed_packets")
    return (pl.col("wait_mean_ms") * served).sum() / served.filter(pl.col("wait_mean_ms").is_not_null()).sum()
