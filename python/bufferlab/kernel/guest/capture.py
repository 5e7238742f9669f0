"""What crosses devices, as a pcap file: each packet's first bytes, with the kernel's own times."""

from __future__ import annotations

import select
import socket
import struct
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bufferlab.kernel.guest.datagrams import SO_RCVBUFFORCE
from bufferlab.kernel.guest.machine import enter

if TYPE_CHECKING:
    from bufferlab.kernel.guest.loop import Loop

_ALL_PROTOCOLS: Final = 0x0003  # ETH_P_ALL, include/uapi/linux/if_ether.h, Linux 6.12
_TIMESTAMPS: Final = 35  # SO_TIMESTAMPNS_OLD, include/uapi/asm-generic/socket.h, Linux 6.12
_SOL_PACKET: Final = 263  # include/linux/socket.h, Linux 6.12
_STATISTICS: Final = 6  # PACKET_STATISTICS, include/uapi/linux/if_packet.h, Linux 6.12
_MEMORY_BYTES: Final = 1 << 28
_KEPT_BYTES: Final = 128
_ETHERNET: Final = 1
_RAW: Final = 101
"""Link types: Ethernet's frames, and packets from IP's header on (draft-ietf-opsawg-pcaplinktype)."""


class Tap:
    """Packet sockets (packet(7)) of some devices of one namespace.

    A place with a direction, "in" or "out", has its packets only, from IP's header on; otherwise frames are
    whole. More packets than its limit are counted.
    """

    def __init__(self, loop: Loop, place: dict[str, Any]) -> None:
        self.name, self.direction = place["name"], place.get("direction")
        self.most, self.more = place.get("most"), 0
        self.packets: list[tuple[int, int, int, bytes]] = []
        self.sockets: list[socket.socket] = []
        enter(place["namespace"])
        for device in place["devices"]:
            kind = socket.SOCK_RAW if self.direction is None else socket.SOCK_DGRAM
            it = socket.socket(socket.AF_PACKET, kind, 0)
            it.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, _MEMORY_BYTES)
            it.setsockopt(socket.SOL_SOCKET, _TIMESTAMPS, 1)
            it.bind((device, _ALL_PROTOCOLS))
            it.setblocking(False)
            self.sockets.append(it)
            loop.watch(it, select.EPOLLIN, partial(self.read, it))

    def read(self, it: socket.socket) -> None:
        """Take what has come."""
        kept = bytearray(_KEPT_BYTES)
        while True:
            try:
                size, ancillary, _, address = it.recvmsg_into([kept], 64, socket.MSG_TRUNC)
            except BlockingIOError:
                return
            leaves = address[2] == socket.PACKET_OUTGOING
            if self.direction is not None and leaves != (self.direction == "out"):
                continue
            if self.most is not None and len(self.packets) >= self.most:
                self.more += 1
                continue
            seconds, ns = struct.unpack("qq", ancillary[0][2][:16])
            self.packets.append((seconds, ns, size, bytes(kept[:size])))

    def finish(self) -> None:
        """Take what waits in the sockets: a loop that comes late to its end has not read it.

        Raises:
            RuntimeError: Packets found no room in a socket, so the capture has gaps (packet(7)).
        """
        for it in self.sockets:
            self.read(it)
            _seen, lost = struct.unpack("II", it.getsockopt(_SOL_PACKET, _STATISTICS, 8))
            if lost:
                raise RuntimeError(f"{lost} packets found no room on their way to the capture")

    def save(self, folder: Path, began_ns: int, end_ns: int) -> None:
        """Write the file, in order of time: sockets are read one after the other.

        Times of one direction are since the run's begin, and none is after its end: a loop that comes late
        there sees more than the link has counted. Those of frames are the kernel's own.
        """
        if self.direction is not None:
            since = [
                (max(seconds * 10**9 + ns - began_ns, 0), size, kept)
                for seconds, ns, size, kept in self.packets
            ]
            self.packets = [
                (*divmod(at_ns, 10**9), size, kept) for at_ns, size, kept in since if at_ns <= end_ns
            ]
        self.packets.sort(key=lambda packet: packet[:2])
        with (folder / self.name).open("wb") as file:
            link_type = _ETHERNET if self.direction is None else _RAW
            # draft-ietf-opsawg-pcap, section 4: nanoseconds
            file.write(struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, _KEPT_BYTES, link_type))
            for seconds, ns, size, kept in self.packets:
                file.write(struct.pack("=IIII", seconds, ns, len(kept), size) + kept)
