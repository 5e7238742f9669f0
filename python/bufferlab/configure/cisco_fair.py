"""Flow-based fair queueing on IOS XE: `fair-queue` in a class of a policy map."""

from __future__ import annotations

from typing import Final

from bufferlab.configure.answer import Answer
from bufferlab.configure.platform import Source
from bufferlab.errors import InputError

FAIR: Final = "fair_queue"
"""The discipline that it is."""

COMMAND: Final = "fair-queue"
"""What is typed for it."""

_QUEUES: Final = tuple(2**power for power in range(4, 13))
"""Numbers of queues that the command takes."""

NOTE: Final = (
    "fair-queue is simulated with 16 queues, each with up to a quarter of the queue-limit. With more queues "
    "fewer flows share one by chance."
)

SOURCES: Final = (
    Source(
        "IOS Quality of Service Solutions Command Reference",
        "fair-queue",
        "the command in a class; 16 to 4096 queues, a power of two",
    ),
    Source(
        "mickx009.org, Congestion Management (2021)",
        "CBWFQ/HQF",
        "flows without weights, each with a quarter of queue-limit",
    ),
)


def command(answer: Answer) -> str:
    """What is typed.

    Raises:
        InputError: The command takes no such number of queues.
    """
    if "flows" not in answer.changed:
        return COMMAND
    flows = answer.parameters["flows"]
    if flows not in _QUEUES:
        raise InputError(
            "is not a number of queues that fair-queue takes",
            key="queue.flows",
            value=str(flows),
            accepted=f"{', '.join(map(str, _QUEUES[:-1]))} or {_QUEUES[-1]}",
        )
    return f"{COMMAND} {flows}"
