"""The order in which one of equally good queues is taken."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bufferlab.studies.words import OWN

ORDER: Final = (
    OWN,
    "fifo",
    "llq",
    "llq-fair",
    "fair_queue",
    "fq_codel",
    "codel",
    "pie",
    "fq_pie",
    "pi2",
    "cobalt",
    "cake",
    "dualpi2",
    "step",
    "red",
    "drr",
    "diffserv",
    "adt",
)
"""Of equally good queues the first of these is taken. The order is our choice: what is there need not be
changed; FIFO needs nothing; LLQ, which `advise` tries on platforms that have it, is a FIFO with calls before
it, and fair-queue, with it or alone, keeps flows apart there; FQ-CoDel keeps flows apart (RFC 8290,
abstract), and is what systemd
(sysctl.d/50-default.conf) and OpenWrt (661-use_fq_codel_by_default.patch) run by default; CoDel, PIE, PI2
and COBALT have one queue for all, FQ-PIE is rarer than either of its parts, CAKE is
a shaper, too, DualPI2 has a second queue for
hosts that are still few; a step is for networks whose hosts all listen; the others need parameters that fit
the link."""


KEEP_APART: Final = (
    "llq",
    "llq-fair",
    "fair_queue",
    "fq_codel",
    "fq_pie",
    "cake",
    "drr",
)
"""Disciplines that keep flows apart; SplitBuff is none, as flows of like round trips share its sub-buffers.

Where calls or pages share a link with flows that fill it, these are taken before others that are as good:
whatever the traffic will be, such a flow waits behind itself alone (RFC 8290, section 1). So do calls under
LLQ, if they come marked. Our choice."""

_REASONS: Final = {
    OWN: "it is there already",
    "fifo": "every device has it",
    "llq": "it keeps calls apart from the rest",
    "llq-fair": "it keeps calls and flows apart",
}
"""Why a queue is taken before those that come after it, in a few words."""

_APART: Final = "it keeps flows apart"

_USUAL: Final = "it is the more usual one"


def reason_of(name: str, title: str, others: Iterable[str]) -> str:
    """Why an entry's queue is taken before others that are as good, as a clause.

    A scenario's own queue is there already only if somebody wrote it, and keeping flows apart is no reason
    against others that do so, too.

    Args:
        name: The entry's name.
        title: What its queue is called in sentences.
        others: The others' names.
    """
    is_unwritten = queue_of(name) == OWN and not title.startswith("the scenario's")
    queue = queue_of(title if is_unwritten else name).partition(":")[0]
    if queue in _REASONS:
        return _REASONS[queue]
    return _APART if keeps_apart(queue) and not all(map(keeps_apart, others)) else _USUAL


def keeps_apart(name: str) -> bool:
    """Whether an entry's queue keeps flows apart."""
    return queue_of(name).partition(":")[0] in KEEP_APART


def place(name: str) -> int:
    """Place of an entry's queue in the order of equals."""
    queue = queue_of(name).partition(":")[0]
    return ORDER.index(queue) if queue in ORDER else len(ORDER)


def queue_of(name: str) -> str:
    """An entry's queue; its name stands before the setting's comma."""
    return name.partition(",")[0]
