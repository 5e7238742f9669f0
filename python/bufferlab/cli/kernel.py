"""`bufferlab kernel`: build the kernels that `emulate` runs, list and remove them, see whether they work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bufferlab.cli.common import FAILED, print_json, say
from bufferlab.cli.options import AsJson, listing
from bufferlab.errors import InputError

if TYPE_CHECKING:
    from bufferlab.kernel.cache import Kernel

_EXAMPLES: Final = """\b
Examples:
  bufferlab kernel build
  bufferlab kernel build --source ~/linux-6.12 --jobs 4
  bufferlab kernel doctor
"""


@dataclass(frozen=True)
class _Wanted:
    name: str | None
    source: Path | None
    jobs: int | None
    hz: int


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("kernel", epilog=_EXAMPLES)(kernel)


def kernel(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    action: Annotated[
        str,
        typer.Argument(
            help="build, list, remove or doctor.",
            show_default=False,
            autocompletion=listing(["build", "list", "remove", "doctor"]),
        ),
    ],
    name: Annotated[
        str | None, typer.Argument(help="The kernel to remove, as list names it.", show_default=False)
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            help="Unpacked sources of Linux 6.6 or newer; default the newest package linux-source-X.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Parallel compilers; default one per processor.", show_default=False)
    ] = None,
    hz: Annotated[int, typer.Option(help="The kernel's ticks a second: 100, 250, 300 or 1000.")] = 1000,
    as_json: AsJson = False,
) -> None:
    """Build and check kernels that run scenarios.

    A kernel is a User-Mode Linux: a program without rights of its own. It is built on this machine, which
    takes minutes, and kept in ~/.cache/bufferlab/kernels.
    """
    actions: Mapping[str, Callable[[_Wanted], dict[str, Any]]] = {
        "build": _build,
        "list": _list,
        "remove": _remove,
        "doctor": _doctor,
    }
    if action not in actions:
        raise InputError("is no action", key="kernel", value=action, accepted=", ".join(actions))
    if name is None and action == "remove":
        raise InputError("lacks a name", file="kernel remove", accepted="one that 'kernel list' has")
    if name is not None and action != "remove":
        raise InputError("is not taken here", file=f"kernel {action}", value=name, accepted="no name")
    document = actions[action](_Wanted(name, source, jobs, hz))
    if as_json:
        print_json({"format": "bufferlab-kernel", "format_version": 1} | document)
    else:
        for line in document["lines"]:
            typer.echo(line)
    if not document.get("is_well", True):
        raise typer.Exit(FAILED)


def _build(wanted: _Wanted) -> dict[str, Any]:
    from bufferlab.kernel.build import build  # noqa: PLC0415 - slow to import, as below

    made = build(wanted.source, jobs=wanted.jobs, hz=wanted.hz)
    say(f"kept in {made.folder}")
    return {"lines": [made.title], "kernels": [_row(made)]}


def _list(_wanted: _Wanted) -> dict[str, Any]:
    from bufferlab.kernel.cache import kernels, kernels_folder  # noqa: PLC0415

    known = kernels()
    lines = [f"{each.name}  built {each.about['built'][:10]}  {each.about['compiler']}" for each in known]
    return {"lines": lines or [f"no kernels in {kernels_folder()}"], "kernels": list(map(_row, known))}


def _remove(wanted: _Wanted) -> dict[str, Any]:
    from bufferlab.kernel.cache import remove  # noqa: PLC0415

    gone = remove(str(wanted.name))
    return {"lines": [f"removed {gone}"], "removed": str(gone)}


def _doctor(_wanted: _Wanted) -> dict[str, Any]:
    from bufferlab.kernel.doctor import findings  # noqa: PLC0415

    found = findings()
    return {
        "lines": [f"{'ok ' if each.is_well else 'NOT'} {each.what}: {each.said}" for each in found],
        "findings": [asdict(each) for each in found],
        "is_well": all(each.is_well for each in found),
    }


def _row(kernel: Kernel) -> dict[str, Any]:
    return {"name": kernel.name, "folder": str(kernel.folder)} | kernel.about
