"""A home's line that is loaded both ways, captured at its router: behind one queue, before the other."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import bufferlab
from bufferlab import Result

_BLOCK_INTERFACE: Final = 1
BLOCK_PACKET: Final = 6
_IP: Final = 28
"""Where IP begins in a packet's block."""


def home(*, timestamps: bool = True) -> dict[str, Any]:
    """Three downloads over 50 Mbps, a backup over 10; acknowledgments share the other's queue."""
    long = {"rtt": "40 ms", "congestion": "cubic-linux(hystart)", "timestamps": timestamps}
    return {
        "run": {"duration": "25 s", "warmup": "0 s", "seed": 1, "stack": "linux"},
        "links": [
            {"name": "down", "rate": "50 Mbps", "delay": "5 ms", "buffer": "60 ms"},
            {"name": "up", "rate": "10 Mbps", "delay": "5 ms", "buffer": "150 ms"},
        ],
        "flows": [
            {
                "name": "downloads",
                "count": 3,
                "path": ["down"],
                "reverse_path": ["up"],
                "start": "uniform(0 s, 2 s)",
                **long,
            },
            {"name": "backup", "path": ["up"], "reverse_path": ["down"], "start": "3 s", **long},
        ],
    }


def capture(table: dict[str, Any], path: Path, backups: set[int]) -> Result:
    """Run it, and write what its router's port to the line sees.

    Args:
        table: The scenario.
        path: The capture.
        backups: Numbers of the flows that send from the home, from 1 on.
    """
    every = path.with_suffix(".every")
    result = bufferlab.run(table, progress=False, pcap=every, pcap_at=["down", "up"])[0]
    path.write_bytes(_at_port(every.read_bytes(), ("down.out", "up.in"), backups))
    every.unlink()
    return result


def _at_port(content: bytes, names: tuple[str, ...], backups: set[int]) -> bytes:
    """The packets of these interfaces as of one, with addresses of a home and of the Internet."""
    kept: set[int] = set()
    number, found = 0, bytearray()
    for kind, block in blocks(content):
        if kind == _BLOCK_INTERFACE:
            is_wanted = any(name.encode() in block for name in names)
            found += block if is_wanted and not kept else b""
            kept |= {number} if is_wanted else set()
            number += 1
        elif kind != BLOCK_PACKET:
            found += block
        elif struct.unpack_from("<I", block, 8)[0] in kept:
            struct.pack_into("<I", block, 8, 0)
            readdress(block, lambda simulated: _address(simulated, backups))
            found += block
    return bytes(found)


def blocks(content: bytes) -> Iterator[tuple[int, bytearray]]:
    """The blocks of a simulated capture, each with its type."""
    at = 0
    while at < len(content):
        kind, size = struct.unpack_from("<II", content, at)
        yield kind, bytearray(content[at : at + size])
        at += size


def between(content: bytes, since_s: float, until_s: float) -> bytes:
    """The packets of a simulated capture between two times since its first packet."""
    found, first = bytearray(), None
    for kind, block in blocks(content):
        if kind == BLOCK_PACKET:
            high, low = struct.unpack_from("<II", block, 12)
            first = (high << 32) + low if first is None else first
            if not since_s <= ((high << 32) + low - first) / 1e9 < until_s:
                continue
        found += block
    return bytes(found)


def cut(content: bytes, kept: int) -> bytes:
    """A simulated capture of which only the first bytes of each packet are kept, a multiple of four."""
    found = bytearray()
    for kind, block in blocks(content):
        if kind == BLOCK_PACKET:
            size = struct.pack("<I", _IP + kept + 4)
            block[20:24], block[4:8] = struct.pack("<I", kept), size
            block[_IP + kept :] = size
        found += block
    return bytes(found)


def readdress(block: bytearray, to: Callable[[bytes], bytes]) -> None:
    """Give both ends of a packet other addresses."""
    for end in (_IP + 12, _IP + 16):
        block[end : end + 4] = to(bytes(block[end : end + 4]))


def _address(simulated: bytes, backups: set[int]) -> bytes:
    flow, is_sender = simulated[2] * 256 + simulated[3], simulated[1] == 0
    is_home = is_sender == (flow in backups)
    return bytes((192, 168, *simulated[2:]) if is_home else (198, 51 + is_sender, *simulated[2:]))
