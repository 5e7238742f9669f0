"""Running every setting of ns-2 and comparing."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import polars as pl

from bufferlab import _core
from bufferlab.evidence.ns2.compare import METRICS, Comparison, RowClass, class_of, compare, with_share
from bufferlab.evidence.ns2.equivalent import Variant
from bufferlab.evidence.ns2.explanations import explain
from bufferlab.evidence.ns2.measure import simulate
from bufferlab.evidence.ns2.reference import Reference, Setting, load_references, unsupported
from bufferlab.experiment.batch import run_batch
from bufferlab.units import PS_PER_S

QUICK_PACKETS = 10e6
"""`quick` takes settings whose runs together carry no more packets than this through the bottleneck."""


@dataclass(frozen=True)
class Outcome:
    """One setting, simulated and compared.

    Attributes:
        setting: What was simulated.
        row_class: How it was run and judged.
        seeds: Our seeds; the first are ns-2's, whose start times they have.
        comparisons: One a metric.
        explanation: Why it does not agree; empty if it does, or if no reason is known.
    """

    setting: Setting
    row_class: RowClass
    seeds: tuple[int, ...]
    comparisons: tuple[Comparison, ...]
    explanation: str

    @property
    def agrees(self) -> bool:
        """Whether every metric does."""
        return all(each.agrees for each in self.comparisons)


@dataclass(frozen=True)
class Validation:
    """The comparison with ns-2.

    Attributes:
        outcomes: One a simulated setting.
        skipped: Settings that cannot be simulated, with the reason.
        quick: Whether only a part was run.
    """

    outcomes: tuple[Outcome, ...]
    skipped: tuple[tuple[Setting, str], ...]
    quick: bool

    @property
    def frame(self) -> pl.DataFrame:
        """One row a setting and metric."""
        return pl.DataFrame(
            [_row(outcome, each) for outcome in self.outcomes for each in outcome.comparisons],
            infer_schema_length=None,
        )

    @property
    def unexplained(self) -> tuple[Outcome, ...]:
        """Settings that do not agree and for which no reason is known."""
        return tuple(each for each in self.outcomes if not each.agrees and not each.explanation)


@dataclass(frozen=True)
class _Task:
    """One run."""

    reference: int
    seed: int
    variant: Variant


def validate(
    *, quick: bool = False, threads: int | None = None, progress: bool | None = None, seeds: int | None = None
) -> Validation:
    """Simulate the settings that ns-2 ran, with the same start times, and compare.

    Args:
        quick: Only short settings, one of every kind: some ten seconds.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        seeds: Runs a setting; default, and least, as many as ns-2 had and the class needs.

    Raises:
        BatchInterrupted: At Ctrl-C.
    """
    everything = load_references()
    references = [each for each in everything if unsupported(each.setting) is None]
    if quick:
        references = quick_selection(references)
    runs = _simulate(references, threads, progress, seeds)
    return Validation(
        outcomes=tuple(_outcome(each, own) for each, own in zip(references, runs, strict=True)),
        skipped=tuple(
            (each.setting, reason) for each in everything if (reason := unsupported(each.setting)) is not None
        ),
        quick=quick,
    )


def quick_selection(references: list[Reference]) -> list[Reference]:
    """The cheapest setting of each scenario, stack and class, if it is cheap enough."""
    best: dict[tuple[str, str, str], Reference] = {}
    for each in sorted(references, key=_cost_packets):
        if _cost_packets(each) <= QUICK_PACKETS:
            setting = each.setting
            best.setdefault((setting.scenario, setting.stack, class_of(setting).name), each)
    return list(best.values())


def _cost_packets(reference: Reference) -> float:
    """Packets of all our runs of a setting."""
    runs = len(seeds_of(reference)) * len(class_of(reference.setting).variants)
    return runs * _packets(reference.setting)


def seeds_of(reference: Reference, wanted: int | None = None) -> list[int]:
    """Our seeds for a setting: ns-2's, and more if it had fewer than the class or the caller wants."""
    count = max(wanted or 0, len(reference.seeds), class_of(reference.setting).least_seeds)
    others = (seed for seed in range(1, 10**6) if seed not in reference.seeds)
    return [*reference.seeds, *islice(others, count - len(reference.seeds))]


_Runs = dict[int, list[dict[str, float]]]
"""Measurements of a setting: for each seed one a variant."""


def _simulate(
    references: list[Reference], threads: int | None, progress: bool | None, seeds: int | None
) -> list[_Runs]:
    tasks = [
        _Task(index, seed, variant)
        for index, each in enumerate(references)
        for seed in seeds_of(each, seeds)
        for variant in class_of(each.setting).variants
    ]

    def measure(task: _Task, control: _core.Control) -> tuple[_Task, dict[str, float]] | None:
        setting = references[task.reference].setting
        values = simulate(setting, task.seed, control, task.variant)
        return None if values is None else (task, with_share(values, setting))

    settings = [references[task.reference].setting for task in tasks]
    results = run_batch(
        measure,
        tasks,
        title="validation",
        threads=threads,
        progress=progress,
        weights=[_packets(setting) for setting in settings],
        durations_ps=[round(setting.duration_s * PS_PER_S) for setting in settings],
    )
    runs: list[_Runs] = [{} for _ in references]
    for task, values in results:
        runs[task.reference].setdefault(task.seed, []).append(values)
    return runs


def _outcome(reference: Reference, runs: _Runs) -> Outcome:
    setting, row_class = reference.setting, class_of(reference.setting)
    theirs = [with_share(reference.runs[seed], setting) for seed in reference.seeds]
    comparisons = tuple(
        compare(
            row_class,
            metric,
            [each[metric.name] for each in theirs],
            [[each[metric.name] for each in of_seed] for of_seed in runs.values()],
        )
        for metric in METRICS
        if all(metric.name in each for each in theirs)
    )
    agrees = all(each.agrees for each in comparisons)
    return Outcome(
        setting=setting,
        row_class=row_class,
        seeds=tuple(runs),
        comparisons=comparisons,
        explanation="" if agrees else explain(setting),
    )


def _packets(setting: Setting) -> float:
    """Packets that a busy bottleneck carries: what a run costs."""
    return setting.rate_bps * setting.duration_s / 8 / setting.wire_bytes


def _row(outcome: Outcome, comparison: Comparison) -> dict[str, object]:
    setting = outcome.setting
    return {
        "scenario": setting.scenario,
        "setting": setting.title,
        "class": outcome.row_class.name,
        "seeds": len(outcome.seeds),
        "metric": comparison.metric.name,
        "ns2": comparison.ns2,
        "ns2_min": comparison.ns2_range[0],
        "ns2_max": comparison.ns2_range[1],
        "ours": comparison.ours,
        "ours_min": comparison.ours_range[0],
        "ours_max": comparison.ours_range[1],
        "difference": comparison.difference,
        "tolerance": comparison.tolerance,
        "agrees": comparison.agrees,
        "explanation": "" if comparison.agrees else outcome.explanation,
    }
