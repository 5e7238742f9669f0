"""A reader of pcapng, as far as our files go: written from the draft, apart from the writer."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

INTERFACE, STATISTICS, PACKET = 1, 5, 6


@dataclass
class Packet:
    interface: str
    time_ns: int
    headers: bytes
    original_bytes: int
    packet_id: int
    comment: str | None
    outbound: bool


@dataclass
class Capture:
    interfaces: list[str] = field(default_factory=list)
    packets: list[Packet] = field(default_factory=list)
    counted: dict[str, int] = field(default_factory=dict)

    def at(self, interface: str) -> list[Packet]:
        return [packet for packet in self.packets if packet.interface == interface]


def blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Kinds and bodies; fails where a block is not whole."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length % 4 == 0
        assert struct.unpack_from("<I", data, at + length - 4) == (length,)
        yield kind, data[at + 8 : at + length - 4]
        at += length
    assert at == len(data)


def options(body: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    at = 0
    while True:
        code, length = struct.unpack_from("<HH", body, at)
        if code == 0:
            return found
        found[code] = body[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4


def read(path: Path) -> Capture:
    capture = Capture()
    for kind, body in blocks(path.read_bytes()):
        if kind == INTERFACE:
            assert struct.unpack_from("<H", body) == (101,)
            found = options(body[8:])
            assert found[9] == b"\x09"
            capture.interfaces.append(found[2].decode())
        elif kind == STATISTICS:
            (interface,) = struct.unpack_from("<I", body)
            capture.counted[capture.interfaces[interface]] = int.from_bytes(options(body[12:])[4], "little")
        elif kind == PACKET:
            interface, high, low, captured, original = struct.unpack_from("<IIIII", body)
            found = options(body[20 + captured + -captured % 4 :])
            capture.packets.append(
                Packet(
                    capture.interfaces[interface],
                    (high << 32) + low,
                    body[20 : 20 + captured],
                    original,
                    int.from_bytes(found[5], "little"),
                    found[1].decode() if 1 in found else None,
                    int.from_bytes(found[2], "little") & 3 == 2,
                )
            )
    return capture


def with_payload(source: Path, target: Path) -> None:
    """The same file with payload of zeros, so that others can check the checksums."""
    out = bytearray()
    for kind, body in blocks(source.read_bytes()):
        if kind == PACKET:
            captured, original = struct.unpack_from("<II", body, 12)
            (stated,) = struct.unpack_from(">H", body, 22)
            headers = body[20 : 20 + captured].ljust(stated, b"\0")
            tail = body[20 + captured + -captured % 4 :]
            body = body[:12] + struct.pack("<II", len(headers), original) + headers  # noqa: PLW2901
            body += bytes(-len(headers) % 4) + tail  # noqa: PLW2901
        elif kind == INTERFACE:
            body = body[:4] + struct.pack("<I", 1 << 18) + body[8:]  # noqa: PLW2901
        length = struct.pack("<I", len(body) + 12)
        out += struct.pack("<I", kind) + length + body + length
    target.write_bytes(out)
