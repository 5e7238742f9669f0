"""What several platforms share: bounds, rates, times, and sentences."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Final

from bufferlab import _core
from bufferlab.configure.answer import Answer
from bufferlab.configure.bounds import Bound
from bufferlab.configure.platform import Written
from bufferlab.errors import InputError
from bufferlab.units import PS_PER_US

MOST_U32: Final = 2**32 - 1

MEMORY_FACTOR: Final = 4
"""Kernel memory for a byte of a packet. memory_limit counts `skb->truesize` (net/sched/sch_fq_codel.c):
less than 4 times 1500 bytes for a full packet in a page of 4 KiB."""

_MEMORY: Final = Bound(
    "fq_codel's memory limit",
    "bytes",
    MOST_U32 // MEMORY_FACTOR,
    "tc-fq_codel(8), memory_limit; net/sched/sch_fq_codel.c",
)
"""Largest buffer that FQ-CoDel's memory limit, of 32 bits, has room for."""

_MEMORY_LIMIT: Final = 32 << 20
"""Default of FQ-CoDel's memory_limit, bytes (tc-fq_codel(8): 32 MB; RouterOS manual: 32.0MiB)."""


ITSELF: Final = "Right if"
"""What begins the note at which rate the interface has to send where nothing shapes."""

SHAPES: Final = "It shapes to"
"""What begins the note of what a shaper is good for."""

FIFO_SOURCE: Final = "iproute2 6.1.0, tc-pfifo(8)"
"""Where the bounds of Linux's limits were read."""


def fifo_bounds(source: str) -> tuple[Bound, Bound]:
    """What Linux takes, and what hands limits to it as they are.

    Args:
        source: Where that was read.
    """
    return Bound("pfifo", "packets", MOST_U32, source), Bound("bfifo", "bytes", MOST_U32, source)


def counted_limit(answer: Answer, kind: str, unit: str, source: str) -> int:
    """A queue's limit in packets or bytes, which Linux counts in 32 bits.

    Args:
        answer: The answer.
        kind: What takes the limit.
        unit: "packets" or "bytes".
        source: Where the bound was read.

    Raises:
        InputError: It does not fit.
    """
    amount = answer.packets if unit == "packets" else answer.counted_bytes
    return Bound(kind, unit, MOST_U32, source).within(amount)


def raised_memory_limit(answer: Answer) -> int | None:
    """FQ-CoDel's memory limit, bytes, if the default might be met before the buffer is full.

    Raises:
        InputError: It does not fit 32 bits.
    """
    _MEMORY.within(answer.counted_bytes)
    memory = memory_limit(answer)
    return memory if memory > _MEMORY_LIMIT else None


def memory_limit(answer: Answer) -> int:
    """The kernel's memory that holds a buffer of this many bytes, bytes."""
    return answer.counted_bytes * MEMORY_FACTOR


MEMORY_NOTE: Final = (
    f"memlimit is {MEMORY_FACTOR} times the buffer's bytes: it counts the kernel's memory, more than "
    "packets' bytes."
)
"""What `memlimit` of CAKE counts."""


def whole_us(time_ps: int) -> int:
    """A time in us, rounded up."""
    return ceil(time_ps / PS_PER_US)


def time_text(time_ps: int) -> str:
    """A time as tc and sqm-scripts read it: "5ms", or "1500us", rounded up to whole us."""
    us = whole_us(time_ps)
    return f"{us // 1000}ms" if us % 1000 == 0 else f"{us}us"


def rate_text(rate_bps: int) -> str:
    """A rate as tc reads it, exact: "100mbit" (tc(8), RATES)."""
    for unit, factor in (("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3)):
        if rate_bps % factor == 0:
            return f"{rate_bps // factor}{unit}"
    return f"{rate_bps}bit"


def show_rate(rate_bps: int) -> str:
    """A rate for people."""
    return _core.format_quantity("rate", rate_bps)


def show_size(size_bytes: int) -> str:
    """A size for people."""
    return _core.format_quantity("size", size_bytes)


def show_time(time_ps: int) -> str:
    """A time for people."""
    return _core.format_quantity("time", time_ps)


def floored(rate_bps: int, step_bps: int, notes: list[str]) -> int:
    """The rate in whole steps of what a shaper takes, not above the rate; a note if it is below.

    Raises:
        InputError: It is less than one step.
    """
    steps = rate_bps // step_bps
    if steps == 0:
        raise InputError(
            "is too low for the shaper",
            key="rate",
            value=show_rate(rate_bps),
            accepted=f"at least {step_bps} bps",
        )
    if steps * step_bps != rate_bps:
        notes.append(f"The shaper's rate is rounded down to {steps * step_bps} bit/s, which it can count.")
    return steps


def shaped_note(answer: Answer) -> str:
    """At which rate it shapes, and which rate it takes where the slow link is behind the router.

    The share is that of OpenWrt's wiki, "SQM (Smart Queue Management)", as for a home's line.
    """
    less = show_rate(answer.rate_bps * 9 // 10)
    return (
        f"{SHAPES} {show_rate(answer.rate_bps)}, the rate that was asked about. If the slow link is "
        "another device's, such as a modem's, packets would still wait there: ask for 90 % of its rate, "
        f"{less}."
    )


def below_line(answer: Answer, written: Written) -> Written:
    """The lines of one direction without advice for a rate below the line's, which it has."""
    return replace(written, notes=tuple(note for note in written.notes if note != shaped_note(answer)))


def counted_note(answer: Answer) -> str:
    """How bytes were counted."""
    whole = answer.packet_bytes + answer.overhead_bytes
    return (
        f"Bytes count {whole} for a full packet of {answer.packet_bytes}: {answer.overhead_bytes} are the "
        "link header (overhead)."
    )
