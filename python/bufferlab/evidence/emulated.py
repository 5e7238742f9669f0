"""A document's runs on a real kernel: `bufferlab reproduce --engine uml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, cast

import polars as pl

from bufferlab.errors import InputError
from bufferlab.evidence.document import Document, Effort, Figure, Key, Other, Overrides, Runs
from bufferlab.evidence.measured import load
from bufferlab.evidence.reading import CLAIMS_FILE
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.runner import Runner
from bufferlab.kernel.boot import Report
from bufferlab.kernel.cache import Kernel
from bufferlab.kernel.emulate import OUR_LINK, check, program_hash, reported, unpacked
from bufferlab.kernel.outcome import result_of

SIMULATOR: Final = "simulator"
"""The name of the points that the simulator gave, beside a kernel's."""

NOTE: Final = (
    "Run by {title}, with '[runs.{runs}.uml]' of the claims file. Beside it stands what is kept of the "
    "simulator's full run. Claims without a point here are left out."
)


@dataclass(frozen=True)
class Emulated:
    """A document's runs as a kernel is given them.

    Attributes:
        effort: What is run.
        ours: The link is Bufferlab's, not the kernel's.
    """

    effort: Effort
    ours: bool


def emulated(document: Document, runs: Runs, *, quick: bool) -> Emulated:
    """What a kernel is given of runs; quick, short runs of what `--quick` has of it.

    Raises:
        InputError: The claims file has nothing for a kernel.
    """
    if runs.uml is None:
        accepted = "figures whose runs have a table 'uml'"
        key = f"runs.{runs.name}.uml"
        raise InputError("is not there", file=document.folder / CLAIMS_FILE, key=key, accepted=accepted)
    effort, queues = runs.uml
    if quick:
        few = {key: _few(values, runs.quick.vary[key]) for key, values in effort.vary.items()}
        effort = replace(effort, vary=few, seeds=1, changes={**effort.changes, **_SHORT})
    return Emulated(effort, queues == "bufferlab")


def _few(values: Mapping[Key, Overrides], quick: Mapping[Key, Overrides]) -> Mapping[Key, Overrides]:
    """Those that a quick run has, or all if it has others."""
    return {value: changes for value, changes in values.items() if value in quick} or values


_SHORT: Final = {"run.duration": "8 s", "run.warmup": "3 s"}
"""What a quick run is cut to."""


def measured_by(
    kernel: Kernel, given: Emulated, experiment: Experiment[Any], runner: Runner
) -> list[dict[str, Any]]:
    """What an experiment measures, with a kernel in the simulator's place; reports are kept in the store.

    Raises:
        InputError: A kernel is not given one of the scenarios.
    """
    for scenario in experiment.points.values():
        check(scenario, scenario.run["seed"], ours=given.ours)
    booted = replace(
        experiment,
        measure=None,
        procedure=partial(reported, name=kernel.name, program=program_hash(given.ours), ours=given.ours),
    )
    title = kernel.title + (OUR_LINK if given.ours else "")
    found = []
    for done in runner.all(booted):
        measure = cast("Mapping[Any, Any]", experiment.measure)[done.key]
        report = Report(unpacked(done.value["rows"]), done.value["cpu_s"])
        scenario = experiment.points[done.key]
        found.append(measure(result_of(scenario, cast("int", done.seed), report, title=title)))
    return found


def beside(document: Document, figure: Figure) -> tuple[Figure, dict[str, pl.DataFrame]]:
    """A figure that shows the simulator's points, too, and those points, if any are kept."""
    kept = load(document, figure)
    if kept is None:
        return figure, {}
    other = Other(SIMULATOR, "simulator", "")
    shown = tuple(replace(each, others=(*each.others, SIMULATOR)) for each in figure.shown)
    return replace(figure, others=(*figure.others, other), shown=shown), {SIMULATOR: kept.points}
