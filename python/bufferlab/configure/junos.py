"""Junos: a scheduler whose buffer is a time."""

from __future__ import annotations

from typing import Final

from bufferlab.configure.answer import Answer
from bufferlab.configure.bounds import Bound
from bufferlab.configure.platform import After, Default, Platform, Source, Target, Written

_RANGES: Final = (
    (50_000, "IQ PICs on M320 and T Series, Type 3 FPCs"),
    (80_000, "Type 1 and 2 FPCs of M320 and T Series"),
    (100_000, "M5, M7i, M10, M10i and IQ PICs on other M Series"),
    (200_000, "other M Series"),
)
"""Longest temporal buffers, us, and on what (Junos 10.3, buffer-size)."""

_HARDLY_MORE: Final = 1.002

_CONTROL_PERCENT: Final = 5
"""What network-control has of rate and buffer by default, percent (Default Schedulers Overview)."""

_WIDEST: Final = Bound(
    "buffer-size temporal, by Juniper's widest range,",
    "us",
    _RANGES[-1][0],
    "Junos OS Class of Service, Release 10.3, buffer-size",
)


def write(answer: Answer, target: Target) -> Written:
    """The lines for Junos."""
    us = _WIDEST.within(_in_range(answer.microseconds))
    cos = "set class-of-service"
    lines = [
        f"{cos} schedulers bufferlab transmit-rate remainder",
        f"{cos} schedulers bufferlab buffer-size temporal {us}",
        f"{cos} schedulers bufferlab-nc transmit-rate percent {_CONTROL_PERCENT}",
        f"{cos} schedulers bufferlab-nc buffer-size percent {_CONTROL_PERCENT}",
        f"{cos} scheduler-maps bufferlab forwarding-class best-effort scheduler bufferlab",
        f"{cos} scheduler-maps bufferlab forwarding-class network-control scheduler bufferlab-nc",
        f"{cos} interfaces {target.device} scheduler-map bufferlab",
    ]
    if target.shape:
        lines.append(f"{cos} interfaces {target.device} shaping-rate {answer.rate_bps}")
    shaped = [_SHAPED] if target.shape else []
    notes = [
        "The logical interface's speed turns the time into bytes: it is this buffer at this rate only.",
        *shaped,
        "A scheduler map replaces the default one. network-control (IS-IS, BFD, LACP) keeps its "
        f"{_CONTROL_PERCENT} % of rate and buffer; map other forwarding classes that you use. BGP is in "
        "best-effort by default.",
        "Commit with 'commit confirmed 5': Junos returns by itself after 5 minutes unless you commit again. "
        "'rollback 1' takes back the last commit, whatever it was.",
        "Junos drops from the head of a full buffer, not the packet that comes.",
    ]
    too_short = [f"{who} ({most} us)" for most, who in _RANGES if most < us]
    if too_short:
        notes.append(f"{us} us are more than these cards take: {'; '.join(too_short)}.")
    notes.append(
        "MPCs of MX Series take 4 KB to 256 MB, by model, and round to the nearest of 256 steps; on others "
        "the commit or 'show class-of-service' shows the range."
    )
    return Written(tuple(lines), tuple(notes), us, "us", _after(target))


def _in_range(us: int) -> int:
    """The time, or the end of a range that it is beyond by less than anybody notices."""
    return next((most for most, _ in _RANGES[:-1] if most < us <= most * _HARDLY_MORE), us)


def _after(target: Target) -> After:
    return After(
        (f"show class-of-service interface {target.device}", f"show interfaces queue {target.device}"),
        "the scheduler map by name; what each queue counted and dropped",
        ("rollback 1", "commit"),
    )


_SHAPED: Final = (
    "Whether that is the shaped rate or the port's, no text says that was read: compare the bytes that "
    "'show interfaces queue' has with those above before you rely on it."
)

_JUNOS: Final = "Junos OS Class of Service"

_MPC: Final = "Scheduler Delay Buffering on MIC and MPC Interfaces"

JUNOS: Final = Platform(
    name="junos",
    title="Juniper Junos",
    device="ge-0/0/0",
    comment="#",
    disciplines=("fifo",),
    cake=False,
    shapes=True,
    for_downloads="",
    write=write,
    sources=(
        Source(f"{_JUNOS}, Release 10.3", "buffer-size", "temporal in microseconds, its ranges by platform"),
        Source(
            _JUNOS, "Managing Congestion ... by Configuring the Scheduler Buffer Size", "drops from the head"
        ),
        Source(
            _JUNOS, "Default Routing Engine Protocol Queue Assignments", "BGP in queue 0, others in queue 3"
        ),
        Source(_JUNOS, _MPC, "4 KB to 256 MB, by model; 256 steps"),
        Source(_JUNOS, "Default Schedulers Overview", "network-control has 5 % of bandwidth and buffer"),
        Source(_JUNOS, "show class-of-service interface, show interfaces queue", "what they show"),
        Source("Junos OS CLI", "commit (confirmed), rollback", "both, and the numbers of commits"),
        Source("Juniper/yang 22.4R1", "junos-conf-class-of-service@2022-01-01.yang", "statements and units"),
    ),
    bounds=(_WIDEST,),
    counts_bytes=True,
    faster=((10**9, "xe-0/0/0"), (10 * 10**9, "et-0/0/0")),
    defaults=(
        Default(
            of="MX Series with MPCs",
            queue={"discipline": "fifo"},
            buffer="475 ms",
            faster=(10**9, "95 ms"),
            sources=(
                Source(_JUNOS, "Default Schedulers Overview", "best effort has 95 % of bandwidth and buffer"),
                Source(_JUNOS, _MPC, "500 ms below 1 Gbps, 100 ms from there on"),
            ),
            note=(
                "Best effort has 95 % of the interface's buffer, which is 500 ms below 1 Gbps, and 100 ms "
                "from there on. A full buffer drops from its head, where the scenario's FIFO refuses what "
                "comes."
            ),
        ),
        Default(
            of="M5, M7i, M10, M10i and J Series",
            queue={"discipline": "fifo"},
            buffer="95 ms",
            sources=(
                Source(_JUNOS, "Default Schedulers Overview", "best effort has 95 % of bandwidth and buffer"),
                Source(
                    _JUNOS,
                    "Managing Congestion ... by Configuring the Scheduler Buffer Size",
                    "a percentage of the total buffer, which differs by device",
                ),
                Source(f"{_JUNOS}, Release 10.3", "buffer-size", "100 ms and other totals by platform"),
                Source(
                    "JUNOS 9.4, J-series Interfaces and Routing",
                    "Delay Buffer Size",
                    "100 ms by default, more on channelized T1/E1",
                ),
            ),
            note=(
                "Best effort has 95 % of the interface's buffer, which differs by card: 95 % of 50, 80, 100 "
                "or 200 ms on M and T Series. A full buffer drops from its head, where the scenario's FIFO "
                "refuses what comes."
            ),
        ),
    ),
)
