"""`bufferlab trace`: what a link that varies offers, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from bufferlab.errors import InputError
from bufferlab.files import write_whole
from bufferlab.scenario import trace_text
from bufferlab.units import PS_PER_MS, parse_time

_EXAMPLES: Final = """\b
Examples:
  bufferlab trace 'csv(rate.csv)' --duration '60 s' --to rate.down
  bufferlab trace 'mahimahi(examples/cellular.down)' --to cellular.csv --step '500 ms'
  bufferlab trace 'steps(20 Mbps for 10 s, 0 bps for 1 s)'
"""

_STEP: Final = "1 s"
"""Step of a CSV file for which none is given."""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("trace", epilog=_EXAMPLES)(trace)


def trace(
    rate: Annotated[str, typer.Argument(help="A rate as in a scenario (docs/links.md).", show_default=False)],
    to: Annotated[
        Path | None,
        typer.Option(
            help="File to write: CSV if its name ends with .csv, else a packet-delivery trace for "
            "Mahimahi; default the terminal.",
            show_default=False,
        ),
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(help="Length of the file; default that of the rate.", show_default=False),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(help=f"Writes CSV, a trace's mean in each step; default {_STEP}.", show_default=False),
    ] = None,
) -> None:
    """Write a rate that varies as a file."""
    is_csv = step is not None or (to is not None and to.suffix == ".csv")
    if step is not None and to is not None and to.suffix != ".csv":
        raise InputError("goes with CSV", key="--step", value=step, accepted="--to NAME.csv")
    step_ps = _time("--step", step or _STEP, PS_PER_MS)
    length_ps = None if duration is None else _time("--duration", duration, PS_PER_MS)
    text = trace_text(rate, length_ps, step_ps if is_csv else None)
    if to is None:
        typer.echo(text, nl=False)
    else:
        write_whole(to, text)


def _time(option: str, text: str, least_ps: int) -> int:
    try:
        return parse_time(text, least_ps=least_ps)
    except InputError as error:
        raise InputError(error.problem, key=option, value=text, accepted=error.accepted) from None
