"""The figures of both, side by side, with a verdict for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from bufferlab.kernel.emulate import OUR_LINK
from bufferlab.kernel.own import kernels_own
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS, Unit
from bufferlab.results.result import Result, RunSet
from bufferlab.results.tables import ALL
from bufferlab.stats import Estimate, estimate
from bufferlab.studies.crosscheck.reasons import in_theory, likely_reasons

Document = dict[str, Any]

FORMAT: Final = "bufferlab-crosscheck"
FORMAT_VERSION: Final = 1


class Verdict(Enum):
    """What a comparison says."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Compared:
    """What is compared: a figure of a run, and how far apart two may lie.

    Attributes:
        name: Its name.
        title: What tables call it.
        unit: Its unit.
        of: Its value in a run; `None` if it has none.
        absolute: Largest difference.
        relative: The same as a share of the simulator's value.
    """

    name: str
    title: str
    unit: Unit
    of: Callable[[Result], float | None]
    absolute: float = 0.0
    relative: float = 0.0

    def margin(self, ours: float) -> float:
        """How far apart two may lie."""
        return self.absolute + self.relative * abs(ours)

    @property
    def bound(self) -> str:
        """The same in words."""
        if self.relative:
            return f"{self.relative:.0%}"
        points = self.unit.scaled(self.absolute)
        return f"{points:g} point{'' if points == 1 else 's'}"


def _queue(name: str) -> Callable[[Result], float | None]:
    def of(result: Result) -> float | None:
        rows = [row for row in result.queues.iter_rows(named=True) if row["group"] == ALL]
        value = rows[0][name]
        return None if value is None else float(value)

    return of


def _wait(result: Result) -> float | None:
    """The mean backlog over what leaves, of both: a kernel tells no more, and what CoDel drops has waited."""
    backlog, served = (_queue(name)(result) for name in ("backlog_mean_packets", "served_packets"))
    return backlog * result.measured_s / served * 1e3 if served and backlog is not None else None


def _largest_share(result: Result) -> float | None:
    goodput = result.flows["goodput_bps"].to_list()
    total = sum(goodput)
    return max(goodput) / total if len(goodput) > 1 and total else None


COMPARED: Final = (
    Compared("utilization", "utilization", FRACTION, _queue("utilization"), absolute=0.01),
    Compared("wait_mean_ms", "wait: mean", MILLISECONDS, _wait, relative=0.10),
    Compared("loss", "loss", FRACTION, _queue("loss"), relative=0.15),
    Compared("largest_share", "largest share of a flow", FRACTION, _largest_share, absolute=0.05),
)
"""The figures, and the margins within which a model is taken to be right."""


@dataclass(frozen=True)
class Row:
    """A figure by both.

    Attributes:
        compared: Which.
        ours: By the simulator, over the seeds.
        kernels: By the kernel, over the same seeds.
        theory: By a closed form; nothing where there is none.
        reasons: Why the two may differ, the likeliest first.
    """

    compared: Compared
    ours: Estimate
    kernels: Estimate
    theory: float | None = None
    reasons: Sequence[str] = ()

    @property
    def reason(self) -> str | None:
        """The likeliest reason of a difference; nothing where the means agree."""
        if self.verdict in {None, Verdict.AGREES}:
            return None
        if self.verdict is Verdict.UNDECIDED:
            return "chance is not excluded: more seeds decide"
        return self.reasons[0] if self.reasons else "not known"

    @property
    def verdict(self) -> Verdict | None:
        """Whether the means lie within the margin; beyond it only if chance cannot explain it."""
        if self.ours.mean is None or self.kernels.mean is None:
            return None
        apart = abs(self.kernels.mean - self.ours.mean)
        margin = self.compared.margin(self.ours.mean)
        if apart <= margin:
            return Verdict.AGREES
        chance = (self.ours.half_width or 0.0) + (self.kernels.half_width or 0.0)
        return Verdict.DIFFERS if apart - chance > margin else Verdict.UNDECIDED


@dataclass(frozen=True)
class Crosscheck:
    """A scenario by both.

    Attributes:
        simulated: The simulator's runs.
        emulated: The kernel's runs of the same seeds.
    """

    simulated: RunSet
    emulated: RunSet

    @property
    def rows(self) -> list[Row]:
        """The figures that the scenario has."""
        first = self.simulated[0]
        theory = in_theory(first)
        drops = estimate(map(_queue("dropped_packets"), self.simulated)).mean or 0.0
        reasons = likely_reasons(first, drops=drops, seeds=len(self.simulated))
        rows = [
            Row(
                each,
                estimate(map(each.of, self.simulated)),
                estimate(map(each.of, self.emulated)),
                theory.get(each.name),
                reasons,
            )
            for each in COMPARED
        ]
        return [row for row in rows if row.verdict is not None]

    @property
    def otherwise(self) -> list[str]:
        """What the kernel does otherwise than the scenario says, in words."""
        ours = self.emulated[0].version.endswith(OUR_LINK)
        return list(kernels_own(self.emulated[0].plan, ours=ours))

    def document(self) -> Document:
        """Everything for machines."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "name": self.simulated.name,
            "seeds": self.simulated.seeds,
            "kernel": self.emulated[0].version,
            "kernels_own": self.otherwise,
            "rows": [
                {
                    "metric": row.compared.name,
                    "simulator": row.ours.mean,
                    "simulator_ci95": row.ours.half_width,
                    "kernel": row.kernels.mean,
                    "kernel_ci95": row.kernels.half_width,
                    "margin": row.compared.margin(row.ours.mean or 0.0),
                    "theory": row.theory,
                    "verdict": row.verdict.value if row.verdict else None,
                    "reason": row.reason,
                }
                for row in self.rows
            ],
        }
