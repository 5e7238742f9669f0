"""The queues to compare, as written: "fifo:bdp", "splitbuff", "codel:1000 packets", "scenario"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.errors import InputError, did_you_mean
from bufferlab.scenario import QUEUE_WORDS, SPLITBUFF_CAP, Scenario, Table, check_buffer
from bufferlab.studies.buffers import lasting, written_link
from bufferlab.studies.words import OWN, is_llq

FALLBACK_BUFFER: Final = "1 bdp"
"""Buffer of queues that are given none where the scenario has none."""

_FIFOS: Final = frozenset({"fifo", "switch"})

LLQ_CLASSES: Final = 2
"""Calls, and the rest: each has a queue-limit of its own, and a scenario's buffer is that of both."""

_KEY: Final = "queues"

_BETWEEN: Final = re.compile(r"\s*:\s*|\s+")
"""What stands between a queue's word and its buffer: a colon, or a space only."""


@dataclass(frozen=True)
class Contender:
    """A queue to compare.

    Attributes:
        name: As written.
        word: The queue's word, or `OWN`.
        table: The queue's table; `None` for the scenario's own.
        buffer: Its buffer, of all classes together, if one was written.
    """

    name: str
    word: str
    table: Table | None
    buffer: str | None


def default_queues(words: Iterable[str] = QUEUE_WORDS, *, has_buffer: bool = True) -> list[str]:
    """What is compared with a scenario's own by default: tail drop with some buffers, and all others.

    Args:
        words: The queues that there are.
        has_buffer: Whether the scenario has a buffer: FIFO is tried with it, too, as a long one is felt most.
    """
    of_scenario = ["fifo"] if has_buffer else []
    return [*of_scenario, "fifo:bdp", "fifo:stanford", *(word for word in words if word not in _FIFOS)]


def parse_contenders(
    written: str | Sequence[str], tables: Mapping[str, Table] = QUEUE_WORDS
) -> list[Contender]:
    """Read the queues to compare.

    Args:
        written: A word and, if wanted, a buffer for each.
        tables: Each word's queue.

    Raises:
        InputError: If one is none, or named twice.
    """
    words = written.split(",") if isinstance(written, str) else written
    contenders = [_parse(word, tables) for word in words]
    if not contenders:
        raise InputError("names no queue", key=_KEY, accepted=_accepted(tables))
    names = [contender.name for contender in contenders]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError("is named twice", key=_KEY, value=twice, accepted="each queue once")
    return contenders


def changes(contender: Contender, scenario: Scenario, index: int) -> dict[str, Any]:
    """The overrides that put a queue at the link with this index.

    Without a buffer of its own, LLQ's class-default gets as many packets as another queue: the calls' class
    takes none of them.
    """
    if contender.word == OWN and contender.buffer is None:
        return {}
    link = scenario.links[index]
    changed: dict[str, Any] = {}
    if contender.table is not None:
        changed["queue"] = dict(contender.table)
        if link["mark_above"] is not None and contender.table["discipline"] != "fifo":
            changed["mark_above"] = None
    buffer = contender.buffer or _default_buffer(changed.get("queue"), _written(scenario, index))
    if buffer is None and is_llq(contender.word) and link["buffer"]["kind"] == "packets":
        buffer = _of_all_classes(contender.word, link["buffer"]["text"])
    if buffer is not None:
        changed["buffer"] = buffer
    overrides = {f"links[{index}].{key}": value for key, value in changed.items()}
    return overrides if buffer is None else {**overrides, **lasting(scenario, index)}


def word_and_buffer(written: str) -> tuple[str, str | None]:
    """The word of a queue as written, and its buffer if it has one.

    >>> word_and_buffer("fifo:50 ms"), word_and_buffer("fifo 50 ms"), word_and_buffer("codel")
    (('fifo', '50 ms'), ('fifo', '50 ms'), ('codel', None))
    """
    word, *buffer = _BETWEEN.split(written.strip(), maxsplit=1)
    return word, buffer[0] if buffer else None


def _parse(written: str, tables: Mapping[str, Table]) -> Contender:
    word, size = word_and_buffer(written)
    table = tables.get(word)
    if table is None and is_llq(word):
        raise InputError("has no marked calls to go first", key=_KEY, value=word, accepted=_accepted(tables))
    if table is None and word != OWN:
        hint = did_you_mean(word, [*tables, OWN])
        raise InputError(f"is not a known queue{hint}", key=_KEY, value=word, accepted=_accepted(tables))
    if size is None:
        return Contender(word, word, table, None)
    name = f"{word}:{size}"
    size = f"{size} packets" if size.isdecimal() else size
    try:
        check_buffer(size)
    except InputError as error:
        raise error.at(key=_KEY) from None
    return Contender(name, word, table, _of_all_classes(word, size))


def _of_all_classes(word: str, size: str) -> str:
    """A buffer as a scenario has it: of LLQ, what is written is the queue-limit of one of its two classes.

    Raises:
        InputError: LLQ's is no number of packets.
    """
    if not is_llq(word):
        return size
    packets, _, unit = size.partition(" ")
    if not packets.isdecimal() or not unit.startswith("packet"):
        raise InputError(
            "takes class-default's queue-limit", key=_KEY, value=f"{word}:{size}", accepted=f"{word}:64"
        )
    return f"{LLQ_CLASSES * int(packets)} packets"


def _accepted(words: Iterable[str]) -> str:
    """What the list may be, for messages; a number alone is packets, as in bounds."""
    return (
        f"{', '.join((*words, OWN))}; with a buffer after a colon or a space if wanted, as in fifo:bdp, "
        "fifo:448 (packets) or 'codel 50 ms'; commas between them"
    )


def _default_buffer(queue: Mapping[str, object] | None, of_scenario: object) -> str | None:
    """The buffer that a queue brings along; `None` leaves it at the scenario's."""
    if queue is not None and queue["discipline"] == "splitbuff":
        return SPLITBUFF_CAP
    return None if of_scenario is not None else FALLBACK_BUFFER


def _written(scenario: Scenario, index: int) -> object:
    """The buffer that the scenario writes for a link, if it does."""
    return (written_link(scenario, index) or {}).get("buffer")
