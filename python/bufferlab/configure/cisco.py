"""Cisco: `queue-limit` under a policy map, as IOS XE, IOS XR and NX-OS count it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bufferlab.configure import cisco_fair, cisco_llq
from bufferlab.configure.answer import Answer
from bufferlab.configure.bounds import Bound
from bufferlab.configure.platform import After, Default, Platform, Source, Target, Written
from bufferlab.configure.shared import ITSELF, MOST_U32, counted_note, floored, show_rate
from bufferlab.errors import InputError

_XE: Final = {
    unit: Bound("queue-limit", unit, most, "Cisco-IOS-XE-policy.yang, 17.3.1, queue-limit")
    for unit, most in (("packets", 8_192_000), ("bytes", 64_000_000), ("us", 512_000), ("ms", 3_400))
}
"""Queue limits of IOS XE."""

_XE_RATES: Final = (8_000, 100_000_000_000)
"""Rates of `shape average` on IOS XE, bit/s (Cisco-IOS-XE-policy.yang, shape average)."""

_XR_SOURCE: Final = "IOS XR Modular QoS Command Reference for the CRS Router, Release 4.0, queue-limit"

_XR: Final = Bound("queue-limit", "bytes", 10**9, _XR_SOURCE, least=9 * 1024)
"""Queue limits of IOS XR: from the largest MTU to 1 GB."""

_XR_TIMES: Final = Bound("queue-limit", "us", MOST_U32, _XR_SOURCE)


def write_xe(answer: Answer, target: Target) -> Written:
    """The lines for IOS XE."""
    if answer.discipline == "diffserv":
        return _write_llq(answer, target)
    if answer.discipline == cisco_fair.FAIR:
        return _write_fair(answer, target)
    amount, unit = _xe_limit(answer)
    notes = [*_xe_notes(answer, unit), CALLS]
    actions = [*_xe_shape(answer, target), f"queue-limit {amount} {unit}"]
    return Written(_policy(actions, target), tuple(notes), amount, unit, _after_xe(target))


def _write_fair(answer: Answer, target: Target) -> Written:
    """The lines for fair queueing; below a shaper, as the policy of its class."""
    amount, unit = _xe_limit(answer)
    actions = [cisco_fair.command(answer), f"queue-limit {amount} {unit}"]
    notes = [cisco_fair.NOTE, *_xe_notes(answer, unit), CALLS]
    if not target.shape:
        return Written(_policy(actions, target), tuple(notes), amount, unit, _after_xe(target))
    outer = "bufferlab-shaper"
    shaper = [*_xe_shape(answer, target), "service-policy bufferlab"]
    lines = [*_policy_map(actions, "bufferlab"), *_policy_map(shaper, outer), *_attached(target, outer)]
    undo = [f"no policy-map {outer}", "no policy-map bufferlab"]
    return Written(tuple(lines), tuple(notes), amount, unit, _after_xe(target, outer, undo))


def _write_llq(answer: Answer, target: Target) -> Written:
    """The lines for classes; below a shaper, as the policy of its class."""
    part = cisco_llq.default_answer(answer)
    amount, unit = _xe_limit(part)
    lines = [*cisco_llq.class_maps(answer), "policy-map bufferlab"]
    for name, actions in cisco_llq.class_actions(answer, f"queue-limit {amount} {unit}"):
        lines += [f" class {name}", *(f"  {action}" for action in actions), "  exit"]
    lines.append(" exit")
    outer, undo = "bufferlab", []
    if target.shape:
        outer, undo = "bufferlab-shaper", ["no policy-map bufferlab-shaper"]
        lines += _policy_map([*_xe_shape(answer, target), "service-policy bufferlab"], outer)
    lines += _attached(target, outer)
    undo += ["no policy-map bufferlab", *cisco_llq.without_class_maps(answer)]
    after = _after_xe(target, outer, undo, cisco_llq.READS)
    notes = [*cisco_llq.class_notes(answer, shaped=target.shape), *_xe_notes(part, unit)]
    if unit in {"us", "ms"}:
        notes.append("No source says which rate turns a class's time into bytes: packets or bytes are surer.")
    return Written(tuple(lines), tuple(notes), amount, unit, after)


_ATTACHED: Final = (
    "An interface has one policy in each direction: take an attached one off first, by 'no service-policy "
    "output NAME'."
)


def _xe_notes(answer: Answer, unit: str) -> list[str]:
    """What to know of every limit."""
    counted = [] if unit != "bytes" else [counted_note(answer)]
    return [
        *counted,
        _ATTACHED,
        f"The limit is in {unit}. 'queue-limit ?' lists the units that this model takes.",
        _CONTROL,
    ]


def _xe_shape(answer: Answer, target: Target) -> list[str]:
    """The shaper, if there shall be one.

    Raises:
        InputError: It does not take the rate.
    """
    if not target.shape:
        return []
    if not _XE_RATES[0] <= answer.rate_bps <= _XE_RATES[1]:
        raise InputError(
            "is out of the shaper's bounds",
            key="rate",
            value=f"{answer.rate_bps} bps",
            accepted=f"{_XE_RATES[0]} to {_XE_RATES[1]} bps",
        )
    return [f"shape average {answer.rate_bps}"]


_CONTROL: Final = (
    "Packets of the router's routing protocols wait in class-default, too. IOS drops them last "
    "(pak_priority), but not BGP's: a class of its own keeps that apart."
)

CALLS: Final = (
    "Calls marked EF can go before the rest (LLQ): it is written for a queue with discipline = 'diffserv', "
    "classes = 'EF: priority 33 %; rest: weight 1'."
)
"""Said with every queue of IOS XE that has no classes."""


def _after_xe(
    target: Target,
    policy: str = "bufferlab",
    undo: Iterable[str] = ("no policy-map bufferlab",),
    reads: str = "the queue limit; queue depth, total drops, no-buffer drops",
) -> After:
    """How to see that lines work, and how to take them back: the interface's policy, then what it has."""
    return After(
        (f"show policy-map interface {target.device} output",),
        reads,
        (
            f"interface {target.device}",
            f" no service-policy output {policy}",
            " exit",
            *undo,
        ),
    )


