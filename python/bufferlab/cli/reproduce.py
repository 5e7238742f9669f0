"""`bufferlab reproduce`: figures and tables of published documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.table import Table

from bufferlab.cli.common import print_json, print_rich, say
from bufferlab.papers import Reproduced, Request, all_reproductions, find_reproductions

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
    out: Annotated[Path, typer.Option(help="Folder; DOCUMENT-NAME is made in it.")] = _RESULTS,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Reproduce a published figure or table, and compare with what was published."""
    if name is None:
        _list(as_json=as_json)
        return
    request = Request(quick=quick, seeds=seeds, threads=threads)
    documents: list[dict[str, Any]] = []
    for each in find_reproductions(name):
        result = each.function(request)
        folder = out / each.name.replace("/", "-")
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
    for (buffer_ms, wire), rows in result.comparison.group_by("buffer_ms", "wire_bytes", maintain_order=True):
        table = Table(title=f"{buffer_ms} ms of buffer, {wire} bytes on the wire", title_justify="left")
        for title in ("what", "published", "ns-2 (range)", "ours (range)", "difference, %"):
            table.add_column(title, justify="left" if title == "what" else "right")
        for row in rows.iter_rows(named=True):
            table.add_row(
                f"{row['what']}{', ' + row['unit'] if row['unit'] else ''}",
                row["published"],
                _with_range(row, "ns2"),
                _with_range(row, "ours"),
                "" if row["difference_percent"] is None else f"{row['difference_percent']:+.1f}",
            )
        print_rich(table)
        print_rich(rows["why"][0])
    for note in result.notes:
        print_rich(note)


def _with_range(row: dict[str, Any], side: str) -> str:
    value, low, high = row[side], row[f"{side}_min"], row[f"{side}_max"]
    if value is None:
        return "–"
    return f"{value:.4g}" if low is None else f"{value:.4g} ({low:.4g} … {high:.4g})"
