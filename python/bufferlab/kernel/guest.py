"""Runs inside the kernel as its first process: sets up the network, drives the traffic, writes what it saw.

It needs Python's standard library only, and imports nothing of Bufferlab. Its argument is the folder that it
shares with the host: `job.json` is read there, `report.jsonl` written. The clock is virtual: it stands still
while somebody computes, so nothing here may spin.
"""

from __future__ import annotations

import ctypes
import heapq
import json
import os
import resource
import select
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

# include/uapi/linux/tcp.h, Linux 6.12, for Python versions that lack the names
TCP_INFO: Final = 11
TCP_CONGESTION: Final = 13
TCP_NOTSENT_LOWAT: Final = 25
SO_MAX_PACING_RATE: Final = 47  # include/uapi/asm-generic/socket.h, Linux 6.12
_ANY_RATE: Final = 1 << 60
CLONE_NEWNET: Final = 0x40000000
_TFD_TIMER_ABSTIME: Final = 1  # include/uapi/linux/timerfd.h

_MOST_FILES: Final = 65_536
"""Two sockets a flow, and more; the usual limit is 1024."""

_UNSENT_BYTES: Final = 131_072
_READ_BYTES: Final = 1 << 22
_PAYLOAD: Final = bytes(1 << 18)
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

# include/uapi/linux/rtnetlink.h, pkt_sched.h and gen_stats.h, Linux 6.12
_RTM_GETQDISC: Final = 38
_NLM_REQUEST_DUMP: Final = 0x301
_NLMSG_DONE: Final = 3
_TCA_STATS2: Final = 7
_TCA_STATS_BASIC: Final = 1
_TCA_STATS_QUEUE: Final = 3
_TCA_STATS_APP: Final = 4

Job = dict[str, Any]


def main(folder: Path) -> None:
    """Do the job and switch the machine off, whatever happens."""
    with (folder / "report.jsonl").open("w", encoding="utf-8") as report:
        try:
            job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
            resource.setrlimit(resource.RLIMIT_NOFILE, (_MOST_FILES, _MOST_FILES))
            set_up(job)
            if "flows" in job:
                Traffic(job, report).run()
            else:
                tell(report, {"ping_ns": ping(job["ping"], job["sending"], job["from"])})
        except BaseException as error:  # noqa: BLE001 - nobody else could tell
            tell(report, {"error": f"{type(error).__name__}: {error}"})
    os.sync()


def tell(report: IO[str], row: object) -> None:
    """Write a row."""
    report.write(json.dumps(row, sort_keys=True) + "\n")
    report.flush()


def set_up(job: Job) -> None:
    """Run the job's commands, and set the kernel's variables."""
    for command in job["commands"]:
        done = subprocess.run(  # noqa: S603 - the job is ours
            command["words"], input=command["input"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command['words'])}: {done.stderr.strip() or done.stdout.strip()}")
    for path, value in job["parameters"].items():
        Path(path).write_text(value, encoding="ascii")
    for namespace, values in job["sysctls"].items():
        enter(namespace)
        for path, value in values.items():
            Path("/proc/sys", path).write_text(value, encoding="ascii")


