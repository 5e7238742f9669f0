"""`bufferlab crosscheck`: the simulator and a real kernel side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bufferlab.cli.options import (
    AsJson,
    Fresh,
    Overrides,
    ScenarioFile,
    Seeds,
    StoreFolder,
    Threads,
    read_overrides,
)

if TYPE_CHECKING:
    from bufferlab.studies.crosscheck import Crosscheck

_EXAMPLES: Final = """\b
Examples:
  bufferlab crosscheck examples/kernel.toml
  bufferlab crosscheck examples/kernel.toml --set bottleneck.queue=codel --seeds 5
  bufferlab crosscheck examples/kernel.toml --json
"""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("crosscheck", epilog=_EXAMPLES)(crosscheck)


def crosscheck(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    scenario: ScenarioFile,
    overrides: Overrides = None,
    seeds: Seeds = 3,
    kernel_name: Annotated[
        str | None,
        typer.Option(
            "--kernel",
            help="One that was built, as 'kernel list' names it; default the newest.",
            show_default=False,
        ),
    ] = None,
    queues: Annotated[
        str,
        typer.Option(
            help="Whose queue packets cross there: the kernel's own (kernel), or that of run (bufferlab)."
        ),
    ] = "kernel",
    threads: Threads = None,
    store: StoreFolder = None,
    fresh: Fresh = False,
    as_json: AsJson = False,
) -> None:
    """Compare the simulator with a real kernel.

    Both run the same plans, seed by seed. Means agree if they lie within 1 point of utilization, 10 % of the
    mean wait, 15 % of the loss, 5 points of the largest flow's share; they differ if they lie farther apart
    than chance explains. It takes what emulate takes (docs/kernel.md).
    """
    # slow to import, and not needed for a help
    from bufferlab.cli.delivery import show_as  # noqa: PLC0415
    from bufferlab.cli.running import delivering, runner_of, say_kept  # noqa: PLC0415
    from bufferlab.experiment.simulation import prepare  # noqa: PLC0415
    from bufferlab.experiment.store.studies import Study  # noqa: PLC0415
    from bufferlab.kernel.cache import kernel  # noqa: PLC0415
    from bufferlab.render.crosscheck import crosscheck_view  # noqa: PLC0415
    from bufferlab.studies.crosscheck import crosscheck as crosschecked  # noqa: PLC0415

    case = prepare(scenario, read_overrides(overrides))
    runner = runner_of(threads=threads, engine="local", ray_address=None, store=store, fresh=fresh)

    def deliver(found: Crosscheck) -> None:
        show_as(found.document, partial(crosscheck_view, found), as_json=as_json)

    with delivering(deliver), runner.study(Study.of("crosscheck", case)):
        by = None if kernel_name is None else kernel(kernel_name)
        found = crosschecked(case, seeds=seeds, by=by, queues=queues, runner=runner)
    say_kept(runner)
    deliver(found)
