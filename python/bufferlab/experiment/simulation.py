"""Simulate a scenario, for one or several seeds at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final

from bufferlab import _core
from bufferlab.errors import InputError, OutputError
from bufferlab.experiment.batch import BatchInterrupted, run_batch
from bufferlab.files import not_written
from bufferlab.plan import Plan, lower, plan_hash, plan_json
from bufferlab.results import folder as store
from bufferlab.results import frames, recording
from bufferlab.results.result import Result, RunSet
from bufferlab.scenario import Scenario

MAX_SEEDS: Final = 100_000
"""Most seeds in one call."""

ScenarioLike = Scenario | str | PathLike[str] | Mapping[str, Any]
"""A scenario, the path of its file, or its content as nested mappings."""


Engine = Callable[[str, _core.Control | None, str | None], _core.Outcome]
"""Runs a plan, given as JSON, to its end or until the control cancels it, and records what is asked."""


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C (or a signal) ended the runs early.

    Attributes:
        finished: The runs that were complete, `None` if there are none.
        asked: How many were asked for.
    """

    def __init__(self, finished: RunSet | None, asked: int) -> None:
        self.finished = finished
        self.asked = asked
        super().__init__(f"interrupted: {len(finished) if finished else 0} of {asked} seeds finished")


class NotSavedError(OutputError):
    """Runs that were made could not be saved.

    Attributes:
        finished: The runs.
    """

    def __init__(self, problem: str, finished: RunSet) -> None:
        self.finished = finished
        super().__init__(problem)


