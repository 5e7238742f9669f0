"""A scenario run by a kernel: the same draws, the same tables as the simulator's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import polars as pl

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.experiment import recording
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.inline import CanceledError
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import ScenarioLike, prepare, seed_list
from bufferlab.kernel import guest, host, network
from bufferlab.kernel.boot import Report, boot
from bufferlab.kernel.cache import Kernel, kernel
from bufferlab.kernel.host import Punctual
from bufferlab.kernel.job import job_of, live_job_of
from bufferlab.kernel.outcome import result_of
from bufferlab.kernel.program import Program
from bufferlab.kernel.witnessed import Witnessed
from bufferlab.plan import plan_of
from bufferlab.results.result import RunSet
from bufferlab.scenario import Scenario

if TYPE_CHECKING:
    from bufferlab._core import Control

Row = dict[str, Any]

_SCHEMA: Final[Mapping[str, pl.DataType | type[pl.DataType]]] = {
    "at_ns": pl.Int64,
    "due_ns": pl.Int64,
    "kind": pl.String,
    "queue": pl.List(pl.Int64),
    "flows": pl.List(pl.List(pl.Int64)),
    "tables": pl.String,
}

QUEUES: Final = ("kernel", "bufferlab")
"""Whose link and disciplines a kernel's packets cross: its own, by tc, or the simulator's, in a forwarder."""

OUR_LINK: Final = ", Bufferlab's link"
"""What titles of results end with whose link is the simulator's."""


def emulate(
    scenario: ScenarioLike,
    *,
    seeds: int | Sequence[int] = 1,
    by: Kernel | None = None,
    queues: str = QUEUES[0],
    runner: Runner | None = None,
    pcap: str | PathLike[str] | None = None,
    pcap_at: str | Sequence[str] = recording.SENDERS,
    record_flows: str | Sequence[str] | None = None,
    record_limit: int = recording.DEFAULT_LIMIT,
    program: Program | None = None,
) -> RunSet:
    """Have a kernel run a scenario.

    Args:
        scenario: A scenario, the path of its file, or its content.
        seeds: How many seeds, counted up from the scenario's own, or a list of seeds.
        by: The kernel; default the newest that was built.
        queues: Whose link and disciplines packets cross: "kernel", its own, or "bufferlab", those of the
            simulator.
        runner: Runs the seeds, a kernel for each, and keeps what they report if it has a store; default a
            plain one.
        pcap: Write a capture (pcapng) here; with several seeds, a file for each: `capture-1.pcapng`.
        pcap_at: Where: `"senders"`, `"receivers"`, the link's name, or several of them.
        record_flows: Groups to capture; default all.
        record_limit: Packets in a capture, at most.
        program: A program that takes the place of the first group of flows; the run ends with it.

    Returns:
        The results, in order of the seeds; the same scenario, seed and kernel give the same results.

    Raises:
        InputError: The scenario has what a kernel is not given yet, or there is no kernel.
        OutputError: The store cannot be written.
        RunInterrupted: At Ctrl-C, with the seeds that were finished.
    """
    scenario = prepare(scenario)
    wanted = seed_list(seeds, scenario.run["seed"])
    ours = is_ours(queues)
    asked = recording.request(
        scenario, pcap=pcap, pcap_at=pcap_at, trace=None, groups=record_flows, limit=record_limit
    )
    if program is not None:
        scenario = program.prepared(scenario)
    check(scenario, wanted[0], ours=ours)
    by = by or kernel()
    title = f"{by.title}{OUR_LINK}" if ours else by.title
    if asked is not None or program is not None:
        special = Witnessed(
            start=partial(boot, by), title=title, job_of=partial(job_of, ours=ours, program=program),
            net=partial(network.net, ours=ours), asked=recording.by_seed(asked, wanted), program=program,
            punctual=[],
        )  # fmt: skip
        return special.run(scenario, wanted, runner or Runner())
    experiment = Experiment(
        scenario.title,
        {0: scenario},
        procedure=partial(reported, name=by.name, program=program_hash(ours), ours=ours),
        seeds=wanted,
        parameters=lambda _key: {"kernel": by.name} | ({"queues": queues} if ours else {}),
    )
    runner = runner or Runner()
    try:
        return _results(scenario, title, ((done.seed, done.value) for done in runner.all(experiment)))
    except RunInterrupted as interrupted:
        finished = [(done.seed, done.value) for done in interrupted.finished]
        raise RunInterrupted(
            _results(scenario, title, finished) if finished else None,
            len(finished),
            len(wanted),
            what="seeds finished",
            store=runner.directory,
        ) from interrupted


