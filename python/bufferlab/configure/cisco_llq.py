"""Low latency queueing on IOS XE: a class map for each class, those with priority before the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import ceil
from typing import Final

from bufferlab.configure.answer import Answer
from bufferlab.configure.cisco_fair import COMMAND, FAIR, NOTE
from bufferlab.configure.classes import ServiceClass, part_of_class, read_classes, rest_of
from bufferlab.configure.platform import Source
from bufferlab.configure.shared import show_time
from bufferlab.errors import InputError
from bufferlab.units import PS_PER_S

LEVELS: Final = 2
"""Levels of priority (Cisco-IOS-XE-policy.yang, 17.3.1, priority level)."""

_BURSTS: Final = (32, 2_000_000)
"""Bursts of `priority`, bytes (the same, priority burst)."""

_NAMES: Final = {46: "ef", 0: "default"} | {8 * level: f"cs{level}" for level in range(1, 8)}
"""Codepoints that IOS has names for, with assured forwarding's."""

READS: Final = "each class's queue limit, depth and drops; of one with priority, 'b/w exceed drops'"
"""What to look for in what is shown."""

SOURCES: Final = (
    Source(
        "Cisco-IOS-XE-policy.yang, 17.3.1",
        "priority, bandwidth remaining ratio, queue-limit",
        "percent 1 to 100, levels 1 and 2, burst in bytes; where a limit is taken",
    ),
    Source(
        "Low Latency Queueing with Priority Percentage Support, IOS XE", "priority percent", "the command"
    ),
    Source(
        "Multi-Level Priority Queues, IOS 15S",
        "Restrictions",
        "no priority level in one class beside priority in another, none twice",
    ),
    Source(
        "QoS: Congestion Management Configuration Guide, IOS XE 16.12",
        "Queue depth, Priority queues",
        "512 packets by default",
    ),
    Source("Cisco document 10100", "priority", "what exceeds it is dropped if the link is congested"),
    Source(
        "Distribution of Remaining Bandwidth Using Ratio, IOS",
        "bandwidth remaining ratio",
        "weights of what priority leaves",
    ),
    Source(
        "Cisco IOS in a Nutshell, 2nd Edition",
        "class-map, match dscp",
        "match-any, its no form; IPv4 and IPv6 without 'ip'",
    ),
)


def default_answer(answer: Answer) -> Answer:
    """The answer for class-default: its part of the buffer."""
    return replace(answer, amount=part_of_class(answer, len(read_classes(answer))))


def class_maps(answer: Answer) -> list[str]:
    """The class maps of all classes but class-default."""
    found = []
    for each in _named(answer):
        found += [
            f"class-map match-any {_name(each)}",
            *(f" match dscp {_dscp(point)}" for point in each.codepoints),
        ]
        found.append(" exit")
    return found


def without_class_maps(answer: Answer) -> list[str]:
    """What takes them back."""
    return [f"no class-map match-any {_name(each)}" for each in _named(answer)]


def class_actions(answer: Answer, limit: str) -> Iterator[tuple[str, list[str]]]:
    """Each class with its actions, class-default last.

    Args:
        answer: The answer for the whole queue.
        limit: The line of a class's limit.

    Raises:
        InputError: IOS XE has no such classes.
    """
    classes = read_classes(answer)
    _check(classes)
    strict = [each for each in classes if each.weight is None]
    weighted = [each for each in classes if each.weight is not None]
    for number, each in enumerate(strict, 1):
        level = f" level {number}" if len(strict) > 1 else ""
        yield _name(each), [f"priority{level}{_percent(answer, each)}"]
    rest = rest_of(classes)
    for each in (*(each for each in weighted if each != rest), rest):
        share = [f"bandwidth remaining ratio {each.weight}"] if len(weighted) > 1 else []
        fair = [COMMAND] if each.queue == FAIR else []
        yield "class-default" if each == rest else _name(each), [*share, *fair, limit]


