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
from bufferlab.scenario import Scenario, split_override
from bufferlab.schema import scenario_schema, schema_text

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "scenario.md").read_text()
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCS, re.MULTILINE | re.DOTALL)


def schema_keys() -> set[str]:
    schema = scenario_schema()
    parts = [schema, *schema["$defs"].values()]
    return {key for part in parts for key in part["properties"]}


def test_the_committed_schema_is_the_code_s() -> None:
    stored = (ROOT / "docs" / "scenario.schema.json").read_text()
    assert stored == schema_text(), "run: python -m bufferlab.schema > docs/scenario.schema.json"


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(scenario_schema())


@pytest.mark.parametrize("key", sorted(schema_keys()))
def test_every_key_is_documented(key: str) -> None:
    assert re.search(rf"`{key}`|`\[{{1,2}}{key}\]{{1,2}}`", DOCS)


@pytest.mark.parametrize("text", blocks("toml"))
def test_toml_in_the_documentation_loads(text: str) -> None:
    lower(Scenario.from_toml(text))
    jsonschema.validate(tomllib.loads(text), scenario_schema())


@pytest.mark.parametrize("text", blocks("json"))
def test_json_in_the_documentation_loads(text: str) -> None:
    lower(Scenario.from_json(text))


@pytest.mark.parametrize("text", blocks("python"))
def test_python_in_the_documentation_runs(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(text, "docs/scenario.md", "exec"), {})
    assert "is negative" in capsys.readouterr().out


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
def test_examples_load_and_keep_to_the_schema(path: Path) -> None:
    scenario = Scenario.load(path)
    plan = lower(scenario)
    assert plan["flows"]["group"]
    jsonschema.validate(tomllib.loads(path.read_text()), scenario_schema())
    assert plan == lower(Scenario.from_dict(scenario.to_dict()))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_overrides_in_the_examples_comments_work(path: Path) -> None:
    scenario = Scenario.load(path)
    for text in re.findall(r"""--set ((?:[^\s"]|"[^"]*")+)""", path.read_text()):
        lower(scenario.with_overrides(dict([split_override(text.replace('"', ""))])))


def test_the_examples_are_there() -> None:
    names = {path.stem for path in EXAMPLES}
    assert names >= {"parking-lot", "poisson-udp", "published-link", "random-loss", "splitbuff-fig1"}


def test_examples_have_the_buffers_that_their_comments_promise() -> None:
    limits = {
        path.stem: [link["discipline"]["limit"] for link in lower(Scenario.load(path))["links"]]
        for path in EXAMPLES
    }
    assert limits["published-link"] == [{"packets": 367}]
    assert limits["splitbuff-fig1"] == [{"packets": 3749}]
    assert limits["random-loss"] == limits["poisson-udp"] == ["unlimited"]


@pytest.mark.parametrize(
    "change",
    [{"run": {}}, {"flows": []}, {"extra": 1}, {"bottleneck": {"rate": 10, "buffer": "1 MB"}}, {"links": []}],
)
def test_the_schema_refuses_what_the_code_refuses(change: dict[str, Any]) -> None:
    good = json.loads(blocks("json")[0])
    jsonschema.validate(good, scenario_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(good | change, scenario_schema())