def enter(namespace: str) -> None:
    """Sockets that are made from now on belong to this network namespace."""
    descriptor = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(descriptor, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns failed")
    finally:
        os.close(descriptor)


def ping(address: str, sending: str, receiving: str) -> int:
    """The round trip of a datagram, ns; of the second one, as the first waits for addresses to be found."""
    enter(receiving)
    answering = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    answering.bind((address, 7))
    enter(sending)
    asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    lasted_ns = 0
    for _ in range(2):
        began_ns = time.monotonic_ns()
        asking.sendto(b"ping", (address, 7))
        answering.sendto(*answering.recvfrom(64))
        asking.recv(64)
        lasted_ns = time.monotonic_ns() - began_ns
    return lasted_ns


class Traffic:
    """All flows of a job, in one loop."""

    def __init__(self, job: Job, report: IO[str]) -> None:
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
        self.queue = Queue(job["device"], job["marks_at"])
        enter(job["sending"])
        self.began_ns = 0

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
        todo: list[tuple[int, int, int, Callable[[], None]]] = []
        for number, flow in enumerate(self.flows):
            todo.append((flow["start_ns"], 0, number, partial(self.start, number)))
        for at, kind in self.job["readings"]:
            todo.append((at, 1, len(todo), partial(self.read, at, kind)))
        heapq.heapify(todo)
        while todo:
            due_ns = self.began_ns + todo[0][0]
            if due_ns <= time.monotonic_ns():
                heapq.heappop(todo)[3]()
                continue
            self.alarm.set(due_ns)
            for descriptor, _events in self.polled.poll():
                self.handlers[descriptor]()

    def read(self, due_ns: int, kind: str) -> None:
        """Write what flows and the queue have counted by now."""
        now_ns = time.monotonic_ns() - self.began_ns
        row: dict[str, Any] = {"at_ns": now_ns, "due_ns": due_ns, "kind": kind, "queue": self.queue.read()}
        if kind != "queue":
            row["flows"] = [
                [number, self.received[number], *values(it)] for number, it in self.senders.items()
            ]
        tell(self.report, row)


def values(it: socket.socket) -> list[int]:
    """The fields of a connection's TCP_INFO; -1 for what this kernel does not have."""
    info = it.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 256)
    return [
        struct.unpack_from(kind, info, offset)[0] if offset + struct.calcsize(kind) <= len(info) else -1
        for kind, offset in FIELDS.values()
    ]


class Alarm:
    """Becomes readable at a moment, to the nanosecond: what poll and select wait for is rounded up."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(None, use_errno=True)
        self.descriptor: int = self.library.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK)

    def set(self, at_ns: int) -> None:
        """Set the moment, by the monotonic clock."""
        moment = (ctypes.c_int64 * 4)(0, 0, *divmod(at_ns, 10**9))
        if self.library.timerfd_settime(self.descriptor, _TFD_TIMER_ABSTIME, moment, None):
            raise OSError(ctypes.get_errno(), "timerfd_settime failed")

    def clear(self) -> None:
        """It went off."""
        try:
            os.read(self.descriptor, 8)
        except BlockingIOError:
            return


class Queue:
    """The counters of the discipline under the device's shaper, by netlink."""

    def __init__(self, device: str, marks_at: list[int]) -> None:
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
                index, _handle, parent = struct.unpack_from("=iII", answer, 20)
                if index == self.index and parent == 0x10001:  # 1:1, the shaper's class
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


def counters(of_qdisc: dict[int, bytes], marks_at: list[int]) -> list[int]:
    """What `struct gnet_stats_basic`, `gnet_stats_queue` and the discipline's own statistics say."""
    statistics = attributes(of_qdisc[_TCA_STATS2])
    sent_bytes, sent_packets = struct.unpack_from("=QI", statistics[_TCA_STATS_BASIC])
    waiting, backlog_bytes, drops = struct.unpack_from("=III", statistics[_TCA_STATS_QUEUE])
    own = statistics.get(_TCA_STATS_APP, b"")
    marks = sum(struct.unpack_from("=I", own, offset)[0] for offset in marks_at)
    return [sent_bytes, sent_packets, waiting, backlog_bytes, drops, marks]


def power_off() -> None:
    """End the kernel's process (Documentation/admin-guide/sysrq.rst)."""
    Path("/proc/sysrq-trigger").write_text("o", encoding="ascii")
    time.sleep(3600)


def mount(folder: str) -> Path:
    """Mount what every program expects, and the folder that is shared with the host."""
    os.environ["PATH"] = "/usr/sbin:/sbin:/usr/bin:/bin"
    for kind, place, options in (
        ("proc", "/proc", ""),
        ("sysfs", "/sys", ""),
        ("tmpfs", "/run", ""),
        ("hostfs", "/run/shared", folder),
    ):
        Path(place).mkdir(exist_ok=True)
        words = ["mount", "-t", kind, kind, place, *(["-o", options] if options else [])]
        subprocess.run(words, check=True)  # noqa: S603 - the words are ours
    Path("/run/netns").mkdir()
    return Path("/run/shared")


if __name__ == "__main__":
    import sys

    main(mount(sys.argv[1]))
    power_off()
