"""The simulator's side of the grid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from bufferlab.evidence.kernels.grid import LINUX, Setting, scenario
from bufferlab.evidence.kernels.record import Row, figures, recorded
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.runner import Runner
from bufferlab.stats import estimate
from bufferlab.studies.crosscheck import COMPARED
from bufferlab.studies.crosscheck import Row as Line


def compare(runner: Runner | None = None) -> pl.DataFrame:
    """Simulate what is recorded of the kernel: a row a setting and figure, of CoDel's two ways each."""
    theirs: dict[Setting, list[Row]] = {}
    for (setting, _), row in recorded().items():
        theirs.setdefault(setting, []).append(row)
    points = {
        (*setting, way is not None): scenario(setting, way)
        for setting in theirs
        for way in _ways(setting.queue)
    }
    seeds = {setting: [row["seed"] for row in rows] for setting, rows in theirs.items()}
    experiment = Experiment(
        "kernel grid",
        points,
        measure=figures,
        seeds=lambda key: seeds[Setting(*key[:4])],
        parameters=lambda key: dict(zip((*Setting._fields, "as_linux"), key, strict=True)),
    )
    ours: dict[Any, list[Row]] = {}
    for done in (runner or Runner()).all(experiment):
        ours.setdefault(done.key, []).append(done.value)
    return pl.DataFrame(
        [row for key, values in ours.items() for row in _lines(key, values, theirs[Setting(*key[:4])])],
        infer_schema_length=None,
    )


def _ways(queue: str) -> Sequence[Mapping[str, str] | None]:
    return [None, LINUX[queue]] if queue in LINUX else [None]


def _lines(key: tuple[Any, ...], ours: Sequence[Row], theirs: Sequence[Row]) -> Iterable[Row]:
    for each in COMPARED:
        here, there = (estimate([row[each.name] for row in rows]) for rows in (ours, theirs))
        line = Line(each, here, there)
        if line.verdict is None or line.ours.mean is None or line.kernels.mean is None:
            continue
        apart = abs(line.kernels.mean - line.ours.mean)
        yield dict(zip((*Setting._fields, "as_linux"), key, strict=True)) | {
            "figure": each.name,
            "simulator": line.ours.mean,
            "kernel": line.kernels.mean,
            "margin": each.margin(line.ours.mean),
            "agrees": apart <= each.margin(line.ours.mean),
            "verdict": line.verdict.value,
            "seeds": len(theirs),
        }
