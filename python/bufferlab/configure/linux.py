"""Linux: `tc` lines. Each claim about the kernel names its file; SOURCES has the manual pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any, Final

from bufferlab.configure.answer import Answer
from bufferlab.configure.linux_cake import SOURCES as CAKE_SOURCES
from bufferlab.configure.linux_cake import cake_queue_options, has_shaper
from bufferlab.configure.linux_cobalt import SOURCES as COBALT_SOURCES
from bufferlab.configure.linux_cobalt import cobalt
from bufferlab.configure.linux_defaults import DEFAULTS
from bufferlab.configure.linux_dualpi2 import SOURCES as DUALPI2_SOURCES
from bufferlab.configure.linux_dualpi2 import dualpi2
from bufferlab.configure.linux_ets import SOURCES as ETS_SOURCES
from bufferlab.configure.linux_ets import class_lines, ets
from bufferlab.configure.linux_red import red
from bufferlab.configure.linux_step import SOURCES as STEP_SOURCES
from bufferlab.configure.linux_step import step
from bufferlab.configure.platform import DOWNLOAD, UPLOAD, After, Platform, Source, Target, Written
from bufferlab.configure.shared import (
    FIFO_SOURCE,
    ITSELF,
    MEMORY_FACTOR,
    below_line,
    counted_limit,
    counted_note,
    fifo_bounds,
    floored,
    raised_memory_limit,
    rate_text,
    shaped_note,
    show_rate,
    show_time,
    time_text,
)
from bufferlab.errors import InputError

_BURST_S: Final = Fraction(1, 1000)
"""Time whose bytes HTB may send at once: sqm-scripts' SHAPER_BURST_DUR_US, 1000 us (src/defaults.sh)."""

LONGEST_NAME: Final = 15
"""Characters of a device's name (include/uapi/linux/if.h, IFNAMSIZ)."""

_QUANTUM: Final = (1000, 200_000)
"""Quanta that HTB takes without a warning, bytes (net/sched/sch_htb.c, htb_change_class)."""

_HANDLES: Final = {False: 1, True: 110}
"""The handle of a discipline with classes: of the root, or of what is below HTB."""

_KINDS: Final = {"fifo": "pfifo", "step": "codel"}
"""What tc calls a discipline where that is another word."""

_PIE_STEPS: Final = 16
"""PIE's alpha and beta are in sixteenths on Linux (net/sched/sch_pie.c: "in multiples of 1/16")."""

_PIE_MOST: Final = 32
"""Their most, in those steps (tc-pie(8))."""

_PIE_BURST_PS: Final = 150 * 10**9
"""PIE's burst allowance on Linux, ps (include/net/pie.h, pie_vars_init)."""


def write(answer: Answer, target: Target) -> Written:
    """The lines for Linux."""
    notes: list[str] = []
    kind, options, amount, unit = _leaf(answer, target, notes)
    leaf = " ".join([kind, *options])
    device = target.device
    # a queue that is there keeps what is not named anew (ce_threshold), and HTB cannot be changed at all
    fresh = f"tc qdisc del dev {device} root 2>/dev/null || true"
    shapes_itself = target.cake or has_shaper(answer)
    if target.shape and not shapes_itself:
        lines = _shaped(answer, target, leaf, notes)
    else:
        root = "root handle 1:" if answer.discipline == "diffserv" else "root"
        lines = [f"tc qdisc add dev {device} {root} {leaf}"]
    if answer.discipline == "diffserv":
        handle = _HANDLES[target.shape]
        lines += class_lines(answer, device, handle, notes, lambda each: _leaf_text(each, target, notes))
    if target.shape or has_shaper(answer):
        notes.append(shaped_note(answer))
    else:
        notes.append(
            f"{ITSELF} {device} itself sends at {show_rate(answer.rate_bps)}; if it is faster, --shape. The "
            "driver's ring below holds more, as much as byte queue limits (BQL) let it: "
            f"/sys/class/net/{device}/queues/tx-*/byte_queue_limits."
        )
    after = After((f"tc -s qdisc show dev {device}",), _READS, (f"tc qdisc del dev {device} root",))
    return Written((fresh, *lines), tuple(notes), amount, unit, after)


_READS: Final = "'backlog' is what waits now, 'dropped' counts drops"
"""What `tc -s` prints of each queue (iproute2, tc/tc_util.c, print_tcstats2_attr)."""


