"""Whether a smaller buffer is as good for users, where nobody asked for what the larger one brings.

The least buffer that keeps a link 99 % busy may hold a standing queue that users gain nothing by: the 99 %
are our default, and the last per cents of use are what takes most of the buffer. So where packets wait long
in the answer, and nothing else was asked for that it takes, the buffer is halved until they do not, as long
as users fare no worse and less of our default is met, which is what queues at their usual delay are held to.

Where all targets are bounds on waits, the answer is the largest buffer that keeps them. It is halved as long
as users fare better with the half, beyond chance and by half of what they notice, not by waits alone that are
brief already, and it does not lose more where that is worth a word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.beside import Judged, rival_of
from bufferlab.studies.advise.brief import felt_at, mean_wait_ms
from bufferlab.studies.advise.entry import Entry, Smaller
from bufferlab.studies.advise.floor import relaxed
from bufferlab.studies.advise.halved import half_of
from bufferlab.studies.choosing.choice import Rival
from bufferlab.studies.choosing.thresholds import (
    LESS,
    LONG_WAIT_MS,
    MATERIAL,
    NOTABLE,
    NOTED_LOSS,
    loses_heavily,
    loses_notably_more,
)
from bufferlab.studies.least import Case
from bufferlab.studies.targets import Target, Values, mean_over_runs, want_largest

Measure = Callable[[Case], Sequence[Values]]
"""Gives what a buffer measures with the seeds of the comparison."""


def smaller(advice: Advice, judged: Judged, measure: Measure) -> Smaller | None:
    """The smaller buffer to take; `None` if there is none, or the answer has what was asked for.

    Args:
        advice: The answer.
        judged: By what users are judged.
        measure: Gives what a buffer measures.
    """
    answer = advice.answer
    is_searched = answer.queue.knob == "limit" and answer.least is not None and answer.smaller is None
    if not advice.choice.meets or not is_searched or answer.least_behind is not None:
        return None
    if want_largest(advice.targets):
        return _better(advice, judged, measure)
    return _shorter(advice, judged, measure)


def _shorter(advice: Advice, judged: Judged, measure: Measure) -> Smaller | None:
    """The largest of the halves in which packets do not wait long, or the smallest that is as good."""
    answer, floor = advice.answer, advice.needs.floor
    if floor is None or relaxed([floor], floor) == (floor,):
        return None
    targets, found = relaxed(advice.targets, floor), None
    case, wait_ms = half_of(answer), _mean(answer.values, "wait_mean_ms")
    while case is not None and wait_ms >= LONG_WAIT_MS:
        values = measure(case)
        rival, missed = rival_of(answer, f"{case.name}, smaller", values, targets, judged)
        if missed or not _is_as_good(rival) or _loses_more(answer.values, values, targets):
            break
        found, wait_ms = _taken(answer, case.size, rival, is_eased=True), _mean(values, "wait_mean_ms")
        case = _half_of(case, answer)
    return found


def _better(advice: Advice, judged: Judged, measure: Measure) -> Smaller | None:
    """The half, or half of that, with which users fare best, where that is better beyond chance.

    Once packets do not wait long, shorter waits are no reason for less.
    """
    answer, targets = advice.answer, advice.targets
    found, gained, wait_ms = None, NOTABLE / 2, mean_wait_ms(answer.values)
    case = half_of(answer)
    while case is not None and (felt := felt_at(judged, wait_ms, advice.needs.emphasis)) is not None:
        values = measure(case)
        rival, missed = rival_of(answer, f"{case.name}, smaller", values, targets, felt)
        if missed or -rival.most_behind < gained or loses_notably_more(values, answer.values, targets):
            break
        found, gained = _taken(answer, case.size, rival, is_eased=False), -rival.most_behind + NOTABLE / 2
        case, wait_ms = _half_of(case, answer), mean_wait_ms(values)
    return found


def _taken(answer: Entry, size: int, rival: Rival, *, is_eased: bool) -> Smaller:
    used, wait_ms = (_mean(answer.values, name) for name in ("utilization", "wait_mean_ms"))
    return Smaller(size, answer.packets, rival.behind, used, wait_ms, is_eased)


def _half_of(case: Case, answer: Entry) -> Case | None:
    """Half of a buffer; `None` if that cannot be set."""
    size = case.size // 2
    return Case(case.name, size) if size >= max(answer.queue.lower, 1) else None


def _is_as_good(rival: Rival) -> bool:
    """Whether the runs show that users do not notice the difference, as a whole and in each aspect."""
    return rival.most_behind <= MATERIAL and (rival.worst is None or rival.worst[1] <= NOTABLE)


def _loses_more(former: Sequence[Values], values: Sequence[Values], targets: Sequence[Target]) -> bool:
    """Whether a loss that is worth a word is clearly larger than the former."""
    lost, before = _mean(values, "loss"), _mean(former, "loss")
    return loses_heavily(lost, targets) or (lost >= NOTED_LOSS and before <= LESS * lost)


def _mean(values: Sequence[Values], name: str) -> float:
    return mean_over_runs(name, values).mean or 0.0
