"""Queues that a platform can run: what it cannot is no advice for who has to type it there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bufferlab.configure import PLATFORMS, Platform, configuration, find_platform
from bufferlab.errors import InputError
from bufferlab.scenario import Table
from bufferlab.studies.advise.llq import TITLES
from bufferlab.studies.words import CAKE, DEPLOYED, LLQ, OWN

_UNTRIED: Final = {"ios-xe": "; its random-detect is not simulated"}
"""What a platform has that no run here stands for."""


def llq_platforms() -> list[str]:
    """The platforms on which marked calls can go first."""
    return [name for name, platform in PLATFORMS.items() if platform.llq]


def runnable(tables: Mapping[str, Table], platform: str, *, rate_bps: int, asked: bool) -> list[str]:
    """The queues that a platform can run, of some.

    Args:
        tables: Each queue's table, by its word.
        platform: The platform: a name of `configure.PLATFORMS`.
        rate_bps: Rate of the link, bit/s.
        asked: Whether they were asked for by name, so that none is left out in silence.

    Raises:
        InputError: There is no such platform, or it lacks a queue that was asked for.
    """
    known = find_platform(platform)
    found = []
    for word, table in tables.items():
        if (why := _lacks(known, word, table, rate_bps)) is None:
            found.append(word)
        elif asked:
            raise why
    return found


def _lacks(known: Platform, word: str, table: Table, rate_bps: int) -> InputError | None:
    """Why a platform cannot run a queue; `None` if it can."""
    if table["discipline"] not in known.disciplines:
        return InputError(
            f"has no equivalent on {known.title} that is known here",
            key="queues",
            value=word,
            accepted=", ".join(
                "llq" if known.llq and each == "diffserv" else each for each in known.disciplines
            ),
        )
    if not known.llq or table["discipline"] != "diffserv":
        return None
    try:
        configuration(f"{rate_bps} bps", table, "1000 packets", platform=known.name)
    except InputError as error:
        return error
    return None


def about_queues(platform: str | None, words: Sequence[str]) -> str:
    """What is taken for granted about the queues, as a sentence without its stop.

    Args:
        platform: The platform; `None` where none was named.
        words: The queues that are tried.
    """
    called = {OWN: "the scenario's own", **TITLES}
    names = [called.get(word, word) for word in words]
    those = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
    known = None if platform is None else find_platform(platform)
    text = "the queue is one of" if known is None else f"the queue is one that {known.title} has:"
    has_cake = known is None or CAKE in known.disciplines
    are_usual = {*words, OWN, LLQ} >= {OWN, LLQ, *DEPLOYED} and CAKE not in words
    also = _UNTRIED.get(platform or "", "")
    return f"{text} {those}{also}{'; --queues cake tries CAKE' if has_cake and are_usual else ''}"


def about_kind(platform: str, kind: str) -> str:
    """What is taken for granted of a queue for both directions of a line, as a sentence without its stop.

    Args:
        platform: The platform.
        kind: The discipline.
    """
    title = find_platform(platform).title
    return f"the queue is {kind} in both directions, since {title} has one for both"
