"""`bufferlab run`: simulate a scenario."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bufferlab.cli.common import FAILED, say
from bufferlab.cli.options import (
    AsJson,
    Engine,
    Fresh,
    Overrides,
    PcapAt,
    RayAddress,
    ResultFolder,
    ScenarioFile,
    Seeds,
    Threads,
    read_overrides,
)

if TYPE_CHECKING:
    from bufferlab.cli.outputs import Outputs
    from bufferlab.scenario import Scenario

_EXAMPLES: Final = """\b
Examples:
  bufferlab run examples/call.toml --seeds 10
  bufferlab run examples/bufferbloat.toml --set bottleneck.queue=codel --plot figures
  bufferlab run examples/published-link.toml --scale 10 --out results/link
"""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("run", epilog=_EXAMPLES)(run)


def run(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    scenario: ScenarioFile,
    overrides: Overrides = None,
    seeds: Seeds = 1,
    factor: Annotated[
        int,
        typer.Option("--scale", help="Run the twin with 1/SCALE of the rates and flows."),
    ] = 1,
    threads: Threads = None,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps the whole results of finished runs, which are then not made again; "
            "not of runs that are recorded or watched.",
            show_default=False,
        ),
    ] = None,
    fresh: Fresh = False,
    out: ResultFolder = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Draw the figures here, as PNG and SVG: a folder, as a run has several.",
            show_default=False,
        ),
    ] = None,
    flent_file: Annotated[
        Path | None,
        typer.Option(
            "--flent",
            metavar="FILE.flent.gz",
            help="Write the run for Flent, which plots it: flent -i FILE.flent.gz -f plot.",
            show_default=False,
        ),
    ] = None,
    pcap: Annotated[
        Path | None,
        typer.Option(
            help="Write what the hosts and links see to this file (pcapng, for Wireshark).",
            show_default=False,
        ),
    ] = None,
    pcap_at: PcapAt = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            help="Write every packet's events to this file: ns-2's lines, or a table if it ends in .csv.",
            show_default=False,
        ),
    ] = None,
    record_flows: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP", help="Groups of flows in --pcap and --trace; repeatable. [default: all]"
        ),
    ] = None,
    record_limit: Annotated[
        int, typer.Option(help="Largest number of packets in --pcap, and of lines in --trace.")
    ] = 10_000_000,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Live view: queues, windows, round trips and goodput during the run."),
    ] = False,
    watch_speed: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Live view at this number of simulated seconds per second; default as fast as possible.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run one scenario as it stands, and show what happens.

    It searches nothing and compares nothing: size and advise search buffers, compare sets queues side by
    side, sweep runs a grid of variants.
    """
    from bufferlab.cli.outputs import Outputs  # noqa: PLC0415 - slow to import, and no help needs it
    from bufferlab.cli.running import delivering, runner_with, say_kept  # noqa: PLC0415
    from bufferlab.cli.watch import may_watch  # noqa: PLC0415
    from bufferlab.experiment.recording import SENDERS, RecordingWarning, check_spared  # noqa: PLC0415
    from bufferlab.experiment.run import run as simulate  # noqa: PLC0415

    outputs = Outputs(out=out, plot=plot, flent=flent_file, as_json=as_json)
    outputs.check(seeds)  # before any work is done
    check_spared(scenario, pcap, trace)
    case = _prepared(scenario, overrides, factor, outputs)
    looks_on = (watch or watch_speed is not None) and may_watch(seeds, watch_speed, pcap or trace)
    runner = runner_with(threads=threads, engine=engine, ray_address=ray_address, store=store, fresh=fresh)
    with delivering(outputs.deliver), warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)  # said below
        if looks_on:
            from bufferlab.render.watching import run_watched  # noqa: PLC0415 - for the live view only

            runs = run_watched(case, watch_speed)
        else:
            runs = simulate(
                case,
                seeds=seeds,
                runner=runner,
                pcap=pcap,
                pcap_at=pcap_at or SENDERS,
                trace=trace,
                record_flows=record_flows or None,
                record_limit=record_limit,
            )
    say_kept(runner)
    recordings = [recording for result in runs for recording in result.recordings]
    try:
        outputs.deliver(runs)
    finally:
        for recording in recordings:
            say(str(recording))
    if any(recording.problem is not None for recording in recordings):
        raise typer.Exit(FAILED)


def _prepared(path: Path, overrides: list[str] | None, factor: int, outputs: Outputs) -> Scenario:
    from bufferlab.experiment.simulation import prepare  # noqa: PLC0415

    scenario = prepare(path, read_overrides(overrides)).twin(factor)
    if scenario.probes is not None:
        return scenario
    return scenario.with_overrides(outputs.probes(scenario.run["duration_ps"]))
