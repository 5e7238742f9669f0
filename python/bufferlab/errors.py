"""The exceptions whose message is all that a user needs: a line for each mistake, no traceback."""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from typing import Any, Final

_SHOWN_CHARACTERS: Final = 60
_PLAIN_KEY: Final = re.compile(r"[\w.\[\]-]{1,200}", re.ASCII)


class _NoValue:
    """Stands for "there is no value to show" (`None` is a value)."""


NO_VALUE: Final = _NoValue()


class InputError(ValueError):
    """A scenario, an option or a file that cannot be used; the message is one line for each mistake.

    Attributes:
        problem: What is wrong, to be read after the value: "is not a time".
        file: File or option that holds the bad input.
        key: Where in it: `links[0].rate`.
        value: The offending value; `NO_VALUE` if there is none to show.
        accepted: What would be accepted.
        line: Line of the file, from 1.
        column: Column of that line, from 1.
        others: The further mistakes of the same file, in its order.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | PathLike[str] | None = None,
        key: str | None = None,
        value: object = NO_VALUE,
        accepted: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.file = None if file is None else str(fspath(file))
        self.key = key
        self.value = value
        self.accepted = accepted
        self.line = line
        self.column = column
        self.others: tuple[InputError, ...] = ()

    @classmethod
    def of(cls, mistakes: Sequence[InputError]) -> InputError:
        """One exception for several mistakes: it is the first, and has the others."""
        first = mistakes[0].at()
        first.others = tuple(mistakes[1:])
        return first

    def at(self, *, file: str | PathLike[str] | None = None, key: str | None = None) -> InputError:
        """Return the same error with its place filled in, where it is not known yet."""
        error = InputError(
            self.problem,
            file=self.file if self.file is not None else file,
            key=self.key if self.key is not None else key,
            value=self.value,
            accepted=self.accepted,
            line=self.line,
            column=self.column,
        )
        error.others = tuple(other.at(file=file) for other in self.others)
        return error

    def moved(self, *, file: str | PathLike[str], key: str | None = None) -> InputError:
        """Return the same error, without the further ones, as one of another place."""
        return InputError(
            self.problem,
            file=file,
            key=self.key if key is None else key,
            value=self.value,
            accepted=self.accepted,
        )

    def __str__(self) -> str:
        problem = self.problem if self.value is NO_VALUE else f"{show(self.value)} {self.problem}"
        places = [text for text in (self._place(), self.key and show_key(self.key)) if text]
        message = ": ".join([*places, problem])
        line = _one_line(f"{message}; accepted: {self.accepted}" if self.accepted else message)
        return "\n".join([line, *map(str, self.others)])

    def _place(self) -> str | None:
        if self.line is None:
            return self.file
        if self.file is None:
            return f"line {self.line}, column {self.column}"
        return f"{self.file}:{self.line}:{self.column}"

    def __reduce__(self) -> tuple[object, ...]:
        place = {"file": self.file, "key": self.key, "line": self.line, "column": self.column}
        return _rebuild, (self.problem, place, self.value, self.accepted, self.others)


class OutputError(Exception):
    """Something could not be written; the message is one line and names the file or folder."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What to add to "is not known": the known word that is closest, if one is close.

    >>> did_you_mean("utilisation", ["loss", "utilization"]), did_you_mean("x", ["loss"])
    (" (did you mean 'utilization'?)", '')
    """
    close = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.5)
    return f" (did you mean '{close[0]}'?)" if close else ""


def show(value: object) -> str:
    """A short, one-line picture of any value, however large or odd it is."""
    try:
        return _one_line(_REPR.repr(value))
    except Exception:  # noqa: BLE001 - a value whose own repr fails must not hide the message
        return f"<{type(value).__name__}>"


def show_key(key: str) -> str:
    """A key as it stands, or quoted and shortened if it is not a plain one."""
    return key if _PLAIN_KEY.fullmatch(key) else show(key)


def _rebuild(
    problem: str, place: dict[str, Any], value: object, accepted: str | None, others: tuple[InputError, ...]
) -> InputError:
    value = NO_VALUE if isinstance(value, _NoValue) else value
    error = InputError(problem, **place, value=value, accepted=accepted)
    error.others = others
    return error


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


_REPR: Final = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _SHOWN_CHARACTERS
_REPR.maxlevel = 2
_REPR.maxlist = _REPR.maxdict = _REPR.maxtuple = _REPR.maxset = 4
