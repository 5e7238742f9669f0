"""`bufferlab compare`: which queue a link should run."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from bufferlab.cli.common import print_json, print_rich, say
from bufferlab.cli.options import (
    AsJson,
    Engine,
    Fresh,
    Overrides,
    RayAddress,
    ScenarioFile,
    StoreFolder,
    Threads,
    delivering,
    runner_of,
    say_kept,
)
from bufferlab.display import save_figure
from bufferlab.render.compare import comparison_view
from bufferlab.scenario import Scenario, split_override
from bufferlab.studies.advise.objectives import KINDS
from bufferlab.studies.compare import DEFAULT_SEEDS, Comparison
from bufferlab.studies.compare import compare as compare_queues

_EXAMPLES: Final = """\b
Examples:
  bufferlab compare examples/bufferbloat.toml
  bufferlab compare examples/splitbuff.toml --queues fifo:bdp,codel,splitbuff
  bufferlab compare examples/call.toml --queues 'scenario,fifo:9 ms' --for calls
"""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("compare", epilog=_EXAMPLES)(compare)


def compare(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    scenario: ScenarioFile,
    queues: Annotated[
        str | None,
        typer.Option(
            help="Queues, each with an optional buffer after a colon: fifo:bdp,fifo:stanford,splitbuff. "
            "'scenario' is the file's own queue; default all queues.",
            show_default=False,
        ),
    ] = None,
    overrides: Overrides = None,
    link: Annotated[
        str | None,
        typer.Option(help="Link whose queue is replaced; default the slowest.", show_default=False),
    ] = None,
    emphasis: Annotated[
        str | None,
        typer.Option("--for", help=f"What matters most: {', '.join(KINDS)}.", show_default=False),
    ] = None,
    seeds: Annotated[
        int, typer.Option(help="Simulations per queue; all queues use the same seeds.")
    ] = DEFAULT_SEEDS,
    threads: Threads = None,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    store: StoreFolder = None,
    fresh: Fresh = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the figure here, PNG and SVG.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare queues on one scenario.

    Runs them side by side with buffers that you name, says what users feel under each, and which one to
    run. It searches no buffer: advise searches queue and buffer, size the buffer of one queue, and sweep
    varies whatever you like.
    """
    runner = runner_of(threads=threads, engine=engine, ray_address=ray_address, store=store, fresh=fresh)
    with delivering(partial(_deliver, plot=plot, as_json=as_json)):
        comparison = compare_queues(
            Scenario.load(scenario),
            queues,
            seeds=seeds,
            link=link,
            emphasis=emphasis,
            overrides=dict(split_override(text) for text in overrides or []),
            runner=runner,
        )
    _deliver(comparison, plot, as_json=as_json)
    say_kept(runner)


def _deliver(comparison: Comparison, plot: Path | None, *, as_json: bool) -> None:
    saved: list[Path] = []
    if plot is not None:
        saved = save_figure(comparison.figure(), plot)
    if as_json:
        print_json(comparison.to_dict())
    else:
        print_rich(comparison_view(comparison))
    if saved:
        say(f"saved {', '.join(str(path) for path in saved)}")
