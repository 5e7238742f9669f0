"""The counters of a kernel's own discipline, by netlink."""

from __future__ import annotations

import socket
import struct
from typing import Final

# include/uapi/linux/rtnetlink.h, pkt_sched.h and gen_stats.h, Linux 6.12
_RTM_GETQDISC: Final = 38
_NLM_REQUEST_DUMP: Final = 0x301
_NLMSG_DONE: Final = 3
_TCA_STATS2: Final = 7
_TCA_STATS_BASIC: Final = 1
_TCA_STATS_QUEUE: Final = 3
_TCA_STATS_APP: Final = 4
_TCA_CAKE_STATS_TIN_STATS: Final = 10
_TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS: Final = 8


class Queue:
    """The counters of the discipline with the handle 2:, by netlink."""

    def __init__(self, device: str, marks_at: list[int] | str) -> None:
        self.marks_at = marks_at
        self.index = socket.if_nametoindex(device)
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.socket.bind((0, 0))

    def read(self) -> list[int]:
        """Bytes and packets that left, packets and bytes that wait, drops, marks."""
        body = struct.pack("=BBHiIII", 0, 0, 0, self.index, 0, 0, 0)
        head = struct.pack("=IHHII", 16 + len(body), _RTM_GETQDISC, _NLM_REQUEST_DUMP, 1, 0)
        self.socket.send(head + body)
        found: list[int] = []
        while True:
            answer = self.socket.recv(1 << 18)
            while answer:
                length, kind = struct.unpack_from("=IH", answer)
                if kind == _NLMSG_DONE:
                    return found
                index, handle = struct.unpack_from("=iI", answer, 20)
                if index == self.index and handle == 0x20000:  # 2:
                    found = counters(attributes(answer[36:length]), self.marks_at)
                answer = answer[(length + 3) & ~3 :]


def attributes(data: bytes) -> dict[int, bytes]:
    """Netlink attributes by type."""
    found: dict[int, bytes] = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        found[kind & 0x3FFF] = data[4:length]
        data = data[(length + 3) & ~3 :]
    return found


def counters(of_qdisc: dict[int, bytes], marks_at: list[int] | str) -> list[int]:
    """What `struct gnet_stats_basic`, `gnet_stats_queue` and the discipline's own statistics say."""
    statistics = attributes(of_qdisc[_TCA_STATS2])
    sent_bytes, sent_packets = struct.unpack_from("=QI", statistics[_TCA_STATS_BASIC])
    waiting, backlog_bytes, drops = struct.unpack_from("=III", statistics[_TCA_STATS_QUEUE])
    own = statistics.get(_TCA_STATS_APP, b"")
    places = of_tins(own) if isinstance(marks_at, str) else [own[offset:] for offset in marks_at]
    marks = sum(struct.unpack_from("=I", place)[0] for place in places)
    return [sent_bytes, sent_packets, waiting, backlog_bytes, drops, marks]


def of_tins(own: bytes) -> list[bytes]:
    """Where CAKE's own statistics count marks, tin by tin."""
    tins = attributes(attributes(own).get(_TCA_CAKE_STATS_TIN_STATS, b""))
    return [attributes(tin)[_TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS] for tin in tins.values()]
