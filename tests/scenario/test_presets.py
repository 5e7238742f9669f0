from __future__ import annotations

import re
from pathlib import Path

import pytest

from bufferlab.scenario import Scenario

STACKS = ("rfc", "ns2-sack1", "linux", "inet-reno", "quic")
CRATES = Path(__file__).parents[2] / "crates"


@pytest.mark.parametrize(
    ("name", "wire_bytes"),
    [("rfc", 1500), ("linux", 1500), ("ns2-sack1", 1040), ("inet-reno", 576), ("quic", 1500)],
)
def test_packets_on_the_wire(name: str, wire_bytes: int) -> None:
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "1 s", "stack": name},
            "bottleneck": {"rate": "1 Mbps", "buffer": "1 MB"},
            "flows": [{"rtt": "10 ms"}],
        }
    )
    tcp = scenario.flows[0]["tcp"]
    assert tcp is not None
    assert tcp["segment_bytes"] + tcp["header_bytes"] == wire_bytes


def comments(path: str, begin: str) -> int:
    body = (CRATES / path).read_text().split(begin)[1].split("\n}\n")[0]
    return len(re.findall(r"^ +// ", body, re.MULTILINE))


def test_every_constant_has_its_source() -> None:
    """Presets and defaults are written with comments that name a standard, a source file or a parameter."""
    for name in STACKS[1:]:
        assert comments("scenario/src/parts/stack.rs", f"fn {name.replace('-', '_')}() -> Stack") >= 8, name
    assert comments("scenario/src/parts/stack.rs", "fn rfc() -> Stack") >= 5
    assert comments("transport/src/config.rs", "pub struct TcpConfig") >= 12
