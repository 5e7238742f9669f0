"""A scenario run by a kernel: the same draws, the same tables as the simulator's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import polars as pl

from bufferlab.errors import InputError
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.inline import CanceledError
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import ScenarioLike, prepare, seed_list, simulate
from bufferlab.kernel import guest
from bufferlab.kernel.boot import boot
from bufferlab.kernel.cache import Kernel, kernel
from bufferlab.kernel.job import job_of
from bufferlab.kernel.outcome import KernelOutcome
from bufferlab.plan import plan_of
from bufferlab.results.result import Result, RunSet
from bufferlab.scenario import Scenario

if TYPE_CHECKING:
    from bufferlab._core import Control, Outcome

Row = dict[str, Any]

_SCHEMA: Final[Mapping[str, pl.DataType | type[pl.DataType]]] = {
    "at_ns": pl.Int64,
    "due_ns": pl.Int64,
    "kind": pl.String,
    "queue": pl.List(pl.Int64),
    "flows": pl.List(pl.List(pl.Int64)),
}


def emulate(
    scenario: ScenarioLike,
    *,
    seeds: int | Sequence[int] = 1,
    by: Kernel | None = None,
    runner: Runner | None = None,
) -> RunSet:
    """Have a kernel run a scenario.

    Args:
        scenario: A scenario, the path of its file, or its content.
        seeds: How many seeds, counted up from the scenario's own, or a list of seeds.
        by: The kernel; default the newest that was built.
        runner: Runs the seeds, a kernel for each, and keeps what they report if it has a store; default a
            plain one.

    Returns:
        The results, in order of the seeds; the same scenario, seed and kernel give the same results.

    Raises:
        InputError: The scenario has what a kernel is not given yet, or there is no kernel.
        OutputError: The store cannot be written.
        RunInterrupted: At Ctrl-C, with the seeds that were finished.
    """
    scenario = prepare(scenario)
    wanted = seed_list(seeds, scenario.run["seed"])
    check(scenario, wanted[0])
    by = by or kernel()
    experiment = Experiment(
        scenario.title,
        {0: scenario},
        procedure=partial(reported, name=by.name, program=_program()),
        seeds=wanted,
        parameters=lambda _key: {"kernel": by.name},
    )
    runner = runner or Runner()
    try:
        return _results(scenario, by, ((done.seed, done.value) for done in runner.all(experiment)))
    except RunInterrupted as interrupted:
        finished = [(done.seed, done.value) for done in interrupted.finished]
        raise RunInterrupted(
            _results(scenario, by, finished) if finished else None,
            len(finished),
            len(wanted),
            what="seeds finished",
            store=runner.directory,
        ) from interrupted


def check(scenario: Scenario, seed: int) -> None:
    """Check that a kernel can be given a scenario.

    Raises:
        InputError: It has what a kernel is not given yet; the message names the keys.
    """
    try:
        job_of(plan_of(scenario.seeded(seed)))
    except InputError as error:
        raise error.at(file=scenario.file) from None


def reported(scenario: Scenario, seed: int, control: Control, *, name: str, program: str) -> Row | None:
    """What a kernel reports of a seed, as stores keep it; nothing if it was canceled.

    Args:
        scenario: What it runs.
        seed: The seed.
        control: Who may cancel.
        name: The kernel.
        program: What runs within it, as a hash: a report of another program is another one.
    """
    del program
    try:
        report = boot(kernel(name), job_of(plan_of(scenario.seeded(seed))), seed, control.is_canceled)
    except CanceledError:
        return None
    return {"rows": packed(report.rows), "cpu_s": report.cpu_s}


def packed(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A report's rows as a table."""
    return pl.DataFrame([{name: row.get(name) for name in _SCHEMA} for row in rows], schema=_SCHEMA)


def unpacked(table: pl.DataFrame) -> list[Row]:
    """The rows of a table that `packed` made."""
    return [{name: value for name, value in row.items() if value is not None} for row in table.to_dicts()]


def result_of(scenario: Scenario, seed: int, rows: Sequence[Mapping[str, Any]], *, title: str) -> Result:
    """The result of a report.

    Args:
        scenario: What was run.
        seed: With which seed.
        rows: What the kernel reported.
        title: The kernel's.
    """

    def engine(text: str, _control: Control | None, _recording: str | None) -> Outcome:
        return cast("Outcome", KernelOutcome(json.loads(text), rows))  # it has what is asked of one here

    result = simulate(scenario, seed, engine=engine)
    if result is None:
        raise AssertionError("nobody cancels a report")
    return replace(result, version=title)


def _results(scenario: Scenario, by: Kernel, done: Iterable[tuple[int | None, Row]]) -> RunSet:
    return RunSet(
        [
            replace(
                result_of(scenario, cast("int", seed), unpacked(value["rows"]), title=by.title),
                cpu_s=value["cpu_s"],
            )
            for seed, value in done
        ]
    )


@cache
def _program() -> str:
    return hashlib.sha256(Path(guest.__file__).read_bytes()).hexdigest()[:16]
