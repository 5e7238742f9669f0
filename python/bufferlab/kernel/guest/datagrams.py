"""A flow of datagrams: when they leave, and what comes back."""

from __future__ import annotations

import select
import socket
import struct
from typing import TYPE_CHECKING, Any, Final

from bufferlab.kernel.guest.tcp_info import FIELDS

if TYPE_CHECKING:
    from bufferlab.kernel.guest.loop import Loop

SO_SNDBUFFORCE: Final = 32
SO_RCVBUFFORCE: Final = 33  # include/uapi/asm-generic/socket.h, Linux 6.12
_MEMORY_BYTES: Final = 1 << 28
_HEADERS: Final = 28
"""IPv4's and UDP's, in every packet on the wire."""

_NUMBER: Final = struct.Struct(">I")


def open_socket() -> socket.socket:
    """A socket in which no datagram is lost for want of memory."""
    it = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for option in (SO_SNDBUFFORCE, SO_RCVBUFFORCE):
        it.setsockopt(socket.SOL_SOCKET, option, _MEMORY_BYTES)
    it.setblocking(False)
    return it


def set_class(it: socket.socket, flow: dict[str, Any]) -> None:
    """Packets have the codepoint of their flow."""
    if "tos" in flow:
        it.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, flow["tos"])


class Datagrams:
    """A source of datagrams, each with its number."""

    def __init__(self, loop: Loop, number: int) -> None:
        self.loop, self.number = loop, number
        self.flow: dict[str, Any] = loop.flows[number]
        self.planned: list[list[int]] = self.flow["datagrams"]
        self.sent = 0
        self.finished = [-1, -1]
        self.exchanges: list[list[int]] = []
        self.it = open_socket()

    def begin(self) -> None:
        """Open the socket; the first leaves at its time."""
        set_class(self.it, self.flow)
        here = self.flow.get("from", self.loop.job["address"])
        self.it.bind((here, self.loop.job["first_port"] + self.number))
        self.it.connect((self.flow["address"], self.flow["port"]))
        if self.flow["echo"]:
            self.loop.watch(self.it, select.EPOLLIN, self.answered)
        self.wait()

    def wait(self) -> None:
        """Until the next one."""
        if self.sent < len(self.planned):
            self.loop.later(self.planned[self.sent][0], self.send)

    def send(self) -> None:
        """The next one leaves."""
        _, size = self.planned[self.sent]
        self.it.send(_NUMBER.pack(self.sent).ljust(size - _HEADERS, b"\0"))
        if self.flow["echo"] or self.flow["record"]:
            self.exchanges.append([self.loop.now_ns(), -1, size])
        self.sent += 1
        self.wait()

    def arrived(self, packet: bytes) -> int:
        """One has been received: how much payload the scenario says it has."""
        if self.flow["record"] and not self.flow["echo"]:
            self.close(packet, self.flow["forward_ns"])
        return len(packet) + _HEADERS - int(self.flow["header_bytes"])

    def answered(self) -> None:
        """One has come back."""
        try:
            packet = self.it.recv(1 << 16)
        except BlockingIOError:
            return
        self.close(packet, 0)

    def close(self, packet: bytes, more_ns: int) -> None:
        """The exchange of a packet is done, that much later."""
        self.exchanges[_NUMBER.unpack_from(packet)[0]][1] = self.loop.now_ns() + more_ns

    def counted(self) -> list[int]:
        """The fields of TCP_INFO that datagrams have: how many were sent."""
        return [self.sent if name == "sent_packets" else 0 for name in FIELDS]
