"""All flows of a job, in one loop."""

from __future__ import annotations

import heapq
import select
import socket
import struct
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Final

from bufferlab.kernel.guest.disciplines import Queue
from bufferlab.kernel.guest.machine import Alarm, Job, dropped, enter, tell
from bufferlab.kernel.guest.tcp_info import FIELDS, values

if TYPE_CHECKING:
    from bufferlab.kernel.guest.forwarding import Forwarding

# include/uapi/linux/tcp.h, Linux 6.12, for Python versions that lack the names
TCP_CONGESTION: Final = 13
TCP_NOTSENT_LOWAT: Final = 25
SO_MAX_PACING_RATE: Final = 47  # include/uapi/asm-generic/socket.h, Linux 6.12
_ANY_RATE: Final = 1 << 60

_UNSENT_BYTES: Final = 131_072
_READ_BYTES: Final = 1 << 22
_PAYLOAD: Final = bytes(1 << 18)
_RTT: Final = list(FIELDS).index("rtt_us")


class Traffic:
    """All flows of a job, in one loop."""

    def __init__(self, job: Job, report: IO[str], tuns: Mapping[str, int]) -> None:
        self.job, self.report = job, report
        self.flows: list[dict[str, Any]] = job["flows"]
        self.senders: dict[int, socket.socket] = {}
        self.received = [0] * len(self.flows)
        self.buffer = bytearray(_READ_BYTES)
        self.polled = select.epoll()
        self.handlers: dict[int, Callable[[], None]] = {}
        self.sockets: list[socket.socket] = []  # kept, lest they close
        self.alarm = Alarm()
        self.handlers[self.alarm.descriptor] = self.alarm.clear
        self.polled.register(self.alarm.descriptor, select.EPOLLIN)
        self.listen()
        enter(job["router"])
        self.ours = self.forward(tuns) if tuns else None
        self.queue = self.ours or Queue(job["device"], job["marks_at"])
        enter(job["sending"])
        self.began_ns = 0

    def forward(self, tuns: Mapping[str, int]) -> Forwarding:
        """A link of Bufferlab's in the place of the kernel's."""
        from bufferlab.kernel.guest.forwarding import Forwarding  # noqa: PLC0415 - only it needs the engine

        ours = Forwarding(self.job, *(tuns[name] for name in self.job["tuns"]))
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

    def watch(self, it: socket.socket, events: int, handler: Callable[[], None]) -> None:
        """Have a socket handled when it is ready."""
        self.sockets.append(it)
        self.handlers[it.fileno()] = handler
        self.polled.register(it, events)

    def accept(self, listening: socket.socket) -> None:
        """A receiver's socket; the sender's port is the flow's number."""
        it, (_address, port) = listening.accept()
        it.setblocking(False)
        flow = port - self.job["first_port"]

        def read() -> None:
            try:  # what arrived is taken away without a copy (tcp(7): MSG_TRUNC)
                self.received[flow] += it.recv_into(self.buffer, 0, socket.MSG_TRUNC)
            except BlockingIOError:
                return

        self.watch(it, select.EPOLLIN, read)

    def start(self, number: int) -> None:
        """Begin a flow."""
        flow = self.flows[number]
        it = socket.socket()
        it.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, flow["control"].encode())
        it.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, _UNSENT_BYTES)
        if flow.get("paced"):  # the limit is none, but TCP paces where there is one
            it.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, struct.pack("=Q", _ANY_RATE))
        it.setblocking(False)
        it.bind((self.job["address"], self.job["first_port"] + number))
        it.connect_ex((flow["address"], flow["port"]))

        def write() -> None:
            try:
                it.send(_PAYLOAD)
            except (BlockingIOError, InterruptedError):
                return

        self.senders[number] = it
        self.watch(it, select.EPOLLOUT, write)

    def run(self) -> None:
        """Drive the traffic to the job's end; at its moments write readings."""
        self.began_ns = time.monotonic_ns()
        if self.ours is not None:
            self.ours.began_ns = self.began_ns
        todo: list[tuple[int, int, int, Callable[[], None]]] = []
        for number, flow in enumerate(self.flows):
            todo.append((flow["start_ns"], 0, number, partial(self.start, number)))
        for at, kind in self.job["readings"]:
            todo.append((at, 1, len(todo), partial(self.read, at, kind)))
        for at in range(*self.job.get("states", (0,))):
            todo.append((at, 0, len(todo), self.state))
        heapq.heapify(todo)
        while todo:
            due_ns = self.began_ns + todo[0][0]
            if due_ns <= time.monotonic_ns():
                heapq.heappop(todo)[3]()
                continue
            self.alarm.set(due_ns)
            for descriptor, _events in self.polled.poll():
                self.handlers[descriptor]()
        if self.ours is not None:
            enter(self.job["router"])
            if lost := dropped(self.job["tuns"][0]):
                raise RuntimeError(f"{lost} packets found no room on their way to the link")
            end_ns, _ = self.job["readings"][-1]
            tables = self.ours.link.finish()
            tell(self.report, {"at_ns": end_ns, "due_ns": end_ns, "kind": "link", "tables": tables})

    def state(self) -> None:
        """Tell the link the round-trip times that senders would write into their packets."""
        assert self.ours is not None  # noqa: S101 - there is somebody to tell
        for number, it in self.senders.items():
            self.ours.link.state(number, values(it)[_RTT])

    def read(self, due_ns: int, kind: str) -> None:
        """Write what flows and the queue have counted by now."""
        now_ns = time.monotonic_ns() - self.began_ns
        row: dict[str, Any] = {"at_ns": now_ns, "due_ns": due_ns, "kind": kind, "queue": self.queue.read()}
        if kind != "queue":
            row["flows"] = [
                [number, self.received[number], *values(it)] for number, it in self.senders.items()
            ]
        tell(self.report, row)
