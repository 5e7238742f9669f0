"""The exceptions whose message is all that a user needs: one line, no traceback."""

from __future__ import annotations

import re
import reprlib
from os import PathLike, fspath
from typing import Final

_SHOWN_CHARACTERS: Final = 60
_PLAIN_KEY: Final = re.compile(r"[\w.\[\]-]{1,200}", re.ASCII)


class _NoValue:
    """Stands for "there is no value to show" (`None` is a value)."""


NO_VALUE: Final = _NoValue()


class InputError(ValueError):
    """A scenario, an option or a file that cannot be used; the message is one line.

    Attributes:
        problem: What is wrong, to be read after the value: "is not a time".
        file: File or option that holds the bad input.
        key: Where in it: `links[0].rate`.
        value: The offending value; `NO_VALUE` if there is none to show.
        accepted: What would be accepted.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | PathLike[str] | None = None,
        key: str | None = None,
        value: object = NO_VALUE,
        accepted: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.file = None if file is None else str(fspath(file))
        self.key = key
        self.value = value
        self.accepted = accepted

    def at(self, *, file: str | PathLike[str] | None = None, key: str | None = None) -> InputError:
        """Return the same error with its place filled in, where it is not known yet."""
        return InputError(
            self.problem,
            file=self.file if self.file is not None else file,
            key=self.key if self.key is not None else key,
            value=self.value,
            accepted=self.accepted,
        )

    def __str__(self) -> str:
        places = [text for text in (self.file, self.key and show_key(self.key)) if text]
        problem = self.problem if self.value is NO_VALUE else f"{show(self.value)} {self.problem}"
        message = ": ".join([*places, problem])
        return _one_line(f"{message}; accepted: {self.accepted}" if self.accepted else message)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.problem, self.file, self.key, self.value, self.accepted)


class OutputError(Exception):
    """Something could not be written; the message is one line and names the file or folder."""


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
    problem: str, file: str | None, key: str | None, value: object, accepted: str | None
) -> InputError:
    value = NO_VALUE if isinstance(value, _NoValue) else value
    return InputError(problem, file=file, key=key, value=value, accepted=accepted)


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


_REPR: Final = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _SHOWN_CHARACTERS
_REPR.maxlevel = 2
_REPR.maxlist = _REPR.maxdict = _REPR.maxtuple = _REPR.maxset = 4
