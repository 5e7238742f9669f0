"""Small scenarios, and the command as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final


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


LINE: Final = """
[run]
name = "Line"
duration = "2 s"

[[links]]
name = "download"
rate = "4 Mbps"
delay = "1 ms"
buffer = "60 packets"
[[links]]
name = "upload"
rate = "1 Mbps"
delay = "1 ms"
buffer = "2 packets"

[[flows]]
name = "fetches"
count = 2
path = ["download"]
rtt = "20 ms"
rtt_spread = 0.2
start = "uniform(0 s, 100 ms)"

[[flows]]
name = "backup"
path = ["upload"]
rtt = "20 ms"
start = "uniform(0 s, 100 ms)"

[[flows]]
name = "heard"
path = ["download"]
rtt = "20 ms"
application = { kind = "udp", packet = "200 B", interval = "20 ms" }

[[flows]]
name = "said"
path = ["upload"]
rtt = "20 ms"
application = { kind = "udp", packet = "200 B", interval = "20 ms" }
"""
"""Both directions of a line: nothing crosses both."""

ROW: Final = """
[run]
name = "Row"
duration = "3 s"

[[links]]
name = "near"
rate = "4 Mbps"
delay = "1 ms"
buffer = "1 packets"
[[links]]
name = "far"
rate = "2 Mbps"
delay = "1 ms"
buffer = "60 packets"

[[flows]]
name = "cross"
path = ["near"]
rtt = "20 ms"
start = "uniform(0 s, 100 ms)"

[[flows]]
name = "filling"
path = ["far"]
rtt = "20 ms"
start = "uniform(0 s, 100 ms)"

[[flows]]
name = "call"
path = ["near", "far"]
rtt = "20 ms"
application = { kind = "udp", packet = "200 B", interval = "20 ms" }
"""
"""Two links in a row: a call crosses both, and the second has a long queue."""
