"""Turns pydantic's report into one `InputError`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from bufferlab.errors import NO_VALUE, InputError
from bufferlab.scenario.applications import APPLICATIONS
from bufferlab.scenario.models import Change, Flow, Link, Probes, Run
from bufferlab.scenario.part import Part
from bufferlab.scenario.plain import Json, Table
from bufferlab.scenario.queues import QUEUES

_PARTS: Final[Mapping[str, type[Part]]] = {
    "run": Run,
    "bottleneck": Link,
    "links": Link,
    "changes": Change,
    **QUEUES,
    "flows": Flow,
    "probes": Probes,
    **APPLICATIONS,
}

_PHRASES: Final = {
    "list_type": ("is not a list", "a list"),
    "too_short": ("is empty", "at least one item"),
    "too_long": ("has too many items", "a shorter list"),
    "model_type": ("is not a table", "a table of keys"),
}

_TAGS: Final[Mapping[int | str, tuple[str, str]]] = {
    "application": ("kind", ", ".join(APPLICATIONS)),
    "queue": ("discipline", ", ".join(QUEUES)),
}
"""Tables whose keys depend on one of them: which, and what it may be."""

_LISTS: Final = ("links", "flows")


def to_input_error(report: ValidationError, root: type[Part], table: Table) -> InputError:
    """Pick the most telling error of a report: an unknown key (often a misspelled one) before all others."""
    details = report.errors(include_url=False)
    first = next((error for error in details if error["type"] == "extra_forbidden"), details[0])
    return _translate(first, root, table)


def keys_of(part: type[Part]) -> list[str]:
    """The keys that a part of the scenario takes, as files spell them."""
    return [field.alias or name for name, field in part.model_fields.items()]


def _translate(error: ErrorDetails, root: type[Part], table: Table) -> InputError:
    place, value, kind = error["loc"], error["input"], error["type"]
    key = _key(place, table)
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, InputError):
        inner = ".".join(part for part in (key, cause.key) if part)
        return InputError(
            cause.problem, file=cause.file, key=inner, value=cause.value, accepted=cause.accepted
        )
    if kind == "extra_forbidden":
        return _unknown_key(key, str(place[-1]), keys_of(_part_at(place, root)))
    if kind == "missing":
        return InputError("is required", key=key, accepted=_described(place, root))
    if kind == "list_type" and key in _LISTS:
        return InputError("is not a list", key=key, value=value, accepted=f"tables headed [[{key}]]")
    if kind.startswith("union_tag"):
        field, known = _TAGS[place[-1]]
        tag = value.get(field, NO_VALUE) if isinstance(value, dict) else value
        return InputError(f"is not a known {field}", key=f"{key}.{field}", value=tag, accepted=known)
    problem, accepted = _PHRASES.get(kind, (f"is not accepted ({error['msg']})", None))
    return InputError(problem, key=key, value=value, accepted=accepted)


def _unknown_key(key: str, name: str, known: Sequence[str]) -> InputError:
    close = difflib.get_close_matches(name[:64], known, n=1, cutoff=0.5)
    hint = f" (did you mean '{close[0]}'?)" if close else ""
    return InputError(f"is not a known key{hint}", key=key, accepted=", ".join(known))


def _described(place: tuple[int | str, ...], root: type[Part]) -> str | None:
    fields = _part_at(place, root).model_fields
    for name, field in fields.items():
        if (field.alias or name) == place[-1]:
            return (field.description or "").rstrip(".")
    return None


def _part_at(place: tuple[int | str, ...], root: type[Part]) -> type[Part]:
    """The model that holds the last key of a place."""
    for step in reversed(place[:-1]):
        if isinstance(step, str) and step in _PARTS:
            return _PARTS[step]
    return root


def _key(place: tuple[int | str, ...], table: Json) -> str:
    """The place as a path; pydantic's names of alternatives, which no file has, are left out."""
    key, node = "", table
    for step in place:
        if isinstance(step, int):
            key += f"[{step}]"
            node = node[step] if isinstance(node, list) and step < len(node) else None
            continue
        tags = [node.get(tag) for tag, _ in _TAGS.values()] if isinstance(node, dict) else []
        is_alternative = isinstance(node, dict) and step not in node and step in tags
        if not is_alternative:
            key = f"{key}.{step}" if key else step
            node = node.get(step) if isinstance(node, dict) else None
            node = {"kind": node, "discipline": node} if isinstance(node, str) else node
    return key
