"""All flows of a job, in one loop."""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from bufferlab.kernel.guest.capture import Tap
from bufferlab.kernel.guest.connections import TCP_CONGESTION, Connection
from bufferlab.kernel.guest.datagrams import Datagrams, open_socket
from bufferlab.kernel.guest.disciplines import Queue
from bufferlab.kernel.guest.loop import Loop
from bufferlab.kernel.guest.machine import Job, dropped, enter, tell
from bufferlab.kernel.guest.programs import Program
from bufferlab.kernel.guest.tcp_info import FIELDS

if TYPE_CHECKING:
    from bufferlab.kernel.guest.forwarding import Forwarding
    from bufferlab.kernel.guest.live import Remote

_READ_BYTES: Final = 1 << 22
_MOST_DATAGRAM_BYTES: Final = 1 << 16
_RTT: Final = list(FIELDS).index("rtt_us")


class Traffic(Loop):
    """All flows of a job, in one loop."""

    def __init__(self, job: Job, report: IO[str], tuns: Mapping[str, int], folder: Path) -> None:
        super().__init__(job)
        self.report, self.folder = report, folder
        self.senders: dict[int, Connection | Datagrams] = {}
        self.received = [0] * len(self.flows)
        self.buffer = bytearray(_READ_BYTES)
        self.listen()
        self.taps = [Tap(self, place) for place in job.get("captures", ())]
        enter(job["router"])
        self.ours = self.forward(tuns) if tuns else None
        self.queue = self.ours or Queue(job["device"], job["marks_at"])
        enter(job["sending"])
        self.program = Program(self, job["program"], folder, job["sending"]) if "program" in job else None

    def forward(self, tuns: Mapping[str, int]) -> Forwarding | Remote:
        """A link of Bufferlab's in the place of the kernel's."""
        # only these need the engine
        from bufferlab.kernel.guest.forwarding import Forwarding  # noqa: PLC0415
        from bufferlab.kernel.guest.live import Remote  # noqa: PLC0415

        kind = Remote if "delays_ns" in self.job else Forwarding
        ours = kind(self.job, *(tuns[name] for name in self.job["tuns"]))
        for descriptor, handler in ours.watched().items():
            self.handlers[descriptor] = handler
            self.polled.register(descriptor, select.EPOLLIN)
        return ours

    def listen(self) -> None:
        """Open the receivers' sockets."""
        for place in self.job["receivers"]:
            enter(place["namespace"])
            for port, control in place["ports"]:
                listening = socket.socket()
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listening.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, control.encode())
                listening.bind((place["address"], port))
                listening.listen(4096)
                listening.setblocking(False)
                self.watch(listening, select.EPOLLIN, partial(self.accept, listening))
            for port in place.get("datagrams", ()):
                it = open_socket()
                it.bind((place["address"], port))
                self.watch(it, select.EPOLLIN, partial(self.receive, it))

    def flow_of(self, port: int) -> int:
        """The flow whose sender has a port."""
        return int(port - self.job["first_port"]) % len(self.flows)

    def accept(self, listening: socket.socket) -> None:
        """A receiver's socket; the sender's port says the flow."""
        try:
            it, (_address, port) = listening.accept()
        except BlockingIOError:
            return
        it.setblocking(False)
        flow = self.flow_of(port)

        def read() -> None:
            try:  # what arrived is taken away without a copy (tcp(7): MSG_TRUNC)
                length = it.recv_into(self.buffer, 0, socket.MSG_TRUNC)
            except BlockingIOError:
                return
            if not length:  # the sender has closed it
                self.forget(it)
                return
            self.received[flow] += length
            sender = self.senders[flow]
            if isinstance(sender, Connection):
                sender.arrived(self.received[flow])

        self.watch(it, select.EPOLLIN, read)

    def receive(self, it: socket.socket) -> None:
        """A datagram has come; it goes back if that is asked."""
        try:
            packet, place = it.recvfrom(_MOST_DATAGRAM_BYTES)
        except BlockingIOError:
            return
        number = self.flow_of(place[1])
        sender = self.senders[number]
        if isinstance(sender, Datagrams):
            self.received[number] += sender.arrived(packet)
        if self.flows[number]["echo"]:
            it.sendto(packet, place)

    def start(self, number: int) -> None:
        """Begin a flow."""
        sender = (Datagrams if "datagrams" in self.flows[number] else Connection)(self, number)
        self.senders[number] = sender
        sender.begin()

    def run(self) -> None:
        """Drive the traffic to the job's end; at its moments write readings."""
        self.began_at_ns = time.time_ns()
        self.began_ns = time.monotonic_ns()
        if self.ours is not None:
            self.ours.begin(self.began_ns)
        for number, flow in enumerate(self.flows):
            if not flow.get("is_programs"):
                self.later(flow["start_ns"], partial(self.start, number))
        if self.program is not None:
            self.later(0, self.program.start_peer)
            self.later(self.job["program"]["starts_ns"], partial(self.program.start, self.end))
        for at, kind in self.job["readings"]:
            self.later(at, partial(self.read, at, kind), reads=True)
        for at in range(*self.job.get("states", (0,))):
            self.later(at, self.state)
        end_ns, _ = self.job["readings"][-1]
        self.work(end_ns)
        end_ns = self.now_ns() if self.is_over else end_ns
        self.conclude(end_ns)
        self.save(end_ns)

    def end(self) -> None:
        """End before the job's end."""
        self.read(self.now_ns(), "end")
        self.is_over = True

    def save(self, end_ns: int) -> None:
        """Write what was captured."""
        for tap in self.taps:
            tap.finish()
            tap.save(self.folder, self.began_at_ns, end_ns)
        if self.taps:
            more = {tap.name: tap.more for tap in self.taps}
            (self.folder / "left-out.json").write_text(json.dumps(more), encoding="utf-8")

    def conclude(self, end_ns: int) -> None:
        """Write what is known at the end only."""
        senders = self.senders.items()
        found = {
            "finished": [[number, *it.finished] for number, it in senders if max(it.finished) >= 0],
            "exchanges": [[number, *row] for number, it in senders for row in it.exchanges],
        }
        if any(found.values()):
            row = {"at_ns": end_ns, "due_ns": end_ns, "kind": "applications", "tables": json.dumps(found)}
            tell(self.report, row)
        if self.program is not None:
            tables = json.dumps(self.program.end())
            tell(self.report, {"at_ns": end_ns, "due_ns": end_ns, "kind": "program", "tables": tables})
        if self.ours is not None:
            enter(self.job["router"])
            if lost := dropped(self.job["tuns"][0]):
                raise RuntimeError(f"{lost} packets found no room on their way to the link")
            tables, punctual = self.ours.finish(end_ns)
            tell(self.report, {"at_ns": end_ns, "due_ns": end_ns, "kind": "link", "tables": tables})
            if punctual is not None:
                text = json.dumps(punctual)
                tell(self.report, {"at_ns": end_ns, "due_ns": end_ns, "kind": "live", "tables": text})

    def state(self) -> None:
        """Tell the link the round-trip times that senders would write into their packets."""
        assert self.ours is not None  # noqa: S101 - there is somebody to tell
        for number, sender in self.senders.items():
            self.ours.state(number, sender.counted()[_RTT])

    def read(self, due_ns: int, kind: str) -> None:
        """Write what flows and the queue have counted by now."""
        now_ns = self.now_ns()
        row: dict[str, Any] = {"at_ns": now_ns, "due_ns": due_ns, "kind": kind, "queue": self.queue.read()}
        if kind != "queue":
            row["flows"] = [
                [number, self.received[number], *it.counted()] for number, it in self.senders.items()
            ]
        tell(self.report, row)
