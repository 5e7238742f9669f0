"""What happens next: moments and sockets, in one loop."""

from __future__ import annotations

import heapq
import itertools
import select
import socket
import time
from collections.abc import Callable
from typing import Any

from bufferlab.kernel.guest.machine import Alarm, Job


class Loop:
    """Does what is due, and handles sockets that are ready. Times are nanoseconds since its begin."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.flows: list[dict[str, Any]] = job["flows"]
        self.polled = select.epoll()
        self.handlers: dict[int, Callable[[], None]] = {}
        self.sockets: dict[int, socket.socket] = {}  # kept, lest they close
        self.alarm = Alarm()
        self.handlers[self.alarm.descriptor] = self.rang
        self.rings_ns: int | None = None
        self.polled.register(self.alarm.descriptor, select.EPOLLIN)
        self.todo: list[tuple[int, int, int, Callable[[], None]]] = []
        self.added = itertools.count()
        self.began_ns = 0
        self.is_over = False

    def watch(self, it: socket.socket, events: int, handler: Callable[[], None]) -> None:
        """Have a socket handled when it is ready."""
        self.sockets[it.fileno()] = it
        self.handlers[it.fileno()] = handler
        self.polled.register(it, events)

    def forget(self, it: socket.socket) -> None:
        """Close a socket."""
        self.polled.unregister(it)
        del self.sockets[it.fileno()], self.handlers[it.fileno()]
        it.close()

    def rang(self) -> None:
        """Something may be due."""
        self.alarm.clear()
        self.rings_ns = None

    def now_ns(self) -> int:
        """Since the begin."""
        return time.monotonic_ns() - self.began_ns

    def later(self, at_ns: int, work: Callable[[], None], *, reads: bool = False) -> None:
        """Have something done at a moment; what reads comes after what acts."""
        heapq.heappush(self.todo, (at_ns, int(reads), next(self.added), work))

    def work(self, end_ns: int) -> None:
        """Until the end, with what reads there, or until it is over."""
        while not self.is_over and self.todo[0][:2] <= (end_ns, 1):
            due_ns = self.began_ns + self.todo[0][0]
            # a call of the kernel takes ten times what a packet does, so none is made without need
            if due_ns != self.rings_ns:
                if due_ns <= time.monotonic_ns():
                    heapq.heappop(self.todo)[3]()
                    if not self.todo:
                        break
                    continue
                self.alarm.set(due_ns)
                self.rings_ns = due_ns
            for descriptor, _events in self.polled.poll():
                if descriptor in self.handlers:  # else it was closed meanwhile
                    self.handlers[descriptor]()
