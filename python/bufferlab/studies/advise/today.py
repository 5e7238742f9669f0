"""What the link runs today beside the answer: what a change of it would bring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.configure import Default, find_platform
from bufferlab.errors import InputError
from bufferlab.experiment.simulation import prepare
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.beside import Beside
from bufferlab.studies.advise.llq import LABELS, known_queues
from bufferlab.studies.advise.queues import Queue, queue_at
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.contenders import changes, parse_contenders, word_and_buffer
from bufferlab.studies.targets import Values
from bufferlab.studies.words import OWN, is_llq

TODAY: Final = "today"
"""What it is called."""

OTHER_TRAFFIC: Final = f"{TODAY}, other traffic"
"""Its runs where a mix's most frequent control is alone."""

DEFAULT: Final = "default"
"""Stands for what the platform's interfaces run if nobody configured a queue."""

_ACCEPTED: Final = (
    "a queue and its buffer, as in 'fifo:64 packets', 'fifo:50 ms' or fq_codel; 'scenario' is the file's, "
    "'default' the platform's"
)


@dataclass(frozen=True)
class Today(Beside):
    """What runs today.

    Attributes:
        queue: Its discipline: "fifo".
        buffer: Its buffer, as a scenario has it.
        packets: The same where it is in packets; else `None`.
        default_of: What runs it by default; `None` if somebody said that the link runs it, or runs that.
        is_shaped: Whether it is run below a shaper, which is part of the answer: without that, packets wait
            elsewhere, and the runs say nothing of it.
        presumed_of: What runs it by default, if somebody said that the link runs that; else `None`.
        label: What it is called in tables, where that is not the discipline: "LLQ"; else empty.
        sensitivity: What its targets come to in the changes in which the answer was tried.
        alone: What its runs measured where the most frequent control of a mix is alone; empty without a mix.
        captured_loss: What a capture shows that it loses, which need not be that of the runs; `None` without.
    """

    queue: str
    buffer: str
    packets: int | None
    default_of: str | None
    is_shaped: bool = False
    presumed_of: str | None = None
    label: str = ""
    sensitivity: tuple[Sensitivity, ...] = ()
    captured_loss: float | None = None
    alone: tuple[Values, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        named = {
            "queue": self.queue,
            "buffer": self.buffer,
            "default_of": self.default_of,
            "presumed_of": self.presumed_of,
            "is_shaped": self.is_shaped,
        }
        return {**named, **self.measured()}


def default_of(written: str | None, platform: str | None) -> Default | None:
    """The platform's default, if that is meant, or nothing is and there is one.

    Args:
        written: What was said to run today.
        platform: The platform.

    Raises:
        InputError: It was asked for and is not known.
    """
    if written not in {None, DEFAULT}:
        return None
    known = None if platform is None else find_platform(platform)
    if written is not None and (known is None or known.default is None):
        unknown = None if known is None else f"is not known of {known.title}: {known.no_default}"
        raise _none(written, unknown or "needs a platform")
    return None if known is None else known.default


def with_default(base: Scenario, index: int, default: Default) -> Scenario:
    """The scenario with a platform's default at a link."""
    buffer = {f"links[{index}].buffer": default.buffer_at(base.links[index]["rate_bps"])}
    return prepare(base, {**queue_at(base, index, dict(default.queue)), **buffer})


def todays(written: str, base: Scenario, index: int, queue_of: Callable[[str], Queue]) -> Scenario:
    """The scenario with what runs today at a link.

    Args:
        written: A queue and its buffer: "fifo:64 packets"; a queue with a target of delay needs none.
        base: The scenario.
        index: Index of the link.
        queue_of: Gives the queue of a word.

    Raises:
        InputError: It is none.
    """
    try:
        contender, *others = parse_contenders(written, known_queues(base, index))
        if is_llq(contender.word) and contender.buffer is None:
            raise _none(written, "has no buffer")
        queue = None if contender.word == OWN or contender.buffer is not None else queue_of(contender.word)
        scenario = prepare(base, changes(contender, base, index))
    except InputError as error:
        raise _none(written, error.problem) from None
    if others:
        raise _none(written, "is more than one queue")
    if queue is None:
        return scenario
    if queue.knob != "target":
        raise _none(written, "has no buffer")
    return queue.scenario(base, index, queue.usual)


def label_of(written: str | None) -> str:
    """What a queue that was said to run today is called in tables, where that is not its discipline."""
    return LABELS.get(word_and_buffer(written or "")[0], "")


def _none(written: str, problem: str) -> InputError:
    return InputError(problem, key=TODAY, value=written, accepted=_ACCEPTED)
