"""Differentiated services on Linux: `ets`, filters by codepoint, and a queue in each class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import ceil
from typing import Final

from bufferlab.configure.answer import Answer, read_answer
from bufferlab.configure.classes import ServiceClass, part_of_class, read_classes, rest_of
from bufferlab.configure.platform import ALIKE, Source
from bufferlab.configure.shared import rate_text
from bufferlab.units import PS_PER_S

_PRIORITIES: Final = 16
"""Priorities of packets that a map names (include/uapi/linux/pkt_sched.h, TC_PRIO_MAX and 0)."""

SOURCES: Final = (
    Source("iproute2 6.1.0", "tc-ets(8)", "bands, strict, quanta, priomap (what no filter names)"),
    Source("iproute2 6.1.0", "tc-u32(8), man8/tc-police.8", "dsfield, rate, burst, conform-exceed"),
    Source("Linux", "net/sched/sch_ets.c", "strict bands first; deficit round robin among the others"),
)

Leaf = Callable[[Answer], str]
"""What `tc` takes for a queue, its kind first."""


def ets(answer: Answer) -> list[str]:
    """The options of the discipline itself."""
    classes = _in_bands(answer)
    rest = classes.index(rest_of(read_classes(answer)))
    strict = sum(each.weight is None for each in classes)
    quanta = [each.weight * answer.parameters["quantum_bytes"] for each in classes if each.weight is not None]
    shares = [" ".join(["quanta", *map(str, quanta)])] if quanta else []
    priomap = " ".join(["priomap", *[str(rest)] * _PRIORITIES])
    return [f"bands {len(classes)}", f"strict {strict}", *shares, priomap]


def class_lines(answer: Answer, device: str, handle: int, notes: list[str], leaf: Leaf) -> Iterator[str]:
    """A queue for each class, and filters by codepoint, below the discipline with this handle."""
    classes = _in_bands(answer)
    notes.append("The buffer is split evenly among the classes, as in the simulation.")
    for band, each in enumerate(classes, start=1):
        queue = leaf(_of_class(answer, each, len(classes), notes))
        yield f"tc qdisc add dev {device} parent {handle}:{band} handle {handle + band}: {queue}"
        police = _police(answer, each, band)
        for codepoint in each.codepoints:
            for protocol, match in (("ip", "ip dsfield"), ("ipv6", "ip6 priority")):
                yield (
                    f"tc filter add dev {device} parent {handle}: protocol {protocol} prio {_prio(protocol)} "
                    f"u32 match {match} {codepoint << 2:#04x} 0xfc flowid {handle}:{band}{police}"
                )
                # the second filter has the first one's bucket
                police = police and f" action police index {band}"
    if any(each.percent for each in classes):
        notes.append(
            "tc's policer drops what is above its rate also while the link is idle; in the simulation, as "
            "under Cisco's LLQ, only while packets wait."
        )


def _prio(protocol: str) -> int:
    """Filters of one priority have one protocol."""
    return 1 if protocol == "ip" else 2


def _police(answer: Answer, each: ServiceClass, band: int) -> str:
    if each.percent is None:
        return ""
    rate_bps = answer.rate_bps * each.percent // 100 // 8 * 8
    burst = ceil(rate_bps * answer.parameters["burst_ps"] / PS_PER_S / 8)
    return f" action police index {band} rate {rate_text(rate_bps)} burst {burst} conform-exceed drop"


def _of_class(answer: Answer, each: ServiceClass, classes: int, notes: list[str]) -> Answer:
    """The answer for a class's queue: its part of the buffer, the discipline's defaults."""
    queue = each.queue
    if queue in ("drr", "pi2"):
        queue = next(word for word in ALIKE[queue] if word != "dualpi2")
        notes.append(f"Linux has no {each.queue} of such a kind; {queue} is nearest.")
    sizes = (f"{answer.packet_bytes} B", f"{answer.overhead_bytes} B")
    read = read_answer(f"{answer.rate_bps} bps", queue, "1000 packets", *sizes)
    return replace(read, kind=answer.kind, amount=part_of_class(answer, classes))


def _in_bands(answer: Answer) -> list[ServiceClass]:
    """The classes as ETS has them: those with priority before the others."""
    return sorted(read_classes(answer), key=lambda each: each.weight is not None)
