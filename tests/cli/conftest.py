"""The command, within this process for speed, or as one of its own where that matters."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bufferlab import cli

SMALL = """\
# a small dumbbell
[run]
duration = "3 s"
warmup = "1 s"
[bottleneck]
rate = "10 Mbps"
delay = "2 ms"
buffer = "40 packets"
[[flows]]
name = "near"
count = 2
rtt = "20 ms"
start = "uniform(0 s, 100 ms)"
[[flows]]
name = "far"
rtt = "80 ms"
"""


@dataclass(frozen=True)
class Ended:
    """How the command ended, and what it said."""

    status: int
    out: str
    err: str

    def line(self) -> str:
        """Its one line on standard error."""
        assert self.err.count("\n") == 1, self.err
        return self.err.strip()


Command = Callable[..., Ended]


def start(*args: str, cwd: Path) -> subprocess.Popen[str]:
    """Start the command as a process, as a shell does."""
    return subprocess.Popen(
        [sys.executable, "-m", "bufferlab", *args],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def bufferlab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Run the command in a folder that holds small.toml."""
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)

    def run(*args: str) -> Ended:
        capfd.readouterr()
        status = cli.main(args)
        return Ended(status, *capfd.readouterr())

    return run
