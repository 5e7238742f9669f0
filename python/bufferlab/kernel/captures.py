"""What a kernel's hosts and link see of packets, as the file that a simulated run writes: docs/capture.md.

All of a round trip lies on the way back here (`bufferlab.kernel.network`), so a packet's times are moved to
where the scenario has its delays: then the file's times are those of the simulator's places.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from bufferlab import _core
from bufferlab.experiment.recording import RECEIVERS, SENDERS, Request
from bufferlab.files import not_written
from bufferlab.kernel.applications import forward_ps
from bufferlab.kernel.job import FIRST_PORT, PROGRAMS_FROM, ip_bytes, packet_of, round_trips_ps
from bufferlab.kernel.network import Net
from bufferlab.plan import Plan
from bufferlab.units import PS_PER_NS

MOST: Final = 1_000_000
"""Packets at a place in one direction: they are in the kernel's memory until the run's end."""

LEFT_OUT: Final = "left-out.json"
"""The kernel's file of how many packets found no room, by file."""

_AFTER_THE_LINK: Final = ("crossed", "all")
_FILE_HEAD: Final = 24
_RECORD: Final = struct.Struct("=IIII")
_TCP_OR_UDP: Final = (6, 17)
_NS_PER_S: Final = 10**9

Finished = tuple[int, int, int, str | None]


class Tap(NamedTuple):
    """Packets of one direction at some devices.

    Attributes:
        interface: Its place in the file.
        namespace: Where the devices are.
        devices: Which.
        leaves: Whether packets that leave there are seen, or those that come.
        sees: What of the way a packet has behind it in the scenario: "nothing", "link" (it comes to the
            queue), "crossed" (it has reached the far end), "all", or "answered" (the receiver sends it).
    """

    interface: str
    namespace: str
    devices: tuple[str, ...]
    leaves: bool
    sees: str

    @property
    def place(self) -> str:
        """Its place in the file: all receivers are one."""
        return RECEIVERS if self.interface.startswith(RECEIVERS) else self.interface

    @property
    def file(self) -> str:
        """The kernel's own file of it."""
        return f"{self.interface}-{'out' if self.leaves else 'in'}.pcap"

    def job(self, most: int) -> dict[str, Any]:
        """What the kernel is reported of it."""
        direction = "out" if self.leaves else "in"
        where = {"namespace": self.namespace, "devices": list(self.devices)}
        return {"name": self.file, "direction": direction, "most": min(most, MOST), **where}


def taps(asked: Request, link: str, net: Net) -> list[Tap]:
    """What is to be looked at."""
    found = []
    if SENDERS in asked.at:
        name, device = net.senders
        found.append(Tap(SENDERS, name, (device,), True, "nothing"))
        found.append(Tap(SENDERS, name, (device,), False, "nothing"))
    if RECEIVERS in asked.at:
        for number, (name, device) in enumerate(net.receivers):
            found.append(Tap(f"{RECEIVERS}{number}", name, (device,), False, "all"))
            found.append(Tap(f"{RECEIVERS}{number}", name, (device,), True, "answered"))
    if link in asked.at:
        name, device, leaves = net.arrives
        found.append(Tap(f"{link}.in", name, (device,), leaves, "link"))
        name, devices, leaves = net.crossed
        found.append(Tap(f"{link}.out", name, devices, leaves, "crossed"))
    return found


def save(asked: Request, plan: Plan, net: Net, folder: Path) -> Finished:
    """Write the file of what was seen.

    Args:
        asked: What was to be recorded.
        plan: What was run.
        net: Where packets were seen.
        folder: The kernel's own files.

    Raises:
        OutputError: The file cannot be opened.
    """
    link = plan["links"][0]
    places = _places(asked, link)
    names = [name for name, _, _ in places]
    moves = _Moves(plan, net)
    groups = None if asked.groups is None else {_group(plan, name) for name in asked.groups}
    packets = [
        (max(at_ns + moves.by_ns(tap.sees, flow, size), 0), names.index(tap.place), tap.leaves, headers, size)
        for tap in taps(asked, link["name"], net)
        for at_ns, headers, size in _read(folder / tap.file)
        for flow in [moves.flow(headers)]
        if groups is None or plan["flows"]["group"][flow] in groups
    ]
    comment = "A real kernel: its own packets, at the moments of the scenario's places"
    try:
        records, left_out, size, problem = _core.write_capture(
            str(asked.pcap), comment, places, packets, asked.limit
        )
    except OSError as error:
        raise not_written(str(asked.pcap), error) from error
    more = sum(json.loads((folder / LEFT_OUT).read_text(encoding="utf-8")).values())
    return records, left_out + more, size, problem


