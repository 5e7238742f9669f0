"""Drawn settings, run here and elsewhere until each figure is decided, or no more seeds are allowed."""

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
from bufferlab.evidence.ns2.judging import CONFIDENCE, Judgment, Verdict, judged_in_pairs
from bufferlab.evidence.ns2.reference import Setting
from bufferlab.evidence.referee import kept
from bufferlab.evidence.referee.draw import nudged
from bufferlab.evidence.referee.figures import figures_of
from bufferlab.evidence.referee.peers import NS2, PEERS, Peer
from bufferlab.evidence.referee.program import arguments
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.job import Procedure
from bufferlab.experiment.runner import Runner

DRAW: Final = 1
QUICK_COUNT: Final = 8

_SEEDS: Final = criteria(__package__)["seeds"]

STAGES: Final[tuple[int, ...]] = tuple(_SEEDS["stages"])
"""Seeds of both sides: this many at once, more as long as one of the figures of `DECIDING` is undecided."""

LOOK_CONFIDENCE: Final = 1 - (1 - CONFIDENCE) / len(STAGES)
"""Looking again until all is decided errs more often, so each look has its part of the error (Bonferroni)."""

DECIDING: Final[tuple[str, ...]] = tuple(_SEEDS["deciding"])
"""The figures that a buffer is sized by."""

Pairs = Sequence[tuple[Mapping[str, float], Mapping[str, float]]]
"""Figures of the other simulator's run and of ours, seed by seed."""


@dataclass(frozen=True)
class Referee:
    """Drawn settings, compared.

    Attributes:
        draw: Seed of the draw.
        frame: One row a setting and figure.
        lacking: How many settings have no runs of the other simulator.
        peer: The other simulator.
    """

    draw: int
    frame: pl.DataFrame
    lacking: int
    peer: Peer = NS2


def referee(
    *,
    peer: Peer = NS2,
    draw: int = DRAW,
    count: int | None = None,
    first: int = 1,
    rows: Path | None = None,
    runner: Runner | None = None,
) -> Referee:
    """Compare drawn settings with another simulator, in every figure.

    Runs of it that are kept, in `rows` or in the package, are not repeated. Where it is not installed they
    are all there is, and settings without any are left out.

    Args:
        peer: The other simulator.
        draw: Seed of the draw.
        count: How many settings; default the peer's.
        first: Number of the first one.
        rows: File that keeps the other's runs as they end; without one they are not kept.
        runner: Runs the settings; default a plain one.

    Raises:
        InputError: There is neither the other simulator nor any run of it.
        RunInterrupted: At Ctrl-C; the other's runs are kept.
    """
    known = _known(peer, draw, rows)
    settings = {number: peer.drawn(draw, number) for number in range(first, first + (count or peer.count))}
    if not peer.is_there():
        there = {number: each for number, each in settings.items() if known.get(arguments(each))}
        if not there:
            raise InputError(
                f"is not there, and no run of it is kept for draw {draw}", file=peer.name,
                accepted=peer.install,
            )  # fmt: skip
        lacking, settings = len(settings) - len(there), there
    else:
        lacking = 0
    procedure = partial(confront, peer=peer.key, rows="" if rows is None else str(rows))
    experiment = Experiment(
        f"{peer.name} referee, draw {draw}",
        {number: (draw, number, "") for number in settings},
        procedure=procedure,
        parameters=lambda number: {"number": number},
    )
    runner = runner or Runner()
    outcomes = {each.key: each.value for each in runner.all(experiment)}
    frame = frame_of(peer, ((number, settings[number], outcomes[number]) for number in settings))
    return Referee(draw, explained(peer, frame, draw, procedure, runner), lacking, peer)


def confront(
    point: tuple[int, int, str], _seed: int, control: _core.Control, *, peer: str, rows: str
) -> Pairs | None:
    """Run one setting on both sides until all is decided: the figures of every seed, `None` if canceled.

    Args:
        point: Draw, number, and the explanation in whose experiment the setting is run; `""` as it is.
        control: Cancels the work.
        peer: Key of the other simulator.
        rows: File that keeps the other's runs as they end; `""` for none.
    """
    other = PEERS[peer]
    draw, number, name = point
    setting = other.drawn(draw, number)
    if name:
        setting = next(each for each in other.explanations if each.name == name).experiment(setting)
    file = Path(rows) if rows else None
    theirs = dict(_known(other, draw, file).get(arguments(setting), {}))
    ours: kept.Runs = {}
    pairs: list[tuple[dict[str, float], dict[str, float]]] = []
    for seeds in (each for each in STAGES if each <= other.most_seeds):
        fresh = _run_theirs(other, setting, theirs, seeds) if other.is_there() else {}
        if fresh is None:
            return None
        if file is not None and fresh:
            kept.append(file, number, setting, fresh, other.columns)
        theirs.update(fresh)
        if not _run_ours(other, setting, ours, seeds, control):
            return None
        pairs = [(theirs[seed], ours[seed]) for seed in range(1, seeds + 1) if seed in theirs]
        if not any(_is_worth_more(each, seeds, other) for each in judgments(other, pairs)):
            break
    return pairs


