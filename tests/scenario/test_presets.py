from __future__ import annotations

import re
from pathlib import Path

import pytest

from bufferlab.presets import DEFAULT_STACK, STACKS, Stack
from bufferlab.scenario.models import TcpKeys
from bufferlab.units import format_time

DOCS = Path(__file__).parents[2] / "docs" / "scenario.md"


def documented() -> dict[str, dict[str, str]]:
    """The table of presets in the documentation: by stack, the text of each key."""
    text = DOCS.read_text().split("\n## Stack presets")[1].split("\n## ")[0]
    rows = [
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line[:1] == "|"
    ]
    names = rows[0][1:]
    return {name: {row[0]: row[1 + column] for row in rows[2:]} for column, name in enumerate(names)}


def written(stack: Stack, field: str) -> str:
    value = getattr(stack, field)
    if field == "congestion":
        return str(value.word)
    if field == "window":
        return f"{value.amount} {'B' if value.unit == 'bytes' else 'segments'}"
    if isinstance(value, bool):
        return str(value).lower()
    if field.endswith("_ps"):
        return format_time(value)
    return f"{value} B" if field.endswith("_bytes") else str(value).lower()


@pytest.mark.parametrize("name", STACKS)
def test_documentation_shows_the_presets_as_they_are(name: str) -> None:
    keys = {field.alias or key: key for key, field in TcpKeys.model_fields.items()}
    assert documented()[name] == {key: written(STACKS[name], field) for key, field in keys.items()}


def test_documentation_shows_every_preset() -> None:
    assert set(documented()) == set(STACKS)
    assert DEFAULT_STACK in STACKS


@pytest.mark.parametrize(
    ("name", "wire_bytes"), [("rfc", 1500), ("linux", 1500), ("ns2-sack1", 1040), ("inet-reno", 576)]
)
def test_packets_on_the_wire(name: str, wire_bytes: int) -> None:
    assert STACKS[name].segment_bytes + STACKS[name].header_bytes == wire_bytes


def test_every_constant_has_its_source() -> None:
    """Each preset is written with comments that name a standard, a source file or a parameter."""
    source = (Path(__file__).parents[2] / "python" / "bufferlab" / "presets.py").read_text()
    for name in ("_RFC", "_LINUX", "_NS2_SACK1", "_INET_RENO"):
        body = source.split(f"{name}: Final = Stack(")[1].split("\n)\n")[0]
        assert len(re.findall(r"^ +# ", body, re.MULTILINE)) >= 8, name
