"""Small scenarios, and the command as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def dumbbell(*, duration: str = "2 s", rate: str = "2 Mbps", buffer: str = "20 packets") -> str:
    """Two flows near and one far over a bottleneck; as it stands, a run takes milliseconds."""
    return f"""\
# a small dumbbell
[run]
duration = "{duration}"
warmup = "1 s"
[bottleneck]
rate = "{rate}"
delay = "2 ms"
buffer = "{buffer}"
[[flows]]
name = "near"
count = 2
rtt = "20 ms"
start = "uniform(0 s, 100 ms)"
[[flows]]
name = "far"
rtt = "80 ms"
"""


def start(*args: str, cwd: Path | None = None) -> subprocess.Popen[str]:
    """Start the command as a process, as a shell does."""
    return subprocess.Popen(
        [sys.executable, "-m", "bufferlab", *args],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
