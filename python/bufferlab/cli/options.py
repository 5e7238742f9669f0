"""The options of the commands that simulate; see `running` for what they lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from bufferlab.errors import InputError
from bufferlab.scenario import split_override

ScenarioFile = Annotated[Path, typer.Argument(help="Scenario file, TOML or JSON.", show_default=False)]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Override a value: links.bottleneck.rate='50 Mbps', flows.short.count=10. Repeatable.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(help="Parallel simulations; default one per processor.", show_default=False),
]
Engine = Annotated[
    str, typer.Option(help="Where to simulate: local (threads of this process) or ray (a cluster).")
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        help="Ray cluster; default a running one, otherwise one on this machine.", show_default=False
    ),
]
StoreFolder = Annotated[
    Path | None,
    typer.Option(
        "--store",
        help="Folder that keeps finished runs for later commands; default ~/.cache/bufferlab/runs.",
        show_default=False,
    ),
]
StoreOfResults = Annotated[
    Path | None,
    typer.Option(
        "--store",
        help="Folder that keeps finished runs for later commands; default OUT/runs.",
        show_default=False,
    ),
]
Seeds = Annotated[int, typer.Option(help="Number of seeds, counted up from the scenario's.")]
PcapAt = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PLACE", help="Where: senders, receivers or a link's name; repeatable. [default: senders]"
    ),
]
ResultFolder = Annotated[
    Path | None,
    typer.Option(help="Write the result folder here; replaces an existing result.", show_default=False),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Simulate again what is stored already.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]


def listing(words: Iterable[str]) -> Callable[[str], list[str]]:
    """Completes an option that is a list of words with commas between them, the last of them."""
    known = tuple(words)

    def complete(incomplete: str) -> list[str]:
        start, comma, last = incomplete.rpartition(",")
        return [f"{start}{comma}{word}" for word in known if word.startswith(last)]

    return complete


def read_overrides(texts: list[str] | None) -> dict[str, str]:
    """The values of `--set`, by path.

    Raises:
        InputError: Texts are not PATH=VALUE.
    """
    overrides: dict[str, str] = {}
    mistakes: list[InputError] = []
    for text in texts or []:
        try:
            path, value = split_override(text)
        except InputError as error:
            mistakes.append(error)
        else:
            overrides[path] = value
    if mistakes:
        raise InputError.of(mistakes)
    return overrides
