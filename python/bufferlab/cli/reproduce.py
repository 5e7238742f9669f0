"""`bufferlab reproduce`: figures and tables of published documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from bufferlab.cli.common import print_json, print_rich, say
from bufferlab.cli.options import Engine, Fresh, RayAddress, StoreOfResults, Threads
from bufferlab.cli.running import runner_of, say_kept
from bufferlab.errors import InputError
from bufferlab.evidence import Reproduction, Request, all_reproductions, find_reproductions
from bufferlab.evidence.verdicts import VERDICTS, counts
from bufferlab.evidence.views import listed, reproduced_view
from bufferlab.files import make_folder

_RESULTS: Final = Path("results")
_EXAMPLES: Final = """\b
Examples:
  bufferlab reproduce
  bufferlab reproduce splitbuff/fig1 --quick
  bufferlab reproduce heterogeneous --out results
"""


def _names() -> list[str]:
    """For the shell's completion."""
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
    engine: Engine = "local",
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
    if record and quick:
        raise InputError("keeps full runs only", key="--record", accepted="no --quick")
    if name is None and not record:
        _list(as_json=as_json)
        return
    documents: list[dict[str, Any]] = []
    asked = all_reproductions() if name is None else find_reproductions(name)
    wanted = [(each, out / each.name.replace("/", "-")) for each in asked]
    for _, folder in wanted:
        make_folder(folder)  # before any work is done that could not be saved
    runner = runner_of(
        threads=threads, engine=engine, ray_address=ray_address, store=store or out / "runs", fresh=fresh
    )
    request = Request(quick=quick, seeds=seeds, measured=measured, shared=runner)
    for each, folder in wanted:
        result = each.function(request)
        result.save(folder, request.command(each.name))
        if record:
            each.record(result, request.command(each.name))
        documents.append(
            {"name": each.name, "comparison": result.comparison.to_dicts(), "notes": result.notes}
        )
        if not as_json:
            print_rich(reproduced_view(result))
        say(f"saved in {folder}")
    if as_json:
        print_json({"format": "bufferlab-reproduction", "format_version": 1, "reproductions": documents})
    say_kept(runner)


def _list(*, as_json: bool) -> None:
    known = all_reproductions()
    if as_json:
        rows = [
            {"name": each.name, "title": each.title, "citation": each.citation}
            | dict(zip(("agrees", "differs", "not_comparable"), _counts(each), strict=True))
            for each in known
        ]
        print_json({"format": "bufferlab-reproductions", "format_version": 1, "reproductions": rows})
        return
    print_rich(listed((each, _counts(each)) for each in known))


def _counts(each: Reproduction) -> list[int] | list[None]:
    """How many claims have each verdict by what is kept of the last full run."""
    comparison = each.verdicts()
    if comparison is None:
        return [None] * len(VERDICTS)
    return counts(comparison)
