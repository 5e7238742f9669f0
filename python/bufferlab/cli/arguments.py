"""What a verb takes, as its function's signature says it.

    def run(scenario: Annotated[Path, Argument()], seeds: Annotated[int, Option()] = 1) -> None: ...

is `bufferlab run [--seeds <int>] scenario`. A parameter is a `bool` (a flag), an `int`, `float`, `str`,
`Path`, a member of an enumeration, or a list of these (repeatable). What is not given keeps the default of
the function.
"""

from __future__ import annotations

import argparse
import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from textwrap import fill
from typing import Any, Final, NoReturn, Union, get_args, get_origin, get_type_hints

from bufferlab.cli.common import UsageError

Verb = Callable[..., None]
"""The function of a verb."""

_WIDTH: Final = 80
_HELP_COLUMN: Final = 26


@dataclass(frozen=True)
class Option:
    """An option.

    Attributes:
        name: With its dashes; by default the parameter's.
        help: What it is for.
        metavar: Stands for its value; by default its type.
        show_default: Whether the help tells the default.
    """

    name: str | None = None
    help: str = ""
    metavar: str | None = None
    show_default: bool = True


@dataclass(frozen=True)
class Argument:
    """What has no name on the command line.

    Attributes:
        help: What it is.
        show_default: Whether the help tells the default.
    """

    help: str = ""
    show_default: bool = True


class Parser(argparse.ArgumentParser):
    """A parser whose errors are exceptions, and which takes no shortened options."""

    def __init__(self, name: str, usage: str, about: str) -> None:
        """Prepare a parser without arguments.

        Args:
            name: The command, for its help and for messages.
            usage: What follows the name.
            about: What it does, in paragraphs.
        """
        super().__init__(
            prog=name,
            usage=f"{name} {usage}",
            description=_wrapped(about),
            formatter_class=_Formatter,
            add_help=False,
            allow_abbrev=False,
        )
        self.places = self.add_argument_group("Arguments")
        self.options = self.add_argument_group("Options")

    def error(self, message: str) -> NoReturn:
        """Tell about bad usage."""
        raise UsageError(f"{message} (see '{self.prog} --help')")

    def joined(self, args: Sequence[str]) -> list[str]:
        """The command line with `--sort=-loss` for `--sort -loss`, in which argparse sees two options."""
        valued = {name for action in self._actions if action.nargs is None for name in action.option_strings}
        found: list[str] = []
        left = iter(args)
        for arg in left:
            value = next(left, None) if arg in valued else None
            found.append(arg if value is None else f"{arg}={value}")
        return found

    def add_help_option(self) -> None:
        """Add `--help`, behind the other options."""
        self.options.add_argument("-h", "--help", action="help", help="Show this message and exit.")


def call(verb: Verb, name: str, args: Sequence[str]) -> None:
    """Call a verb with what the command line says.

    Args:
        verb: The verb.
        name: The command that it is, for its help and for messages.
        args: The command line behind it.

    Raises:
        UsageError: It does not fit the verb's signature.
    """
    parser = parser_of(verb, name)
    verb(**vars(parser.parse_intermixed_args(parser.joined(args))))


def parser_of(verb: Verb, name: str) -> Parser:
    """The parser of a verb's signature."""
    parameters = inspect.signature(verb).parameters.values()
    hints = get_type_hints(verb, include_extras=True)
    declared = [(each, *_declared(hints[each.name])) for each in parameters]
    places = [
        each.name if each.default is each.empty else f"[{each.name}]"
        for each, _, kind in declared
        if isinstance(kind, Argument)
    ]
    parser = Parser(name, " ".join(["[OPTIONS]", *places]), inspect.getdoc(verb) or "")
    for parameter, wanted, kind in declared:
        if isinstance(kind, Argument):
            _add_argument(parser, parameter, wanted, kind)
        else:
            _add_option(parser, parameter, wanted, kind)
    parser.add_help_option()
    return parser


def _declared(hint: Any) -> tuple[Any, Option | Argument]:  # noqa: ANN401 - a type, of any kind
    """A parameter's type without `None`, and what it is on the command line."""
    wanted, *about = get_args(hint)
    if get_origin(wanted) in {Union, types.UnionType}:
        (wanted,) = (each for each in get_args(wanted) if each is not type(None))
    (kind,) = (each for each in about if isinstance(each, Option | Argument))
    return wanted, kind


def _add_argument(parser: Parser, parameter: inspect.Parameter, wanted: Any, kind: Argument) -> None:  # noqa: ANN401
    given = {} if parameter.default is parameter.empty else {"nargs": "?", "default": parameter.default}
    parser.places.add_argument(parameter.name, help=_help(kind, parameter), **given, **_values(wanted))


def _add_option(parser: Parser, parameter: inspect.Parameter, wanted: Any, kind: Option) -> None:  # noqa: ANN401
    name = kind.name or f"--{parameter.name.replace('_', '-')}"
    common: dict[str, Any] = {
        "dest": parameter.name,
        "default": argparse.SUPPRESS,
        "required": parameter.default is parameter.empty,
        "help": _help(kind, parameter),
    }
    if wanted is bool:
        parser.options.add_argument(name, action="store_true", **common)
        return
    several = get_origin(wanted) is list
    (single,) = get_args(wanted) if several else (wanted,)
    parser.options.add_argument(
        name,
        action="append" if several else "store",
        metavar=kind.metavar or f"<{single.__name__.lower()}>",
        **common,
        **_values(single),
    )


def _values(wanted: Any) -> dict[str, Any]:  # noqa: ANN401 - a type, of any kind
    """How a value is read."""
    if not issubclass(wanted, Enum):
        return {"type": wanted}

    def member(text: str) -> object:
        try:
            return wanted(text)
        except ValueError:
            names = ", ".join(str(each.value) for each in wanted)
            raise argparse.ArgumentTypeError(f"{text!r} is none of {names}") from None

    return {"type": member}


def _help(kind: Option | Argument, parameter: inspect.Parameter) -> str:
    told, default = kind.help, parameter.default
    if default is parameter.empty:
        told += " [required]"
    elif kind.show_default and default is not None and default is not False:
        told += f" [default: {default}]"
    return told.replace("%", "%%")


def _wrapped(text: str) -> str:
    """Paragraphs in lines of a terminal's width; those with indented lines stay as they are."""
    return "\n\n".join(
        each if "\n " in each else fill(" ".join(each.split()), _WIDTH - 2) for each in text.split("\n\n")
    )


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=_HELP_COLUMN, width=_WIDTH)

    def add_usage(self, usage: str | None, actions: Any, groups: Any, prefix: str | None = None) -> None:  # noqa: ANN401
        super().add_usage(usage, actions, groups, prefix or "Usage: ")
