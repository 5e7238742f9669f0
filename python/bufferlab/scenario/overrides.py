"""Changes to a scenario by path: `links.bottleneck.rate`, `flows.short.count`, `flows[0].rtt`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Final

from bufferlab.errors import InputError
from bufferlab.scenario.plain import Json, Table, plain, plain_table

SOURCE: Final = "--set"
"""What stands for the file in messages about overrides."""

DEFAULT_NAMES: Final[Mapping[str, str]] = {"links": "link", "flows": "flows"}
"""Stems of the names of links and groups that are given none: link0, flows0."""

_ACCEPTED: Final = "a path such as run.duration, links.bottleneck.rate, flows.short.count or flows[0].rtt"
_SEGMENT: Final = re.compile(r"([A-Za-z0-9_-]{1,64})((?:\[\d{1,7}\])*)", re.ASCII)
_LONGEST_VALUE: Final = 10_000


def split_override(text: str) -> tuple[str, str]:
    """Split "path=value" as a command line has it.

    Raises:
        InputError: If there is no path or no equals sign.
    """
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise InputError("is not an override", file=SOURCE, value=text, accepted="path=value")
    return path.strip(), value.strip()


def parse_value(text: str) -> Json:
    """Read a value from a command line: TOML where it is TOML (10, true, [1, 2]), else the text itself."""
    if len(text) > _LONGEST_VALUE or "\n" in text or "\r" in text:
        return text
    try:
        return plain(tomllib.loads(f"value = {text}")["value"])
    except (ValueError, RecursionError):  # no TOML, or a date, which no key takes
        return text


def apply_overrides(table: Mapping[str, Json], overrides: Mapping[str, object]) -> Table:
    """Return a copy of a scenario's table with overrides applied in their order.

    Texts are read as on a command line: "10" is a number, "10 ms" a text. Tables that are missing on
    the way are made, list items must exist.

    Raises:
        InputError: If a path leads nowhere.
    """
    changed = plain_table(table)
    for path, given in overrides.items():
        try:
            value = plain(parse_value(given) if isinstance(given, str) else given)
            _assign(changed, _segments(path, changed), value)
        except InputError as error:
            raise error.at(file=SOURCE, key=str(path)) from None
    return changed


def _segments(path: object, table: Table) -> list[str]:
    segments: list[str] = []
    for part in path.split(".") if isinstance(path, str) and len(path) < 500 else [""]:
        match = _SEGMENT.fullmatch(part.strip())
        if match is None:
            raise InputError("is not a path", accepted=_ACCEPTED)
        segments += [match[1], *re.findall(r"\d+", match[2])]
    return _short_form(segments, table)


def _short_form(segments: list[str], table: Table) -> list[str]:
    """Let `links.bottleneck` and `bottleneck` mean the same in both forms of a scenario."""
    if segments[0] == "links" and "bottleneck" in table and "links" not in table and len(segments) > 1:
        short = table["bottleneck"]
        name = short.get("name", "bottleneck") if isinstance(short, dict) else "bottleneck"
        if segments[1] not in (name, "0"):
            raise InputError(f"names no link '{segments[1]}'", accepted=str(name))
        return ["bottleneck", *segments[2:]]
    if segments[0] == "bottleneck" and len(segments) > 1 and "bottleneck" not in table and "links" in table:
        return ["links", *segments]
    return segments


def _assign(table: Table, segments: list[str], value: Json) -> None:
    node: Json = table
    for position, segment in enumerate(segments[:-1]):
        node = _child(node, segment, segments[position - 1] if position else "")
    last = segments[-1]
    if isinstance(node, list):
        node[_index(node, last, segments[-2])] = value
    elif isinstance(node, dict):
        node[last] = value
    else:
        raise InputError(f"leads into a value that is no table, before '{last}'", accepted=_ACCEPTED)


def _child(node: Json, segment: str, parent: str) -> Json:
    if isinstance(node, list):
        return node[_index(node, segment, parent)]
    if isinstance(node, dict):
        return node.setdefault(segment, {})
    raise InputError(f"leads into a value that is no table, before '{segment}'", accepted=_ACCEPTED)


def _index(items: list[Json], segment: str, parent: str) -> int:
    """Position of a list's item, given by number or by name."""
    if segment.isdigit():
        if int(segment) < len(items):
            return int(segment)
        accepted = f"0 to {len(items) - 1}" if items else "nothing, the list is empty"
        raise InputError(f"has no item {segment}", accepted=accepted)
    stem = DEFAULT_NAMES.get(parent, "item")
    tables = [item if isinstance(item, dict) else {} for item in items]
    names = [str(table.get("name", f"{stem}{index}")) for index, table in enumerate(tables)]
    if segment in names:
        return names.index(segment)
    raise InputError(f"names nothing called '{segment}'", accepted=", ".join(names[:20]) or "an index")
