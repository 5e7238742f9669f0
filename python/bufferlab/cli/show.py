"""`bufferlab show`: a scenario's links and routes as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from bufferlab.cli.options import Overrides, ScenarioFile, read_overrides
from bufferlab.errors import InputError
from bufferlab.files import write_whole

_EXAMPLES: Final = """\b
Examples:
  bufferlab show examples/parking-lot.toml --to parking-lot.svg
  bufferlab show examples/home-line.toml --to home-line.dot
  bufferlab show examples/shared-memory.toml | dot -Tpdf -o shared-memory.pdf
"""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("show", epilog=_EXAMPLES)(show)


def show(
    scenario: ScenarioFile,
    overrides: Overrides = None,
    to: Annotated[
        Path | None,
        typer.Option(
            help="File to write, .svg or .dot; default text for Graphviz on the terminal.", show_default=False
        ),
    ] = None,
) -> None:
    """Draw a scenario's links and flows."""
    from bufferlab.render.network import network_of  # noqa: PLC0415 - help comes at once
    from bufferlab.render.picture import dot, svg  # noqa: PLC0415
    from bufferlab.scenario import Scenario  # noqa: PLC0415

    kind = ".dot" if to is None else to.suffix
    if kind not in {".svg", ".dot", ".gv"}:
        raise InputError("is no picture", key="--to", value=str(to), accepted="NAME.svg or NAME.dot")
    resolved = Scenario.load(scenario, read_overrides(overrides)).seeded().resolved
    draw = svg if kind == ".svg" else dot
    text = draw(network_of(resolved), resolved["run"]["name"] or scenario.name)
    if to is None:
        typer.echo(text, nl=False)
    else:
        write_whole(to, text)