def _shaped(answer: Answer, target: Target, leaf: str, notes: list[str]) -> list[str]:
    """HTB with one class, and the queue in it."""
    device, stab = target.device, "" if target.linklayer is None else f" {target.linklayer.stab}"
    rate = rate_text(_whole_bytes(answer.rate_bps, notes))
    frame = answer.packet_bytes + answer.overhead_bytes
    burst = max(frame, ceil(answer.rate_bps * _BURST_S / 8))
    quantum = min(max(frame, _QUANTUM[0]), _QUANTUM[1])
    notes.append(
        f"HTB counts {answer.overhead_bytes} bytes of link header with each packet. It lets up to {burst} "
        "bytes (1 ms or a packet) leave at once; the queue's limit does not count them."
    )
    return [
        f"tc qdisc add dev {device} root handle 1:{stab} htb default 10",
        f"tc class add dev {device} parent 1: classid 1:10 htb "
        f"rate {rate} ceil {rate} burst {burst} cburst {burst} quantum {quantum}",
        f"tc qdisc add dev {device} parent 1:10 handle 110: {leaf}",
    ]


def write_both(down: Answer, up: Answer, target: Target) -> Written:
    """The lines for both directions of a line on the router behind it; each is held by a shaper.

    What comes in at a device has no queue there. It takes a way over an ifb device, which has one, as in
    sqm-scripts (src/functions.sh, ifb_name and ingress): so it is one place for all that the home receives,
    whatever devices lead into it, WiFi included.
    """
    device, ifb = target.device, ifb_of(target.device)
    upload = below_line(up, write(up, replace(target, shape=True)))
    download = below_line(down, write(down, replace(target, shape=True, device=ifb)))
    lines = (
        f"# {UPLOAD}: what leaves {device}",
        *upload.lines,
        f"# {DOWNLOAD}: what comes in at {device}, by way of {ifb}",
        f"ip link add name {ifb} type ifb 2>/dev/null || true",
        f"ip link set dev {ifb} up",
        *download.lines,
        f"tc qdisc del dev {device} handle ffff: ingress 2>/dev/null || true",
        f"tc qdisc add dev {device} handle ffff: ingress",
        f"tc filter add dev {device} parent ffff: protocol all prio 10 u32 match u32 0 0 flowid 1:1 "
        f"action mirred egress redirect dev {ifb}",
    )
    notes: tuple[str, ...] = (
        f"{device} is the interface to the line. What comes in there has no queue of its own, so the "
        f"download takes a way over the device {ifb}: all of it, whichever interface of the home it goes to.",
    )
    if target.linklayer is not None:
        notes = (*notes, target.linklayer.note(cake=has_shaper(down) or has_shaper(up)))
    # segments are joined where they are received
    renamed = tuple(note.replace(f"ethtool -K {ifb} ", f"ethtool -K {device} ") for note in download.notes)
    after = After(
        (*upload.after.verify, *download.after.verify),
        _READS,
        (
            *upload.after.undo,
            f"tc qdisc del dev {device} handle ffff: ingress",
            f"ip link del dev {ifb}",
        ),
    )
    return Written.of_both(lines, replace(download, notes=renamed), upload, notes, after)


def ifb_of(device: str) -> str:
    """The ifb device for what comes in at a device, as sqm-scripts call it."""
    return f"ifb4{device[-(LONGEST_NAME - len('ifb4')) :]}"


def _whole_bytes(rate_bps: int, notes: list[str]) -> int:
    """A shaper's rate, bit/s, in whole bytes a second, as tc keeps it (tc(8), RATES)."""
    return floored(rate_bps, 8, notes) * 8


def _classes(answer: Answer) -> tuple[str, list[str], int, str]:
    """The discipline that has the classes; its limit is what all of them hold together."""
    if answer.kind == "bytes":
        return "ets", ets(answer), answer.counted_bytes, "bytes"
    return "ets", ets(answer), answer.packets, "packets"


def _leaf_text(answer: Answer, target: Target, notes: list[str]) -> str:
    """The kind and options of a class's queue; a note that is there already is not said again."""
    new: list[str] = []
    kind, options, _, _ = _leaf(answer, target, new)
    notes.extend(note for note in new if note not in notes)
    return " ".join([kind, *options])


def _leaf(answer: Answer, target: Target, notes: list[str]) -> tuple[str, list[str], int | None, str]:
    """The queue's kind and options, and its limit with the limit's unit."""
    if target.cake:
        return "cake", _cake(answer, target, notes), None, ""
    return _own_leaf(answer, target, notes)


