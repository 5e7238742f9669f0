"""The command `bufferlab`."""

from __future__ import annotations

import ast
import gc
import sys
from argparse import SUPPRESS
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import Final

from bufferlab import __version__
from bufferlab.cli.arguments import Parser, call
from bufferlab.cli.common import (
    BAD_INPUT,
    FAILED,
    Exit,
    UsageError,
    say,
    silence_stdout,
    status_of,
    terminable,
)

VERBS: Final[Mapping[str, str]] = {
    "run": "bufferlab.cli.run",
    "size": "bufferlab.cli.size",
    "search": "bufferlab.cli.search",
    "compare": "bufferlab.cli.compare",
    "sweep": "bufferlab.cli.sweep",
    "results": "bufferlab.cli.results",
    "configure": "bufferlab.cli.configure",
    "reproduce": "bufferlab.cli.reproduce",
    "validate": "bufferlab.cli.validate",
}
"""The module of each verb, in the order of the help; its function of that name is the verb."""

_NAME: Final = "bufferlab"
_ABOUT: Final = "How large should a router's buffer be, and which queue should it run?"
_WIDTH: Final = 76
_COLUMN: Final = 11

_COLLECTED_AFTER: Final = 200_000
"""New objects after which garbage is looked for. Imports make half as many, of which nothing is garbage."""


def main(args: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status.

    Args:
        args: Arguments after the command's name; default those of the process.
    """
    if args is None:
        with _rarely_collected():
            return main(sys.argv[1:])
    try:
        status = _invoke(list(args))
    except BrokenPipeError:  # the reader has what it wanted
        status = FAILED
    return _flushed(status)


def run_verb(name: str, args: Sequence[str]) -> None:
    """Import a verb and call it.

    Args:
        name: The verb.
        args: The command line behind it.

    Raises:
        UsageError: The verb does not take it.
    """
    call(getattr(import_module(VERBS[name]), name), f"{_NAME} {name}", args)


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """Look for garbage rarely in this process, and not at its end: that is a fourth of a small run's time."""
    gc.set_threshold(_COLLECTED_AFTER)
    try:
        yield
    finally:
        gc.freeze()


def _invoke(args: list[str]) -> int:
    try:
        with terminable():
            if args and args[0] in VERBS:
                run_verb(args[0], args[1:])
            else:
                _list_verbs(args)
    except BrokenPipeError:
        raise
    except SystemExit:  # the help was shown
        return 0
    except Exit as end:
        return end.status
    except UsageError as error:
        say(str(error))
        return BAD_INPUT
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - nobody should see a traceback unasked
        return status_of(error)
    return 0


def _list_verbs(args: list[str]) -> None:
    """What the command does without a verb."""
    parser = Parser(_NAME, "[OPTIONS] COMMAND [ARGS]...", _ABOUT)
    parser.options.add_argument("--version", action="store_true", help="Show the version and exit.")
    parser.add_help_option()
    verbs = parser.add_argument_group("Commands", "\n".join(map(_line_of, VERBS)))
    verbs.add_argument("verb", nargs="?", help=SUPPRESS)
    parser.epilog = f"'{_NAME} COMMAND --help' lists the options of a command."
    asked = parser.parse_args(args)
    if asked.verb is not None:
        like = "".join(f"; did you mean '{each}'?" for each in get_close_matches(asked.verb, VERBS, 1))
        parser.error(f"there is no command '{asked.verb}'{like}")
    print(f"{_NAME} {__version__}" if asked.version else parser.format_help().rstrip())  # noqa: T201


def _line_of(verb: str) -> str:
    """A verb's line in the list, read from its source: imports would take longer than all else."""
    tree = ast.parse(Path(__file__).with_name(f"{verb}.py").read_text(encoding="utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == verb)
    first, *_ = (next(map(ast.get_docstring, functions), None) or verb).splitlines()
    return f"{verb:<{_COLUMN}}{shorten(first, _WIDTH - _COLUMN, placeholder='…')}"


def _flushed(status: int) -> int:
    """Write out what is buffered; report a failure that was not reported yet."""
    try:
        sys.stdout.flush()
    except OSError as error:
        silence_stdout()
        if not isinstance(error, BrokenPipeError) and not status:
            return status_of(error)
        return status or FAILED
    return status
