"""A scenario that takes milliseconds."""

from __future__ import annotations

from pathlib import Path

import pytest

SMALL = """\
[run]
duration = "2 s"
warmup = "1 s"
[bottleneck]
rate = "2 Mbps"
delay = "2 ms"
buffer = "20 packets"
[[flows]]
name = "near"
count = 2
rtt = "20 ms"
start = "uniform(0 s, 100 ms)"
[[flows]]
name = "far"
rtt = "80 ms"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path
