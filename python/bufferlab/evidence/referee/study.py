"""Drawn settings, run here and by ns-2 until each figure is decided, or no more seeds are allowed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import polars as pl

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.evidence.ns2.criteria import criteria
from bufferlab.evidence.ns2.explanations import EXPLANATIONS
from bufferlab.evidence.ns2.judging import CONFIDENCE, Judgment, Verdict, judged_in_pairs
from bufferlab.evidence.ns2.measure import simulate
from bufferlab.evidence.ns2.reference import Setting
from bufferlab.evidence.referee import kept, program
from bufferlab.evidence.referee.draw import drawn, nudged
from bufferlab.evidence.referee.figures import FIGURES, figures_of
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.job import Procedure
from bufferlab.experiment.runner import Runner

DRAW: Final = 1
COUNT: Final = 200
QUICK_COUNT: Final = 8

_SEEDS: Final = criteria(__package__)["seeds"]

STAGES: Final[tuple[int, ...]] = tuple(_SEEDS["stages"])
"""Seeds of both sides: this many at once, more as long as one of the figures of `DECIDING` is undecided."""

LOOK_CONFIDENCE: Final = 1 - (1 - CONFIDENCE) / len(STAGES)
"""Looking again until all is decided errs more often, so each look has its part of the error (Bonferroni)."""

DECIDING: Final[tuple[str, ...]] = tuple(_SEEDS["deciding"])
"""The figures that a buffer is sized by."""

Pairs = Sequence[tuple[Mapping[str, float], Mapping[str, float]]]
"""Figures of ns-2's run and of ours, seed by seed."""


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
    experiment = Experiment(
        f"referee, draw {draw}",
        {number: (draw, number, "") for number in settings},
        procedure=procedure,
        parameters=lambda number: {"number": number},
    )
    runner = runner or Runner()
    outcomes = {each.key: each.value for each in runner.all(experiment)}
    frame = frame_of((number, settings[number], outcomes[number]) for number in settings)
    return Referee(draw, explained(frame, draw, procedure, runner), lacking)


def confront(point: tuple[int, int, str], _seed: int, control: _core.Control, *, rows: str) -> Pairs | None:
    """Run one setting on both sides until all is decided: the figures of every seed, `None` if canceled.

    Args:
        point: Draw, number, and the explanation in whose experiment the setting is run; `""` as it is.
        control: Cancels the work.
        rows: File that keeps ns-2's runs as they end; `""` for none.
    """
    draw, number, name = point
    setting = drawn(draw, number)
    if name:
        setting = next(each for each in EXPLANATIONS if each.name == name).experiment(setting)
    file = Path(rows) if rows else None
    ns2 = dict(_known(draw, file).get(program.arguments(setting), {}))
    ours: kept.Runs = {}
    pairs: list[tuple[dict[str, float], dict[str, float]]] = []
    for seeds in STAGES:
        if program.is_there() and not _run_ns2(number, setting, ns2, seeds, file):
            return None
        if not _run_ours(setting, ours, seeds, control):
            return None
        pairs = [(ns2[seed], ours[seed]) for seed in range(1, seeds + 1) if seed in ns2]
        if not any(_is_worth_more(each, seeds) for each in judgments(pairs)):
            break
    return pairs


def explained(frame: pl.DataFrame, draw: int, procedure: Procedure, runner: Runner) -> pl.DataFrame:
    """The frame with the explanations of the large differences that vanish in their experiments."""
    rows = frame.to_dicts()
    about = [_explanations(row, draw) for row in rows]
    points = {
        (row["number"], name): (draw, row["number"], name)
        for row, names in zip(rows, about, strict=True)
        for name in names
    }
    experiment = Experiment("referee, experiments", points, procedure=procedure)
    tried = {each.key: each.value for each in runner.all(experiment)} if points else {}
    found = []
    for row, names in zip(rows, about, strict=True):
        agreeing = [
            name
            for name in names
            for each in judgments(tried[row["number"], name])
            if each.figure.name == row["figure"] and each.agrees
        ]
        found.append(next(iter(agreeing), ""))
    return frame.with_columns(explanation=pl.Series(found, dtype=pl.String))


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


def judgments(pairs: Pairs) -> list[Judgment]:
    """Every figure that both sides have."""
    found = []
    for figure in FIGURES:
        own = [(ns2[figure.name], ours[figure.name]) for ns2, ours in pairs if figure.name in ns2]
        if len(own) > 1:
            theirs, mine = zip(*own, strict=True)
            found.append(judged_in_pairs(figure, theirs, mine, LOOK_CONFIDENCE))
    return found


def frame_of(outcomes: Iterable[tuple[int, Setting, Pairs]]) -> pl.DataFrame:
    """One row a setting and figure."""
    return pl.DataFrame(
        [
            {
                "number": number,
                "setting": program.arguments(setting),
                "agent": setting.stack,
                "figure": each.figure.name,
                "seeds": len(pairs),
                "ns2": each.ns2,
                "ours": each.ours,
                "difference": each.difference,
                "half_width": each.half_width,
                "margin": each.margin,
                "verdict": str(each.verdict),
            }
            for number, setting, pairs in outcomes
            for each in judgments(pairs)
        ]
    )


def _known(draw: int, rows: Path | None) -> dict[str, kept.Runs]:
    found = kept.read(kept.shipped(draw))
    for setting, runs in (kept.read(rows) if rows is not None else {}).items():
        found.setdefault(setting, {}).update(runs)
    return found


def _run_ours(setting: Setting, runs: kept.Runs, seeds: int, control: _core.Control) -> bool:
    """Add what is missing of the first seeds, up to a count; whether no run was canceled."""
    for seed in range(1, seeds + 1):
        if seed in runs:
            continue
        run = nudged(setting, seed)
        measured = simulate(run, seed, control)
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