def class_notes(answer: Answer, *, shaped: bool) -> Iterator[str]:
    """What to know of the classes.

    Args:
        answer: The answer for the whole queue.
        shaped: Whether a shaper is above them.
    """
    classes = read_classes(answer)
    strict = [each for each in classes if each.weight is None]
    yield (
        "The queue-limit is class-default's alone; a scenario's buffer is that of all "
        f"{len(classes)} classes, which share it evenly."
    )
    if any(each.queue == FAIR for each in classes):
        yield NOTE
    if not strict:
        return
    first = ", ".join(_dscp(point).upper() for each in strict for point in each.codepoints)
    most = " and ".join(f"{each.percent} %" for each in strict if each.percent is not None)
    bound = f", up to {most} of the link" if most else ""
    yield (
        f"Whatever comes marked {first} goes first{bound}, and nothing else: set marks where packets enter "
        "your network, and clear those that you do not trust."
    )
    if most:
        of = "the shaper's rate" if shaped else "the interface's bandwidth"
        burst = show_time(answer.parameters["burst_ps"])
        yield (
            f"'priority percent' is of {of}. What exceeds it by more than {burst} of it is dropped while "
            "packets wait, as in the simulation."
        )
    yield ("A class with priority keeps its default limit, 512 packets on the ASR 1000.")


def _check(classes: list[ServiceClass]) -> None:
    """Refuse what IOS XE has not.

    Raises:
        InputError: There is something.
    """
    for each in classes:
        if each.queue not in {"fifo", FAIR} or (each.queue == FAIR and each.weight is None):
            known = f"fifo; {FAIR} where the class has a weight"
            raise _refused("has a queue in a class that is not known of IOS XE", each.queue, known)
    strict = [each for each in classes if each.weight is None]
    if len(strict) > LEVELS:
        raise _refused(
            "has more classes with priority than IOS XE has levels",
            f"{len(strict)} classes with priority",
            f"at most {LEVELS} (Cisco-IOS-XE-policy.yang, 17.3.1, priority level)",
        )
    if rest_of(classes).weight is None:
        raise _refused(
            "has priority for what no class lists, and no source has that of class-default",
            "priority",
            "a weight for the class called 'rest', or else the last: 'EF: priority 33 %; rest: weight 1'",
        )
    if sum(each.percent or 0 for each in strict) > 100:
        parts = " + ".join(f"{each.percent} %" for each in strict)
        raise _refused("has more than the link for classes with priority", parts, "100 % together")


def _refused(problem: str, value: str, accepted: str) -> InputError:
    return InputError(problem, key="queue.classes", value=value, accepted=accepted)


def _named(answer: Answer) -> Iterable[ServiceClass]:
    """The classes that have a class map."""
    classes = read_classes(answer)
    return [each for each in classes if each != rest_of(classes)]


def _percent(answer: Answer, each: ServiceClass) -> str:
    """The part of the rate, and the burst if it is not the default."""
    if each.percent is None:
        return ""
    if "burst_ps" not in answer.changed:
        return f" percent {each.percent}"
    rate_bps = answer.rate_bps * each.percent / 100
    burst = ceil(rate_bps * answer.parameters["burst_ps"] / PS_PER_S / 8)
    if not _BURSTS[0] <= burst <= _BURSTS[1]:
        raise InputError(
            "is out of the bounds of IOS XE's priority",
            key="queue.burst",
            value=f"{burst} bytes",
            accepted=f"{_BURSTS[0]} to {_BURSTS[1]} bytes (Cisco-IOS-XE-policy.yang, 17.3.1, priority burst)",
        )
    return f" percent {each.percent} {burst}"


def _name(each: ServiceClass) -> str:
    """Its class map's name, by its first codepoint."""
    return f"bufferlab-{_dscp(each.codepoints[0])}"


def _dscp(codepoint: int) -> str:
    """A codepoint as IOS writes it."""
    level, drop = divmod(codepoint, 8)
    if 1 <= level <= 4 and drop in {2, 4, 6}:
        return f"af{level}{drop // 2}"
    return _NAMES.get(codepoint, str(codepoint))
