"""Whatever comes in, only `InputError` comes out, on one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bufferlab.errors import InputError
from bufferlab.plan import lower, plan_json
from bufferlab.scenario import Scenario, check_buffer, parse_value
from bufferlab.units import parse_time

pytestmark = pytest.mark.timeout(600)

GOOD: dict[str, Any] = {
    "run": {"duration": "100 s"},
    "links": [{"name": "west", "rate": "100 Mbps", "delay": "1 ms", "buffer": "100 packets"}],
    "flows": [{"name": "short", "rtt": "10 ms"}, {"name": "long", "rtt": "990 ms", "count": 3}],
}

_SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "scenario.schema.json").read_text())
KEYS = sorted({key for part in (_SCHEMA, *_SCHEMA["$defs"].values()) for key in part["properties"]})
WORDS = [
    "10 ms", "1 s", "-1 s", "1e9 s", "nan s", "100 Mbps", "1 MB", "1 bdp", "stanford", "unlimited",
    "0 packets", "west", "short", "fifo", "bulk", "udp", "poisson", "linux", "reno", "sack", "fixed(3)",
    "bbr", "bic", "cubic(hystart)",
    "none", "uniform(0 s, 1 s)", "normal(1 s, 2 s)", "choice(1 s, 2 s)", "empirical(/dev/null)",
    "lognormal(1 s, 9)", "exponential(mean=1 h)",
]  # fmt: skip

# Counts stay small: a million flows are fine, but not hundreds of times in a row.
numbers = st.integers(-2, 50) | st.sampled_from([10**9, 2**64, -(2**70), 10**30])
scalars = st.one_of(
    st.none(), st.booleans(), numbers, st.floats(), st.text(max_size=20), st.sampled_from(WORDS)
)
odd = st.one_of(
    scalars, st.binary(max_size=3), st.dates(), st.complex_numbers(), st.just(object()), st.just({1})
)
keys = st.sampled_from(KEYS) | st.text(max_size=6)
values = st.recursive(
    odd,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys | st.integers(0, 3), inner, max_size=4),
)
quantities = st.builds(
    lambda sign, number, unit: f"{sign}{number}{unit}",
    st.sampled_from(["", "-", "+", " "]),
    st.from_regex(r"[0-9.eE_]{0,8}", fullmatch=True),
    st.sampled_from(["", " s", "ms", " Mbps", " B", " packets", " bdp", "µs", " xyz"]),
)
laws = st.builds(
    lambda name, arguments: f"{name}({', '.join(arguments)})",
    st.sampled_from(
        ["uniform", "normal", "lognormal", "exponential", "choice", "empirical", "constant", "x"]
    ),
    st.lists(
        quantities
        | st.builds(
            lambda k, v: f"{k}={v}", st.sampled_from(["mean", "sd", "sigma", "min", "max"]), quantities
        ),
        max_size=4,
    ),
)
paths = st.lists(keys | st.sampled_from(["0", "1", "west", "short", "flows[0]", "[", ""]), max_size=4).map(
    ".".join
)


def only_input_errors(action: Callable[[], object]) -> object:
    """Run; each line of an `InputError` must be of a sensible length."""
    try:
        return action()
    except InputError as error:
        caught = error
    lines = str(caught).splitlines()
    assert len(lines) == 1 + len(caught.others)
    assert all(0 < len(line) < 1500 for line in lines)
    assert str(caught).encode()
    return None


def load_and_lower(build: Callable[[], Scenario]) -> None:
    scenario = only_input_errors(build)
    if isinstance(scenario, Scenario):
        plan = only_input_errors(lambda: lower(scenario))
        again = only_input_errors(lambda: lower(Scenario.from_toml(scenario.to_toml(), file=scenario.file)))
        assert plan == again
        if isinstance(plan, dict):
            assert json.loads(plan_json(plan)) == plan


@given(st.text() | quantities)
def test_units(text: str) -> None:
    for parse in (parse_time, check_buffer):
        only_input_errors(lambda parse=parse: parse(text))  # type: ignore[misc]


@given(st.text() | laws)
def test_distributions(text: str) -> None:
    load_and_lower(lambda: Scenario.from_dict(GOOD).with_overrides({"flows.long.rtt": text}))


@given(st.text())
def test_any_text_as_toml_and_json(text: str) -> None:
    load_and_lower(lambda: Scenario.from_toml(text))
    load_and_lower(lambda: Scenario.from_json(text))


@given(content=st.binary(), suffix=st.sampled_from([".toml", ".json", ""]))
def test_any_file(tmp_path_factory: pytest.TempPathFactory, content: bytes, suffix: str) -> None:
    path: Path = tmp_path_factory.mktemp("fuzz") / f"scenario{suffix}"
    path.write_bytes(content)
    load_and_lower(lambda: Scenario.load(path))


@given(values)
def test_any_table(value: dict[str, Any]) -> None:
    load_and_lower(lambda: Scenario.from_dict(value))


@given(
    part=st.sampled_from([("run",), ("links", 0), ("flows", 0), ("flows", 1), ()]),
    changes=st.dictionaries(keys, values, min_size=1, max_size=3),
)
def test_a_good_scenario_with_odd_keys(part: tuple[str | int, ...], changes: dict[str, Any]) -> None:
    table = json.loads(json.dumps(GOOD))
    node = table
    for step in part:
        node = node[step]
    node.update(changes)
    load_and_lower(lambda: Scenario.from_dict(table))


@given(st.dictionaries(paths, values | st.text() | quantities | laws, max_size=3))
def test_any_overrides(overrides: dict[str, Any]) -> None:
    load_and_lower(lambda: Scenario.from_dict(GOOD).with_overrides(overrides))


@given(st.text() | quantities)
def test_any_value_of_an_override_is_read(text: str) -> None:
    parse_value(text)
