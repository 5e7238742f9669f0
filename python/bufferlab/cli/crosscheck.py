"""`bufferlab crosscheck`: the simulator and a real kernel side by side."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer

from bufferlab.cli.options import AsJson, Overrides, ScenarioFile, read_overrides

_EXAMPLES: Final = """\b
Examples:
  bufferlab crosscheck examples/kernel.toml
  bufferlab crosscheck examples/kernel.toml --set bottleneck.queue=codel --seeds 5
  bufferlab crosscheck examples/kernel.toml --json
"""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("crosscheck", epilog=_EXAMPLES)(crosscheck)


def crosscheck(
    scenario: ScenarioFile,
    overrides: Overrides = None,
    seeds: Annotated[int, typer.Option(help="Number of seeds, counted up from the scenario's.")] = 3,
    kernel_name: Annotated[
        str | None,
        typer.Option(
            "--kernel",
            help="One that was built, as 'kernel list' names it; default the newest.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare the simulator with a real kernel.

    Both run the same plans, seed by seed. Means agree if they lie within 1 point of utilization, 10 % of the
    mean wait, 15 % of the loss, 5 points of the largest flow's share; they differ if they lie farther apart
    than chance explains. It takes what emulate takes (docs/kernel.md).
    """
    # slow to import, and not needed for a help
    from bufferlab.cli.delivery import show_as  # noqa: PLC0415
    from bufferlab.experiment.simulation import prepare  # noqa: PLC0415
    from bufferlab.kernel.cache import kernel  # noqa: PLC0415
    from bufferlab.progress import progress_bar  # noqa: PLC0415
    from bufferlab.render.crosscheck import crosscheck_view  # noqa: PLC0415
    from bufferlab.studies.crosscheck import crosscheck as crosschecked  # noqa: PLC0415

    case = prepare(scenario, read_overrides(overrides))
    with progress_bar(case.title) as bar:
        found = crosschecked(
            case,
            seeds=seeds,
            by=None if kernel_name is None else kernel(kernel_name),
            done=lambda count: bar.update(count / seeds, f"seed {count} of {seeds}"),
        )
    show_as(found.document, partial(crosscheck_view, found), as_json=as_json)
