"""MikroTik RouterOS 7: a queue type, on the interface or below a queue tree that shapes."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Final

from bufferlab.configure.answer import Answer
from bufferlab.configure.linux import CAKE_NOTE
from bufferlab.configure.platform import DOWNLOAD, UPLOAD, After, Default, Platform, Source, Target, Written
from bufferlab.configure.shared import (
    ITSELF,
    below_line,
    counted_limit,
    counted_note,
    raised_memory_limit,
    shaped_note,
    show_rate,
)
from bufferlab.units import PS_PER_MS, PS_PER_US

_LIMIT: Final = (
    "Linux, include/uapi/linux/pkt_sched.h, tc_fifo_qopt: 32 bits; the manual of RouterOS names no most"
)
"""What bounds limits: the kernel below, since the manual (Queues, Queue Types) has no range of its own."""


def write(answer: Answer, target: Target) -> Written:
    """The lines for RouterOS."""
    notes: list[str] = []
    if target.cake:
        kind, options, amount, unit = "cake", _cake(answer, notes), None, ""
    else:
        kind, options, amount, unit = _queue(answer, notes)
    lines = [f"/queue/type add name=bufferlab kind={kind} {' '.join(options)}"]
    if target.shape:
        lines.append(
            f"/queue/tree add name=bufferlab parent={target.device} packet-mark=no-mark "
            f"max-limit={_rate(answer.rate_bps)} queue=bufferlab"
        )
        notes.append(shaped_note(answer))
        notes.append("The tree takes packets without a packet mark; those with one need a tree of their own.")
    else:
        lines.append(f"/queue/interface set {target.device} queue=bufferlab")
        notes.append(
            f"{ITSELF} {target.device} itself sends at {show_rate(answer.rate_bps)}. The transmit ring below "
            "holds more, usually 100 packets at least; --shape keeps them in the queue."
        )
    return Written(tuple(lines), tuple(notes), amount, unit, _TREE if target.shape else _interface(target))


_REMOVE: Final = "remove [find where name=bufferlab]"

_TREE: Final = After(
    ("/queue/tree print stats",),
    "'queued-packets' is what waits now, 'dropped' counts drops",
    (f"/queue/tree {_REMOVE}", f"/queue/type {_REMOVE}"),
)
"""What comes after a queue tree."""


def _interface(target: Target) -> After:
    """What comes after an interface's queue: the one that MikroTik's products have takes its place."""
    return After(
        ("/queue/interface print",),
        "'active-queue' is the one that runs; it has no counters",
        (f"/queue/interface set {target.device} queue=only-hardware-queue", f"/queue/type {_REMOVE}"),
    )


_HOME: Final = "bridge"
"""The interface to the home in MikroTik's default configuration: it joins all ports but that to the line."""


def write_both(down: Answer, up: Answer, target: Target) -> Written:
    """The lines for both directions of a line on the router behind it, each held by a queue tree.

    A tree queues what leaves its interface: the upload at that to the line, the download at that to the home
    (manual, Queue Tree: only the upload gets to the public interface, only the download to the private one).
    """
    download = below_line(down, write(down, replace(target, shape=True, device=_HOME)))
    upload = below_line(up, write(up, replace(target, shape=True)))
    lines = [
        line.replace("bufferlab", f"bufferlab-{way}")
        for way, each in ((DOWNLOAD, download), (UPLOAD, upload))
        for line in each.lines
    ]
    notes = (
        f"{target.device} is the interface to the line, and {_HOME} the one to the home, as in MikroTik's "
        "default configuration: change them where yours have other names. What the router itself sends to "
        "the home counts as download.",
        "Other simple queues and trees on these interfaces would hold the packets a second time.",
    )
    undo = tuple(
        f"/queue/{kind} {_REMOVE}".replace("bufferlab", f"bufferlab-{way}")
        for kind in ("tree", "type")
        for way in (DOWNLOAD, UPLOAD)
    )
    return Written.of_both(tuple(lines), download, upload, notes, replace(_TREE, undo=undo))


def _queue(answer: Answer, notes: list[str]) -> tuple[str, list[str], int, str]:
    if answer.discipline == "fifo" and answer.kind == "bytes":
        notes.append(counted_note(answer))
        limit = counted_limit(answer, "bfifo", "bytes", _LIMIT)
        return "bfifo", [f"bfifo-limit={limit}"], limit, "bytes"
    limit = counted_limit(answer, answer.discipline, "packets", _LIMIT)
    if answer.discipline == "fifo":
        return "pfifo", [f"pfifo-limit={limit}"], limit, "packets"
    kind = answer.discipline.replace("_", "-")
    return kind, [f"{kind}-limit={limit}", *_codel(answer, kind, notes)], limit, "packets"


