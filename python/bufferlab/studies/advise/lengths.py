"""Whether runs are long enough for what they are to decide."""

from __future__ import annotations

from bufferlab.scenario import Scenario
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.question import Question
from bufferlab.studies.settling import Waiting, lengthened


def long_enough(question: Question, advice: Advice) -> Scenario | None:
    """The scenario with runs that are long enough to judge an answer; `None` if its own are.

    They are to judge the buffer of the answer, and those for which a queue whose buffer is searched was taken
    or left.

    Args:
        question: What was asked.
        advice: What was found.
    """
    packet_bytes = question.site.packet_bytes
    searched = Waiting(max(map(_decisive, advice.entries.values())), packet_bytes)
    base = question.base
    for waiting in (advice.answer.waiting(question.site), searched):
        base = lengthened(base, question.index, waiting) or base
    return None if base is question.base else base


def _decisive(entry: Entry) -> int:
    """The largest buffer that decides whether a queue meets the targets, packets; 0 if none was searched."""
    if entry.queue.knob != "limit" or entry.least is None:
        return 0
    return entry.packets if all(check.met for check in entry.checks) else entry.least.upper
