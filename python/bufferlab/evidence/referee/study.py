"""Drawn settings, run here and by ns-2 until each figure is decided, or no more seeds are allowed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import polars as pl

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.evidence.ns2.equivalent import AS_IS, Variant
from bufferlab.evidence.ns2.explanations import EXPLANATIONS
from bufferlab.evidence.ns2.judging import Judgment, Verdict, judged
from bufferlab.evidence.ns2.measure import simulate
from bufferlab.evidence.ns2.reference import Setting
from bufferlab.evidence.referee import kept, program
from bufferlab.evidence.referee.draw import drawn, nudged
from bufferlab.evidence.referee.figures import FIGURES, figures_of
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.runner import Runner

DRAW: Final = 1
COUNT: Final = 200
QUICK_COUNT: Final = 8
STAGES: Final = (5, 10, 20, 40)
"""ns-2's seeds: this many at once, more as long as one of the figures of `DECIDING` is undecided."""

DECIDING: Final = ("utilization", "mean_queue_packets", "delay_packets", "loss")
"""The figures that a buffer is sized by."""

EXPERIMENT_SEEDS: Final = 10
"""Our runs of a setting in an experiment."""

OURS_EACH: Final = 2
"""Our seeds for each of ns-2's; ours are the quicker ones."""


@dataclass(frozen=True)
class Referee:
    """Drawn settings, compared.

    Attributes:
        draw: Seed of the draw.
        frame: One row a setting and figure.
        lacking: How many settings have no runs of ns-2.
    """

    draw: int
    frame: pl.DataFrame
    lacking: int


def referee(
    *,
    draw: int = DRAW,
    count: int = COUNT,
    first: int = 1,
    rows: Path | None = None,
    runner: Runner | None = None,
) -> Referee:
    """Compare drawn settings with ns-2, in every figure.

    Runs of ns-2 that are kept, in `rows` or in the package, are not repeated. Without ns-2 on the PATH they
    are all there is, and settings without any are left out.

    Args:
        draw: Seed of the draw.
        count: How many settings.
        first: Number of the first one.
        rows: File that keeps ns-2's runs as they end; without one they are not kept.
        runner: Runs the settings; default a plain one.

    Raises:
        InputError: There is neither ns-2 nor any run of it.
        RunInterrupted: At Ctrl-C; ns-2's runs are kept.
    """
    known = _known(draw, rows)
    settings = {number: drawn(draw, number) for number in range(first, first + count)}
    if not program.is_there():
        there = {number: each for number, each in settings.items() if known.get(program.arguments(each))}
        if not there:
            raise InputError(
                f"is not there, and no run of it is kept for draw {draw}", file=program.PROGRAM,
                accepted=program.INSTALL,
            )  # fmt: skip
        lacking, settings = len(settings) - len(there), there
    else:
        lacking = 0
    procedure = partial(confront, rows="" if rows is None else str(rows))
    points = {number: (draw, number) for number in settings}
    experiment = Experiment(
        f"referee, draw {draw}", points, procedure=procedure, parameters=lambda number: {"number": number}
    )
    runner = runner or Runner()
    outcomes = {each.key: each.value for each in runner.all(experiment)}
    frame = frame_of((number, settings[number], outcomes[number]) for number in settings)
    return Referee(draw, explained(frame, draw, outcomes, runner), lacking)


def confront(
    point: tuple[int, int], _seed: int, control: _core.Control, *, rows: str
) -> dict[str, Any] | None:
    """Run one setting on both sides until all is decided: the figures of every run, `None` if canceled."""
    draw, number = point
    setting = drawn(draw, number)
    file = Path(rows) if rows else None
    ns2 = dict(_known(draw, file).get(program.arguments(setting), {}))
    ours: kept.Runs = {}
    for seeds in STAGES:
        if program.is_there() and not _run_ns2(number, setting, ns2, seeds, file):
            return None
        if not _run_ours(setting, ours, max(seeds, len(ns2)) * OURS_EACH, control):
            return None
        if not any(_is_worth_more(each, len(ns2)) for each in judgments(ns2, ours)):
            break
    return {"ns2": list(ns2.values()), "ours": list(ours.values())}


