"""What a stored scenario itself says of a key that other runs set: conditions are about all runs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from bufferlab.render.setting_text import setting_text
from bufferlab.scenario import Scenario

_PART: Final = re.compile(r"\[(?P<number>\d+)\]|(?P<name>[^.\[\]]+)")

_UNITS: Final[Mapping[str, str]] = {"": "", "_ps": " ps", "_bps": " bps", "_bytes": " B"}
"""Ends of keys of a resolved scenario, and the unit that each stands for."""


def changes_of_part(changes: str | None, path: str) -> dict[str, Any]:
    """What was changed of a scenario's flows, links or else that the key of a path is of.

    Args:
        changes: Values by path, as JSON.
        path: The key.
    """
    read: dict[str, Any] = json.loads(changes) if changes else {}
    return {each: value for each, value in read.items() if _section(each) == _section(path)}


def _section(path: str) -> str:
    section = re.split(r"[.\[]", path)[0]
    return "links" if section == "bottleneck" else section


def own_value(scenario: Scenario, path: str) -> object:
    """The value of a key as lists show it: as written, else its default; `None` if it has none.

    Args:
        scenario: The scenario, with what was changed in it.
        path: The key: "flows[0].count", "flows.call.rtt", "bottleneck.delay".
    """
    first, *keys = [found["number"] or found["name"] for found in _PART.finditer(path)]
    section = _section(path)
    keys = ["0", *keys] if first == "bottleneck" else keys
    resolved: Any = scenario.resolved
    written: Any = scenario.to_dict()
    if section in {"links", "flows"} and keys:
        written = written.get(section) or [written.get("bottleneck", {})]
        names = [each["name"] for each in resolved[section]]
        place = (
            int(keys[0]) if keys[0].isdecimal() else names.index(keys[0]) if keys[0] in names else len(names)
        )
        if place >= len(names):
            return None
        resolved, written, keys = resolved[section][place], written[place], keys[1:]
    else:
        resolved, written = resolved.get(section), written.get(section)
    value = _inner(written, keys)
    return _default(resolved, keys) if value is None else _shown(value)


def _inner(table: object, keys: list[str]) -> object:
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table


def _default(resolved: object, keys: list[str]) -> object:
    """What a resolved scenario has: keys of TCP in a table of their own, units at the ends of names."""
    *outer, last = keys
    for before in (outer, ["tcp", *outer]):
        for end, unit in _UNITS.items():
            value = _inner(resolved, [*before, last + end])
            if value is not None:
                named = value.get("text", value.get("discipline")) if isinstance(value, dict) else value
                return _shown(f"{named}{unit}" if unit else named)
    return None


def _shown(value: object) -> object:
    return setting_text(json.dumps(value) if isinstance(value, dict | list) else value)
