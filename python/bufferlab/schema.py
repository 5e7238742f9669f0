"""The JSON Schema of scenario files, for editors and other tools.

`python -m bufferlab.schema` prints it; docs/scenario.schema.json is its committed copy.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from bufferlab.scenario import Scenario

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def scenario_schema() -> dict[str, Any]:
    """The schema of a scenario, with the keys as files spell them.

    Texts with units are texts of any form here: the parser says what is wrong with one better than a pattern.
    """
    schema = Scenario.model_json_schema(by_alias=True, mode="validation")
    return {
        "$schema": _DIALECT,
        "title": "Bufferlab scenario",
        "description": "A network, the flows that cross it, and what to measure: docs/scenario.md.",
        **{key: _tidy(item) for key, item in schema.items() if key not in ("title", "description")},
        "oneOf": [{"required": ["bottleneck"]}, {"required": ["links"]}],
    }


def schema_text() -> str:
    """The schema as it is stored: indented JSON with a final line end."""
    return json.dumps(scenario_schema(), indent=2, ensure_ascii=False) + "\n"


def _tidy(node: object) -> object:
    """Leave out what pydantic adds and files never have: titles, null, defaults that stand for "none"."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _tidy(item) for key, item in node.items() if not _noise(key, item)}
    choices = kept.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices:
        choices.remove({"type": "null"})
        if len(choices) == 1:
            del kept["anyOf"]
            kept = {**choices[0], **kept}
    return kept


def _noise(key: str, item: object) -> bool:
    return (key == "title" and isinstance(item, str)) or (key == "default" and item in (None, ""))


if __name__ == "__main__":
    sys.stdout.write(schema_text())