def _xe_limit(answer: Answer) -> tuple[int, str]:
    """The limit in the unit of the answer, or in the next that can hold it.

    Raises:
        InputError: None can.
    """
    amounts = {
        "packets": answer.packets,
        "bytes": answer.counted_bytes,
        "us": answer.microseconds,
        "ms": answer.milliseconds,
    }
    first = {"packets": "packets", "bytes": "bytes", "time": "us"}[answer.kind]
    for unit in (first, *amounts):
        if amounts[unit] <= _XE[unit].most:
            return amounts[unit], unit
    return _XE[first].within(amounts[first]), first


def write_xr(answer: Answer, target: Target) -> Written:
    """The lines for IOS XR."""
    unit = "us" if answer.kind == "time" else "bytes"
    notes = ["IOS XR takes a packet for 256 bytes: a limit in packets would be too small."]
    _XR.within(answer.counted_bytes)
    if unit == "us":
        amount = _XR_TIMES.within(answer.microseconds)
        notes.append("The time is turned into bytes by the class's guaranteed service rate.")
    else:
        amount = max(answer.counted_bytes, _XR.least)
        notes.append(counted_note(answer))
        notes.append("On bundles only times are accepted: give the buffer as a time.")
    if answer.counted_bytes < _XR.least:
        notes.append(f"The least is {_XR.least} bytes, the largest MTU: a smaller buffer cannot be had.")
    actions = [f"queue-limit {amount} {unit}"]
    if target.shape:
        actions.insert(0, f"shape average {floored(answer.rate_bps, 1000, notes)} kbps")
    after = After(
        (f"show policy-map interface {target.device}",),
        "queueing statistics of the class: what waits, and what was tail-dropped",
        ("rollback configuration last 1",),
    )
    notes.append("What undoes is typed outside of the configuration, and takes back the last commit.")
    return Written(_policy(actions, target), tuple(notes), amount, unit, after)


def _policy(actions: list[str], target: Target) -> tuple[str, ...]:
    """A policy map with one class for everything, on what leaves the interface."""
    return (*_policy_map(actions, "bufferlab"), *_attached(target, "bufferlab"))


def _policy_map(actions: list[str], name: str) -> list[str]:
    """A policy map with one class for everything."""
    return [
        f"policy-map {name}",
        " class class-default",
        *(f"  {each}" for each in actions),
        "  exit",
        " exit",
    ]


def _attached(target: Target, policy: str) -> list[str]:
    """A policy on what leaves the interface."""
    return [f"interface {target.device}", f" service-policy output {policy}"]


def write_nx(answer: Answer, target: Target) -> Written:
    """The lines for NX-OS."""
    unit = "us" if answer.kind == "time" else "bytes"
    amount = answer.microseconds if unit == "us" else answer.counted_bytes
    rate = show_rate(answer.rate_bps)
    unshaped = f"{ITSELF} {target.device} itself sends at {rate}: no shaper is known here."
    notes = [unshaped] if unit == "us" else [unshaped, counted_note(answer)]
    notes += [
        "The class is the default queue of models with eight queues; others call it differently.",
        "The limit's range is the model's, and not known here; it replaces a share of a dynamic buffer.",
    ]
    lines = (
        "policy-map type queuing bufferlab",
        "  class type queuing c-out-8q-q-default",
        f"    queue-limit {amount} {unit}",
        f"interface {target.device}",
        "  service-policy type queuing output bufferlab",
    )
    after = After(
        (f"show policy-map interface {target.device}", f"show queuing interface {target.device}"),
        "the policy; each queue's counters",
        (
            f"interface {target.device}",
            "  no service-policy type queuing output bufferlab",
            "  exit",
            "no policy-map type queuing bufferlab",
        ),
    )
    return Written(lines, tuple(notes), amount, unit, after)


