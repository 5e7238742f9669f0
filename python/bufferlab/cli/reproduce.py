"""`bufferlab reproduce`: figures and tables of published documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from bufferlab.cli.options import Fresh, RayAddress, StoreOfResults, Threads
from bufferlab.errors import InputError

_RESULTS: Final = Path("results")
_EXAMPLES: Final = """\b
Examples:
  bufferlab reproduce
  bufferlab reproduce splitbuff/fig1 --quick
  bufferlab reproduce heterogeneous --out results
"""


def _names() -> list[str]:
    """For the shell's completion."""
    from bufferlab.evidence import all_reproductions  # noqa: PLC0415 - slow to import, and no help needs it

    return [each.name for each in all_reproductions()]


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("reproduce", epilog=_EXAMPLES)(reproduce)


def reproduce(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    name: Annotated[
        str | None,
        typer.Argument(
            help="DOCUMENT/NAME, DOCUMENT for all its figures, or a claims folder; without it, lists them.",
            autocompletion=_names,
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few points and short runs, to see that it works.")
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Seeds per point; default the document's.", show_default=False)
    ] = None,
    threads: Threads = None,
    engine: Annotated[
        str,
        typer.Option(
            help="Where to simulate: local (threads of this process), ray (a cluster); uml has a real kernel "
            "run it in the simulator's place, where the claims file says how."
        ),
    ] = "local",
    ray_address: RayAddress = None,
    measured: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The authors' own result files, shown beside ours (sizing-mininet, bloat-mininet).",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Output folder; DOCUMENT-NAME is created in it.")] = _RESULTS,
    store: StoreOfResults = None,
    fresh: Fresh = False,
    record: Annotated[
        bool,
        typer.Option(
            "--record", help="Keep the measured points beside the claims; without a name, for all documents."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Reproduce a published figure or table, and compare."""
    if record and (quick or engine == "uml"):
        accepted = "neither --quick nor --engine uml"
        raise InputError("keeps the simulator's full runs only", key="--record", accepted=accepted)
    from bufferlab.cli.reproducing import list_all, reproduce_all  # noqa: PLC0415 - slow to import, and no help needs it

    if name is None and not record:
        list_all(as_json=as_json)
        return
    reproduce_all(
        name,
        quick=quick,
        seeds=seeds,
        measured=measured,
        out=out,
        record=record,
        as_json=as_json,
        threads=threads,
        engine=engine,
        ray_address=ray_address,
        store=store,
        fresh=fresh,
    )
