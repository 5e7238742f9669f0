"""A link of Bufferlab's on a machine's own clock: a process of its own, which nothing else delays.

It carries both ways: packets cross the plan's link, answers wait for the round trip. Packets leave at the
link's own moments, so that being late once makes no other packet late; how late each one was is kept.
"""

from __future__ import annotations

import array
import bisect
import contextlib
import ctypes
import gc
import heapq
import itertools
import json
import os
import select
import socket
import statistics
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from bufferlab.kernel.guest.forwarding import Forwarding

_SPIN_NS: Final = 60_000
"""How long before a departure it stops to sleep: waking up takes tens of microseconds."""

_PRIORITY: Final = 20
_PR_SET_TIMERSLACK: Final = 29  # include/uapi/linux/prctl.h
_MCL_ALL: Final = 3  # include/uapi/asm-generic/mman.h: MCL_CURRENT, MCL_FUTURE
_BACK_TO_BACK: Final = 1.5
_TOLERANCE: Final = 0.1
_MOST_BYTES: Final = 65_536
_IPV4: Final = 4
_MESSAGE: Final = 1 << 26


class Remote:
    """The link in its process, as `Forwarding` is in ours."""

    def __init__(self, job: dict[str, Any], came: int, goes: int) -> None:
        self.wire, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self.wire, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MESSAGE)
        self.process = os.fork()
        if not self.process:
            status = 1
            with contextlib.suppress(Exception):
                Carrier(job, came, goes, theirs).run()
                status = 0
            os._exit(status)
        theirs.close()

    def watched(self) -> dict[int, Callable[[], None]]:
        """Nothing: it watches by itself."""
        return {}

    def begin(self, began_ns: int) -> None:
        """The traffic has begun."""
        self._ask("begin", began_ns)

    def read(self) -> list[int]:
        """Bytes and packets that left, packets and bytes that wait, drops, marks."""
        found: list[int] = self._ask("read")
        return found

    def state(self, flow: int, rtt_us: int) -> None:
        """A sender's round-trip time."""
        self._ask("state", flow, rtt_us)

    def finish(self, end_ns: int) -> tuple[str, dict[str, Any] | None]:
        """The link's tables, and how punctual it was."""
        tables, punctual = self._ask("finish", end_ns)
        return tables, punctual

    def _ask(self, *words: object) -> Any:  # noqa: ANN401 - by the question
        self.wire.send(json.dumps(words).encode())
        answer = json.loads(b"".join(iter(self._part, b"")))
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["found"]

    def _part(self) -> bytes:
        """A part of an answer, which ends with an empty one."""
        part = self.wire.recv(1 << 20)
        if not part:
            raise RuntimeError("the link's process has ended")
        return part[1:]


