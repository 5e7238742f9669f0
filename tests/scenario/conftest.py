"""Hypothesis profiles, and a small scenario to vary."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from bufferlab.scenario import Scenario, parse_value

# "fast" is the default and what CI runs; BUFFERLAB_HYPOTHESIS=slow looks harder.
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("fast", max_examples=60, deadline=None, suppress_health_check=_QUIET)
settings.register_profile("slow", max_examples=3000, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("BUFFERLAB_HYPOTHESIS", "fast"))

Make = Callable[..., Scenario]


@pytest.fixture
def table() -> dict[str, Any]:
    """A dumbbell with two groups."""
    return {
        "run": {"duration": "100 s"},
        "links": [{"name": "west", "rate": "100 Mbps", "delay": "1 ms", "buffer": "100 packets"}],
        "flows": [{"name": "short", "rtt": "10 ms"}, {"name": "long", "rtt": "990 ms", "count": 3}],
    }


@pytest.fixture
def make(table: dict[str, Any]) -> Make:
    """Make the dumbbell as a file would have it, with other values by path."""

    def build(changes: dict[str, object] | None = None) -> Scenario:
        changed = copy.deepcopy(table)
        for path, value in (changes or {}).items():
            *way, last = path.split(".")
            node: Any = changed
            for part in way:
                node = _item(node, part) if isinstance(node, list) else node.setdefault(part, {})
            node[last] = parse_value(value) if isinstance(value, str) else value
        return Scenario.from_dict(changed)

    return build


def _item(items: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(item for item in items if item["name"] == name)
