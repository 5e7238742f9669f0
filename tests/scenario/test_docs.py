"""The documentation, the examples and the JSON Schema agree with the code."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped,unused-ignore]
import pytest

from bufferlab.plan import lower
from bufferlab.scenario import QUEUE_WORDS, Scenario, split_override

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "scenario.md").read_text()
SCHEMA = json.loads((ROOT / "docs" / "scenario.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
"""Checks against it; `jsonschema.validate` would check the whole schema again each time."""

PARTS_OF_SCHEMA = SCHEMA["$defs"]
CONGESTIONS = PARTS_OF_SCHEMA["Flow"]["properties"]["congestion"]["anyOf"][0]["enum"]
QUEUES = {
    part["properties"]["discipline"]["const"]: part
    for part in PARTS_OF_SCHEMA.values()
    if "discipline" in part["properties"]
}
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCS, re.MULTILINE | re.DOTALL)


def schema_keys() -> set[str]:
    parts = [SCHEMA, *PARTS_OF_SCHEMA.values()]
    return {key for part in parts for key in part["properties"]}


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("key", sorted(schema_keys()))
def test_every_key_is_documented(key: str) -> None:
    assert re.search(rf"`{key}`|`\[{{1,2}}{key}\]{{1,2}}`", DOCS)


@pytest.mark.parametrize("text", blocks("toml"))
def test_toml_in_the_documentation_loads(text: str) -> None:
    lower(Scenario.from_toml(text))
    VALIDATOR.validate(tomllib.loads(text))


@pytest.mark.parametrize("text", blocks("json"))
def test_json_in_the_documentation_loads(text: str) -> None:
    lower(Scenario.from_json(text))


@pytest.mark.parametrize("text", blocks("python"))
def test_python_in_the_documentation_runs(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(text, "docs/scenario.md", "exec"), {})
    assert "is negative" in capsys.readouterr().out


def tables(title: str) -> list[dict[str, str]]:
    """Rows of the tables in a section, by column."""
    section = re.split(r"\n##", DOCS.split(f"# {title}\n")[1])[0]
    rows: list[dict[str, str]] = []
    for table in re.findall(r"^(\|.*\|\n\|[ -|]*\|\n(?:\|.*\|\n)+)", section, re.MULTILINE):
        head, _, *lines = [[cell.strip() for cell in line[1:-1].split("|")] for line in table.splitlines()]
        rows += [dict(zip(head, cells, strict=True)) for cells in lines]
    return rows


BASE: dict[str, dict[str, Any]] = {
    "run": {"duration": "1000 s"},
    "links": {"rate": "10 Mbps", "buffer": "1 MB"},
    "flows": {"rtt": "40 ms"},
    "TCP keys": {"rtt": "40 ms"},
    "probes": {"interval": "1 s"},
}
PARTS = {"links": "bottleneck", "TCP keys": "flows"}
NAMES = {"path": ["west", "east"], "reverse_path": ["back"], "flows": ["short"]}


def key_examples() -> list[tuple[str, str, str]]:
    """Section, key and each example of the tables of keys."""
    return [
        (title, row["key"].strip("`"), example)
        for title in BASE
        for row in tables(title)
        if "key" in row
        for example in re.findall(r"`([^`]+)`", row["example"])
    ]


@pytest.mark.parametrize(("title", "key", "example"), key_examples())
def test_examples_of_keys_are_accepted(title: str, key: str, example: str) -> None:
    value = tomllib.loads(f"value = {example}")["value"]
    part = PARTS.get(title, title)
    scenario: dict[str, Any] = {
        "run": BASE["run"],
        "bottleneck": BASE["links"],
        "flows": BASE["flows"],
        part: BASE[title] | {key: value},
    }
    if key in NAMES:
        assert value == NAMES[key]
        link = scenario.pop("bottleneck")
        scenario["links"] = [link | {"name": name} for name in ("west", "east", "back")]
        scenario["flows"] = {"name": "short", "path": ["west"]} | scenario["flows"]
    scenario["flows"] = [scenario["flows"]]
    lower(Scenario.from_dict(scenario))
    VALIDATOR.validate(scenario)


def test_examples_of_queue_keys_are_accepted() -> None:
    rows = [row for row in tables("Queue disciplines") if "key" in row]
    documented = set()
    for row in rows:
        key, example = row["key"].strip("`"), re.findall("`([^`]+)`", row["example"])[0]
        value = tomllib.loads(f"value = {example}")["value"]
        for name in row["discipline"].split(", ") if row["discipline"] else QUEUES:
            queue = {"discipline": name} if key == "discipline" else {"discipline": name, key: value}
            link = BASE["links"] | {"queue": queue}
            scenario = {"run": BASE["run"], "bottleneck": link, "flows": [BASE["flows"]]}
            lower(Scenario.from_dict(scenario))
            VALIDATOR.validate(scenario)
            documented.add((name, key))
    assert documented == {(name, key) for name, part in QUEUES.items() for key in part["properties"]}


def test_every_queue_is_documented() -> None:
    rows = tables("Queue disciplines")
    words = [row["`queue`"].strip("`") for row in rows if "`queue`" in row]
    assert sorted(words) == sorted(QUEUE_WORDS)


@pytest.mark.parametrize("title", BASE)
def test_every_key_has_an_example(title: str) -> None:
    rows = [row for row in tables(title) if "key" in row]
    assert rows
    assert all(re.search("`[^`]+`", row["example"]) for row in rows)


def test_every_congestion_control_is_documented() -> None:
    cells = " ".join(row["`congestion`"] for row in tables("Congestion controls"))
    assert sorted(re.findall("`([^`]+)`", cells)) == sorted([*CONGESTIONS, "fixed(N)"])


def test_overrides_in_the_documentation_work() -> None:
    base = Scenario.from_dict(
        {
            "run": {"duration": "60 s"},
            "bottleneck": {"rate": "10 Mbps", "delay": "5 ms", "buffer": "1 bdp"},
            "flows": [{"name": "short", "rtt": "40 ms"}, {"rtt": "1 s"}],
        }
    )
    shell = "\n".join(blocks("sh"))
    found = re.findall(r"""--set ((?:[^\s"]|"[^"]*")+)""", shell)
    assert len(found) >= 5
    for text in found:
        base.with_overrides(dict([split_override(text.replace('"', ""))]))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_load_and_keep_to_the_schema(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)  # where the files are that a scenario names
    scenario = Scenario.load(path)
    plan = lower(scenario)
    assert plan["flows"]["group"]
    VALIDATOR.validate(tomllib.loads(path.read_text()))
    assert plan == lower(Scenario.from_dict(scenario.to_dict()))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_overrides_in_the_examples_comments_work(path: Path) -> None:
    scenario = Scenario.load(path)
    for text in re.findall(r"""--set ((?:[^\s"]|"[^"]*")+)""", path.read_text()):
        lower(scenario.with_overrides(dict([split_override(text.replace('"', ""))])))


def test_the_examples_are_there() -> None:
    names = {path.stem for path in EXAMPLES}
    assert names >= {"parking-lot", "poisson-udp", "published-link", "random-loss", "splitbuff-fig1"}
    assert names >= {"heterogeneous", "home-gateway", "splitbuff", "short-flows", "on-off", "bufferbloat"}
    assert "internet-exchange" in names


def test_examples_have_the_buffers_that_their_comments_promise() -> None:
    limits = {
        path.stem: [link["discipline"]["limit"] for link in lower(Scenario.load(path))["links"]]
        for path in EXAMPLES
    }
    assert limits["published-link"] == [{"packets": 367}]
    assert limits["heterogeneous"] == [{"packets": 368}]
    assert limits["splitbuff-fig1"] == [{"packets": 3749}]
    assert limits["random-loss"] == limits["poisson-udp"] == ["unlimited"]


@pytest.mark.parametrize(
    "change",
    [{"run": {}}, {"flows": []}, {"extra": 1}, {"bottleneck": {"rate": 10, "buffer": "1 MB"}}, {"links": []}],
)
def test_the_schema_refuses_what_the_code_refuses(change: dict[str, Any]) -> None:
    good = json.loads(blocks("json")[0])
    VALIDATOR.validate(good)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(good | change)