def explained(
    frame: pl.DataFrame, draw: int, outcomes: Mapping[int, Mapping[str, Any]], runner: Runner
) -> pl.DataFrame:
    """The frame with the explanation of each large difference that its experiment makes vanish."""
    rows = frame.to_dicts()
    about = [_explanations(row, draw) for row in rows]
    points = {
        (row["number"], name): (draw, row["number"], name)
        for row, names in zip(rows, about, strict=True)
        for name in names
    }
    experiment = Experiment("referee, experiments", points, procedure=try_explanation)
    tried = {each.key: each.value for each in runner.all(experiment)} if points else {}
    found = []
    for row, names in zip(rows, about, strict=True):
        number = row["number"]
        ns2 = dict(enumerate(outcomes[number]["ns2"]))
        agreeing = [
            name
            for name in names
            for each in judgments(ns2, dict(enumerate(tried[number, name])))
            if each.figure.name == row["figure"] and each.agrees
        ]
        found.append(next(iter(agreeing), ""))
    return frame.with_columns(explanation=pl.Series(found, dtype=pl.String))


def try_explanation(
    point: tuple[int, int, str], _seed: int, control: _core.Control
) -> list[dict[str, float]] | None:
    """Our figures of a setting in an explanation's experiment, run by run; `None` if canceled."""
    draw, number, name = point
    variant = Variant(keys=next(each.keys for each in EXPLANATIONS if each.name == name))
    runs: kept.Runs = {}
    whole = _run_ours(drawn(draw, number), runs, EXPERIMENT_SEEDS, control, variant)
    return list(runs.values()) if whole else None


def _explanations(row: Mapping[str, Any], draw: int) -> list[str]:
    """The explanations that are about a large difference."""
    if row["verdict"] != Verdict.LARGE:
        return []
    figure = next(each for each in FIGURES if each.name == row["figure"])
    scale = abs(row["ns2"]) if figure.relative else 1.0
    setting, difference = drawn(draw, row["number"]), row["difference"]
    return [each.name for each in EXPLANATIONS if each.is_about(setting, figure.name, difference, scale)]


def _is_worth_more(judgment: Judgment, seeds: int) -> bool:
    """Whether more seeds may decide a figure that matters: with the most, its interval may fit the margin."""
    narrowest = judgment.half_width * math.sqrt(seeds / STAGES[-1])
    return (
        judgment.figure.name in DECIDING
        and judgment.verdict is Verdict.UNDECIDED
        and narrowest <= judgment.margin
    )


def judgments(ns2: kept.Runs, ours: kept.Runs) -> list[Judgment]:
    """Every figure that both sides have."""
    return [
        judged(figure, theirs, mine)
        for figure in FIGURES
        if len(theirs := [each[figure.name] for each in ns2.values() if figure.name in each]) > 1
        and len(mine := [each[figure.name] for each in ours.values() if figure.name in each]) > 1
    ]


def frame_of(outcomes: Iterable[tuple[int, Setting, dict[str, Any]]]) -> pl.DataFrame:
    """One row a setting and figure."""
    rows = []
    for number, setting, outcome in outcomes:
        ns2, ours = (dict(enumerate(outcome[side])) for side in ("ns2", "ours"))
        rows += [
            {
                "number": number,
                "setting": program.arguments(setting),
                "agent": setting.stack,
                "figure": each.figure.name,
                "ns2_seeds": len(ns2),
                "our_seeds": len(ours),
                "ns2": each.ns2,
                "ours": each.ours,
                "difference": each.difference,
                "half_width": each.half_width,
                "margin": each.margin,
                "verdict": str(each.verdict),
            }
            for each in judgments(ns2, ours)
        ]
    return pl.DataFrame(rows)


def _known(draw: int, rows: Path | None) -> dict[str, kept.Runs]:
    found = kept.read(kept.shipped(draw))
    for setting, runs in (kept.read(rows) if rows is not None else {}).items():
        found.setdefault(setting, {}).update(runs)
    return found


def _run_ours(
    setting: Setting, runs: kept.Runs, seeds: int, control: _core.Control, variant: Variant = AS_IS
) -> bool:
    """Add what is missing of the first seeds, up to a count; whether no run was canceled."""
    for seed in range(1, seeds + 1):
        if seed in runs:
            continue
        run = nudged(setting, seed)
        measured = simulate(run, seed, control, variant)
        if measured is None:
            return False
        runs[seed] = figures_of(run, measured)
    return True


def _run_ns2(number: int, setting: Setting, runs: kept.Runs, seeds: int, file: Path | None) -> bool:
    """Add what is missing of the first seeds, up to a count; whether none was ended by a signal."""
    fresh: kept.Runs = {}
    for seed in range(1, seeds + 1):
        if seed in runs:
            continue
        run = nudged(setting, seed)
        measured = program.run(run, seed)
        if measured is None:
            return False
        fresh[seed] = figures_of(run, measured)
    runs.update(fresh)
    if file is not None and fresh:
        kept.append(file, number, setting, fresh)
    return True
