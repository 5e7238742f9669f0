"""`bufferlab configure`: what to type on a router."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from bufferlab.cli.common import print_json
from bufferlab.cli.options import AsJson, listing
from bufferlab.configure import PLATFORMS, Configuration, configuration
from bufferlab.errors import InputError
from bufferlab.scenario import parse_value

_EXAMPLES: Final = """\b
Examples:
  bufferlab configure --rate '100 Mbps' --queue fq_codel --buffer '1000 packets'
  bufferlab configure --rate '20 Mbps' --queue fq_codel --buffer '80 ms' --shape --cake --platform openwrt
  bufferlab configure --rate '10 Gbps' --buffer '5 ms' --platform junos --device xe-0/0/0
"""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("configure", epilog=_EXAMPLES)(configure)


def configure(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    rate: Annotated[str, typer.Option(help="Rate of the link: '100 Mbps'.", show_default=False)],
    buffer: Annotated[
        str,
        typer.Option(
            help="How much may wait: '1000 packets', '1.5 MB', '20 ms' (of sending).", show_default=False
        ),
    ],
    queue: Annotated[
        str,
        typer.Option(help="Queue as in a scenario: fq_codel, or {discipline = 'codel', target = '10 ms'}."),
    ] = "fifo",
    platform: Annotated[
        str, typer.Option(help=f"Router platform: {', '.join(PLATFORMS)}.", autocompletion=listing(PLATFORMS))
    ] = "linux",
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            "--interface",
            help="Interface that sends into the link; default a usual name.",
            show_default=False,
        ),
    ] = None,
    shape: Annotated[
        bool, typer.Option("--shape", help="Add a shaper at this rate, for an interface that is faster.")
    ] = False,
    cake: Annotated[bool, typer.Option("--cake", help="CAKE in place of FQ-CoDel.")] = False,
    packet: Annotated[str, typer.Option(help="Size of a full packet.")] = "1500 B",
    overhead: Annotated[
        str, typer.Option(help="What the router counts for each packet beyond that: its link header.")
    ] = "14 B",
    sources: Annotated[
        bool, typer.Option("--sources", help="Also say where syntax, units and bounds were read.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write what to type on a router for a queue and its buffer."""
    parsed = parse_value(queue)
    try:
        made = configuration(
            rate,
            parsed if isinstance(parsed, dict) else queue,
            buffer,
            platform=platform,
            device=device,
            shape=shape,
            cake=cake,
            packet=packet,
            overhead=overhead,
        )
    except InputError as error:
        raise _of_options(error) from None
    if as_json:
        print_json(made.to_dict())
    elif not made.lines:
        raise _no_equivalent(queue, made)
    else:
        typer.echo(made.cited() if sources else str(made))


def _of_options(error: InputError) -> InputError:
    """The same mistakes, with the options' names."""
    return InputError.of(
        [
            InputError(
                mistake.problem, key=f"--{mistake.key}", value=mistake.value, accepted=mistake.accepted
            )
            for mistake in (error, *error.others)
        ]
    )


def _no_equivalent(queue: str, made: Configuration) -> InputError:
    known = ", ".join(PLATFORMS[made.platform].disciplines)
    return InputError(
        f"has no equivalent on {made.title} that is known here (nearest: {made.nearest})",
        key="--queue",
        value=queue,
        accepted=known,
    )
