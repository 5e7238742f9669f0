"""The command `bufferlab`."""

from __future__ import annotations

import ast
import gc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer

from bufferlab import __version__
from bufferlab.cli.common import BAD_INPUT, FAILED, ending_on_signals, say, silence_stdout, status_of
from bufferlab.cli.naming import as_typed
from bufferlab.cli.streams import prepare_streams, prepare_width
from bufferlab.errors import InputError
from bufferlab.files import not_written

VERBS: Final[Mapping[str, str]] = {
    "advise": "bufferlab.cli.advise",
    "run": "bufferlab.cli.run",
    "size": "bufferlab.cli.size",
    "compare": "bufferlab.cli.compare",
    "sweep": "bufferlab.cli.sweep",
    "results": "bufferlab.cli.results",
    "configure": "bufferlab.cli.configure",
    "observe": "bufferlab.cli.observe",
    "trace": "bufferlab.cli.trace",
    "show": "bufferlab.cli.show",
    "serve": "bufferlab.cli.serve",
    "emulate": "bufferlab.cli.emulate",
    "crosscheck": "bufferlab.cli.crosscheck",
    "kernel": "bufferlab.cli.kernel",
    "reproduce": "bufferlab.cli.reproduce",
    "validate": "bufferlab.cli.validate",
}
"""The module of each verb, in the order of the help; its `register(app)` adds the verb to the command."""

_NAME: Final = "bufferlab"

_COMPLETES: Final = "_BUFFERLAB_COMPLETE"
"""Environment variable by which a shell asks how a line may go on; the line is in another one."""

_COLLECTED_AFTER: Final = 200_000
"""New objects after which garbage is looked for. Imports make half as many, of which nothing is garbage."""


def main(args: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status.

    Args:
        args: Arguments after the command's name; default those of the process.
    """
    if args is None:
        if _COMPLETES in os.environ:
            return _complete()
        if not prepare_streams():
            say("standard output is closed")
            return FAILED
        with _rarely_collected():
            return main(sys.argv[1:])
    prepare_width()
    try:
        status = _invoke(list(args))
    except BrokenPipeError:  # the reader has what it wanted of a help
        silence_stdout()
        status = 0
    return _flushed(status)


def build_app(verb: str | None = None) -> typer.Typer:
    """Make the command.

    Args:
        verb: The verb that is run, whose module is imported; without one, all verbs are listed only.
    """
    app = typer.Typer(
        name=_NAME,
        help="How large should a router's buffer be, and which queue should it run?",
        epilog="'bufferlab COMMAND --help' lists the options of a command.",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_start)
    if verb is not None:
        import_module(VERBS[verb]).register(app)
        return app
    for listed in VERBS:
        app.command(listed, help=_help_of(listed))(_listed)
    return app


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """Look for garbage rarely in this process, and not at its end: that is a fourth of a small run's time."""
    gc.set_threshold(_COLLECTED_AFTER)
    try:
        yield
    finally:
        gc.freeze()


def _complete() -> int:
    """Tell the shell how the line may go on; of verbs only the one of the line is imported."""
    line = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    verb = next((word for word in line.split()[1:2] if word in VERBS), None)
    command = typer.main.get_command(build_app(verb))
    try:
        command.main(args=[], prog_name=_NAME)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _help_of(verb: str) -> str | None:
    """A verb's help, read from its source: its imports would take longer than all else that lists verbs."""
    tree = ast.parse(Path(__file__).with_name(f"{verb}.py").read_text(encoding="utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == verb)
    return next(map(ast.get_docstring, functions), None)


def _listed() -> None:
    """Stands for a verb that is listed only."""


def _invoke(args: list[str]) -> int:
    try:
        with ending_on_signals():
            command = typer.main.get_command(build_app(args[0] if args and args[0] in VERBS else None))
            with command.make_context(_NAME, args) as context:
                command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except BrokenPipeError:
        raise
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - nobody should see a traceback unasked
        status = _usage_status(error)
        return status_of(_as_typed(error, args)) if status is None else status
    return 0


def _as_typed(error: BaseException, args: list[str]) -> BaseException:
    """An error as whoever typed the line knows it."""
    if not isinstance(error, InputError):
        return error
    return as_typed(error, args).with_traceback(error.__traceback__)


def _flushed(status: int) -> int:
    """Write out what is buffered; report a failure that was not reported yet."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
    except OSError as error:
        silence_stdout()
        return status or status_of(not_written("standard output", error))
    return status


def _usage_status(error: BaseException) -> int | None:
    """Tell about bad usage, which typer reports by exceptions of its own; `None` for other errors."""
    describe = getattr(error, "format_message", None)
    if describe is None:
        return None
    context = getattr(error, "ctx", None)
    path = _NAME if context is None else context.command_path
    say(f"{describe().rstrip('.')} (see '{path} --help')")
    return BAD_INPUT


def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"{_NAME} {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
