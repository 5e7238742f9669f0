"""What the link runs today beside the answer: what a change of it would bring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.errors import InputError
from bufferlab.experiment.simulation import prepare
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.beside import Beside
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.contenders import changes, parse_contenders
from bufferlab.studies.words import OWN

TODAY: Final = "today"
"""What it is called."""

_ACCEPTED: Final = (
    "a queue and its buffer, as in 'fifo:64 packets', 'fifo:50 ms' or fq_codel; 'scenario' is the file's own"
)


@dataclass(frozen=True)
class Today(Beside):
    """What runs today.

    Attributes:
        queue: Its discipline: "fifo".
        buffer: Its buffer, as a scenario has it.
        packets: The same where it is in packets; else `None`.
    """

    queue: str
    buffer: str
    packets: int | None

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        return {"queue": self.queue, "buffer": self.buffer, **self.measured()}


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
        contender, *others = parse_contenders(written)
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


def _none(written: str, problem: str) -> InputError:
    return InputError(problem, key=TODAY, value=written, accepted=_ACCEPTED)
