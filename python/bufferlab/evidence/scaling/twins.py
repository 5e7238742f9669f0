"""A large link, its twins and shorter runs of them: what each measures and needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from bufferlab.evidence.documents import Work
from bufferlab.evidence.points import means_of_points
from bufferlab.evidence.scaling.exchange import LOSS_BASED, MIXED, exchange
from bufferlab.experiment.experiment import Experiment
from bufferlab.results.result import Result
from bufferlab.results.summary import flow_values, queue_values
from bufferlab.results.tables import ALL
from bufferlab.scenario import Scenario


@dataclass(frozen=True)
class Case:
    """A link, and by how much it is scaled down.

    Attributes:
        name: For tables.
        rate_bps: Rate of the full link, bit/s.
        flows: Its number of flows.
        buffer: As scenarios write it.
        duration_s: Length of each run, s; its second half is measured.
        seeds: Number of seeds by what rate and flows are divided by; smaller twins differ more.
        scenario: The file that is scaled.
    """

    name: str
    rate_bps: float
    flows: int
    buffer: str
    duration_s: float
    seeds: Mapping[int, int]
    scenario: str = MIXED


EXCHANGE: Final = Case("10 Gbps, 10,000 flows, BDP/√n", 1e10, 10_000, "stanford", 20, {1: 2, 10: 3, 100: 5})
CASES: Final = (
    EXCHANGE,
    Case("10 Gbps, 10,000 flows, 590 packets", 1e10, 10_000, "590 packets", 10, {1: 1, 10: 3, 100: 5}),
    Case("10 Gbps, 10,000 flows, 5 ms", 1e10, 10_000, "5 ms", 10, {1: 1, 10: 3, 100: 5}),
    Case("10 Gbps, 1,000 flows without BBR", 1e10, 1000, "stanford", 20, {1: 2, 10: 3, 100: 5}, LOSS_BASED),
    Case("100 Gbps, 100,000 flows, BDP/√n", 1e11, 100_000, "stanford", 5, {1: 1, 10: 1, 100: 3, 1000: 5}),
    Case("100 Gbps, 10,000 flows, BDP/√n", 1e11, 10_000, "stanford", 5, {1: 1, 10: 2, 100: 5}),
)
DURATIONS_S: Final = (5, 10, 20, 40, 80)
SHORTENED: Final = 10
"""By how much the link is scaled down that is simulated over different times."""

QUICK: Final = Case("1 Gbps, 1,000 flows, BDP/√n", 1e9, 1000, "stanford", 6, {1: 2, 10: 5})
QUICK_DURATIONS_S: Final = (3, 6)


def tables(work: Work) -> dict[str, pl.DataFrame]:
    """Every full link and its twins: a row a run, and means over the seeds."""
    runs = _simulated("twins", (QUICK,) if work.request.quick else CASES, work)
    return {"runs": runs, "twins": _means(runs, "link", "scaled_by")}


def shorter_tables(work: Work) -> dict[str, pl.DataFrame]:
    """A twin over different times: a row a run, and means over the seeds."""
    quick = work.request.quick
    case, durations_s = (QUICK, QUICK_DURATIONS_S) if quick else (EXCHANGE, DURATIONS_S)
    cases = [replace(case, duration_s=duration_s, seeds={SHORTENED: 3}) for duration_s in durations_s]
    runs = _simulated("shorter runs", cases, work).with_columns(pl.col("duration_s").cast(pl.Int64))
    return {"runs": runs, "shorter": _means(runs, "duration_s")}


def _means(runs: pl.DataFrame, *keys: str) -> pl.DataFrame:
    columns = [name for name in runs.columns if name not in (*keys, "link", "scaled_by", "seed")]
    return means_of_points(runs, keys, columns)


def _simulated(title: str, cases: Sequence[Case], work: Work) -> pl.DataFrame:
    """A row a run of every case; the request's seeds, if any, are those of each twin."""
    seeds = work.request.seeds
    twins = [(number, factor) for number, case in enumerate(cases) for factor in case.seeds]
    experiment = Experiment(
        title,
        {(number, factor): _twin(cases[number], factor) for number, factor in twins},
        measure,
        seeds=lambda twin: range(1, (seeds or cases[twin[0]].seeds[twin[1]]) + 1),
        weight=lambda twin: cases[twin[0]].rate_bps / twin[1] * cases[twin[0]].duration_s,
        parameters=lambda twin: {"link": cases[twin[0]].name, "scaled_by": twin[1]},
        brief=True,
    )
    return work.request.runner().table(experiment)


def _twin(case: Case, factor: int) -> Scenario:
    full = exchange(
        rate_bps=case.rate_bps,
        flows=case.flows,
        buffer=case.buffer,
        duration_s=case.duration_s,
        scenario=case.scenario,
    )
    return full.twin(factor)


def measure(run: Result) -> dict[str, float | None]:
    """What a twin does and needs.

    Returns:
        `rate_bps`, `flows` and `buffer_packets` as simulated, `duration_s`, `utilization`, `loss`, `fill`
        (mean backlog over the buffer), `wait_ms` (the mean), `jain` (Jain's index of all flows),
        `bbr_share` (goodput of BBR v3's flows over that of all, 0 without any), `packets` that left the
        link, those of the warm-up too, and `cpu_s`, processor time of the engine.
    """
    queue = queue_values(run)[0]
    flows = {row["group"]: row for row in flow_values(run)}
    link = run.resolved["links"][0]
    limit = link["buffer"]["limit"]
    if not isinstance(limit, dict):
        raise TypeError(f"a buffer of {limit} is never full")
    return {
        "rate_bps": link["rate_bps"],
        "flows": flows[ALL]["flows"],
        "buffer_packets": limit["packets"],
        "duration_s": run.duration_s,
        "utilization": queue["utilization"],
        "loss": queue["loss"],
        "fill": queue["backlog_mean_packets"] / limit["packets"],
        "wait_ms": queue["wait_mean_ms"],
        "jain": flows[ALL]["jain_index"],
        "bbr_share": flows["bbr3"]["goodput_total_bps"] / flows[ALL]["goodput_total_bps"]
        if "bbr3" in flows
        else 0.0,
        "packets": run.packets,
        "cpu_s": run.cpu_s,
    }
