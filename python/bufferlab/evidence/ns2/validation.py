"""Running every setting of ns-2 and comparing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import polars as pl

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.evidence.ns2.classes import METRICS, RowClass, class_of
from bufferlab.evidence.ns2.equivalent import Variant
from bufferlab.evidence.ns2.explanations import EXPLANATIONS, Explanation
from bufferlab.evidence.ns2.judging import (
    Figure,
    Judgment,
    Verdict,
    judged,
    judged_by_run,
    judged_in_pairs,
)
from bufferlab.evidence.ns2.measure import simulate, with_share
from bufferlab.evidence.ns2.reference import (
    SHIFT,
    Reference,
    Setting,
    load_experiments,
    load_references,
    unsupported,
)
from bufferlab.experiment.experiment import Done, Experiment
from bufferlab.experiment.runner import Runner

QUICK_PACKETS = 8.5e6
"""`quick` takes settings whose runs together carry no more packets than this through the bottleneck."""

QUICK_SEEDS = 3
"""Where a class wants more seeds, `quick` runs this many, unless ns-2 had more."""


@dataclass(frozen=True)
class SettingOutcome:
    """One of ns-2's settings, simulated and compared.

    Attributes:
        setting: What was simulated.
        row_class: How it was run and judged.
        seeds: Our seeds; the first are ns-2's, whose start times they have.
        comparisons: One a figure.
        explained: Figure → name of the explanation whose experiment makes its difference vanish.
    """

    setting: Setting
    row_class: RowClass
    seeds: tuple[int, ...]
    comparisons: tuple[Judgment, ...]
    explained: Mapping[str, str] = field(default_factory=dict)

    @property
    def agrees(self) -> bool:
        """Whether every metric does."""
        return all(each.agrees for each in self.comparisons)

    @property
    def unexplained(self) -> tuple[Judgment, ...]:
        """Large differences that no experiment explains."""
        return tuple(
            each
            for each in self.comparisons
            if each.verdict is Verdict.LARGE and each.figure.name not in self.explained
        )


@dataclass(frozen=True)
class Validation:
    """The comparison with ns-2.

    Attributes:
        outcomes: One a simulated setting.
        skipped: Settings that cannot be simulated, with the reason.
        quick: Whether only a part was run.
        chosen: Whether that part is what the caller chose.
    """

    outcomes: tuple[SettingOutcome, ...]
    skipped: tuple[tuple[Setting, str], ...]
    quick: bool
    chosen: bool = False

    @property
    def frame(self) -> pl.DataFrame:
        """One row a setting and metric."""
        return pl.DataFrame(
            [_row(outcome, each) for outcome in self.outcomes for each in outcome.comparisons],
            infer_schema_length=None,
        )

    @property
    def unexplained(self) -> tuple[SettingOutcome, ...]:
        """Settings with differences that no experiment explains."""
        return tuple(each for each in self.outcomes if each.unexplained)


def validate(
    *,
    quick: bool = False,
    only: Sequence[str] = (),
    threads: int | None = None,
    progress: bool | None = None,
    seeds: int | None = None,
    runner: Runner | None = None,
) -> Validation:
    """Simulate the settings that ns-2 ran, with the same start times, and compare.

    Where a known explanation is about a difference and ns-2 ran its experiment, it is run here, too.

    Args:
        quick: Only short settings, one of every kind: some ten seconds.
        only: Only settings whose group or title, as `mininet: sack1, 2 flows, …`, has one of these.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        seeds: Runs a setting; default, and least, as many as ns-2 had and the class needs.
        runner: Runs the simulations; default a plain one with `threads` and `progress`.

    Raises:
        InputError: No setting has one of `only`.
        RunInterrupted: At Ctrl-C.
    """
    everything = load_references()
    references = [each for each in everything if unsupported(each.setting) is None]
    if only:
        references = [each for each in references if any(word in _name(each.setting) for word in only)]
        if not references:
            accepted = "a part of a setting's group and title, as docs/validation/ns2.csv has them"
            raise InputError("is in the name of no setting", key="only", value=only[0], accepted=accepted)
    if quick:
        references = quick_selection(references)
    runner = runner or Runner(threads=threads, progress=progress)
    points = [Point(each) for each in references]
    outcomes = _compared(runner, points, seeds, quick=quick)
    with_ties = {each.setting: each for each in everything if each.setting.option(SHIFT)}
    experiments = load_experiments() | with_ties
    doubtful = [
        Point(experiments[again], outcome.setting, explanation)
        for outcome in outcomes
        for explanation in EXPLANATIONS
        if any(explanation.covers(outcome.setting, each) for each in outcome.comparisons)
        and (again := explanation.experiment(outcome.setting)) in experiments
    ]
    tried = (
        list(zip(doubtful, _compared(runner, doubtful, seeds, quick=quick), strict=True)) if doubtful else []
    )
    return Validation(
        outcomes=tuple(explained(each, tried) for each in outcomes),
        skipped=tuple(
            (each.setting, reason) for each in everything if (reason := unsupported(each.setting)) is not None
        ),
        quick=quick,
        chosen=bool(only),
    )


def _name(setting: Setting) -> str:
    return f"{setting.scenario}: {setting.title}"


def quick_selection(references: list[Reference]) -> list[Reference]:
    """The cheapest setting of each scenario, stack and class, if it is cheap enough."""
    best: dict[tuple[str, str, str], Reference] = {}
    for each in sorted(references, key=_cost_packets):
        if _cost_packets(each) <= QUICK_PACKETS:
            setting = each.setting
            best.setdefault((setting.scenario, setting.stack, class_of(setting).name), each)
    return list(best.values())


def _cost_packets(reference: Reference) -> float:
    """Packets of all our runs of a setting in a quick comparison."""
    runs = len(seeds_of(reference, quick=True)) * len(class_of(reference.setting).variants)
    return runs * _packets(reference.setting)


def seeds_of(reference: Reference, wanted: int | None = None, *, quick: bool = False) -> list[int]:
    """Our seeds for a setting: ns-2's, and more if it had fewer than the class or the caller wants."""
    least = class_of(reference.setting).least_seeds
    count = max(wanted or 0, len(reference.seeds), min(least, QUICK_SEEDS) if quick else least)
    others = (seed for seed in range(1, 10**6) if seed not in reference.seeds)
    return [*reference.seeds, *islice(others, count - len(reference.seeds))]


