"""A kernel is started as a process, does a job in virtual time, and ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bufferlab.errors import InputError
from bufferlab.experiment.inline import CanceledError
from bufferlab.kernel import guest
from bufferlab.kernel.cache import Kernel

MEMORY_MB: Final = 1024
"""Of the guest; the host gives what is touched only."""

_BEGAN_NS: Final = 1_700_000_000 * 10**9
"""What the guest's clock says when it starts; always the same, so that nothing depends on the day."""

_LINES: Final = 3
_POLL_S: Final = 0.02

ENDS_WITH_US: Final = ("setpriv", "--pdeathsig", "KILL")
"""Words before a command that ends with us, whatever ends us (prctl(2): PR_SET_PDEATHSIG)."""

GUEST: Final = (
    str(Path(sys.executable).resolve()),  # a virtual environment's program is found by what it links to
    *("-I", "-S", "-B", str(Path(guest.__file__).resolve().parent)),
)
"""The words that start what runs in a kernel, but for its arguments."""


@dataclass(frozen=True)
class Report:
    """What came back.

    Attributes:
        rows: The rows that the guest wrote.
        cpu_s: Processor time that it took.
    """

    rows: list[dict[str, Any]]
    cpu_s: float


def boot(
    kernel: Kernel,
    job: dict[str, Any],
    seed: int,
    is_canceled: Callable[[], bool] = lambda: False,
    *,
    captures: Path | None = None,
    looks_on: Callable[[Path], None] = lambda _folder: None,
) -> Report:
    """Boot, do the job, and end.

    Args:
        kernel: Which.
        job: What `bufferlab.kernel.guest` is to do.
        seed: All random numbers in the kernel follow from it.
        is_canceled: Whether to end at once; asked again and again.
        captures: The folder for the captures that the job asks for.
        looks_on: Looks at the folder of the job's files, again and again and at the end.

    Raises:
        CanceledError: It was canceled.
        InputError: The kernel did not start, or the job failed within it.
    """
    who = Who(kernel.name, lambda folder: command(kernel, folder, seed))
    return who.done(job, is_canceled, captures, looks_on)


@dataclass(frozen=True)
class Who:
    """Somebody who does jobs in a process.

    Attributes:
        name: Who.
        words: The words that start it, with the folder that is shared with it.
    """

    name: str
    words: Callable[[Path], list[str]]

    def done(
        self,
        job: dict[str, Any],
        is_canceled: Callable[[], bool],
        captures: Path | None,
        looks_on: Callable[[Path], None],
    ) -> Report:
        """Have it do a job; as `boot`.

        Raises:
            CanceledError: It was canceled.
            InputError: It did not start, or the job failed within it.
        """
        with shared_folder() as folder:
            (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
            said, cpu_s = _run(self.words(folder), folder, is_canceled, looks_on)
            looks_on(folder)
            report = folder / "report.jsonl"
            lines = report.read_text("utf-8").splitlines() if report.exists() else []
            if captures is not None:
                for made in [*folder.glob("*.pcap"), *folder.glob("left-out.json")]:
                    shutil.copy(made, captures)
        return Report(_rows(self.name, said, lines), cpu_s)


@contextmanager
def shared_folder() -> Iterator[Path]:
    """A folder that is gone afterwards, whatever ends us: who waits for our end of a pipe removes it."""
    with tempfile.TemporaryDirectory(prefix="bufferlab-kernel-", ignore_cleanup_errors=True) as name:
        guard = subprocess.Popen(  # noqa: S603 - the words are ours
            ["/bin/sh", "-c", 'cat >/dev/null; rm -rf "$1"', "sh", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield Path(name)
        finally:
            guard.communicate()


def _rows(name: str, said: str, lines: list[str]) -> list[dict[str, Any]]:
    """The rows of a report.

    Raises:
        InputError: There are none, or the job failed.
    """
    try:
        rows = [json.loads(line) for line in lines]
    except ValueError:
        rows = []
    failed = next((row["error"] for row in rows if "error" in row), None)
    if failed or not rows:
        reason = failed or f"it did not start: {' / '.join(said.splitlines()[-_LINES:]) or 'it said nothing'}"
        raise InputError(f"failed in the kernel ({reason})", key=name)
    return rows


def command(kernel: Kernel, folder: Path, seed: int) -> list[str]:
    """The words that start it: addresses, times and random numbers are the same every time."""
    python, *guest_words = GUEST
    return [
        *ENDS_WITH_US,
        "setarch",
        "-R",
        str(kernel.program),
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        f"mem={MEMORY_MB}M",
        f"init={python}",
        "con=null",
        "con0=fd:0,fd:1",
        "quiet",
        "norandmaps",
        "time-travel=inf-cpu",
        f"time-travel-start={_BEGAN_NS}",
        f"bufferlab_seed={seed % 2**32}",
        f"uml_dir={folder}/",
        "--",
        *guest_words,
        str(folder),
    ]


def _run(
    words: list[str], folder: Path, is_canceled: Callable[[], bool], looks_on: Callable[[Path], None]
) -> tuple[str, float]:
    """Run it to its end in a process group of its own, of which nothing is left.

    Returns:
        What it said, and its processor time, s.

    Raises:
        CanceledError: It was canceled.
    """
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(folder), "TERM": "dumb"}
    if Path("/dev/shm").is_dir():  # noqa: S108 - the guest's memory is a file there
        environment["TMPDIR"] = "/dev/shm"  # noqa: S108
    with (folder / "console").open("w+b") as console:
        process = subprocess.Popen(  # noqa: S603 - the words are ours
            words,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        cpu_s = None
        try:
            while cpu_s is None and not is_canceled():
                cpu_s = _ended(process)
                looks_on(folder)
        finally:
            with suppress(ProcessLookupError):  # nothing is left of it
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if cpu_s is None:
            raise CanceledError
        console.seek(0)
        return console.read().decode("utf-8", "replace"), cpu_s


def _ended(process: subprocess.Popen[bytes]) -> float | None:
    """The processor time of a process that has ended, s; nothing if it still runs a moment later."""
    pid, status, used = os.wait4(process.pid, os.WNOHANG)
    if not pid:
        time.sleep(_POLL_S)
        return None
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime
