"""A user's program as traffic: started in a host's namespace, watched, and ended with the run."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bufferlab.kernel.guest.loop import Loop
from bufferlab.kernel.guest.machine import enter

OUTPUTS: Final = ("program.out", "program.err")
"""What it writes, in the folder that is shared with the host."""


class Program:
    """The program, and its counterpart on the other side, which runs as long as it does."""

    def __init__(self, loop: Loop, job: dict[str, Any], folder: Path, home: str) -> None:
        self.loop, self.job, self.folder, self.home = loop, job, folder, home
        self.peer: subprocess.Popen[bytes] | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.watched = -1
        self.began_ns = 0
        self.ended_ns: int | None = None

    def start_peer(self) -> None:
        """Start the counterpart, if there is one."""
        if self.job["peer"] is not None:
            self.peer = self._start(self.job["peer"])

    def start(self, when_done: Callable[[], None]) -> None:
        """Start the program."""
        self.began_ns = self.loop.now_ns()
        self.process = self._start(self.job["program"])
        self.watched = os.pidfd_open(self.process.pid)

        def ended() -> None:
            self.ended_ns = self.loop.now_ns()
            self.loop.polled.unregister(self.watched)
            when_done()

        self.loop.handlers[self.watched] = ended
        self.loop.polled.register(self.watched, select.EPOLLIN)

    def end(self) -> dict[str, Any]:
        """End what still runs; say how the program ended: without a status if the run's end ended it."""
        was_ended = self.ended_ns is None
        for process in (self.process, self.peer):
            if process is not None and (process is self.peer or was_ended):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        status = None if self.process is None else self.process.wait()
        until_ns = self.loop.now_ns() if self.ended_ns is None else self.ended_ns
        return {"status": None if was_ended else status, "lasted_ns": until_ns - self.began_ns}

    def _start(self, job: dict[str, Any]) -> subprocess.Popen[bytes]:
        """In its namespace, which a process has from who starts it."""
        enter(job["namespace"])
        try:
            out, err = ((self.folder / name).open("ab") for name in OUTPUTS)
            with out, err:
                return subprocess.Popen(  # noqa: S603 - the user's own words
                    job["words"], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                    cwd=self.job["folder"], env=job["environment"], start_new_session=True,
                )  # fmt: skip
        finally:
            enter(self.home)
