"""The classes of a queue with differentiated services, as routers are given them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.configure.answer import Answer

_NAMED: Final = {"EF": 46, "VA": 44, "LE": 1}
"""Codepoints whose names follow no rule (RFC 3246, 5865, 8622)."""


@dataclass(frozen=True)
class ServiceClass:
    """A class of the text.

    Attributes:
        codepoints: Its codepoints; none if it has what no class lists.
        percent: Its part of the rate, if it has priority and is policed.
        weight: Its weight; `None` if it has priority.
        queue: The word of its queue.
    """

    codepoints: tuple[int, ...]
    percent: int | None
    weight: int | None
    queue: str


def read_classes(answer: Answer) -> list[ServiceClass]:
    """The classes in the order of the text."""
    text: Any = answer.parameters["classes"]
    return [_class(each) for each in str(text).split("; ")]


def rest_of(classes: list[ServiceClass]) -> ServiceClass:
    """The class that has what no class lists: the one called so, or else the last."""
    return next((each for each in classes if not each.codepoints), classes[-1])


def part_of_class(answer: Answer, classes: int) -> int:
    """Each class's part of the buffer, in its unit: an even one, of at least one."""
    return max(answer.amount // classes, 1)


def _class(text: str) -> ServiceClass:
    who, _, how = text.partition(": ")
    words = how.replace(" %", "%").split()
    percent = words.pop(1) if len(words) > 1 and words[1].endswith("%") else None
    weight = int(words.pop(1)) if words[0] == "weight" else None
    codepoints = () if who == "rest" else tuple(map(_codepoint, who.split()))
    queue = words[1] if len(words) > 1 else "fifo"
    return ServiceClass(codepoints, None if percent is None else int(percent[:-1]), weight, queue)


def _codepoint(name: str) -> int:
    """A codepoint's number: class selectors and assured forwarding by their rules (RFC 2474, 2597)."""
    if found := re.fullmatch(r"CS(\d)", name):
        return 8 * int(found[1])
    if found := re.fullmatch(r"AF(\d)(\d)", name):
        return 8 * int(found[1]) + 2 * int(found[2])
    return _NAMED[name] if name in _NAMED else int(name)
