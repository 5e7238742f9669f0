"""A link of Bufferlab's between two devices of the kernel: packets come by one and leave by the other."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, Final

from bufferlab import _core
from bufferlab.kernel.guest.machine import Alarm

_MOST_BYTES: Final = 65_536


class Forwarding:
    """The link, its two devices, and an alarm for the next packet that leaves."""

    def __init__(self, job: dict[str, Any], came: int, goes: int) -> None:
        self.link = _core.Forwarder(job["plan"], job["first_port"], 0 if "program" in job else None)
        self.came, self.goes = came, goes
        self.alarm = Alarm()
        self.began_ns = 0
        self.due_ns: int | None = None

    def watched(self) -> dict[int, Callable[[], None]]:
        """What to do when a descriptor can be read."""
        return {self.came: self.arrive, self.alarm.descriptor: self.wake}

    def now_ns(self) -> int:
        """Since the traffic's begin."""
        return time.monotonic_ns() - self.began_ns

    def arrive(self) -> None:
        """Take what has come."""
        now_ns = self.now_ns()
        while True:
            try:
                packet = os.read(self.came, _MOST_BYTES)
            except BlockingIOError:
                break
            self.link.arrive(now_ns, packet)
        self.send()

    def wake(self) -> None:
        """A packet is due."""
        self.due_ns = None
        self.send()
        if self.due_ns is None:  # else it was set, which clears it
            self.alarm.clear()

    def send(self) -> None:
        """Send what has left, and be woken when the next one does."""
        now_ns = self.now_ns()
        while (packet := self.link.take(now_ns)) is not None:
            os.write(self.goes, packet)
        due_ns = self.link.next_ns()
        if due_ns is not None and due_ns != self.due_ns:
            self.alarm.set(self.began_ns + due_ns)
        self.due_ns = due_ns

    def read(self) -> list[int]:
        """Bytes and packets that left, packets and bytes that wait, drops, marks."""
        return self.link.counters(self.now_ns())

    def begin(self, began_ns: int) -> None:
        """The traffic has begun."""
        self.began_ns = began_ns

    def state(self, flow: int, rtt_us: int) -> None:
        """A sender's round-trip time."""
        self.link.state(flow, rtt_us)

    def finish(self, end_ns: int) -> tuple[str, dict[str, Any] | None]:
        """The link's tables; a virtual clock is punctual."""
        return self.link.finish(end_ns), None
