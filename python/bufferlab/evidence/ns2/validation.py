"""Running every setting of ns-2 and comparing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import polars as pl

from bufferlab import _core
from bufferlab.evidence.ns2.classes import METRICS, RowClass, class_of
from bufferlab.evidence.ns2.compare import Comparison, compare, with_share
from bufferlab.evidence.ns2.equivalent import Variant
from bufferlab.evidence.ns2.explanations import explain
from bufferlab.evidence.ns2.measure import simulate
from bufferlab.evidence.ns2.reference import Reference, Setting, load_references, unsupported
from bufferlab.experiment.experiment import Done, Experiment
from bufferlab.experiment.runner import Runner

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


def validate(
    *,
    quick: bool = False,
    threads: int | None = None,
    progress: bool | None = None,
    seeds: int | None = None,
    runner: Runner | None = None,
) -> Validation:
    """Simulate the settings that ns-2 ran, with the same start times, and compare.

    Args:
        quick: Only short settings, one of every kind: some ten seconds.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        seeds: Runs a setting; default, and least, as many as ns-2 had and the class needs.
        runner: Runs the simulations; default a plain one with `threads` and `progress`.

    Raises:
        RunInterrupted: At Ctrl-C.
    """
    everything = load_references()
    references = [each for each in everything if unsupported(each.setting) is None]
    if quick:
        references = quick_selection(references)
    done = (runner or Runner(threads=threads, progress=progress)).all(_experiment(references, seeds))
    runs = _by_seed(len(references), done)
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

_Key = tuple[int, int]
"""Index of a reference, and of a variant of its class."""


def _experiment(references: Sequence[Reference], seeds: int | None) -> Experiment[_Key]:
    points = {
        (index, number): (each.setting, variant)
        for index, each in enumerate(references)
        for number, variant in enumerate(class_of(each.setting).variants)
    }
    return Experiment(
        "validation",
        points,
        procedure=measure,
        seeds=lambda key: seeds_of(references[key[0]], seeds),
        weight=lambda key: _packets(points[key][0]),
        parameters=lambda key: {"setting": points[key][0].title, "variant": key[1]},
    )


def measure(point: tuple[Setting, Variant], seed: int, control: _core.Control) -> dict[str, float] | None:
    """What ns-2 measured, and the shares that follow; `None` if canceled."""
    setting, variant = point
    values = simulate(setting, seed, control, variant)
    return None if values is None else with_share(values, setting)


def _by_seed(references: int, done: Sequence[Done[_Key]]) -> list[_Runs]:
    runs: list[_Runs] = [{} for _ in range(references)]
    for each in done:
        if each.seed is not None:
            runs[each.key[0]].setdefault(each.seed, []).append(each.value)
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
