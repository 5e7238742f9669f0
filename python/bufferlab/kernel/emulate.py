"""A scenario run by a kernel: the same draws, the same tables as the simulator's."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from bufferlab.errors import InputError
from bufferlab.experiment.simulation import ScenarioLike, prepare, seed_list, simulate
from bufferlab.kernel.boot import boot
from bufferlab.kernel.cache import Kernel, kernel
from bufferlab.kernel.job import job_of
from bufferlab.kernel.outcome import KernelOutcome
from bufferlab.plan import plan_of
from bufferlab.results.result import Result, RunSet
from bufferlab.scenario import Scenario

if TYPE_CHECKING:
    from bufferlab._core import Control, Outcome


def emulate(
    scenario: ScenarioLike,
    *,
    seeds: int | Sequence[int] = 1,
    by: Kernel | None = None,
    done: Callable[[int], object] = lambda _count: None,
) -> RunSet:
    """Have a kernel run a scenario, one seed after the other.

    Args:
        scenario: A scenario, the path of its file, or its content.
        seeds: How many seeds, counted up from the scenario's own, or a list of seeds.
        by: The kernel; default the newest that was built.
        done: Called after each run with the number of runs so far.

    Returns:
        The results, in order of the seeds; the same scenario, seed and kernel give the same results.

    Raises:
        InputError: The scenario has what a kernel is not given yet, or there is no kernel.
    """
    scenario = prepare(scenario)
    wanted = seed_list(seeds, scenario.run["seed"])
    check(scenario, wanted[0])
    by = by or kernel()
    found = []
    for seed in wanted:
        found.append(_run(scenario, seed, by))
        done(len(found))
    return RunSet(found)


def check(scenario: Scenario, seed: int) -> None:
    """Check that a kernel can be given a scenario.

    Raises:
        InputError: It has what a kernel is not given yet; the message names the keys.
    """
    try:
        job_of(plan_of(scenario.seeded(seed)))
    except InputError as error:
        raise error.at(file=scenario.file) from None


def _run(scenario: Scenario, seed: int, by: Kernel) -> Result:
    cpu_s = 0.0

    def engine(text: str, _control: Control | None, _recording: str | None) -> Outcome:
        nonlocal cpu_s
        plan = json.loads(text)
        report = boot(by, job_of(plan), seed)
        cpu_s = report.cpu_s
        # it has what is asked of one here
        return cast("Outcome", KernelOutcome(plan, report.rows))

    result = simulate(scenario, seed, engine=engine)
    if result is None:
        raise AssertionError("nobody cancels a kernel's run")
    return replace(result, cpu_s=cpu_s, version=by.title)
