"""`bufferlab reproduce`: figures and tables of published documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.table import Table

from bufferlab.cli.common import print_json, print_rich, say
from bufferlab.evidence import Reproduced, Request, all_reproductions, find_reproductions
from bufferlab.files import make_folder

_RESULTS: Final = Path("results")


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("reproduce")(reproduce)


def reproduce(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    name: Annotated[
        str | None,
        typer.Argument(help="DOCUMENT/NAME, or DOCUMENT for all of it; none lists them.", show_default=False),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few points, short runs: only shows that it works.")
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs a point; default the document's.", show_default=False)
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Simulations at a time; default one a processor.", show_default=False)
    ] = None,
    measured: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The authors' own result files, to show them too (sizing-mininet, bloat-mininet).",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder; DOCUMENT-NAME is made in it.")] = _RESULTS,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Reproduce a published figure or table, and compare with what was published."""
    if name is None:
        _list(as_json=as_json)
        return
    request = Request(quick=quick, seeds=seeds, threads=threads, measured=measured)
    documents: list[dict[str, Any]] = []
    wanted = [(each, out / each.name.replace("/", "-")) for each in find_reproductions(name)]
    for _, folder in wanted:
        make_folder(folder)  # before any work is done in vain
    for each, folder in wanted:
        result = each.function(request)
        result.save(folder)
        documents.append(
            {"name": each.name, "comparison": result.comparison.to_dicts(), "notes": result.notes}
        )
        if not as_json:
            _print(result)
        say(f"saved in {folder}")
    if as_json:
        print_json({"format": "bufferlab-reproduction", "format_version": 1, "reproductions": documents})


def _list(*, as_json: bool) -> None:
    known = all_reproductions()
    if as_json:
        rows = [{"name": each.name, "title": each.title, "citation": each.citation} for each in known]
        print_json({"format": "bufferlab-reproductions", "format_version": 1, "reproductions": rows})
        return
    table = Table("name", "what", "document")
    for each in known:
        table.add_row(each.name, each.title, each.citation)
    print_rich(table)


def _print(result: Reproduced) -> None:
    """The comparison as one table: every column but the reasons, which follow, each once."""
    frame = result.comparison
    shown = [name for name in frame.columns if name != "why" and not name.endswith(("_min", "_max"))]
    table = Table(title=result.name, title_justify="left")
    for name in shown:
        table.add_column(
            name.replace("_", " "), justify="right" if frame[name].dtype.is_numeric() else "left"
        )
    for row in frame.iter_rows(named=True):
        table.add_row(*(_cell(row, name) for name in shown))
    print_rich(table)
    for why in dict.fromkeys(frame["why"] if "why" in frame.columns else ()):
        print_rich(why)
    for note in result.notes:
        print_rich(note)


def _cell(row: dict[str, Any], name: str) -> str:
    """A value, with its range over seeds if there is one."""
    value, low, high = row[name], row.get(f"{name}_min"), row.get(f"{name}_max")
    if value is None:
        return "–"
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if low is None else f"{text} ({low:.4g} … {high:.4g})"
