"""Reads scenario files, TOML or JSON, into plain tables."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from bufferlab.errors import InputError
from bufferlab.files import read_text
from bufferlab.scenario.plain import Table, plain_table


def read_table(path: Path) -> tuple[str | None, Table]:
    """Read a scenario file: its text if that is TOML, and its table.

    JSON is told by the suffix `.json`, or by an opening brace in a file whose suffix is not `.toml`.

    Raises:
        InputError: If the file cannot be read or its syntax is wrong; the message has line and column.
    """
    text = read_text(path, what="a scenario file")
    suffix = path.suffix.lower()
    is_json = suffix == ".json" or (suffix != ".toml" and text.lstrip().startswith("{"))
    try:
        return (None, parse_json(text)) if is_json else (text, parse_toml(text))
    except InputError as error:
        raise error.at(file=path) from None


def parse_toml(text: str) -> Table:
    """Parse TOML.

    Raises:
        InputError: If the syntax is wrong.
    """
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOMLDecodeError is a ValueError and tells line and column
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        accepted = "TOML 1.0 (or JSON in a file named *.json)"
        raise InputError(f"is not TOML: {reason}", accepted=accepted) from None
    return plain_table(table)


def parse_json(text: str) -> Table:
    """Parse JSON whose outermost value is an object; a repeated key is an error.

    Raises:
        InputError: If the syntax is wrong.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        place = f"(at line {error.lineno}, column {error.colno})"
        raise InputError(
            f"is not JSON: {error.msg} {place}", accepted="JSON (or TOML in a file named *.toml)"
        ) from None
    except RecursionError:
        raise InputError("is not JSON: nested too deeply", accepted="at most 12 levels") from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"is not JSON: {error}", accepted="JSON with numbers of a usual size") from None
    return plain_table(value)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise InputError("is given twice", key=repeated, accepted="each key once")
    return table


def _refuse_constant(text: str) -> float:
    raise InputError("is not a number of JSON", value=text, accepted="finite numbers")
