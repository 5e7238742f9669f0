"""A flow's sender of TCP: its socket, what it has to send, and what has arrived of it."""

from __future__ import annotations

import fcntl
import select
import socket
import struct
from typing import TYPE_CHECKING, Any, Final

from bufferlab.kernel.guest.datagrams import set_class
from bufferlab.kernel.guest.tcp_info import FIELDS, SUMS, values

if TYPE_CHECKING:
    from bufferlab.kernel.guest.loop import Loop

# include/uapi/linux/tcp.h, Linux 6.12, for Python versions that lack the names
TCP_CONGESTION: Final = 13
TCP_NOTSENT_LOWAT: Final = 25
SO_MAX_PACING_RATE: Final = 47  # include/uapi/asm-generic/socket.h, Linux 6.12
_SIOCOUTQ: Final = 0x5411  # include/uapi/asm-generic/ioctls.h, tcp(7)
_ANY_RATE: Final = 1 << 60

_UNSENT_BYTES: Final = 131_072
_FEW_UNSENT_BYTES: Final = 4096
"""Where a flow stops at a moment, and what is in its socket then is sent all the same."""

_PAYLOAD: Final = memoryview(bytes(1 << 18))
_LOOK_NS: Final = 1_000_000
_MOST_PORT: Final = 65_535


class Connection:
    """A sender. It may have data always, an amount of it, or some by turns."""

    def __init__(self, loop: Loop, number: int) -> None:
        self.loop, self.number = loop, number
        self.flow: dict[str, Any] = loop.flows[number]
        self.turns = iter(self.flow.get("turns", ()))
        self.left: int | None = 0
        self.target: int | None = None
        self.over = False
        self.opened = 0
        self.silent_ns = 0
        self.before = [0] * len(FIELDS)
        self.finished: list[int] = [-1, -1]
        self.exchanges: list[list[int]] = []
        self.it = socket.socket()

    def begin(self) -> None:
        """Connect, with the first data."""
        self.connect()
        if "stop_ns" in self.flow:
            self.loop.later(self.flow["stop_ns"], self.end)
        if "turns" in self.flow:
            self.turn()
        elif "bytes" in self.flow:
            self.give(self.flow["bytes"])
        else:
            self.left = None

    def connect(self) -> None:
        """Open the socket. Each has a port of its own, of which the flow is known."""
        it, flow, job = self.it, self.flow, self.loop.job
        port = job["first_port"] + self.number + self.opened * len(self.loop.flows)
        if port > _MOST_PORT:
            raise RuntimeError(f"flow {self.number} has no port left after {self.opened} connections")
        self.opened += 1
        it.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, flow["control"].encode())
        unsent = _FEW_UNSENT_BYTES if "stop_ns" in flow else _UNSENT_BYTES
        it.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, unsent)
        if "bytes" in flow or "turns" in flow:  # the last segment does not wait until it is full
            it.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if flow.get("paced"):  # the limit is none, but TCP paces where there is one
            it.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, struct.pack("=Q", _ANY_RATE))
        set_class(it, flow)
        it.setblocking(False)
        it.bind((flow.get("from", job["address"]), port))
        it.connect_ex((flow["address"], flow["port"]))
        self.loop.watch(it, select.EPOLLOUT, self.write)

    def turn(self) -> None:
        """There is data again; a client that fetches it does so over a new connection."""
        if self.over:
            return
        following = next(self.turns, None)
        if following is None:
            raise RuntimeError(f"flow {self.number} has more turns than were drawn")
        size, self.silent_ns = following
        if self.flow["fetch"] and self.exchanges:
            self.before = self.counted()
            self.loop.forget(self.it)
            self.it = socket.socket()
            self.connect()
        asked_ns = self.loop.now_ns() - (self.flow["back_ns"] if self.flow["fetch"] else 0)
        self.exchanges.append([asked_ns, -1, size])
        self.give(size)

    def give(self, size: int) -> None:
        """There are this many bytes more to send."""
        self.left = (self.left or 0) + size
        self.target = (self.target or 0) + size
        self.loop.polled.modify(self.it, select.EPOLLOUT)

    def write(self) -> None:
        """The socket takes more."""
        try:
            sent = self.it.send(_PAYLOAD if self.left is None else _PAYLOAD[: self.left])
        except (BlockingIOError, InterruptedError):
            return
        if self.left is not None:
            self.left -= sent
            if self.left <= 0:
                self.loop.polled.modify(self.it, 0)

    def end(self) -> None:
        """No new data from now on."""
        self.left, self.over = 0, True
        if self.it.fileno() >= 0:
            self.loop.polled.modify(self.it, 0)

    def arrived(self, received: int) -> None:
        """This many bytes of the flow have been received in all."""
        if self.target is None or received < self.target or self.over:
            return
        now_ns = self.loop.now_ns()
        received_ns = now_ns + self.flow["forward_ns"]
        if self.exchanges and self.exchanges[-1][1] < 0:
            self.exchanges[-1][1] = received_ns
        elif self.exchanges or self.finished[1] >= 0:
            return
        else:
            self.finished[1] = received_ns
        self.loop.later(now_ns + self.flow["forward_ns"] + self.flow["back_ns"], self.look)

    def look(self) -> None:
        """Whether all is acknowledged: then the sender is silent."""
        waiting = struct.unpack("=i", fcntl.ioctl(self.it, _SIOCOUTQ, bytes(4)))[0]
        now_ns = self.loop.now_ns()
        if waiting:
            self.loop.later(now_ns + _LOOK_NS, self.look)
        elif "turns" in self.flow:
            began_ns = self.exchanges[-1][0]
            asks_ns = began_ns + self.silent_ns + self.flow["back_ns"]
            self.loop.later(
                max(now_ns, asks_ns) if self.flow["fetch"] else now_ns + self.silent_ns, self.turn
            )
        else:
            self.finished[0] = now_ns

    def counted(self) -> list[int]:
        """The fields of TCP_INFO, those that count over all connections."""
        now = values(self.it)
        return [
            old + new if name in SUMS else new
            for name, old, new in zip(FIELDS, self.before, now, strict=True)
        ]