def _codel(answer: Answer, kind: str, notes: list[str]) -> list[str]:
    given = answer.parameters
    options = [
        f"{kind}-target={_time('target', given['target_ps'], notes)}",
        f"{kind}-interval={_time('interval', given['interval_ps'], notes)}",
        f"{kind}-ecn={'yes' if given['ecn'] else 'no'}",
    ]
    if given["ce_threshold_ps"] is not None:
        options.append(f"{kind}-ce-threshold={_time('ce_threshold', given['ce_threshold_ps'], notes)}")
    if kind == "codel":
        return options
    options += [f"fq-codel-flows={given['flows']}", f"fq-codel-quantum={given['quantum_bytes']}"]
    memory = raised_memory_limit(answer)
    if memory is not None:
        options.append(f"fq-codel-memlimit={ceil(memory / 1024)}.0KiB")
        notes.append(
            "fq-codel-memlimit is raised from 32 MiB: it counts memory, and would be met before the limit."
        )
    if given["drop_batch"] != _DROP_BATCH:
        notes.append(f"RouterOS has no setting for drop_batch = {given['drop_batch']}.")
    return options


_DROP_BATCH: Final = 64
"""FQ-CoDel's most drops at once where it cannot be set (tc-fq_codel(8), drop_batch)."""


def _cake(answer: Answer, notes: list[str]) -> list[str]:
    notes.append(CAKE_NOTE)
    interval = _time("interval", answer.parameters["interval_ps"], notes)
    return ["cake-bandwidth=0", "cake-diffserv=besteffort", "cake-flowmode=flows", f"cake-rtt={interval}"]


def _time(name: str, time_ps: int, notes: list[str]) -> str:
    """A time in whole ms, the unit that the manual shows, rounded up."""
    ms = ceil(time_ps / PS_PER_MS)
    if ms * PS_PER_MS != time_ps:
        notes.append(f"{name} is rounded up to {ms} ms: the manual shows whole milliseconds only.")
    return f"{ms}ms"


def _rate(rate_bps: int) -> str:
    for unit, factor in (("M", 10**6), ("k", 10**3)):
        if rate_bps % factor == 0:
            return f"{rate_bps // factor}{unit}"
    return str(rate_bps)


_MANUAL: Final = "MikroTik RouterOS manual (manual.mikrotik.com)"

ROUTEROS: Final = Platform(
    name="routeros",
    title="MikroTik RouterOS 7",
    device="ether1",
    comment="#",
    disciplines=("fifo", "codel", "fq_codel"),
    cake=True,
    shapes=True,
    write=write,
    write_both=write_both,
    sources_of_both=(
        Source(_MANUAL, "Queues, Queue Tree", "on which interface each direction of a line is queued"),
        Source("MikroTik's default configuration script, RouterOS 6.40", "header", "ether1 and the bridge"),
    ),
    sources=(
        Source(
            _MANUAL,
            "Queues, Queue Types",
            "kinds, names of options, defaults; codel, fq-codel, cake from 7.1",
        ),
        Source(
            _MANUAL, "Queues, Queue Tree and Interface Queue", "max-limit, parent; the queue of an interface"
        ),
        Source(_MANUAL, "Queues, Simple Queue: Statistics; Queue Tree", "what print stats shows"),
        Source(_MANUAL, "Scripting, Menu specific commands", "remove, find"),
        Source(_MANUAL, "CAKE", "cake-bandwidth=0 below a queue tree, cake-rtt, flow modes"),
        Source("Linux", "include/uapi/linux/pkt_sched.h", "limits of 32 bits; the manual names no most"),
    ),
    step_us=PS_PER_MS // PS_PER_US,
    defaults=(
        Default(
            of="MikroTik's products",
            queue={"discipline": "fifo"},
            buffer="100 packets",
            sources=(
                Source(
                    _MANUAL,
                    "Queues, Queue Types",
                    "only-hardware-queue, a transmit ring of usually at least 100 packets",
                ),
            ),
            note=(
                "only-hardware-queue has no queue but the driver's transmit ring, whose size varies by "
                "device: usually at least 100 packets. Where a driver does not support it, another type "
                "runs, such as ethernet-default, a pfifo of 50 packets."
            ),
        ),
    ),
)