def emulate_live(
    scenario: ScenarioLike,
    *,
    seeds: int | Sequence[int] = 1,
    pcap: str | PathLike[str] | None = None,
    pcap_at: str | Sequence[str] = recording.SENDERS,
    record_flows: str | Sequence[str] | None = None,
    record_limit: int = recording.DEFAULT_LIMIT,
    program: Program | None = None,
    punctual: list[Punctual] | None = None,
) -> RunSet:
    """Have this machine's own kernel run a scenario live, over a link of Bufferlab's; seed after seed.

    Args:
        scenario: As for `emulate`.
        seeds: Seeds of what the simulator draws; the kernel has none.
        pcap: As for `emulate`.
        pcap_at: As for `emulate`.
        record_flows: As for `emulate`.
        record_limit: As for `emulate`.
        program: As for `emulate`.
        punctual: Is reported how punctual the link was, run by run.

    Raises:
        InputError: The scenario has what this kernel is not given.
        OutputError: The capture cannot be written.
        RunInterrupted: At Ctrl-C, with the seeds that were finished.
    """
    scenario = prepare(scenario)
    wanted = seed_list(seeds, scenario.run["seed"])
    asked = recording.request(
        scenario, pcap=pcap, pcap_at=pcap_at, trace=None, groups=record_flows, limit=record_limit
    )
    if program is not None:
        scenario = program.prepared(scenario)
    check(scenario, wanted[0], ours=True)
    special = Witnessed(
        start=host.start, title=f"{host.title()}{OUR_LINK}", job_of=partial(live_job_of, program=program),
        net=network.live_net, asked=recording.by_seed(asked, wanted), program=program,
        punctual=[] if punctual is None else punctual,
    )  # fmt: skip
    return special.run(scenario, wanted, Runner(threads=1))


def is_ours(queues: str) -> bool:
    """Whether the link is Bufferlab's.

    Raises:
        InputError: It is nobody's.
    """
    if queues not in QUEUES:
        raise InputError("are nobody's queues", key="--queues", value=queues, accepted=", ".join(QUEUES))
    return queues == QUEUES[1]


def check(scenario: Scenario, seed: int, *, ours: bool = False) -> None:
    """Check that a kernel can be given a scenario.

    Raises:
        InputError: It has what a kernel is not given yet; the message names the keys.
    """
    try:
        job_of(plan_of(scenario.seeded(seed)), ours=ours)
    except InputError as error:
        raise error.at(file=scenario.file) from None


def reported(
    scenario: Scenario, seed: int, control: Control, *, name: str, program: str, ours: bool = False
) -> Row | None:
    """What a kernel reports of a seed, as stores keep it; nothing if it was canceled.

    Args:
        scenario: What it runs.
        seed: The seed.
        control: Who may cancel.
        name: The kernel.
        program: What runs within it, as a hash: a report of another program is another one.
        ours: The link is Bufferlab's.
    """
    del program
    try:
        job = job_of(plan_of(scenario.seeded(seed)), ours=ours)
        report = boot(kernel(name), job, seed, control.is_canceled)
    except CanceledError:
        return None
    return {"rows": packed(report.rows), "cpu_s": report.cpu_s}


def packed(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A report's rows as a table."""
    return pl.DataFrame([{name: row.get(name) for name in _SCHEMA} for row in rows], schema=_SCHEMA)


def unpacked(table: pl.DataFrame) -> list[Row]:
    """The rows of a table that `packed` made."""
    return [{name: value for name, value in row.items() if value is not None} for row in table.to_dicts()]


def _results(scenario: Scenario, title: str, done: Iterable[tuple[int | None, Row]]) -> RunSet:
    reports = ((cast("int", seed), Report(unpacked(value["rows"]), value["cpu_s"])) for seed, value in done)
    return RunSet([result_of(scenario, seed, report, title=title) for seed, report in reports])


@cache
def program_hash(ours: bool) -> str:
    """What runs within a kernel, as a hash; with a link of ours, the engine, too."""
    texts = [path.read_bytes() for path in sorted(Path(guest.__file__).parent.glob("*.py"))]
    if ours:
        texts.append(_core.engine_fingerprint.encode())
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]
