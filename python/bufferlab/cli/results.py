"""`bufferlab results`: list, filter and export stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

_ROWS: Final = 50
_EXAMPLES: Final = """\b
Examples:
  bufferlab results home-gateway-runs --means --sort -utilization
  bufferlab results home-gateway-runs --where 'utilization > 0.99 and seed < 5'
  bufferlab results home-gateway-runs --table flows --csv flows.csv
"""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("results", epilog=_EXAMPLES)(results)


def results(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    store: Annotated[Path, typer.Argument(help="Folder of the store of runs.", show_default=False)],
    conditions: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="Only rows that meet all conditions: 'utilization > 0.99 and seed < 5'. Values are in the "
            "column's own unit, texts in single quotes. Repeatable.",
        ),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Columns to show, with commas between them.", show_default=False)
    ] = None,
    sort: Annotated[
        str | None, typer.Option(help="Sort by a column; -COLUMN for the largest first.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option(help="Number of rows to print.")] = _ROWS,
    means: Annotated[bool, typer.Option("--means", help="Means over seeds instead of single runs.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Only runs that failed, and why.")] = False,
    table: Annotated[
        str,
        typer.Option(
            help="runs: one row per run; flows: also per flow group; queues: also per link and group."
        ),
    ] = "runs",
    engine_version: Annotated[
        str | None,
        typer.Option(
            help="Runs of this engine version, or 'all'; default the installed one.", show_default=False
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Write all rows to a CSV file.", show_default=False)
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", help="Write all rows to a Parquet file.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all rows as JSON.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Read every file of the store and name the damaged ones.")
    ] = False,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Set damaged files aside; the next sweep simulates their runs again."),
    ] = False,
) -> None:
    """List, filter and export the runs of a store."""
    from bufferlab.cli.stored import check_store, list_runs  # noqa: PLC0415 - slow to import

    if check or repair:
        check_store(store, repair=repair)
        return
    list_runs(
        store,
        conditions=conditions or [],
        columns=columns,
        sort=sort,
        limit=limit,
        means=means,
        failed=failed,
        table=table,
        engine_version=engine_version,
        csv=csv,
        parquet=parquet,
        as_json=as_json,
    )
