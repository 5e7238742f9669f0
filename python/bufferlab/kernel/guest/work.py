"""The job of a kernel."""

from __future__ import annotations

import json
import resource
import socket
import time
from pathlib import Path
from typing import Final

from bufferlab.kernel.guest.machine import enter, set_up, share, tell
from bufferlab.kernel.guest.traffic import Traffic

_MOST_FILES: Final = 65_536
"""Two sockets a flow, and more; the usual limit is 1024."""


def work(folder: Path) -> None:
    """Do the job; what fails is reported."""
    with (folder / "report.jsonl").open("w", encoding="utf-8") as report:
        try:
            job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
            raise_limit()
            tuns = set_up(job)
            if "program" in job and "delays_ns" not in job:
                share(job["program"]["folder"])
            if "flows" in job:
                Traffic(job, report, tuns, folder).run()
            else:
                tell(report, {"ping_ns": ping(job["ping"], job["sending"], job["from"])})
        except BaseException as error:  # noqa: BLE001 - nobody else could tell
            tell(report, {"error": f"{type(error).__name__}: {error}"})


def raise_limit() -> None:
    """As many files as a user without rights may have, if that is less than what many flows need."""
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (_MOST_FILES, _MOST_FILES))
    except (OSError, ValueError):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


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
