"""What was run, in lines, shows every key that can be given: the keys are those of the JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from bufferlab.errors import InputError
from bufferlab.render.scenario import ScenarioLines
from bufferlab.scenario import Scenario

PARTS: Final = json.loads((Path(__file__).parents[2] / "docs" / "scenario.schema.json").read_text())["$defs"]

APPLICATIONS: Final[Mapping[str, dict[str, Any]]] = {
    "bulk": {},
    "transfer": {"bytes": "2 MB"},
    "echo": {"of": "there"},
    "on-off": {"size": "100 KB", "off": "1 s"},
    "short-flows": {"size": "20 KB", "interval": "1 s"},
    "video": {},
    "video-call": {},
    "web": {"size": "20 KB", "every": "3 s"},
    "udp": {"packet": "200 B", "interval": "20 ms"},
    "ping": {"interval": "1 s"},
}
"""An application of each kind."""

UNSEEN: Final = {
    ("Flow", "name"),  # the line's label
    ("Flow", "path"),  # shown with several links only: the examples' lines have it
    ("Flow", "application"),  # key by key below
    ("Link", "name"),
    ("Link", "queue"),
    ("Link", "changes"),
    ("Echo", "of"),
    ("Video", "ladder"),  # a list of rates: below
}
"""Keys that are not looked at one by one."""


def kinds(tag: str) -> dict[str, str]:
    """The parts whose key `tag` is one word, by that."""
    tags = {name: part["properties"].get(tag, {}) for name, part in PARTS.items()}
    return {has["const"]: name for name, has in tags.items() if "const" in has}


def values(schema: Mapping[str, Any]) -> Iterator[object]:
    """Some values that a key may have."""
    for example in schema.get("examples", ()):
        yield from (example, re.sub(r"\d+", lambda number: str(2 * int(number[0]) or 3), example))
    yield from schema.get("enum", ())
    if "pattern" in schema:
        yield "server"
    if schema.get("type") == "boolean":
        yield from (True, False)
    if schema.get("type") == "integer":
        yield from (3, 7)
    if schema.get("type") == "number":
        yield from (0.25, 0.125)
    if "items" in schema:
        yield ["bottleneck"]
    for part in schema.get("anyOf", ()):
        yield from values(part)


def lines(link: Mapping[str, Any], flow: Mapping[str, Any], host: Mapping[str, Any] | None = None) -> str:
    table: dict[str, Any] = {
        "run": {"duration": "10 s", "host": "ideal" if host is None else "linux-10g"},
        "bottleneck": {"rate": "12 Mbps", "buffer": "100 packets", **link},
        "flows": [{"name": "there", "rtt": "50 ms"}, {"rtt": "80 ms", **flow}],
        **({"host": host} if host else {}),
    }
    terms = ScenarioLines(Scenario.from_dict(table).seeded().resolved).terms()
    return "\n".join(text for _, text in terms.lines)


def is_shown(
    base: dict[str, Any], key: str, schema: Mapping[str, Any], render: Callable[[dict[str, Any]], str]
) -> bool:
    """Whether the lines differ by the key, also where it stands in place of another one of the base."""
    usual = render(base)
    for left_out in (None, *base):
        for value in values(schema):
            try:
                text = render({name: held for name, held in base.items() if name != left_out} | {key: value})
            except InputError:
                continue
            if text != usual:
                return True
    return False


def keys(part: str) -> list[str]:
    return [key for key in PARTS[part]["properties"] if (part, key) not in UNSEEN]


@pytest.mark.parametrize("key", keys("Flow"))
def test_of_flows(key: str) -> None:
    schema = PARTS["Flow"]["properties"][key]
    assert is_shown({}, key, schema, lambda flow: lines({}, flow))


@pytest.mark.parametrize("key", keys("Link"))
def test_of_links(key: str) -> None:
    schema = PARTS["Link"]["properties"][key]
    assert is_shown({}, key, schema, lambda link: lines(link, {}))


@pytest.mark.parametrize("key", keys("Host"))
def test_of_hosts(key: str) -> None:
    schema = PARTS["Host"]["properties"][key]
    assert is_shown({}, key, schema, lambda host: lines({}, {}, host))


def test_of_kinds_of_applications() -> None:
    texts = {lines({}, {"application": {"kind": kind, **table}}) for kind, table in APPLICATIONS.items()}
    assert len(texts) == len(kinds("kind"))


@pytest.mark.parametrize(
    ("kind", "key"),
    [(kind, key) for kind, part in kinds("kind").items() for key in keys(part) if key != "kind"],
)
def test_of_applications(kind: str, key: str) -> None:
    schema = PARTS[kinds("kind")[kind]]["properties"][key]
    base = {"kind": kind, **APPLICATIONS[kind]}
    assert is_shown(base, key, schema, lambda table: lines({}, {"application": table}))


@pytest.mark.parametrize(
    ("discipline", "key"),
    [(word, key) for word, part in kinds("discipline").items() for key in keys(part) if key != "discipline"],
)
def test_of_queues(discipline: str, key: str) -> None:
    schema = PARTS[kinds("discipline")[discipline]]["properties"][key]
    assert is_shown({"discipline": discipline}, key, schema, lambda queue: lines({"queue": queue}, {}))


def test_of_a_video_the_ladder_s_ends_and_length() -> None:
    def shown(*ladder: str) -> str:
        return lines({}, {"application": {"kind": "video", "ladder": list(ladder)}})

    assert "at 1 Mbps to 4 Mbps (2 bitrates)" in shown("1 Mbps", "4 Mbps").replace("\n", " ")
    assert "at 2 Mbps, rule throughput" in shown("2 Mbps")