IOS_XE: Final = Platform(
    name="ios-xe",
    title="Cisco IOS XE",
    device="GigabitEthernet0/0/0",
    comment="!",
    disciplines=("fifo", "diffserv", "fair_queue"),
    cake=False,
    shapes=True,
    llq=True,
    write=write_xe,
    sources=(
        Source(
            "Cisco-IOS-XE-policy.yang, 17.3.1", "queue-limit, shape average", "units, ranges, what needs what"
        ),
        Source(
            "QoS: Congestion Management Configuration Guide, IOS XE 16.12", "Queue depth", "what a limit does"
        ),
        Source(
            "IOS Quality of Service Solutions Command Reference", "show policy-map interface", "what it shows"
        ),
        Source("IOS ISG Command Reference", "service-policy", "its no form"),
        Source("Cisco IOS in a Nutshell, 2nd Edition", "policy-map, service-policy (interface)", "no forms"),
        Source("Cisco document 18664", "pak_priority", "which control packets are marked, and how dropped"),
        *cisco_llq.SOURCES,
        *cisco_fair.SOURCES,
    ),
    bounds=tuple(_XE.values()),
    faster=((10**9, "TenGigabitEthernet0/0/0"), (10 * 10**9, "HundredGigE0/0/0")),
    defaults=(
        Default(
            of="the ASR 1000",
            queue={"discipline": "fifo"},
            buffer="50 ms",
            sources=(
                Source(
                    "QoS: Congestion Management Configuration Guide, IOS XE 16.12",
                    "Queue depth",
                    "50 ms of 1500-byte packets, at least 64 packets; ESP40 25 ms",
                ),
            ),
            note=(
                "This is a class without a queue-limit, of which class-default is one; on ESP40 it is 25 ms. "
                "The guide has no other figure for an interface without any policy."
            ),
            least_packets=64,
        ),
    ),
)

IOS_XR: Final = Platform(
    name="ios-xr",
    title="Cisco IOS XR",
    device="GigabitEthernet0/0/0/0",
    comment="!",
    disciplines=("fifo",),
    cake=False,
    shapes=True,
    for_downloads="",
    write=write_xr,
    sources=(
        Source(
            "IOS XR Modular QoS Command Reference for the CRS Router, Release 4.0",
            "queue-limit",
            "units, bounds",
        ),
        Source("ASR 9000 Modular QoS Configuration Guide", "Configuring Tail Drop", "the steps, in order"),
        Source(
            "Modular QoS Command Reference for Cisco 8000 Series Routers",
            "show policy-map interface",
            "that it is there; what it prints is from published output",
        ),
        Source("Cisco-IOS-XR-um-policymap-classmap-cfg.yang, 7.6.1", "queue-limit, shape", "units of both"),
    ),
    bounds=(_XR,),
    counts_bytes=True,
    faster=((10**9, "TenGigE0/0/0/0"), (10 * 10**9, "HundredGigE0/0/0/0")),
    defaults=(
        Default(
            of="the CRS and the ASR 9000",
            queue={"discipline": "fifo"},
            buffer="100 ms",
            sources=(
                Source(
                    "IOS XR Modular QoS Command Reference for the CRS Router, Release 4.0",
                    "queue-limit, Queue Limit Default Values",
                    "100 ms at the interface rate without QoS",
                ),
                Source(
                    "ASR 9000 Modular QoS Configuration Guide",
                    "Configuring Tail Drop",
                    "100 ms of queue bandwidth",
                ),
            ),
            note="Of the interface's rate if no QoS is configured.",
        ),
        Default(
            of="the NCS 540 and 5500",
            queue={"discipline": "fifo"},
            buffer="10 ms",
            sources=(
                Source(
                    "Modular QoS Command Reference for Cisco NCS 5500 and NCS 540 Series Routers",
                    "queue-limit",
                    "10 ms for all queues",
                ),
            ),
            note="For each queue.",
        ),
    ),
)

NX_OS: Final = Platform(
    name="nx-os",
    title="Cisco NX-OS (Nexus 9000)",
    device="ethernet1/1",
    comment="!",
    disciplines=("fifo",),
    cake=False,
    shapes=False,
    for_downloads="",
    write=write_nx,
    counts_bytes=True,
    sources=(
        Source("Nexus 9000 NX-OS Command Reference, Release 9.3(x)", "Q commands, queue-limit", "units"),
        Source(
            "Nexus 9000 NX-OS Quality of Service Configuration Guide",
            "Configuring Queuing and Scheduling",
            "use",
        ),
    ),
    no_default=(
        "no source has a size: a queue has a dynamic share of a buffer, which depends on what others hold"
    ),
)
