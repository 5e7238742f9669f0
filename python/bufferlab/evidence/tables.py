"""Strict reading of TOML tables: each key is taken once with its type, and what is left over is an error."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar, overload

from bufferlab.errors import InputError, did_you_mean

T = TypeVar("T")
D = TypeVar("D")

_ALIKE: Final = 0.75
"""Likeness from which a key that nobody knows is taken for a required one that is missing."""

_KINDS: Final[Mapping[type, str]] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "a table",
    list: "a list",
}


class Table:
    """A table whose keys are taken one by one; errors name the key and what is accepted."""

    def __init__(self, content: Mapping[str, Any], place: str = "") -> None:
        self._content = dict(content)
        self._place = place
        self._known: list[str] = []

    def place(self, key: str) -> str:
        """The path of a key."""
        return f"{self._place}.{key}" if self._place else key

    def error(self, problem: str, key: str, accepted: str | None = None) -> InputError:
        """An error about the value of a key."""
        return InputError(problem, key=self.place(key), value=self._content[key], accepted=accepted)

    def __contains__(self, key: str) -> bool:
        return key in self._content

    @overload
    def take(self, key: str, kind: type[T]) -> T: ...
    @overload
    def take(self, key: str, kind: type[T], default: D) -> T | D: ...

    def take(self, key: str, kind: type[T], default: object = ...) -> object:
        """The value of a key, of a type.

        Raises:
            InputError: It is missing without a default, or of another type.
        """
        self._known.append(key)
        if key not in self._content:
            if default is ...:
                raise self._missing(key, _KINDS[kind])
            return default
        value = self._content[key]
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.error(f"is not {_KINDS[kind]}", key, _KINDS[kind])
        return value

    def any_of(self, key: str, *kinds: type, default: object = ...) -> Any:  # noqa: ANN401 - the caller's types
        """The value of a key, of one of several types.

        Raises:
            InputError: It is missing without a default, or of another type.
        """
        self._known.append(key)
        accepted = " or ".join(_KINDS[kind] for kind in kinds)
        if key not in self._content:
            if default is ...:
                raise self._missing(key, accepted)
            return default
        value = self._content[key]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise self.error(f"is not {accepted}", key, accepted)
        if isinstance(value, float) and not math.isfinite(value):
            raise self.error("is not finite", key, accepted)
        return value

    def _missing(self, key: str, accepted: str) -> InputError:
        """The error of a key that is missing, or of one that was meant to be it."""
        unknown = [each for each in self._content if each not in self._known]
        for meant in difflib.get_close_matches(key, unknown, n=1, cutoff=_ALIKE):
            return InputError(
                f"is not a known key{did_you_mean(meant, [key])}", key=self.place(meant), accepted=key
            )
        return InputError("is required", key=self.place(key), accepted=accepted)

    def checked(self, key: str, check: Callable[[str], str], default: T) -> str | T:
        """A text that a function checks.

        Raises:
            InputError: It is no text, or the check fails.
        """
        text = self.take(key, str, None)
        return default if text is None else self.at(key, lambda: check(text))

    def texts(self, key: str, check: Callable[[str], str] = str) -> list[str]:
        """A list of texts; empty if it is missing.

        Raises:
            InputError: It is none.
        """
        values = self.take(key, list, [])
        if not all(isinstance(value, str) for value in values):
            raise self.error("is not a list of texts", key, "a list of texts")
        return [self.at(key, lambda value=value: check(value)) for value in values]  # type: ignore[misc]

    def mapping(self, key: str, check: Callable[[str], str]) -> dict[str, str]:
        """A table of texts that a function checks; empty if it is missing.

        Raises:
            InputError: It is none, or a check fails.
        """
        found = {}
        for name, value in self.take(key, dict, {}).items():
            inner = f"{key}.{name}"
            if not isinstance(value, str):
                raise InputError("is not a text", key=self.place(inner), value=value, accepted="a text")
            found[name] = self.at(inner, lambda value=value: check(value))  # type: ignore[misc]
        return found

    def table(self, key: str) -> Table:
        """A table within; empty if it is missing.

        Raises:
            InputError: It is none.
        """
        return Table(self.take(key, dict, {}), self.place(key))

    def named(self, key: str, *, like: bool = False) -> Iterator[tuple[str, Table]]:
        """The tables within a table, by name.

        Args:
            key: The table.
            like: Whether `like = "name"` in one of them takes what is left out from a table above.

        Raises:
            InputError: Something in it is no table, or there is no such table above.
        """
        inner = self.table(key)
        above: dict[str, dict[str, Any]] = {}
        for name in self.take(key, dict, {}):
            content = inner.take(name, dict)
            if like and "like" in content:
                other = Table(content, inner.place(name)).take("like", str)
                if other not in above:
                    raise InputError(
                        "is not above",
                        key=inner.place(f"{name}.like"),
                        value=other,
                        accepted=", ".join(above),
                    )
                content = {**above[other], **{each: content[each] for each in content if each != "like"}}
            above[name] = content
            yield name, Table(content, inner.place(name))

    def items(self, key: str) -> Iterator[Table]:
        """The tables of a list.

        Raises:
            InputError: Something in it is no table.
        """
        for index, each in enumerate(self.take(key, list, [])):
            place = f"{self.place(key)}[{index}]"
            if not isinstance(each, dict):
                raise InputError("is not a table", key=place, value=each, accepted="a table")
            yield Table(each, place)

    def at(self, key: str, read: Callable[[], T]) -> T:
        """Call a function; its errors name the key.

        Raises:
            InputError: The function raised it.
        """
        try:
            return read()
        except InputError as error:
            raise error.at(key=self.place(key)) from None

    def finish(self) -> None:
        """Refuse keys that nobody took.

        Raises:
            InputError: There are some.
        """
        for key in self._content:
            if key not in self._known:
                hint = did_you_mean(key, self._known)
                known = ", ".join(dict.fromkeys(self._known))
                raise InputError(f"is not a known key{hint}", key=self.place(key), accepted=known)
