"""Capturing from an interface of this machine for a while, with Linux's packet sockets (packet(7))."""

from __future__ import annotations

import errno
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bufferlab.errors import InputError

KEPT_BYTES: Final = 128
"""What is kept of a packet, from its network header on: enough for all headers, and hardly any payload."""

_ALL_PROTOCOLS: Final = 0x0003  # ETH_P_ALL, linux/if_ether.h
_LINK_TYPE: Final = 276  # LINKTYPE_LINUX_SLL2: the same header whatever the interface is
_TIMESTAMPS: Final = 35  # SO_TIMESTAMPNS, asm-generic/socket.h
_SOL_PACKET: Final = 263
_STATISTICS: Final = 6  # PACKET_STATISTICS, linux/if_packet.h
_OUTGOING: Final = 4  # PACKET_OUTGOING
_LOOPBACK: Final = 772  # ARPHRD_LOOPBACK, linux/if_arp.h
_BUFFER_BYTES: Final = 64 * 2**20
_LOOK_S: Final = 0.2
_PACKETS_A_NOTE: Final = 1000

_NS_PER_S: Final = 1_000_000_000

Tell = Callable[[float, str], None]
"""Called now and then with the share of the time that is over, and a note."""


@dataclass(frozen=True)
class Recorded:
    """What was captured.

    Attributes:
        packets: Packets in the file.
        missed: Packets that the kernel dropped, as they were not read in time.
    """

    packets: int
    missed: int


def record(interface: str, seconds: float, path: Path, tell: Tell = lambda _done, _note: None) -> Recorded:
    """Capture what crosses an interface, as pcapng; Ctrl-C ends it early and keeps what there is.

    Args:
        interface: Its name: "eth0".
        seconds: How long.
        path: The file to write.
        tell: Progress.

    Raises:
        InputError: There is no such interface, or the rights are missing.
    """
    packets = 0
    with _socket(interface) as source, path.open("wb") as file:
        file.write(_head(interface))
        with suppress(KeyboardInterrupt):
            for packets, (done, block) in enumerate(_blocks(source, seconds), 1):
                file.write(block)
                if packets % _PACKETS_A_NOTE == 0:
                    tell(done, f"{packets} packets")
        missed = struct.unpack("II", source.getsockopt(_SOL_PACKET, _STATISTICS, 8))[1]
        file.write(_statistics(missed))
    return Recorded(packets, missed)


def _socket(interface: str) -> socket.socket:
    if not hasattr(socket, "AF_PACKET"):
        raise InputError("needs Linux", key="live", value=interface, accepted="a file of tcpdump's elsewhere")
    try:
        source = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)  # nothing before bind
    except PermissionError:
        accepted = "root, or: sudo tcpdump -i IFACE -s 128 -w - | bufferlab observe -"
        raise InputError(
            "needs the right to capture", key="live", value=interface, accepted=accepted
        ) from None
    try:
        source.setsockopt(socket.SOL_SOCKET, _TIMESTAMPS, 1)
        source.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        source.bind((interface, _ALL_PROTOCOLS))
    except OSError as error:
        source.close()
        known = ", ".join(name for _, name in socket.if_nameindex())
        problem = (
            "is no interface" if error.errno == errno.ENODEV else f"cannot be captured: {error.strerror}"
        )
        raise InputError(problem, key="live", value=interface, accepted=known) from None
    source.settimeout(_LOOK_S)
    return source


def _blocks(source: socket.socket, seconds: float) -> Iterator[tuple[float, bytes]]:
    """For each packet the share of the time that is over, and its block of the file."""
    begin = time.monotonic()
    kept = bytearray(KEPT_BYTES)
    while (passed := time.monotonic() - begin) < seconds:
        try:
            size, ancillary, _, address = source.recvmsg_into([kept], 64, socket.MSG_TRUNC)
        except TimeoutError:
            continue
        except OSError as error:  # the interface went down: it may come up again
            if error.errno != errno.ENETDOWN:
                raise
            continue
        _, protocol, kind, hardware, own = address
        if hardware == _LOOPBACK and kind == _OUTGOING:
            continue  # it comes a second time, as it arrives
        header = _header(protocol, kind, hardware, own)
        yield passed / seconds, _packet(_time_ns(ancillary), header + kept[:size], len(header) + size)


def _time_ns(ancillary: list[tuple[int, int, bytes]]) -> int:
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, _TIMESTAMPS):
            seconds, ns = struct.unpack("qq", content[:16])
            return int(seconds * _NS_PER_S + ns)
    return time.time_ns()


def _header(protocol: int, kind: int, hardware: int, own: bytes) -> bytes:
    """LINKTYPE_LINUX_SLL2 (tcpdump.org/linktypes): protocol, interface, hardware type, direction, address."""
    return struct.pack(">HHIHBB8s", protocol, 0, 0, hardware, kind, min(len(own), 8), own[:8])


def _block(kind: int, body: bytes) -> bytes:
    """draft-ietf-opsawg-pcapng, section 3.1."""
    padded = body + bytes(-len(body) % 4)
    size = struct.pack("=I", len(padded) + 12)
    return struct.pack("=I", kind) + size + padded + size


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("=HH", code, len(value)) + value + bytes(-len(value) % 4)


def _head(interface: str) -> bytes:
    """Section header, and the description of an interface whose times are in nanoseconds."""
    section = struct.pack("=IHHq", 0x1A2B3C4D, 1, 0, -1)
    options = _option(2, interface.encode()) + _option(9, b"\x09") + bytes(4)
    return _block(0x0A0D0D0A, section) + _block(1, struct.pack("=HHI", _LINK_TYPE, 0, 0) + options)


def _packet(at_ns: int, content: bytes, size: int) -> bytes:
    """An enhanced packet block, of a packet of that size."""
    fixed = struct.pack("=IIIII", 0, at_ns >> 32, at_ns & 0xFFFFFFFF, len(content), size)
    return _block(6, fixed + content)


def _statistics(missed: int) -> bytes:
    """An interface statistics block with isb_osdrop."""
    now_ns = time.time_ns()
    fixed = struct.pack("=III", 0, now_ns >> 32, now_ns & 0xFFFFFFFF)
    return _block(5, fixed + _option(7, struct.pack("=Q", missed)) + bytes(4))
