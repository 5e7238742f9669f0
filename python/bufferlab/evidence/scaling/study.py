"""A large link, its twins and shorter runs of them: what each measures and needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final

import polars as pl

from bufferlab import _core
from bufferlab.evidence.scaling.exchange import LOSS_BASED, SHARES, exchange
from bufferlab.experiment.batch import run_batch
from bufferlab.experiment.simulation import prepare, simulate_plan
from bufferlab.plan import lower
from bufferlab.results.frames import ALL
from bufferlab.results.result import Result
from bufferlab.results.summary import flow_values, queue_values
from bufferlab.scaling import scale
from bufferlab.units import PS_PER_S

METRICS: Final = ("utilization", "loss", "fill", "jain", "bbr_share")
"""What a twin should keep."""


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
        shares: Tenths of the flows by congestion control.
    """

    name: str
    rate_bps: float
    flows: int
    buffer: str
    duration_s: float
    seeds: Mapping[int, int]
    shares: Mapping[str, int] = field(default_factory=lambda: SHARES)

    def lasting(self, duration_s: float, seeds: Mapping[int, int]) -> Case:
        """The same link over another time."""
        return replace(self, duration_s=duration_s, seeds=seeds)


EXCHANGE: Final = Case("10 Gbps, 10,000 flows, BDP/√n", 1e10, 10_000, "stanford", 20, {1: 2, 10: 3, 100: 5})
CASES: Final = (
    EXCHANGE,
    Case("the same as 590 packets", 1e10, 10_000, "590 packets", 10, {1: 1, 10: 3, 100: 5}),
    Case("the same with 5 ms", 1e10, 10_000, "5 ms", 10, {1: 1, 10: 3, 100: 5}),
    Case("10 Gbps, 1,000 flows without BBR", 1e10, 1000, "stanford", 20, {1: 2, 10: 3, 100: 5}, LOSS_BASED),
    Case("100 Gbps, 100,000 flows, BDP/√n", 1e11, 100_000, "stanford", 5, {1: 1, 10: 1, 100: 3, 1000: 5}),
    Case("100 Gbps, 10,000 flows, BDP/√n", 1e11, 10_000, "stanford", 5, {1: 1, 10: 2, 100: 5}),
)
DURATIONS_S: Final = (5.0, 10.0, 20.0, 40.0, 80.0)
DURATIONS_SEEDS: Final = {10: 3}
QUICK: Final = Case("1 Gbps, 1,000 flows, BDP/√n", 1e9, 1000, "stanford", 6, {1: 2, 10: 5})
QUICK_DURATIONS_S: Final = (3.0, 6.0)


@dataclass(frozen=True)
class Measured:
    """One run.

    Attributes:
        case: Name of its case.
        factor: What rate and flows are divided by.
        seed: Seed.
        rate_bps: Rate of the link as simulated, bit/s.
        flows: Flows as simulated.
        duration_s: Length, s.
        utilization: Of the link.
        loss: Dropped over arrived.
        fill: Mean backlog over the buffer.
        wait_ms: Mean wait, ms.
        jain: Jain's index of all flows.
        bbr_share: Goodput of BBR v3's flows over that of all, 0 without any.
        packets: Packets that left the link, the warm-up's too.
        cpu_s: Processor time of the engine, s.
    """

    case: str
    factor: int
    seed: int
    rate_bps: float
    flows: int
    duration_s: float
    utilization: float
    loss: float
    fill: float
    wait_ms: float
    jain: float
    bbr_share: float
    packets: int
    cpu_s: float


@dataclass(frozen=True)
class Scaling:
    """What was found.

    Attributes:
        runs: Full links and twins.
        shorter: Twins over different times.
    """

    runs: pl.DataFrame
    shorter: pl.DataFrame

    @property
    def frames(self) -> dict[str, pl.DataFrame]:
        """The tables by name: every run, and differences of means from those of the full, longest runs."""
        return {
            "runs": self.runs,
            "shorter": self.shorter,
            "errors": differences(self.runs, "factor", smallest=True),
            "shorter_errors": differences(self.shorter, "duration_s", smallest=False),
        }