def explained(
    peer: Peer, frame: pl.DataFrame, draw: int, procedure: Procedure, runner: Runner
) -> pl.DataFrame:
    """The frame with the explanations of the large differences that vanish in their experiments."""
    rows = frame.to_dicts()
    about = [_explanations(peer, row, draw) for row in rows]
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
            for each in judgments(peer, tried[row["number"], name])
            if each.figure.name == row["figure"] and each.agrees
        ]
        found.append(next(iter(agreeing), ""))
    return frame.with_columns(explanation=pl.Series(found, dtype=pl.String))


def _explanations(peer: Peer, row: Mapping[str, Any], draw: int) -> list[str]:
    """The explanations that are about a large difference."""
    if row["verdict"] != Verdict.LARGE:
        return []
    figure = peer.figure(row["figure"])
    scale = abs(row["theirs"]) if figure.relative else 1.0
    setting, difference = peer.drawn(draw, row["number"]), row["difference"]
    return [each.name for each in peer.explanations if each.is_about(setting, figure.name, difference, scale)]


def _is_worth_more(judgment: Judgment, seeds: int, peer: Peer) -> bool:
    """Whether more seeds may decide a figure that matters: with the most, its interval may fit the margin."""
    narrowest = judgment.half_width * math.sqrt(seeds / peer.most_seeds)
    return (
        judgment.figure.name in DECIDING
        and judgment.verdict is Verdict.UNDECIDED
        and narrowest <= judgment.margin
    )


def judgments(peer: Peer, pairs: Pairs) -> list[Judgment]:
    """Every figure that both sides have."""
    found = []
    for figure in peer.figures:
        own = [(theirs[figure.name], ours[figure.name]) for theirs, ours in pairs if figure.name in theirs]
        if len(own) > 1:
            other, mine = zip(*own, strict=True)
            found.append(judged_in_pairs(figure, other, mine, LOOK_CONFIDENCE))
    return found


def frame_of(peer: Peer, outcomes: Iterable[tuple[int, Setting, Pairs]]) -> pl.DataFrame:
    """One row a setting and figure."""
    return pl.DataFrame(
        [
            {
                "number": number,
                "setting": arguments(setting),
                "agent": peer.part(setting),
                "figure": each.figure.name,
                "seeds": len(pairs),
                "theirs": each.theirs,
                "ours": each.ours,
                "difference": each.difference,
                "half_width": each.half_width,
                "margin": each.margin,
                "verdict": str(each.verdict),
            }
            for number, setting, pairs in outcomes
            for each in judgments(peer, pairs)
        ]
    )


def _known(peer: Peer, draw: int, rows: Path | None) -> dict[str, kept.Runs]:
    found = kept.read(kept.shipped(peer.key, draw))
    for setting, runs in (kept.read(rows) if rows is not None else {}).items():
        found.setdefault(setting, {}).update(runs)
    return found


def _run_ours(peer: Peer, setting: Setting, runs: kept.Runs, seeds: int, control: _core.Control) -> bool:
    """Add what is missing of the first seeds, up to a count; whether no run was canceled."""
    for seed in range(1, seeds + 1):
        if seed in runs:
            continue
        run = nudged(setting, seed)
        measured = peer.simulate(run, seed, control)
        if measured is None:
            return False
        runs[seed] = figures_of(run, measured)
    return True


def _run_theirs(peer: Peer, setting: Setting, known: kept.Runs, seeds: int) -> kept.Runs | None:
    """What is missing of the first seeds, up to a count; `None` if one was ended by a signal."""
    fresh: kept.Runs = {}
    for seed in range(1, seeds + 1):
        if seed in known:
            continue
        run = nudged(setting, seed)
        measured = peer.run(run, seed)
        if measured is None:
            return None
        fresh[seed] = figures_of(run, measured)
    return fresh
