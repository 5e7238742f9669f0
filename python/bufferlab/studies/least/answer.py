"""What a search for the least size came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import polars as pl

from bufferlab.stats import Estimate, chance_of_mean
from bufferlab.studies.least.memory import Memory, Verdict
from bufferlab.studies.targets import Target, Values, mean_columns, mean_over_runs

Ceiling = Literal["given", "no nearer", "most"]
"""Why a search has tried no larger size."""

RARE: Final = 0.05
"""Share of runs that would have to miss for it to show where none does."""

_EVEN: Final = 0.5
"""Chance of a run to be on either side of the median."""


@dataclass(frozen=True)
class Check:
    """A target at one size, by runs that had no part in choosing the size.

    Attributes:
        target: The target.
        mean: Mean of the metric over the runs; `None` where they have none.
        half_width: Half its 95 % confidence interval; `None` if the runs are too few or all gave one value.
        confidence: One minus the chance of margins as good if the target were missed; 0 if it is missed. If
            all runs gave just the bound, such as a utilization of 100 %: that a share of them below `RARE`
            misses. Of n runs it is never above 1 - 1/2^n, as a sign test of their median has it: few runs may
            scatter less than many do.
        runs: How many runs there are.
        identical: Whether the runs are the same in all that was measured, as nothing in them is random.
        saturated: Whether runs that differ all gave just the bound, so that their scatter tells nothing.
        lacking: How many runs have no value.
        refuted: One minus the chance of margins as bad if the target were met; 0 if the mean meets it.
    """

    target: Target
    mean: float | None
    half_width: float | None
    confidence: float
    runs: int
    identical: bool
    saturated: bool = False
    lacking: int = 0
    refuted: float = 0.0

    @property
    def found(self) -> Estimate:
        """The mean, how sure it is, and of how many runs."""
        return Estimate(self.mean, self.half_width, self.runs - self.lacking, self.lacking)

    @property
    def met(self) -> bool:
        """Whether the mean meets the target; not if a run has no value, such as no transfer that ended."""
        return self.mean is not None and not self.lacking and self.target.margin(self.mean) >= 0

    @property
    def margin(self) -> float:
        """How far the mean is on the right side, in the metric's unit."""
        return self.target.margin(self.mean)

    def verdict(self, wanted: float) -> Verdict:
        """Whether the target is met or missed with a confidence, or neither."""
        if self.met:
            return "met" if self.confidence >= wanted else "not proven"
        return "missed" if self.lacking or self.refuted >= wanted else "not proven"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return {
            "target": str(self.target),
            "metric": self.target.name,
            "bound": self.target.bound,
            "met": self.met,
            "mean": self.mean,
            "half_width": self.half_width,
            "confidence": self.confidence,
            "runs": self.runs,
            "identical": self.identical,
            "saturated": self.saturated,
            "lacking": self.lacking,
            "refuted": self.refuted,
        }


def check(memory: Memory, size: int, target: Target, seeds: Sequence[int]) -> Check:
    """Check a target at a size by the runs of some seeds."""
    runs = memory.values(size, seeds)
    values = [each.get(target.name) for each in runs]
    found = mean_over_runs(target.name, runs)
    margins = memory.margins(size, target, seeds)
    same = len(set(values)) == 1 and len(values) > 1
    identical = same and all(run == runs[0] for run in runs)
    saturated = same and not identical and not margins.any()
    chance = (1.0 - RARE) ** len(runs) if saturated else chance_of_mean(margins)
    rare = 0.0 if identical else _EVEN ** len(runs)
    missed = found.mean is not None and target.margin(found.mean) < 0
    return Check(
        target=target,
        mean=found.mean,
        half_width=None if same else found.half_width,
        confidence=1.0 - max(chance, rare),
        runs=len(runs),
        identical=identical,
        saturated=saturated,
        lacking=found.lacking,
        refuted=1.0 - max(chance_of_mean(-margins), rare) if missed else 0.0,
    )


def verdicts(checks: Sequence[Check], confidence: float, wanted: float) -> list[Verdict]:
    """What is known of each target at one size.

    Args:
        checks: The targets at that size.
        confidence: That all are met. It may be less than every check says, as candidates that were refused
            have used up some of the chance to err; each check then counts as much less.
        wanted: The confidence that is asked for.
    """
    return [
        replace(each, confidence=level).verdict(wanted)
        for each, level in zip(checks, lowered(checks, confidence), strict=True)
    ]


def lowered(checks: Sequence[Check], confidence: float) -> list[float]:
    """The confidence of each target once candidates that were refused are accounted for.

    Args:
        checks: The targets at one size.
        confidence: That all are met.
    """
    chance = max(1.0 - each.confidence for each in checks)
    times = (1.0 - confidence) / chance if chance > 0 and all(each.met for each in checks) else 1.0
    return [max(1.0 - (1.0 - each.confidence) * times, 0.0) for each in checks]


def checks_to_dicts(checks: Sequence[Check], confidence: float, wanted: float) -> list[dict[str, Any]]:
    """Targets at one size with what is known of each, for JSON."""
    known = verdicts(checks, confidence, wanted)
    return [each.to_dict() | {"verdict": verdict} for each, verdict in zip(checks, known, strict=True)]


@dataclass(frozen=True, eq=False)
class Least:
    """The least size that meets all targets, or the largest.

    Attributes:
        size: The size; `None` if none was found at which the means meet all targets.
        checks: Each target at that size; where there is none, at the size that comes closest.
        closest: The size, or the one that comes closest.
        confidence: That all targets are met at the size, the least of all checks, candidates that were
            refused accounted for.
        confirmed: Whether it reaches what was asked for.
        beyond: The nearest tried size that would be a better answer (smaller; of a search for the largest,
            larger), but misses a target, with the confidence that was asked for; `None` if there is none.
        conflict: The targets that are missed where the others are met.
        islands: Sizes on the other side of the answer at which a target is surely missed that should be met
            there, as it is at the answer; a bound on waits that larger buffers miss makes no island.
        lower: Least size that was allowed.
        upper: Largest size that was allowed.
        ceiling: Why it was no larger: nobody allowed more, larger sizes came no nearer to the targets, or it
            is the most that is ever tried.
        values: What each checking run measured at `closest`, by seed.
        memory: All runs that were made when it was found.
        finished: Whether the search came to its end.
    """

    size: int | None
    checks: tuple[Check, ...]
    closest: int
    confidence: float
    confirmed: bool
    beyond: int | None
    conflict: tuple[Target, ...]
    islands: tuple[int, ...]
    lower: int
    upper: int
    values: dict[int, Values]
    memory: Memory
    finished: bool = True
    ceiling: Ceiling = "given"

    @property
    def runs(self) -> int:
        """How many runs it took."""
        return self.memory.runs

    def curve(self) -> pl.DataFrame:
        """Means over the runs by size: `size`, `runs`, and each metric that a target is about."""
        names = list(dict.fromkeys(target.name for target in self.memory.targets))
        rows = []
        for size in self.memory.sizes:
            values = self.memory.values(size)
            row: dict[str, float | int | None] = {"size": size, "runs": len(values)}
            for name in names:
                row |= mean_columns(name, mean_over_runs(name, values))
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None)