def study_scaling(
    *, quick: bool = False, threads: int | None = None, progress: bool | None = None
) -> Scaling:
    """Simulate all that docs/capacity.md shows: some five minutes of one processor, 0.7 GB of memory.

    Args:
        quick: Only 1 Gbps with 1000 flows and its twins by 10, over 3 and 6 s.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.

    Raises:
        BatchInterrupted: At Ctrl-C.
    """
    cases = (QUICK,) if quick else CASES
    first, durations_s = (QUICK, QUICK_DURATIONS_S) if quick else (EXCHANGE, DURATIONS_S)
    lasting = [first.lasting(duration_s, DURATIONS_SEEDS) for duration_s in durations_s]
    tasks = [_Task(case, *each) for case in (*cases, *lasting) for each in _runs(case)]
    measured = run_batch(
        _measure,
        tasks,
        title="twins",
        threads=threads,
        progress=progress,
        weights=[task.case.rate_bps / task.factor * task.case.duration_s for task in tasks],
        durations_ps=[round(task.case.duration_s * PS_PER_S) for task in tasks],
    )
    rows = pl.DataFrame([asdict(each) for each in measured])
    of_cases = sum(1 for case in cases for _ in _runs(case))
    return Scaling(runs=rows[:of_cases], shorter=rows[of_cases:])


def differences(runs: pl.DataFrame, by: str, *, smallest: bool) -> pl.DataFrame:
    """Means over the seeds of each case and value of `by`, and their differences from the reference's.

    Args:
        runs: Rows as `Measured`.
        by: What the runs of a case differ by.
        smallest: Whether the reference has the smallest value of it; else the largest.

    Returns:
        Columns case, `by`, seeds, rate, flows, duration, the metrics with their difference (`…_error`; of the
        loss relative to the reference) and standard deviation over seeds (`…_sd`), wait and processor time.
    """
    keys = ["case", by]
    kept = ("rate_bps", "flows", "duration_s", "wait_ms", "packets", "cpu_s")
    means = runs.group_by(keys, maintain_order=True).agg(
        pl.len().alias("seeds"),
        *(pl.col(name).mean() for name in (*kept, *METRICS) if name != by),
        *(pl.col(name).std().alias(f"{name}_sd") for name in METRICS),
    )
    chosen = pl.col(by).min() if smallest else pl.col(by).max()
    reference = means.filter(pl.col(by) == chosen.over("case")).select("case", *METRICS)
    both = means.join(reference, on="case", suffix="_reference", maintain_order="left")
    errors = {name: pl.col(name) - pl.col(f"{name}_reference") for name in METRICS}
    errors["loss"] /= pl.col("loss_reference")
    found = both.with_columns(**{f"{name}_error": error for name, error in errors.items()})
    return found.select(pl.exclude("^.*_reference$"))


@dataclass(frozen=True)
class _Task:
    case: Case
    factor: int
    seed: int


def _runs(case: Case) -> Sequence[tuple[int, int]]:
    return [(factor, seed) for factor, seeds in case.seeds.items() for seed in range(1, seeds + 1)]


def _measure(task: _Task, canceler: _core.Control) -> Measured | None:
    case = task.case
    full = exchange(
        rate_bps=case.rate_bps,
        flows=case.flows,
        buffer=case.buffer,
        duration_s=case.duration_s,
        shares=case.shares,
    )
    twin = scale(prepare(full), task.factor)
    run = simulate_plan(
        lower(twin, task.seed), canceler, name=case.name, scenario=twin.to_toml(), overrides={}, brief=True
    )
    return None if run is None else _figures(task, run)


def _figures(task: _Task, run: Result) -> Measured:
    queue = queue_values(run)[0]
    flows = {row["group"]: row for row in flow_values(run)}
    link = run.plan["links"][0]
    return Measured(
        case=task.case.name,
        factor=task.factor,
        seed=task.seed,
        rate_bps=link["rate_bps"],
        flows=flows[ALL]["flows"],
        duration_s=task.case.duration_s,
        utilization=queue["utilization"],
        loss=queue["loss"],
        fill=queue["backlog_mean_packets"] / link["discipline"]["limit"]["packets"],
        wait_ms=queue["wait_mean_ms"],
        jain=flows[ALL]["jain_index"],
        bbr_share=flows["bbr3"]["goodput_total_bps"] / flows[ALL]["goodput_total_bps"]
        if "bbr3" in flows
        else 0.0,
        packets=run.packets,
        cpu_s=run.cpu_s,
    )
