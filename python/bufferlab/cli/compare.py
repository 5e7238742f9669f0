"""`bufferlab compare`: which queue a link should run."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer

from bufferlab.cli.answers import Delivery, Emphasis, Link, Plot, platform_option
from bufferlab.cli.options import (
    AsJson,
    Engine,
    Fresh,
    Overrides,
    RayAddress,
    ScenarioFile,
    StoreFolder,
    Threads,
    listing,
    read_overrides,
)
from bufferlab.scenario import QUEUE_WORDS
from bufferlab.studies.words import OWN

_EXAMPLES: Final = """\b
Examples:
  bufferlab compare examples/bufferbloat.toml
  bufferlab compare examples/splitbuff.toml --queues fifo:bdp,codel,splitbuff
  bufferlab compare examples/llq.toml --platform ios-xe --for calls
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
            "'scenario' is the file's own queue; default that and all others. llq and llq-fair have marked "
            "calls go first.",
            autocompletion=listing((*QUEUE_WORDS, OWN)),
            show_default=False,
        ),
    ] = None,
    overrides: Overrides = None,
    link: Link = None,
    emphasis: Emphasis = None,
    platform: Annotated[
        str | None,
        platform_option(
            "Router platform",
            "Only queues that it has are compared, beside the file's own. [default: any queue]",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Simulations per queue; all queues use the same seeds.")] = 5,
    threads: Threads = None,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    store: StoreFolder = None,
    fresh: Fresh = False,
    plot: Plot = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also show all aspects, and intervals of what the link does.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare queues on one scenario.

    Runs them side by side with buffers that you name, says what users feel under each, and which one to
    run. It searches no buffer: advise searches queue and buffer, size the buffer of one queue, and sweep
    varies whatever you like.
    """
    from bufferlab.cli.running import delivering, runner_of, say_kept  # noqa: PLC0415 - slow to import, and no help needs it
    from bufferlab.render.compare.view import comparison_view  # noqa: PLC0415
    from bufferlab.studies.compare import Comparison  # noqa: PLC0415
    from bufferlab.studies.compare import compare as compare_queues  # noqa: PLC0415

    runner = runner_of(threads=threads, engine=engine, ray_address=ray_address, store=store, fresh=fresh)
    deliver = Delivery[Comparison](
        view=partial(comparison_view, explain=explain),
        document=Comparison.to_dict,
        as_json=as_json,
        plot=plot,
    )
    with delivering(deliver):
        comparison = compare_queues(
            scenario,
            queues,
            overrides=read_overrides(overrides),
            seeds=seeds,
            link=link,
            emphasis=emphasis,
            platform=platform,
            runner=runner,
        )
    deliver(comparison)
    say_kept(runner)