class Carrier(Forwarding):
    """The link's process."""

    def __init__(self, job: dict[str, Any], came: int, goes: int, wire: socket.socket) -> None:
        super().__init__(job, came, goes)
        self.wire = wire
        self.delays = {bytes(map(int, at.split("."))): ns for at, ns in job["delays_ns"].items()}
        self.waiting: list[tuple[int, int, bytes]] = []
        self.numbers = itertools.count()
        self.due, self.left = array.array("q"), array.array("q")
        self.before: Mapping[str, float] = {}
        self.is_realtime = False

    def run(self) -> None:
        """Until it has finished."""
        self._hurry()
        polled = select.epoll()
        handlers: dict[int, Callable[[], Any]] = {
            self.came: self.arrive,
            self.goes: self.answered,
            self.alarm.descriptor: self.alarm.clear,
            self.wire.fileno(): self.answer,
        }
        for descriptor in handlers:
            polled.register(descriptor, select.EPOLLIN)
        while True:
            for descriptor, _ in polled.poll():
                if handlers[descriptor]() is False:
                    return
            self.send()

    def _hurry(self) -> None:
        """Ask for what makes a process punctual; a user without rights does without it."""
        library = ctypes.CDLL(None, use_errno=True)
        library.prctl(_PR_SET_TIMERSLACK, 1)
        library.mlockall(_MCL_ALL)
        gc.disable()
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
            self.is_realtime = True

    def arrive(self) -> None:
        """Take what has come; what is due goes first."""
        while True:
            try:
                packet = os.read(self.came, _MOST_BYTES)
            except BlockingIOError:
                return
            if packet[0] >> 4 == _IPV4:
                now_ns = self.now_ns()
                self.pump(now_ns)
                self.link.arrive(now_ns, packet)

    def answered(self) -> None:
        """Answers begin to wait."""
        while True:
            try:
                packet = os.read(self.goes, _MOST_BYTES)
            except BlockingIOError:
                return
            due_ns = self.now_ns() + self.delays.get(packet[12:16], 0)
            heapq.heappush(self.waiting, (due_ns, next(self.numbers), packet))

    def pump(self, now_ns: int) -> None:
        """Send what is due by now. The link is asked for each packet at its own moment."""
        while (due_ns := self.link.next_ns()) is not None and due_ns <= now_ns:
            while (packet := self.link.take(due_ns)) is not None:
                os.write(self.goes, packet)
                self.due.append(due_ns)
                self.left.append(self.now_ns())
        while self.waiting and self.waiting[0][0] <= now_ns:
            os.write(self.came, heapq.heappop(self.waiting)[2])

    def send(self) -> None:
        """Send what is due or nearly so, and be woken before the next."""
        while True:
            self.pump(self.now_ns())
            leaves_ns = self.link.next_ns()
            nexts = [ns for ns in (leaves_ns, self.waiting[0][0] if self.waiting else None) if ns is not None]
            if not nexts:
                return
            if leaves_ns is None or leaves_ns - self.now_ns() > _SPIN_NS:
                wakes_ns = min(ns - (_SPIN_NS if ns == leaves_ns else 0) for ns in nexts)
                self.alarm.set(self.began_ns + max(wakes_ns, 1))
                return
            while leaves_ns > self.now_ns():
                pass

    def answer(self) -> bool:
        """Answer a question; false after the last."""
        word, *values = json.loads(self.wire.recv(1 << 16))
        try:
            found = getattr(self, f"on_{word}")(*values)
            answer = json.dumps({"found": found})
        except Exception as error:  # noqa: BLE001 - who asked gets it
            answer = json.dumps({"error": f"{type(error).__name__}: {error}"})
        data = answer.encode()
        for at in range(0, len(data), 1 << 16):
            self.wire.send(b"+" + data[at : at + (1 << 16)])
        self.wire.send(b"+")
        return bool(word != "finish")

    def on_begin(self, began_ns: int) -> None:
        """The clock starts."""
        self.began_ns, self.before = began_ns, pressures()

    def on_read(self) -> list[int]:
        """The counters."""
        now_ns = self.now_ns()
        self.pump(now_ns)
        return self.link.counters(now_ns)

    def on_state(self, flow: int, rtt_us: int) -> None:
        """A sender's round-trip time."""
        self.link.state(flow, rtt_us)

    def on_finish(self, end_ns: int) -> tuple[str, dict[str, Any]]:
        """The tables; what is due comes first, and what was due after the end is not the run's."""
        now_ns = self.now_ns()
        self.pump(now_ns)
        count = bisect.bisect_right(self.due, end_ns)
        reported = punctuality(self.due[:count], self.left[:count])
        after = pressures()
        shares = {name: (after[name] - self.before.get(name, 0)) / (now_ns / 1e9) for name in after}
        return self.link.finish(max(end_ns, 1)), {**reported, **shares, "is_realtime": self.is_realtime}


def punctuality(due: Iterable[int], left: Iterable[int]) -> dict[str, Any]:
    """How late packets left, us, and the share of those close behind another that kept their distance."""
    pairs = list(zip(due, left, strict=True))
    if not pairs:
        return {"packets": 0}
    late = sorted(at - ideal for ideal, at in pairs)
    gaps = [(b[0] - a[0], b[1] - a[1]) for a, b in itertools.pairwise(pairs) if b[0] > a[0]]
    usual = statistics.median(ideal for ideal, _ in gaps) if gaps else 0
    close = [(ideal, real) for ideal, real in gaps if ideal <= _BACK_TO_BACK * usual]
    kept = sum(abs(real - ideal) <= _TOLERANCE * ideal for ideal, real in close)
    return {
        "packets": len(pairs),
        "late_median_us": late[len(late) // 2] / 1e3,
        "late_p99_us": late[len(late) * 99 // 100] / 1e3,
        "late_most_us": late[-1] / 1e3,
        "within_10_percent": 100 * kept / len(close) if close else None,
    }


def pressures() -> dict[str, float]:
    """Seconds that the machine gave to others so far: stolen from its processors, and waited for one."""
    ticks = os.sysconf("SC_CLK_TCK")
    fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    found = {"steal_share": int(fields[8]) / ticks}
    with contextlib.suppress(OSError):
        some = Path("/proc/pressure/cpu").read_text(encoding="ascii").split("\n", 1)[0]
        found["pressure_share"] = int(some.rsplit("=", 1)[1]) / 1e6
    return found
