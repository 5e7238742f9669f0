"""Errors name what was typed: functions know arguments, and those who type know options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bufferlab.errors import InputError

OF_NUMBERS: Final = "--rate/--rtt/--flows"
"""The file of errors of a scenario that is made of options."""


def as_typed(error: InputError, args: Sequence[str]) -> InputError:
    """The same mistakes, with the options' names for arguments that options of the line have given.

    Args:
        error: The mistakes. Those of a file name its keys, and stay as they are.
        args: The line.

    >>> print(as_typed(InputError("is too small", key="threads", value=0), ["run", "--threads=0"]))
    --threads: 0 is too small
    """
    end = args.index("--") if "--" in args else len(args)  # a command of the user's follows
    options = {arg.partition("=")[0] for arg in args[:end] if arg.startswith("--")}
    if error.file == "." and "" in args[:end] and "." not in args[:end]:
        return InputError("is no name", value="", accepted=error.accepted)
    return InputError.of([_as_typed(each, options) for each in (error, *error.others)])


def _as_typed(error: InputError, options: set[str]) -> InputError:
    key = error.key or ""
    if error.file == OF_NUMBERS:  # "flows.cubic.segment"
        key = key.rpartition(".")[2]
    elif error.file is not None:
        return error
    option = f"--{key.replace('_', '-')}"
    if option not in options:
        return error
    return InputError(error.problem, key=option, value=error.value, accepted=error.accepted)
