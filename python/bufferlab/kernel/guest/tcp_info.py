"""What a connection tells of itself."""

from __future__ import annotations

import socket
import struct
from typing import Final

TCP_INFO: Final = 11
"""include/uapi/linux/tcp.h, Linux 6.12, for Python versions that lack the name."""

FIELDS: Final = {
    "rtt_us": ("I", 68),
    "ssthresh_segments": ("I", 76),
    "cwnd_segments": ("I", 80),
    "unacked_segments": ("I", 24),
    "retransmissions": ("I", 100),
    "sent_packets": ("I", 156),
    "spurious_retransmissions": ("I", 216),
    "timeouts": ("H", 240),
}
"""Fields of `struct tcp_info` (include/uapi/linux/tcp.h, Linux 6.12): format and offset in bytes."""

SUMS: Final = frozenset({"retransmissions", "sent_packets", "spurious_retransmissions", "timeouts"})
"""Those that count from a connection's begin."""


def values(it: socket.socket) -> list[int]:
    """The fields of a connection's TCP_INFO; -1 for what this kernel does not have."""
    info = it.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 256)
    return [
        struct.unpack_from(kind, info, offset)[0] if offset + struct.calcsize(kind) <= len(info) else -1
        for kind, offset in FIELDS.values()
    ]
