"""`bufferlab emulate`: a scenario run by a real kernel."""

from __future__ import annotations

import sys
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bufferlab.cli.common import FAILED, say
from bufferlab.cli.options import (
    AsJson,
    Fresh,
    Overrides,
    PcapAt,
    ResultFolder,
    ScenarioFile,
    Seeds,
    StoreFolder,
    Threads,
    read_overrides,
)
from bufferlab.errors import InputError

if TYPE_CHECKING:
    from bufferlab.kernel.host import Punctual
    from bufferlab.kernel.program import Program
    from bufferlab.results.result import RunSet

_ENGINES: Final = ("uml", "host")
_EXAMPLES: Final = """\b
Examples:
  bufferlab emulate examples/kernel.toml
  bufferlab emulate examples/kernel.toml --set bottleneck.queue=codel --seeds 3
  bufferlab emulate examples/kernel.toml -- ping -c 3 10.1.0.2
"""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("emulate", epilog=_EXAMPLES)(emulate)


def emulate(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    scenario: ScenarioFile,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND",
            help="A program of yours as traffic, in the place of the first group of flows; it ends the run.",
            show_default=False,
        ),
    ] = None,
    overrides: Overrides = None,
    seeds: Seeds = 1,
    engine: Annotated[
        str,
        typer.Option(
            help="Which kernel: uml, a User-Mode Linux in virtual time, or host, this machine's, live."
        ),
    ] = "uml",
    kernel_name: Annotated[
        str | None,
        typer.Option(
            "--kernel",
            help="One that was built, as 'kernel list' names it; default the newest.",
            show_default=False,
        ),
    ] = None,
    queues: Annotated[
        str | None,
        typer.Option(
            help="Whose link and queue packets cross: the kernel's own (kernel; default with uml), or those "
            "of run (bufferlab; always with host).",
            show_default=False,
        ),
    ] = None,
    at: Annotated[
        str,
        typer.Option(
            metavar="SIDE",
            help="Where COMMAND runs: senders, whose packets cross the link, or receivers.",
        ),
    ] = "senders",
    peer: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND-LINE",
            help="What runs on the other side, from the run's begin to COMMAND's end: a server.",
            show_default=False,
        ),
    ] = None,
    pcap: Annotated[
        Path | None,
        typer.Option(
            help="Write what the hosts and the link see to this file (pcapng, for Wireshark).",
            show_default=False,
        ),
    ] = None,
    pcap_at: PcapAt = None,
    record_flows: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUP", help="Groups of flows in --pcap; repeatable. [default: all]"),
    ] = None,
    record_limit: Annotated[int, typer.Option(help="Largest number of packets in --pcap.")] = 10_000_000,
    out: ResultFolder = None,
    threads: Threads = None,
    store: StoreFolder = None,
    fresh: Fresh = False,
    as_json: AsJson = False,
) -> None:
    """Have a real Linux kernel run a scenario.

    What happens is shown as run shows it. TCP and the queue disciplines are Linux's own; flows, round trips
    and starts are those that run draws for the same seed. It needs a kernel made by 'kernel build' and a
    scenario of one link (docs/kernel.md).
    """
    # slow to import, and not needed for a help
    from bufferlab.cli.outputs import Outputs  # noqa: PLC0415
    from bufferlab.cli.running import delivering, runner_of, say_kept  # noqa: PLC0415
    from bufferlab.experiment.recording import SENDERS, RecordingWarning, check_spared  # noqa: PLC0415
    from bufferlab.experiment.simulation import prepare  # noqa: PLC0415
    from bufferlab.experiment.store.studies import Study  # noqa: PLC0415
    from bufferlab.kernel.cache import kernel  # noqa: PLC0415
    from bufferlab.kernel.emulate import emulate as emulated  # noqa: PLC0415
    from bufferlab.kernel.emulate import emulate_live, is_ours  # noqa: PLC0415
    from bufferlab.kernel.own import kernels_own  # noqa: PLC0415

    if engine not in _ENGINES:
        raise InputError("is no engine", file="--engine", value=engine, accepted=", ".join(_ENGINES))
    queues = queues or ("bufferlab" if engine == "host" else "kernel")
    ours = is_ours(queues)
    if engine == "host" and not ours:
        raise InputError("is not had live", file="--queues", value=queues, accepted="bufferlab with host")
    outputs = Outputs(out=out, plot=None, flent=None, as_json=as_json)
    outputs.check(seeds)
    check_spared(scenario, pcap)
    case = prepare(scenario, read_overrides(overrides))
    runner = runner_of(threads=threads, engine="local", ray_address=None, store=store, fresh=fresh)
    program = program_of(command, at=at, peer=peer, seeds=seeds, as_json=as_json)

    def deliver(runs: RunSet) -> None:
        own = kernels_own(runs[0].plan, ours=ours, live=engine == "host", program=program is not None)
        for line in own:
            say(f"the kernel's own: {line}")
        outputs.deliver(runs)

    punctual: list[Punctual] = []
    if engine == "host":
        run = partial(emulate_live, punctual=punctual)
    else:
        by = None if kernel_name is None else kernel(kernel_name)
        run = partial(emulated, by=by, queues=queues, runner=runner)
    with delivering(deliver), runner.study(Study.of("emulate", case)), warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)  # said below
        runs = run(
            case,
            seeds=seeds,
            pcap=pcap,
            pcap_at=pcap_at or SENDERS,
            record_flows=record_flows or None,
            record_limit=record_limit,
            program=program,
        )
    say_kept(runner)
    deliver(runs)
    for one in punctual:
        say(str(one))
        for disturbance in one.disturbances:
            say(f"disturbed: {disturbance}")
    say_left(runs, program)


def program_of(
    command: list[str] | None, *, at: str, peer: str | None, seeds: int, as_json: bool
) -> Program | None:
    """The user's program, if there is one.

    Raises:
        InputError: It cannot be started, or there is none for what is said of it.
    """
    from bufferlab.kernel.program import Program  # noqa: PLC0415 - slow to import, and no help needs it

    if not command:
        if peer is not None:
            raise InputError("has nothing to talk to", file="--peer", value=peer, accepted="-- COMMAND")
        return None
    if seeds > 1:
        raise InputError("would run COMMAND again", file="--seeds", value=seeds, accepted="1 with COMMAND")
    program = Program(tuple(command), at=at, peer=peer, output=sys.stderr if as_json else sys.stdout)
    program.check()
    return program


def say_left(runs: RunSet, program: Program | None) -> None:
    """Say what became of captures and of the program; what failed is the exit status.

    Raises:
        typer.Exit: A capture is not whole, or the program failed.
    """
    recordings = [recording for result in runs for recording in result.recordings]
    endings = [] if program is None else program.endings
    for recording in recordings:
        say(str(recording))
    for ending in endings:
        say(f"COMMAND: {ending}")
    if any(recording.problem is not None for recording in recordings) or any(each.status for each in endings):
        raise typer.Exit(FAILED)
