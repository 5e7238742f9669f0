"""What a platform is: its name, what it can run, what its configuration is written from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bufferlab.configure.answer import Answer


@dataclass(frozen=True)
class Source:
    """Where a platform's syntax, units and bounds were read.

    Attributes:
        title: Title of the document, with its version.
        place: Section, page or file.
        confirms: What it confirms.
    """

    title: str
    place: str
    confirms: str

    def __str__(self) -> str:
        return f"{self.title}, {self.place}"


@dataclass(frozen=True)
class Target:
    """Where the configuration goes.

    Attributes:
        device: Name of the interface whose output queue it is.
        shape: Whether the router has to hold the rate by a shaper, since its own link is faster.
        cake: Whether CAKE stands in for FQ-CoDel.
    """

    device: str
    shape: bool = False
    cake: bool = False


@dataclass(frozen=True)
class Written:
    """A platform's lines for an answer.

    Attributes:
        lines: What to type, in order.
        notes: What to know about them, a sentence or two each.
        amount: The buffer as configured, in `unit`; `None` if the queue sizes itself.
        unit: "packets", "bytes", "us", "ms", or "" without an amount.
    """

    lines: tuple[str, ...]
    notes: tuple[str, ...]
    amount: int | None
    unit: str


@dataclass(frozen=True)
class Platform:
    """A system that can be configured.

    Attributes:
        name: What `platform` calls it.
        title: Its name for people, with the versions that the sources are of.
        device: The interface that lines are for if none is named.
        comment: What starts a comment.
        disciplines: The disciplines of scenarios that it can run.
        nearest: For others, the discipline of those that comes nearest; the first one if it is not there.
        cake: Whether it has CAKE.
        shapes: Whether the syntax of its shaper is known.
        write: Writes an answer for a target.
        sources: Where all that was read.
    """

    name: str
    title: str
    device: str
    comment: str
    disciplines: tuple[str, ...]
    nearest: Mapping[str, str]
    cake: bool
    shapes: bool
    write: Callable[[Answer, Target], Written]
    sources: tuple[Source, ...]
