"""A large link, its twins and shorter runs of them: what each measures and needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import polars as pl

from bufferlab.evidence.scaling.exchange import LOSS_BASED, SHARES, exchange
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import prepare
from bufferlab.results.result import Result
from bufferlab.results.summary import flow_values, queue_values
from bufferlab.results.tables import ALL
from bufferlab.scenario import Scenario

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
    Case("10 Gbps, 10,000 flows, 590 packets", 1e10, 10_000, "590 packets", 10, {1: 1, 10: 3, 100: 5}),
    Case("10 Gbps, 10,000 flows, 5 ms", 1e10, 10_000, "5 ms", 10, {1: 1, 10: 3, 100: 5}),
    Case("10 Gbps, 1,000 flows without BBR", 1e10, 1000, "stanford", 20, {1: 2, 10: 3, 100: 5}, LOSS_BASED),
    Case("100 Gbps, 100,000 flows, BDP/√n", 1e11, 100_000, "stanford", 5, {1: 1, 10: 1, 100: 3, 1000: 5}),
    Case("100 Gbps, 10,000 flows, BDP/√n", 1e11, 10_000, "stanford", 5, {1: 1, 10: 2, 100: 5}),
)
DURATIONS_S: Final = (5.0, 10.0, 20.0, 40.0, 80.0)
DURATIONS_SEEDS: Final = {10: 3}
QUICK: Final = Case("1 Gbps, 1,000 flows, BDP/√n", 1e9, 1000, "stanford", 6, {1: 2, 10: 5})
QUICK_DURATIONS_S: Final = (3.0, 6.0)


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
    *,
    quick: bool = False,
    threads: int | None = None,
    progress: bool | None = None,
    runner: Runner | None = None,
) -> Scaling:
    """Simulate all that docs/capacity.md shows: some five minutes of one processor, 0.7 GB of memory.

    Args:
        quick: Only 1 Gbps with 1000 flows and its twins by 10, over 3 and 6 s.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        runner: Runs the simulations; default a plain one with `threads` and `progress`.

    Raises:
        RunInterrupted: At Ctrl-C.
    """
    cases = (QUICK,) if quick else CASES
    first, durations_s = (QUICK, QUICK_DURATIONS_S) if quick else (EXCHANGE, DURATIONS_S)
    lasting = tuple(first.lasting(duration_s, DURATIONS_SEEDS) for duration_s in durations_s)
    experiment = _experiment((*cases, *lasting))
    frame = (runner or Runner(threads=threads, progress=progress)).table(experiment)
    of_cases = sum(sum(case.seeds.values()) for case in cases)
    return Scaling(runs=frame[:of_cases], shorter=frame[of_cases:])


def differences(runs: pl.DataFrame, by: str, *, smallest: bool) -> pl.DataFrame:
    """Means over the seeds of each case and value of `by`, and their differences from the reference's.

    Args:
        runs: Rows with what `measure` returns.
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


_Twin = tuple[int, int]
"""Index of a case, and by how much it is scaled down."""


def _experiment(cases: Sequence[Case]) -> Experiment[_Twin]:
    twins = [(number, factor) for number, case in enumerate(cases) for factor in case.seeds]
    return Experiment(
        "twins",
        {(number, factor): _twin(cases[number], factor) for number, factor in twins},
        measure,
        seeds=lambda twin: range(1, cases[twin[0]].seeds[twin[1]] + 1),
        weight=lambda twin: cases[twin[0]].rate_bps / twin[1] * cases[twin[0]].duration_s,
        parameters=lambda twin: {"case": cases[twin[0]].name, "factor": twin[1]},
        brief=True,
    )


def _twin(case: Case, factor: int) -> Scenario:
    full = exchange(
        rate_bps=case.rate_bps,
        flows=case.flows,
        buffer=case.buffer,
        duration_s=case.duration_s,
        shares=case.shares,
    )
    return prepare(full).twin(factor)


def measure(run: Result) -> dict[str, float | None]:
    """What a twin does and needs.

    Returns:
        `rate_bps` and `flows` as simulated, `duration_s`, `utilization`, `loss`, `fill` (mean backlog over
        the buffer), `wait_ms` (the mean), `jain` (Jain's index of all flows), `bbr_share` (goodput of BBR
        v3's flows over that of all, 0 without any), `packets` that left the link, those of the warm-up too,
        and `cpu_s`, processor time of the engine.
    """
    queue = queue_values(run)[0]
    flows = {row["group"]: row for row in flow_values(run)}
    link = run.plan["links"][0]
    return {
        "rate_bps": link["rate_bps"],
        "flows": flows[ALL]["flows"],
        "duration_s": run.duration_s,
        "utilization": queue["utilization"],
        "loss": queue["loss"],
        "fill": queue["backlog_mean_packets"] / link["discipline"]["limit"]["packets"],
        "wait_ms": queue["wait_mean_ms"],
        "jain": flows[ALL]["jain_index"],
        "bbr_share": flows["bbr3"]["goodput_total_bps"] / flows[ALL]["goodput_total_bps"]
        if "bbr3" in flows
        else 0.0,
        "packets": run.packets,
        "cpu_s": run.cpu_s,
    }
