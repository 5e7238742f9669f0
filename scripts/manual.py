"""Writes manual pages and shell completions, from what the command says of itself.

    python scripts/manual.py FOLDER

FOLDER then has `share/man/man1` and the folders in which bash, zsh and fish look for completions.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import typer

from bufferlab import __version__
from bufferlab.cli import VERBS, build_app

NAME: Final = "bufferlab"
COMPLETIONS: Final = {
    "bash": f"bash-completion/completions/{NAME}",
    "zsh": f"zsh/site-functions/_{NAME}",
    "fish": f"fish/vendor_completions.d/{NAME}.fish",
}
"""Where shells look, below `share`."""


def main(folder: Path) -> None:
    """Write all of them."""
    pages = folder / "share" / "man" / "man1"
    pages.mkdir(parents=True, exist_ok=True)
    (pages / f"{NAME}.1").write_text(_overview(), encoding="utf-8")
    for verb in VERBS:
        (pages / f"{NAME}-{verb}.1").write_text(_page(verb), encoding="utf-8")
    for shell, place in COMPLETIONS.items():
        path = folder / "share" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_completion(shell), encoding="utf-8")


def _overview() -> str:
    command = typer.main.get_command(build_app())
    verbs = [
        line
        for verb, each in _subcommands(command)
        for line in (".TP", f"\\fB{NAME}\\-{verb}\\fR(1)", _escaped(_summary(each)))
    ]
    body = [".SH COMMANDS", *verbs]
    return _document(NAME, command, NAME, body)


def _page(verb: str) -> str:
    command = dict(_subcommands(typer.main.get_command(build_app(verb))))[verb]
    return _document(f"{NAME}-{verb}", command, f"{NAME} {verb}", [])


def _document(title: str, command: Any, invoked: str, body: Sequence[str]) -> str:  # noqa: ANN401 - typer's click
    context = command.make_context(invoked, [], resilient_parsing=True)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH "{title.upper()}" 1 "" "{NAME} {__version__}" "User Commands"',
        ".SH NAME",
        f"{_escaped(title)} \\- {_escaped(_summary(command))}",
        ".SH SYNOPSIS",
        f"\\fB{_escaped(invoked)}\\fR {_escaped(usage)}",
        ".SH DESCRIPTION",
        *_text(command.help or ""),
        *_options(command, invoked),
        *body,
        *_examples(command),
        ".SH SEE ALSO",
        f"\\fB{NAME}\\fR(1)" if title != NAME else f"\\fB{NAME} COMMAND \\-\\-help\\fR",
    ]
    return "\n".join(lines) + "\n"


def _options(command: Any, invoked: str) -> Iterator[str]:  # noqa: ANN401 - typer's click
    context = command.make_context(invoked, [], resilient_parsing=True)
    records = [each.get_help_record(context) for each in command.get_params(context)]
    if any(records):
        yield ".SH OPTIONS"
    for record in filter(None, records):
        name, text = record
        yield ".TP"
        yield f"\\fB{_escaped(name)}\\fR"
        yield _escaped(" ".join(text.split()))


def _examples(command: Any) -> Iterator[str]:  # noqa: ANN401 - typer's click
    lines = (command.epilog or "").replace("\b", "").strip().splitlines()
    if lines and lines[0] == "Examples:":
        yield from (".SH EXAMPLES", ".nf", *(_escaped(line.strip()) for line in lines[1:]), ".fi")


def _text(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.replace("\b", "").split("\n\n")):
        if number:
            yield ".PP"
        yield _escaped(" ".join(paragraph.split()))


def _summary(command: Any) -> str:  # noqa: ANN401 - typer's click
    return (command.help or "").strip().partition("\n")[0].removesuffix(".")


def _subcommands(command: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - typer's click
    return list(command.commands.items())


def _escaped(text: str) -> str:
    """A line that troff prints as it is."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _completion(shell: str) -> str:
    asked = os.environ | {"_BUFFERLAB_COMPLETE": f"source_{shell}"}
    command = [sys.executable, "-m", "bufferlab"]
    ended = subprocess.run(  # noqa: S603 - its own words
        command, env=asked, capture_output=True, text=True, check=True
    )
    return ended.stdout.strip() + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
