"""The runs of both: the same scenario, the same seeds."""

from __future__ import annotations

from collections.abc import Sequence

from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.run import run
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import ScenarioLike, prepare, seed_list
from bufferlab.kernel.cache import Kernel, kernel
from bufferlab.kernel.emulate import QUEUES, check, emulate, is_ours
from bufferlab.results.result import RunSet
from bufferlab.studies.crosscheck.comparison import Crosscheck


def crosscheck(
    scenario: ScenarioLike,
    *,
    seeds: int | Sequence[int] = 3,
    by: Kernel | None = None,
    queues: str = QUEUES[0],
    runner: Runner | None = None,
) -> Crosscheck:
    """Run a scenario by the simulator and by a kernel.

    Args:
        scenario: A scenario, the path of its file, or its content.
        seeds: How many seeds, counted up from the scenario's own, or a list of seeds.
        by: The kernel; default the newest that was built.
        queues: Whose link and disciplines packets cross in the kernel: "kernel", its own, or "bufferlab",
            those of the simulator, so that hosts alone differ.
        runner: Runs the kernels, and keeps what they report if it has a store; default a plain one.

    Raises:
        InputError: The scenario has what a kernel is not given yet, or there is no kernel.
        OutputError: The store cannot be written.
        RunInterrupted: At Ctrl-C, with the comparison of the seeds that the kernel finished.
    """
    scenario = prepare(scenario)
    wanted = seed_list(seeds, scenario.run["seed"])
    check(scenario, wanted[0], ours=is_ours(queues))
    by = by or kernel()
    simulated = run(scenario, seeds=wanted, runner=Runner(progress=False))
    try:
        return Crosscheck(simulated, emulate(scenario, seeds=wanted, by=by, queues=queues, runner=runner))
    except RunInterrupted as interrupted:
        if interrupted.finished is None:
            raise
        ours = RunSet([each for each in simulated if each.seed in interrupted.finished.seeds])
        raise interrupted.concluded(Crosscheck(ours, interrupted.finished)) from interrupted
