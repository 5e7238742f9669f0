"""`bufferlab run`: a scenario with one or several seeds, and its whole results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from bufferlab import _core
from bufferlab.errors import OutputError
from bufferlab.experiment import recording
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.job import Simulator
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import Engine, ScenarioLike, prepare, seed_list, simulate
from bufferlab.results import folder as store
from bufferlab.results.result import Result, RunSet
from bufferlab.scenario import Scenario


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
    runner: Runner | None = None,
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
        runner: Runs the seeds, with its own threads or cluster, and its own store if runs are to be kept in
            one (`bufferlab.experiment.runner.Runner`); default a plain one with `threads` and `progress`.
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
        RunInterrupted: At Ctrl-C, with the runs that were complete.
    """
    if out is not None:
        store.check_replaceable(Path(out))
    recording.check_spared(scenario, pcap, trace)
    scenario = prepare(scenario, overrides)
    wanted = seed_list(seeds, scenario.run["seed"])
    asked = recording.request(
        scenario, pcap=pcap, pcap_at=pcap_at, trace=trace, groups=record_flows, limit=record_limit
    )
    requests = recording.by_seed(asked, wanted)
    recording.check_writable(requests.values())
    try:
        runs = _run_all(
            scenario, wanted, runner or Runner(threads=threads, progress=progress), requests, engine
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


def _run_all(
    scenario: Scenario,
    seeds: Sequence[int],
    runner: Runner,
    requests: Mapping[int, recording.Request],
    engine: Engine,
) -> RunSet:
    def special(scenario: Scenario, seed: int, control: _core.Control) -> Result | None:
        return simulate(scenario, seed, control, requests.get(seed), engine)

    plain = not requests and engine is _core.simulate
    return run_by(scenario, seeds, runner, None if plain else special)


def run_by(scenario: Scenario, seeds: Sequence[int], runner: Runner, simulator: Simulator | None) -> RunSet:
    """Run a scenario's seeds.

    Args:
        scenario: The scenario.
        seeds: Its seeds.
        runner: Who runs them.
        simulator: Simulates in the place of the engine, for runs that no store spares.

    Raises:
        RunInterrupted: At Ctrl-C, with the runs that were complete.
    """
    experiment = Experiment(scenario.title, {0: scenario}, seeds=seeds, simulator=simulator)
    try:
        return RunSet(runner.values(experiment))
    except RunInterrupted as interrupted:
        finished = [done.value for done in interrupted.finished]
        raise RunInterrupted(
            RunSet(finished) if finished else None,
            len(finished),
            len(seeds),
            what="seeds finished",
            store=runner.directory if simulator is None else None,
        ) from interrupted