def run(
    scenario: ScenarioLike,
    *,
    seeds: int | Sequence[int] = 1,
    threads: int | None = None,
    progress: bool | None = None,
    out: str | PathLike[str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    pcap: str | PathLike[str] | None = None,
    pcap_at: str | Sequence[str] = recording.SENDERS,
    trace: str | PathLike[str] | None = None,
    record_flows: str | Sequence[str] | None = None,
    record_limit: int = recording.DEFAULT_LIMIT,
    engine: Engine = _core.simulate,
) -> RunSet:
    """Simulate a scenario.

    Ctrl-C cancels what is running; finished runs are saved if `out` is given and are in the exception.

    Args:
        scenario: A scenario, the path of its file, or its content as nested mappings.
        seeds: How many seeds, counted up from the scenario's own, or a list of seeds.
        threads: Seeds that run at the same time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        out: Write the result folder here (see `bufferlab.results.folder`); an older result is replaced.
        overrides: Values that replace those of the scenario, by path: `{"links[0].buffer": "50 packets"}`.
        pcap: Write a capture (pcapng) here; with several seeds, a file for each: `capture-1.pcapng`.
        pcap_at: Where: `"senders"`, `"receivers"`, a link's name, or several of them.
        trace: Write every packet's events here: with the suffix .csv a table, otherwise as ns-2 writes it.
        record_flows: Groups to record; default all.
        record_limit: Packets in a capture, and lines in a trace, at most.
        engine: Who runs the plans; `bufferlab.render.watching` has one that is looked at.

    Returns:
        The results, in order of the seeds; the same scenario and seed give the same result anywhere.

    Raises:
        InputError: If the scenario or an argument cannot be used.
        OutputError: If `out`, `pcap` or `trace` cannot be written.
        NotSavedError: If `out` could be written before the run and not after it; it has the runs. A disk that
            fills during the run leaves the results as they are: `Result.recordings` says so, and a
            `RecordingWarning`.
        RunInterrupted: At Ctrl-C.
    """
    if out is not None:
        store.check_replaceable(Path(out))
    scenario = prepare(scenario, overrides)
    wanted = seed_list(seeds, scenario.run.seed)
    asked = recording.request(
        scenario, pcap=pcap, pcap_at=pcap_at, trace=trace, groups=record_flows, limit=record_limit
    )
    requests = {
        seed: asked.of_seed(seed) if len(wanted) > 1 else asked for seed in wanted if asked is not None
    }
    recording.check_writable(requests.values())
    try:
        runs = _run_all(
            scenario, wanted, threads=threads, progress=progress, requests=requests, engine=engine
        )
    except RunInterrupted as interrupted:
        if out is not None and interrupted.finished is not None:
            interrupted.finished.save(Path(out))
        raise
    if out is not None:
        try:
            runs.save(Path(out))
        except OutputError as error:
            raise NotSavedError(str(error), runs) from error
    recording.warn(one for run in runs for one in run.recordings)
    return runs


def prepare(scenario: ScenarioLike, overrides: Mapping[str, Any] | None = None) -> Scenario:
    """Read and check a scenario, with overrides applied.

    Raises:
        InputError: If it cannot be used.
    """
    if isinstance(scenario, Mapping):
        scenario = Scenario.from_dict(scenario)
    elif not isinstance(scenario, Scenario):
        scenario = Scenario.load(scenario)
    if overrides:
        scenario = scenario.with_overrides(overrides)
    for index, flow in enumerate(scenario.flows):
        if flow.name == frames.ALL:
            raise InputError(
                "stands for all groups together in results",
                file=scenario.file,
                key=f"flows[{index}].name",
                value=flow.name,
                accepted="another name",
            )
    return scenario


def seed_list(seeds: int | Sequence[int], first: int) -> list[int]:
    """The seeds meant by a number of seeds, counted up from `first`, or by a list of them.

    Raises:
        InputError: If there are none, too many, or the same twice.
    """
    wanted = (
        [first + index for index in range(min(seeds, MAX_SEEDS + 1))]
        if isinstance(seeds, int)
        else list(seeds)
    )
    if not 1 <= len(wanted) <= MAX_SEEDS:
        raise InputError(
            "is not a usable number of seeds",
            key="seeds",
            value=seeds if isinstance(seeds, int) else len(wanted),
            accepted=f"1 to {MAX_SEEDS}",
        )
    if len(set(wanted)) != len(wanted):
        raise InputError("names a seed twice", key="seeds", value=wanted, accepted="different seeds")
    return wanted


def simulate(
    scenario: Scenario,
    seed: int,
    control: _core.Control | None = None,
    asked: recording.Request | None = None,
    engine: Engine = _core.simulate,
) -> Result | None:
    """Simulate one seed in this thread, recording what is asked; `None` if `control` canceled it.

    Raises:
        InputError: If the engine refuses the plan.
        OutputError: If a recording's file cannot be opened.
    """
    return simulate_plan(
        lower(scenario, seed),
        control,
        name=scenario.title,
        scenario=scenario.to_toml(),
        overrides=scenario.overrides,
        file=scenario.file,
        record=(asked, asked.as_json(scenario)) if asked else None,
        engine=engine,
    )


def simulate_plan(
    plan: Plan,
    control: _core.Control | None = None,
    *,
    name: str,
    scenario: str,
    overrides: Mapping[str, Any],
    file: str | None = None,
    brief: bool = False,
    record: tuple[recording.Request, str] | None = None,
    engine: Engine = _core.simulate,
) -> Result | None:
    """Simulate a plan in this thread; `None` if `control` canceled it.

    Args:
        plan: The plan.
        control: Cancels it, and tells how far it is.
        name: Title of the scenario, for the result.
        scenario: The scenario as TOML, for the result.
        overrides: Its overrides by path, for the result.
        file: The scenario's file, for messages.
        brief: Only the frames that a summary needs, for runs that take less time than their other frames.
        record: What to record, and the same as the engine takes it.
        engine: Who runs it.

    Raises:
        InputError: If the engine refuses the plan.
    """
    text = plan_json(plan)
    began_s = time.thread_time()
    try:
        outcome = engine(text, control, record[1] if record else None)
    except ValueError as error:
        raise InputError(str(error), file=file) from error
    except OSError as error:
        raise not_written(error.filename, error) from error
    cpu_s = time.thread_time() - began_s
    if outcome.canceled:
        return None
    return Result(
        name=name,
        scenario=scenario,
        overrides=overrides,
        plan=plan,
        plan_hash=plan_hash(plan),
        frames=frames.from_outcome(outcome, plan, brief=brief),
        reached_ps=outcome.reached_ps,
        events=outcome.events,
        packets=outcome.packets,
        cpu_s=cpu_s,
        version=_core.engine_version,
        recordings=record[0].told(outcome.recordings) if record else (),
    )


def _run_all(
    scenario: Scenario,
    seeds: Sequence[int],
    *,
    threads: int | None,
    progress: bool | None,
    requests: Mapping[int, recording.Request],
    engine: Engine,
) -> RunSet:
    def task(seed: int, control: _core.Control) -> Result | None:
        return simulate(scenario, seed, control, requests.get(seed), engine)

    try:
        results = run_batch(
            task,
            seeds,
            title=scenario.title,
            threads=threads,
            progress=progress,
            durations_ps=[scenario.run.duration_ps] * len(seeds),
        )
    except BatchInterrupted as interrupted:
        finished = RunSet(interrupted.finished) if interrupted.finished else None
        raise RunInterrupted(finished, interrupted.asked) from interrupted
    return RunSet(results)
