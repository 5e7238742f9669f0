"""Up to where buffers were searched, and what ended that: the platform, or that larger ones are no better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bufferlab.configure import Allowed
from bufferlab.render.advise.least import passed_over
from bufferlab.render.advise.words import queue_text
from bufferlab.render.least import ceiling_text, ends, gap, is_sharp
from bufferlab.render.words import title_text
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.least import Goal, Least
from bufferlab.studies.targets import mean_over_runs, want_largest
from bufferlab.units import packets_text

_WIDE: Final = 2
"""Times as large as its other end an end of an interval is, from which on the interval says nothing."""

_FEW: Final = 20
"""Packets of a buffer up to which one packet is a notable part of it."""


def platform_end(advice: Advice) -> str | None:
    """What the platform takes, if that ended all searches: "Juniper Junos takes, up to 833 packets,"."""
    allowed = advice.site.allowed
    searches = [entry.least for entry in advice.entries.values()]
    if allowed is None or not all(each is not None and _ends(allowed, each) for each in searches):
        return None
    return f"{allowed.title} takes, up to {_most(allowed)},"


def searched(advice: Advice) -> str | None:
    """Up to which buffer was searched, and why no further."""
    for entry in advice.entries.values():
        if entry.queue.knob == "limit" and entry.least is not None and entry.least.size is None:
            name = queue_text(entry.queue)
            if advice.beyond.get(entry.queue.name):  # `helps` has what larger ones do
                return f"{name} up to {entry.least.upper} packets for all targets together."
            return f"{name} up to {_up_to(advice.site.allowed, entry.least)}"
    return None


def _up_to(allowed: Allowed | None, found: Least) -> str:
    if allowed is None or not _ends(allowed, found):
        return f"{found.upper} packets{ceiling_text(found)}."
    return f"{_most(allowed)}, the most that {allowed.title} takes.{_there(found)}"


def _ends(allowed: Allowed, found: Least) -> bool:
    """Whether a search found nothing up to the most that the platform takes."""
    return found.size is None and found.upper >= allowed.most


def _most(allowed: Allowed) -> str:
    most = f"{allowed.most} packets"
    return most if allowed.bound.unit == "packets" else f"{most} ({allowed.bound.shown})"


def _there(found: Least) -> str:
    """What the largest size gives, if that is not the one that is shown anyway."""
    memory, size = found.memory, found.upper
    if size == found.closest or size not in memory.sizes:
        return ""
    texts = []
    for target in memory.targets:
        mean = mean_over_runs(target.name, memory.values(size)).mean
        known = "met" if memory.meets(size, target) else f"not {target.show(target.bound)}"
        texts.append(f"{title_text(target)} {target.show_measured(mean)} ({known})")
    return f" There {', '.join(texts)}."


def unsettled(advice: Advice) -> tuple[str, str] | None:
    """A label, and where the least or the largest buffer is, if no run shows that the answer is it.

    A first answer is the first buffer that runs confirm; only the whole search goes on to smaller ones, and
    ends where its runs are used up.

    `None` where it is shown, to within what a search resolves, or where the answer is no such buffer. Of a
    few packets it is always given, as the whole search may then come to another number.
    """
    entry, found = advice.answer, advice.answer.least
    if not advice.met or entry.queue.knob != "limit" or found is None or found.size != entry.setting:
        return None
    if (passed := passed_over(entry)) is not None:
        return "least", passed
    goal = Goal(advice.targets, found.lower, found.upper, largest=want_largest(advice.targets))
    label = "largest" if goal.largest else "least"
    is_first = advice.is_early
    if not is_first and (found.beyond is None or is_sharp(found, goal)):
        return None
    if is_sharp(found, goal):
        return (label, near) if (near := _near(found, goal)) and found.closest <= _FEW else None
    why = "this is the first that was confirmed" if is_first else "runs scatter too much to say it closer"
    return label, f"{_between(found, goal)}; {why}"


def _near(found: Least, goal: Goal) -> str:
    """That a buffer which differs by what a search does not resolve may do, too; empty if there is none."""
    way, left = ("larger", found.upper) if goal.largest else ("smaller", found.lower)
    if (apart := abs(found.closest - left)) == 0:
        return ""
    few = "a packet" if apart == 1 else "a packet or two"
    return f"a buffer that is {few} {way} may do, too: this is the first that was confirmed"


def _between(found: Least, goal: Goal) -> str:
    """Where the least or the largest buffer is; if that is next to nothing, what was tried instead."""
    first, last = ends(found, goal)
    if last <= _WIDE * first:
        return gap(found, goal)
    tried = [size for size in found.memory.sizes if first <= size <= last and size != found.size]
    way = "larger" if goal.largest else "smaller"
    end = "" if found.beyond is None else f", and {_missing([found.beyond], 'surely ')}"
    if not tried:
        return f"not known: no {way} one was tried{end}"
    met = [size for size in tried if found.memory.meets_all(size)]
    texts = [] if not met else [f"{_these(met)} may do, which few runs do not confirm"]
    if missed := [size for size in tried if size not in met]:
        texts.append(f"{_missing(missed)} in few runs")
    return f"not sure: {', '.join(texts)}{end}"


def _missing(sizes: Sequence[int], how: str = "") -> str:
    """Buffers that miss a target: "3 packets surely miss"."""
    return f"{_these(sizes)} {how}{'misses' if max(sizes) == 1 else 'miss'}"


def _these(sizes: Sequence[int]) -> str:
    """Buffers by their sizes: "5 packets", "5 to 40 packets"."""
    return f"{min(sizes)} to {packets_text(max(sizes))}" if len(sizes) > 1 else packets_text(sizes[0])
