"""`bufferlab emulate`: a scenario run by a real kernel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bufferlab.cli.common import say
from bufferlab.cli.options import AsJson, Fresh, Overrides, ScenarioFile, StoreFolder, Threads, read_overrides
from bufferlab.errors import InputError

if TYPE_CHECKING:
    from bufferlab.results.result import RunSet

_ENGINES: Final = ("uml",)
_EXAMPLES: Final = """\b
Examples:
  bufferlab emulate examples/kernel.toml
  bufferlab emulate examples/kernel.toml --set bottleneck.queue=codel --seeds 3
  bufferlab emulate examples/kernel-splitbuff.toml --queues bufferlab
"""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("emulate", epilog=_EXAMPLES)(emulate)


def emulate(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    scenario: ScenarioFile,
    overrides: Overrides = None,
    seeds: Annotated[int, typer.Option(help="Number of seeds, counted up from the scenario's.")] = 1,
    engine: Annotated[
        str, typer.Option(help="Which kernel: uml, a User-Mode Linux in virtual time.")
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
        str,
        typer.Option(
            help="Whose link and queue packets cross: the kernel's own (kernel), or those of run (bufferlab)."
        ),
    ] = "kernel",
    out: Annotated[
        Path | None,
        typer.Option(help="Write the result folder here; replaces an existing result.", show_default=False),
    ] = None,
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
    from bufferlab.experiment.simulation import prepare  # noqa: PLC0415
    from bufferlab.kernel.cache import kernel  # noqa: PLC0415
    from bufferlab.kernel.emulate import emulate as emulated  # noqa: PLC0415
    from bufferlab.kernel.emulate import is_ours  # noqa: PLC0415
    from bufferlab.kernel.own import kernels_own  # noqa: PLC0415

    if engine not in _ENGINES:
        raise InputError("is no engine", file="--engine", value=engine, accepted=", ".join(_ENGINES))
    ours = is_ours(queues)
    outputs = Outputs(out=out, plot=None, flent=None, as_json=as_json)
    outputs.check(seeds)
    case = prepare(scenario, read_overrides(overrides))
    runner = runner_of(threads=threads, engine="local", ray_address=None, store=store, fresh=fresh)

    def deliver(runs: RunSet) -> None:
        for line in kernels_own(runs[0].plan, ours=ours):
            say(f"the kernel's own: {line}")
        outputs.deliver(runs)

    with delivering(deliver):
        by = None if kernel_name is None else kernel(kernel_name)
        runs = emulated(case, seeds=seeds, by=by, queues=queues, runner=runner)
    say_kept(runner)
    deliver(runs)
