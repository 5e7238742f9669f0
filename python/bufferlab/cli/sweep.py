"""`bufferlab sweep`: many variants of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from bufferlab.cli.common import FAILED, print_json, print_rich, say
from bufferlab.cli.options import (
    AsJson,
    Engine,
    Fresh,
    Overrides,
    RayAddress,
    ScenarioFile,
    Threads,
    read_overrides,
)
from bufferlab.scenario import Scenario

_EXAMPLES: Final = """\b
Examples:
  bufferlab sweep examples/home-gateway.toml --vary bottleneck.queue=fifo,codel
  bufferlab sweep examples/call.toml --vary 'bottleneck.buffer=log(5..90 packets, 4)'
  bufferlab sweep examples/search.toml --vary flows.long.count=1,10,100 --seeds 5
"""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("sweep", epilog=_EXAMPLES)(sweep)


def sweep(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    scenario: ScenarioFile,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=VALUES",
            help="Vary a value: 'links[0].buffer=50 packets,100 packets', flows.short.count=1,10, "
            "'bottleneck.rate=log(1..100 Mbps, 5)'. Repeatable; all combinations run.",
        ),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(
            metavar="latin:N",
            help="N points of a Latin hypercube over ranges such as 'bottleneck.buffer=10..500 packets' or "
            "'bottleneck.rate=log(1..100 Mbps)', instead of all combinations.",
            show_default=False,
        ),
    ] = None,
    listed: Annotated[
        Path | None,
        typer.Option(
            "--list",
            metavar="FILE.csv",
            help="Points from a CSV file with paths in its first line.",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Seeds for each point, counted up from the scenario's.")] = 1,
    overrides: Overrides = None,
    store: Annotated[
        Path | None,
        typer.Option(help="Folder of the store of runs; default SCENARIO-runs.", show_default=False),
    ] = None,
    fresh: Fresh = False,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    threads: Threads = None,
    tables: Annotated[
        bool, typer.Option("--tables", help="Keep the full tables of the runs that are simulated.")
    ] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Simulate failed runs again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Simulate a grid of variants into a store.

    It concludes nothing: it varies any value of a scenario, continues earlier sweeps, and leaves the
    questions to 'bufferlab results'. size and advise choose what to run by what they have seen; compare is
    for queues alone.
    """
    from bufferlab.cli.running import runner_with  # noqa: PLC0415 - slow to import, and no help needs it
    from bufferlab.experiment.points import read_list, read_sample  # noqa: PLC0415
    from bufferlab.render.stored_runs import sweep_view  # noqa: PLC0415
    from bufferlab.studies.sweep import default_store  # noqa: PLC0415
    from bufferlab.studies.sweep import sweep as sweep_scenario  # noqa: PLC0415

    kept = default_store(scenario) if store is None else store
    runner = runner_with(threads=threads, engine=engine, ray_address=ray_address, store=kept, fresh=fresh)
    swept = sweep_scenario(
        Scenario.load(scenario, read_overrides(overrides)),
        vary or [],
        store=kept,
        points=None if listed is None else read_list(listed),
        samples=None if sample is None else read_sample(sample),
        seeds=seeds,
        tables=tables,
        retry_failed=retry_failed,
        runner=runner,
    )
    if as_json:
        print_json(swept.to_dict())
    else:
        print_rich(sweep_view(swept))
    if swept.failed:
        runs = "run" if swept.failed == 1 else "runs"
        say(f"{swept.failed} {runs} failed: see 'bufferlab results {swept.store.directory} --failed'")
        raise typer.Exit(FAILED)