def _places(asked: Request, link: Mapping[str, Any]) -> list[tuple[str, str, int | None]]:
    hosts = {SENDERS: "The senders' hosts", RECEIVERS: "The receivers' hosts"}
    found: list[tuple[str, str, int | None]] = [
        (name, text, None) for name, text in hosts.items() if name in asked.at
    ]
    if (name := link["name"]) in asked.at:
        found.append((f"{name}.in", f"What arrives at the queue of {name}", link["rate_bps"]))
        found.append((f"{name}.out", f"What reaches the far end of {name}", link["rate_bps"]))
    return found


def _group(plan: Plan, name: str) -> int:
    return next(number for number, group in enumerate(plan["groups"]) if group["name"] == name)


class _Moves:
    """By how much the times of packets are moved, by place and flow."""

    def __init__(self, plan: Plan, net: Net) -> None:
        flows, link = plan["flows"], plan["links"][0]
        self.count = len(flows["group"])
        sources = [plan["groups"][group]["source"] for group in flows["group"]]
        self.rate_bps, self.is_early = link["rate_bps"], net.is_early
        self.extra_bytes = [packet_of(source) - ip_bytes(source) for source in sources]
        forward_ns = [forward_ps(plan, flow) // PS_PER_NS for flow in range(self.count)]
        waited_ns = [ps // PS_PER_NS if net.answers_wait else 0 for ps in round_trips_ps(plan)]
        source_ns = [ps // PS_PER_NS for ps in flows["source_delay_ps"]]
        link_ns = link["delay_ps"] // PS_PER_NS
        self.moves: dict[str, list[int]] = {
            "nothing": [0] * self.count,
            "link": source_ns,
            "crossed": [ns + link_ns for ns in source_ns],
            "all": forward_ns,
            # what the way back has of the transmission (is_early) was waited for with the rest
            "answered": [there - back for there, back in zip(forward_ns, waited_ns, strict=True)],
        }

    def sent_ns(self, size: int, flow: int) -> int:
        """The transmission that HTB does not wait for (`bufferlab.kernel.network`)."""
        wire_bytes = size + self.extra_bytes[flow]
        return wire_bytes * 8 * _NS_PER_S // self.rate_bps if self.is_early else 0

    def flow(self, headers: bytes) -> int:
        """Whose packet it is; what is of no flow is a program's, which takes the first group's place."""
        at = (headers[0] & 0x0F) * 4 if headers else 0
        if len(headers) < at + 4 or headers[9] not in _TCP_OR_UDP:
            return 0
        for port in struct.unpack_from(">HH", headers, at):
            if FIRST_PORT <= port < PROGRAMS_FROM:
                return int(port - FIRST_PORT) % self.count
        return 0

    def by_ns(self, sees: str, flow: int, size: int) -> int:
        """By how much."""
        return self.moves[sees][flow] + (self.sent_ns(size, flow) if sees in _AFTER_THE_LINK else 0)


def _read(path: Path) -> Iterator[tuple[int, bytes, int]]:
    """Time, first bytes and size of each packet of a file of the kernel's."""
    data = path.read_bytes()
    at = _FILE_HEAD
    while at + _RECORD.size <= len(data):
        seconds, ns, kept, size = _RECORD.unpack_from(data, at)
        at += _RECORD.size
        yield seconds * _NS_PER_S + ns, data[at : at + kept], size
        at += kept