def _own_leaf(answer: Answer, target: Target, notes: list[str]) -> tuple[str, list[str], int, str]:
    """The same where the answer's discipline is what runs."""
    if answer.discipline == "diffserv":
        return _classes(answer)
    if answer.discipline == "red":
        options, limit = red(answer, notes)
        return "red", options, limit, "bytes"
    if answer.discipline == "cobalt":
        options, limit = cobalt(answer, notes)
        return "cake", options, limit, "bytes"
    if answer.discipline == "cake":
        layer = target.linklayer if has_shaper(answer) else None
        line = None if layer is None else layer.of_cake
        options, limit = cake_queue_options(answer, notes, line)
        return "cake", [_shaper(answer, notes), *options], limit, "bytes"
    if answer.discipline == "fifo" and answer.kind == "bytes":
        limit = counted_limit(answer, "bfifo", "bytes", FIFO_SOURCE)
        notes.append(counted_note(answer))
        return "bfifo", [f"limit {limit}"], limit, "bytes"
    limit = counted_limit(answer, answer.discipline, "packets", FIFO_SOURCE)
    notes.append(
        "A limit counts packets that wait, as the answer does. Segments that offloads have joined count as "
        f"one: 'ethtool -K {target.device} tso off gso off gro off', or the queue holds more."
    )
    kind = _KINDS.get(answer.discipline, answer.discipline)
    return kind, [f"limit {limit}", *discipline_options(answer, notes)], limit, "packets"


def discipline_options(answer: Answer, notes: list[str]) -> list[str]:
    """The options of fifo, codel, fq_codel, pie, fq_pie, step and dualpi2 beside the limit."""
    given = answer.parameters
    if answer.discipline == "codel":
        return codel_times(answer, notes) + codel_ecn(given)
    if answer.discipline == "fq_codel":
        return [*codel_times(answer, notes), *fq_options(answer, notes), *codel_ecn(given)]
    if answer.discipline in {"pie", "fq_pie"}:
        of_queues = fq_pie_options(answer, notes) if answer.discipline == "fq_pie" else []
        return [*pie_options(given, notes), *of_queues]
    if answer.discipline == "step":
        return step(answer, notes)
    if answer.discipline == "dualpi2":
        return dualpi2(given, notes)
    return []


CODEL_DIFFERS: Final = "Linux's CoDel differs in details"
"""How the note begins that is about the simulation, and nothing to type."""


def codel_times(answer: Answer, notes: list[str]) -> list[str]:
    """`target` and `interval`."""
    if (differs := _codel_differs(answer)) is not None:
        notes.append(differs)
    times = (("target", answer.parameters["target_ps"]), ("interval", answer.parameters["interval_ps"]))
    return [f"{name} {time_text(time_ps)}" for name, time_ps in times]


def _codel_differs(answer: Answer) -> str | None:
    """In which details of CoDel Linux differs from what was simulated, and the keys that simulate them."""
    keys = [
        f"{key} = '{value}'"
        for key, value in (("control_law", "linux"), ("codel_backlog", "all"))
        if answer.parameters.get(key, value) != value
    ]
    if not keys:
        return None
    simulate = "simulates" if len(keys) == 1 else "simulate"
    return f"{CODEL_DIFFERS}, which {' and '.join(keys)} in the queue's table {simulate}."


def codel_ecn(given: Mapping[str, Any]) -> list[str]:
    """`ecn` or `noecn`, and the step threshold if there is one."""
    options = ["ecn" if given["ecn"] else "noecn"]
    if given["ce_threshold_ps"] is not None:
        options.append(f"ce_threshold {time_text(given['ce_threshold_ps'])}")
    return options


def fq_options(answer: Answer, notes: list[str]) -> list[str]:
    """What FQ-CoDel has beyond CoDel; the memory limit if its default might be met first."""
    given = answer.parameters
    options = [
        f"flows {given['flows']}",
        f"quantum {given['quantum_bytes']}",
        f"drop_batch {given['drop_batch']}",
    ]
    return options + _memory(answer, notes)


def _memory(answer: Answer, notes: list[str]) -> list[str]:
    """The memory limit of disciplines with queues for flows."""
    memory = raised_memory_limit(answer)
    if memory is None:
        return []
    notes.append(
        f"memory_limit is raised from its default of 32 MiB to {MEMORY_FACTOR} times the buffer's "
        "bytes: it counts the kernel's memory, more than packets' bytes; the lower of both limits holds."
    )
    return [f"memory_limit {memory}"]


def fq_pie_options(answer: Answer, notes: list[str]) -> list[str]:
    """What FQ-PIE has beyond PIE."""
    given = answer.parameters
    options = [f"flows {given['flows']}", f"quantum {given['quantum_bytes']}"]
    return options + _memory(answer, notes)


