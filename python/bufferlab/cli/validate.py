"""`bufferlab validate`: the simulator against ns-2, theory of controls, twins of large links, answers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from bufferlab.cli.options import Engine, Fresh, RayAddress, StoreOfResults, Threads

_RESULTS: Final = Path("results/validation")
_EXAMPLES: Final = """\b
Examples:
  bufferlab validate --quick
  bufferlab validate controls
  bufferlab validate referee --draw 2 --count 200
"""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("validate", epilog=_EXAMPLES)(validate)


class What(StrEnum):
    """What to compare."""

    NS2 = "ns2"
    CONTROLS = "controls"
    SCALING = "scaling"
    ANSWERS = "answers"
    CAPTURES = "captures"
    REFEREE = "referee"
    KERNEL = "kernel"


def validate(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    what: Annotated[
        What,
        typer.Argument(
            help="ns2: against ns-2; controls: against theory; scaling: twins of a large link; "
            "answers: size and advise against the truth; captures: observe against the truth; "
            "referee: against ns-2 or ns-3 in settings drawn at random; "
            "kernel: against recorded runs of a real Linux kernel."
        ),
    ] = What.NS2,
    quick: Annotated[bool, typer.Option("--quick", help="Short settings only, one of each kind.")] = False,
    threads: Threads = None,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    store: StoreOfResults = None,
    fresh: Fresh = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="ns2: only settings whose group or title has this ('mininet: sack1, 2 flows'); with "
            "--docs the page's others stay. Repeatable.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the tables as CSV and Markdown.")] = _RESULTS,
    docs: Annotated[
        Path | None, typer.Option(help="Rewrite the generated part of this page.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every comparison as JSON.")] = False,
    draw: Annotated[
        int | None, typer.Option(min=1, help="referee: seed of the draw; default 1.", show_default=False)
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(min=1, help="referee: settings; default 200 of ns2, 30 of ns3.", show_default=False),
    ] = None,
    against: Annotated[str, typer.Option(help="referee: the other simulator, ns2 or ns3.")] = "ns2",
) -> None:
    """Compare the simulator with runs of ns-2, or with theory.

    Fails if settings differ for reasons that no experiment shows.

    `controls`: least buffers, variation of windows and lone flows against theory, for docs/controls.md.
    `scaling`: twins and shorter runs of a large link, their errors and costs, for docs/capacity.md.
    `answers`: what size and advise answer against the true smallest buffers, for docs/answers.md.
    `captures`: what observe says of captures against the runs that they are of, for docs/observe.md.
    `referee`: settings drawn at random, run here and by ns-2 with several seeds, for docs/validation.md;
    with `--against ns3` queues and ECN in ns-3, for docs/validation-ns3.md.
    `kernel`: a grid of settings against recorded runs of a real Linux kernel, for docs/kernel.md.
    """
    from bufferlab.cli.validating import validate_all  # noqa: PLC0415 - slow to import, and no help needs it

    validate_all(
        what.value,
        quick=quick,
        only=only or [],
        out=out,
        docs=docs,
        as_json=as_json,
        draw=draw,
        count=count,
        against=against,
        threads=threads,
        engine=engine,
        ray_address=ray_address,
        store=store,
        fresh=fresh,
    )
