from __future__ import annotations

import re
from pathlib import Path

import pytest

from bufferlab.scenario import Scenario

STACKS = ("rfc", "ns2-sack1", "linux", "inet-reno")
SOURCE = Path(__file__).parents[2] / "crates" / "scenario" / "src" / "parts" / "stack.rs"


@pytest.mark.parametrize(
    ("name", "wire_bytes"), [("rfc", 1500), ("linux", 1500), ("ns2-sack1", 1040), ("inet-reno", 576)]
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


def test_every_constant_has_its_source() -> None:
    """Each preset is written with comments that name a standard, a source file or a parameter."""
    for name in STACKS:
        body = (
            SOURCE.read_text().split(f"const {name.upper().replace('-', '_')}: Stack")[1].split("\n};\n")[0]
        )
        assert len(re.findall(r"^ +// ", body, re.MULTILINE)) >= 8, name