def pie_options(given: Mapping[str, Any], notes: list[str]) -> list[str]:
    """PIE's options.

    Raises:
        InputError: A factor is more than Linux takes.
    """
    if given["burst_ps"] != _PIE_BURST_PS:
        notes.append(f"Linux's PIE always lets a burst of 150 ms pass, not {show_time(given['burst_ps'])}.")
    notes.append(
        "The kernel rounds tupdate to its ticks (jiffies): 15 ms become 16 ms at 250 ticks a second."
    )
    return [
        f"target {time_text(given['target_ps'])}",
        f"tupdate {time_text(given['update_ps'])}",
        f"alpha {_sixteenths('alpha', given['alpha'], notes)}",
        f"beta {_sixteenths('beta', given['beta'], notes)}",
        "ecn" if given["ecn"] else "noecn",
    ]


def _sixteenths(name: str, value: float, notes: list[str]) -> int:
    steps = round(value * _PIE_STEPS)
    if steps > _PIE_MOST:
        raise InputError(
            "is more than Linux's PIE takes",
            key=f"queue.{name}",
            value=value,
            accepted=f"at most {_PIE_MOST / _PIE_STEPS:g}",
        )
    if steps != value * _PIE_STEPS:
        notes.append(f"Linux counts {name} in sixteenths: {steps}/16, not {value:g}.")
    return steps


def _shaper(answer: Answer, notes: list[str]) -> str:
    """CAKE's shaper, if it has one."""
    if not has_shaper(answer):
        return "unlimited"
    return f"bandwidth {rate_text(_whole_bytes(answer.rate_bps, notes))}"


def _cake(answer: Answer, target: Target, notes: list[str]) -> list[str]:
    notes.append(CAKE_NOTE)
    if not target.shape:
        return ["unlimited", *cake_options(answer)]
    return [f"bandwidth {rate_text(_whole_bytes(answer.rate_bps, notes))}", *cake_options(answer)]


CAKE_NOTE: Final = (
    "CAKE stands in for FQ-CoDel: fair to flows, in one class, with its own rules for drops (COBALT). It "
    "sizes itself by rate and rtt: its memlimit counts memory; tc-cake(8) says not to size it as a buffer."
)


def cake_options(answer: Answer) -> list[str]:
    """CAKE like FQ-CoDel: one class, fair to flows, CoDel's interval as its round-trip time."""
    return ["besteffort", "flows", f"rtt {time_text(answer.parameters['interval_ps'])}"]


_MAN: Final = "iproute2 6.1.0"

SOURCES: Final = (
    Source(_MAN, "tc(8), PARAMETERS", "units of rates, times and sizes"),
    Source(
        _MAN, "tc-pfifo(8), tc-bfifo(8)", "limit in packets, in bytes with the link header, 0 to 4294967295"
    ),
    Source(
        _MAN, "tc-codel(8), tc-fq_codel(8), tc-pie(8), tc-red(8), tc-cake(8)", "options, defaults, bounds"
    ),
    Source(_MAN, "tc-htb(8)", "rate, ceil, burst, cburst, quantum"),
    Source(_MAN, "tc(8), OPTIONS and TC COMMANDS; tc/tc_util.c", "statistics (-s), what they name; del"),
    Source("iproute2 6.1.0", "tc/tc_red.c", "how a burst becomes RED's weight"),
    Source("iproute2 6.1.0", "tc-fq_pie(8)", "options, defaults, bounds"),
    Source("Linux", "net/sched/sch_fq_pie.c", "defaults; what memory_limit counts"),
    Source(
        "Linux", "net/sched/sch_fifo.c", "what waits counts: a packet is queued while fewer than limit wait"
    ),
    Source(
        "Linux",
        "net/sched/sch_fq_codel.c, sch_htb.c, sch_pie.c, include/net/pie.h, red.h",
        "bounds and constants",
    ),
)

_BOTH: Final = (
    Source(
        "sqm-scripts (tohojo/sqm-scripts)", "src/functions.sh: ifb_name, ingress", "the way of what comes in"
    ),
    Source("sqm-scripts (tohojo/sqm-scripts)", "src/functions.sh: get_stab_string", "the line's overhead"),
    Source(_MAN, "ip-link(8), ip link delete", "the end of the ifb device"),
)

LINUX: Final = Platform(
    device_length=LONGEST_NAME,
    name="linux",
    title="Linux (tc of iproute2 6.1)",
    device="eth0",
    comment="#",
    disciplines=(
        "fifo",
        "codel",
        "fq_codel",
        "pie",
        "fq_pie",
        "step",
        "red",
        "cobalt",
        "cake",
        "dualpi2",
        "diffserv",
    ),
    cake=True,
    shapes=True,
    write=write,
    sources=(*SOURCES, *STEP_SOURCES, *COBALT_SOURCES, *CAKE_SOURCES, *DUALPI2_SOURCES, *ETS_SOURCES),
    bounds=fifo_bounds(FIFO_SOURCE),
    write_both=write_both,
    linklayers=True,
    sources_of_both=_BOTH,
    defaults=DEFAULTS,
)
