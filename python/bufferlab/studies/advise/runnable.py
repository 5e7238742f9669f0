"""Queues that a platform can run: what it cannot is no advice for who has to type it there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bufferlab.configure import find_platform
from bufferlab.errors import InputError
from bufferlab.studies.words import OWN


def runnable(disciplines: Mapping[str, str], platform: str, *, asked: bool) -> list[str]:
    """The queues that a platform can run, of some.

    Args:
        disciplines: Each queue's discipline, by its word.
        platform: The platform: a name of `configure.PLATFORMS`.
        asked: Whether they were asked for by name, so that none is left out in silence.

    Raises:
        InputError: There is no such platform, or it lacks a queue that was asked for.
    """
    known = find_platform(platform)
    lacking = [word for word, discipline in disciplines.items() if discipline not in known.disciplines]
    if asked and lacking:
        raise InputError(
            f"has no equivalent on {known.title} that is known here",
            key="queues",
            value=lacking[0],
            accepted=", ".join(known.disciplines),
        )
    return [word for word in disciplines if word not in lacking]


def about_queues(platform: str | None, words: Sequence[str]) -> str:
    """What is taken for granted about the queues, as a sentence without its stop.

    Args:
        platform: The platform; `None` where none was named.
        words: The queues that are tried.
    """
    names = ["the scenario's own" if word == OWN else word for word in words]
    those = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
    if platform is None:
        return f"the queue is one of {those}"
    known = find_platform(platform)
    return f"the queue is one that {known.title} has: {those}"