Runs = dict[int, list[dict[str, float]]]
"""Measurements of a setting: for each seed one a variant."""


@dataclass(frozen=True)
class Point:
    """A setting to be compared, as it is or in the experiment of an explanation.

    Attributes:
        reference: What ns-2 ran.
        explains: The setting whose difference is to be explained.
        explanation: Whose experiment it is.
    """

    reference: Reference
    explains: Setting | None = None
    explanation: Explanation | None = None

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The circumstances in which each seed is run."""
        return class_of(self.reference.setting).variants


_Key = tuple[int, int]
"""Index of a point, and of a variant of its class."""


def _compared(
    runner: Runner, points: Sequence[Point], seeds: int | None, *, quick: bool
) -> list[SettingOutcome]:
    runs = _by_seed(len(points), runner.all(_experiment(points, seeds, quick=quick)))
    return [outcome_of(each.reference, own) for each, own in zip(points, runs, strict=True)]


def explained(outcome: SettingOutcome, tried: Sequence[tuple[Point, SettingOutcome]]) -> SettingOutcome:
    """The outcome with the explanations whose experiments agree where it differs."""
    found = {
        comparison.figure.name: point.explanation.name
        for point, result in tried
        if point.explanation is not None and point.explains == outcome.setting
        for comparison in outcome.comparisons
        for again in result.comparisons
        if again.figure == comparison.figure and again.agrees
        if point.explanation.covers(outcome.setting, comparison)
    }
    return replace(outcome, explained=found)


def _experiment(of: Sequence[Point], seeds: int | None, *, quick: bool) -> Experiment[_Key]:
    points = {
        (index, number): (each.reference.setting, variant)
        for index, each in enumerate(of)
        for number, variant in enumerate(each.variants)
    }
    return Experiment(
        "validation",
        points,
        procedure=measure,
        seeds=lambda key: seeds_of(of[key[0]].reference, seeds, quick=quick),
        weight=lambda key: _packets(points[key][0]),
        parameters=lambda key: {"setting": points[key][0].title, "variant": key[1]},
    )


def measure(point: tuple[Setting, Variant], seed: int, control: _core.Control) -> dict[str, float] | None:
    """What ns-2 measured, and the shares that follow; `None` if canceled."""
    setting, variant = point
    values = simulate(setting, seed, control, variant)
    return None if values is None else with_share(values, setting)


def _by_seed(references: int, done: Sequence[Done[_Key]]) -> list[Runs]:
    runs: list[Runs] = [{} for _ in range(references)]
    for each in done:
        if each.seed is not None:
            runs[each.key[0]].setdefault(each.seed, []).append(each.value)
    return runs


def outcome_of(reference: Reference, runs: Runs) -> SettingOutcome:
    """Compare ns-2's runs of a setting with ours."""
    setting, row_class = reference.setting, class_of(reference.setting)
    theirs = [with_share(reference.runs[seed], setting) for seed in reference.seeds]
    mine = [each for of_seed in runs.values() for each in of_seed]
    if row_class.in_pairs:
        mine = [each for seed in reference.seeds for each in runs[seed]]
    samples = (theirs, mine)
    comparisons = tuple(
        _judged(row_class, figure, *([each[figure.name] for each in side] for side in samples))
        for figure in METRICS
        if all(figure.name in each for each in theirs)
    )
    return SettingOutcome(setting=setting, row_class=row_class, seeds=tuple(runs), comparisons=comparisons)


def _judged(row_class: RowClass, figure: Figure, ns2: list[float], ours: list[float]) -> Judgment:
    """Our first runs have ns-2's seeds, one variant each if they are compared one by one."""
    if row_class.margins:
        return judged_by_run(figure, ns2, ours[: len(ns2)], row_class.margins[figure.name])
    if row_class.in_pairs:
        return judged_in_pairs(figure, ns2, ours)
    return judged(figure, ns2, ours)


def _packets(setting: Setting) -> float:
    """Packets that a busy bottleneck carries: what a run costs."""
    return setting.rate_bps * setting.duration_s / 8 / setting.wire_bytes


def _row(outcome: SettingOutcome, comparison: Judgment) -> dict[str, object]:
    setting = outcome.setting
    return {
        "scenario": setting.scenario,
        "setting": setting.title,
        "class": outcome.row_class.name,
        "seeds": len(outcome.seeds),
        "metric": comparison.figure.name,
        "ns2": comparison.theirs,
        "ours": comparison.ours,
        "difference": comparison.difference,
        "half_width": comparison.half_width,
        "margin": comparison.margin,
        "verdict": str(comparison.verdict),
        "explanation": outcome.explained.get(comparison.figure.name, ""),
    }
