"""Keys of scenarios and their values as lists of runs name them: words, with the units that people read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.studies.targets import parse_target
from bufferlab.units import packets_text

_WORDS: Final[Mapping[str, str]] = {
    "rtt": "round trip",
    "rtt_spread": "spread of round trips",
    "count": "number of flows",
    "congestion": "control",
    "interval": "time between packets",
    "packet": "packet size",
    "case": "what was tried",
    "size": "setting",
    "point": "what was tried",
}
"""Last parts of keys that are no plain words by themselves, and names that studies give their runs."""

_QUANTITIES: Final = ("time", "rate", "size")

_TARGETS: Final = "advise.targets"

_PLACE: Final = re.compile(r"(?P<kind>links|flows)(?:\[(?P<number>\d+)\]|\.(?P<name>[^.]+))\.")
"""What of a key says whose it is."""

_KINDS: Final = {"links": "link", "flows": "group"}


def setting_names(paths: Sequence[str], groups: Sequence[str] = ()) -> dict[str, str]:
    """What each key is called: "buffer", and where several links or groups have it, "buffer of link 2".

    Args:
        paths: The keys.
        groups: The names of the scenario's groups of flows in their order, empty of one that is not known.
    """
    owners = {path: _owner(path, groups) for path in paths}
    words = {path: _word(path) for path in paths}
    several = {
        word for word in words.values() if len({owners[path] for path in paths if words[path] == word}) > 1
    }

    def is_one_of(path: str) -> bool:
        return path.startswith("flows") and len(groups) > 1

    return {
        path: f"{word} of {owners[path]}" if owners[path] and (word in several or is_one_of(path)) else word
        for path, word in words.items()
    }


def setting_text(value: object) -> object:
    """A value with the unit that fits it, "15 ms" of "15000000000 ps"; queues and flows not as JSON."""
    if not isinstance(value, str):
        return value
    if value[:1] not in {"{", "["}:
        return _quantity(value)
    try:
        read = json.loads(value)
    except ValueError:
        return value
    return ", ".join(map(_named, read)) if isinstance(read, list) else _of_queue(read)


def changes_text(changed: Mapping[str, Any], groups: Sequence[str] = ()) -> str:
    """What was changed in a scenario: "rate 5 Mbps, buffer 40 packets"."""
    names = setting_names(list(changed), groups)
    return ", ".join(f"{names[path]} {_changed_to(path, value, groups)}" for path, value in changed.items())


def words_in_a_row(words: Iterable[str]) -> str:
    """One behind the other: "queue and buffer", "queue, buffer and rate"."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


@lru_cache(maxsize=4096)
def _quantity(text: str) -> str:
    """A quantity in the unit that fits it; any other text as it is."""
    number, _, unit = text.partition(" ")
    if unit in {"packet", "packets"} and number.isdecimal():
        return packets_text(int(number))
    for kind in _QUANTITIES:
        try:
            return _core.format_quantity(kind, _core.parse_quantity(kind, text, 0))
        except InputError:
            continue
    return text


def _changed_to(path: str, value: object, groups: Sequence[str]) -> object:
    """A value of a key; of targets, which the page writes as one text, each in the words of answers."""
    if path == _TARGETS and isinstance(value, str):
        return "; ".join(_target(each, groups) for each in value.split(", "))
    return setting_text(_json(value))


def _target(text: str, groups: Sequence[str]) -> str:
    try:
        return str(parse_target(text, groups))
    except InputError:  # of a scenario whose groups are not known
        return text


def _json(value: object) -> object:
    return json.dumps(value) if isinstance(value, dict | list) else value


def _named(each: object) -> str:
    return str(each.get("name", "flows")) if isinstance(each, dict) else str(each)


def _of_queue(table: dict[str, Any]) -> str:
    kind = table.pop("discipline", None)
    settings = ", ".join(_setting(_word(name), setting) for name, setting in table.items())
    return f"{kind} ({settings})" if kind and settings else kind or settings


def _setting(name: str, value: object) -> str:
    if isinstance(value, bool):
        return name if value else f"no {name}"
    return f"{name} {setting_text(value)}"


def _word(path: str) -> str:
    last = path.rpartition(".")[2]
    return _WORDS.get(last, last.replace("_", " "))


def _owner(path: str, groups: Sequence[str]) -> str:
    """Whose a key is: "link 1", "group 2", or by its name; empty if it is the only one's."""
    if path.startswith("bottleneck."):
        return "link 1"
    found = _PLACE.match(path)
    if found is None:
        return ""
    number = int(found["number"] or 0)
    if found["kind"] == "flows" and not found["name"] and number < len(groups) and groups[number]:
        return groups[number]
    return found["name"] or f"{_KINDS[found['kind']]} {int(found['number']) + 1}"
