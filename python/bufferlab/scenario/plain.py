"""Reduces whatever Python values a caller passes to what a TOML or JSON file could hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np

from bufferlab.errors import InputError

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
"""A value as JSON has it."""

Table: TypeAlias = dict[str, Json]
"""An object of JSON, a table of TOML."""

_DEEPEST: Final = 12
_ACCEPTED: Final = "tables, lists, texts, numbers, true and false"


def plain_table(value: object) -> Table:
    """Copy a mapping, and all within it, into plain dictionaries, lists and scalars.

    Raises:
        InputError: If it is no mapping, or holds something that a file could not.
    """
    if not isinstance(value, Mapping):
        raise InputError("is not a scenario", value=value, accepted="a table with run, links and flows")
    return {name: plain(item, name) for name, item in _items(value, "")}


def plain(value: object, key: str = "", depth: int = 0) -> Json:
    """Copy a value of any nesting; NumPy scalars become Python numbers.

    Raises:
        InputError: If it holds something that a file could not, or is nested too deeply.
    """
    if depth > _DEEPEST:
        raise InputError("is nested too deeply", key=key or None, accepted=f"at most {_DEEPEST} levels")
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {name: plain(item, f"{key}.{name}", depth + 1) for name, item in _items(value, key)}
    if isinstance(value, list | tuple):
        return [plain(item, f"{key}[{index}]", depth + 1) for index, item in enumerate(value)]
    raise InputError("is not a value of a scenario", key=key or None, value=value, accepted=_ACCEPTED)


def _items(table: Mapping[object, object], key: str) -> list[tuple[str, object]]:
    items = [(name, item) for name, item in table.items() if isinstance(name, str)]
    if len(items) < len(table):
        raise InputError("has a key that is no text", key=key or None, value=table, accepted="texts as keys")
    return items
