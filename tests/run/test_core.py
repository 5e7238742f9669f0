"""The compiled module: what it takes, what it gives, and that it leaves Python's threads alone."""

from __future__ import annotations

import ast
import inspect
import json
import re
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import bufferlab
from bufferlab import _core
from bufferlab.plan import PLAN_VERSION, lower
from bufferlab.scenario import Scenario

TABLES = (
    "flows", "queues", "histograms", "queue_samples", "sender_samples", "receiver_samples",
    "classes", "class_histograms", "class_samples", "exchanges",
)  # fmt: skip


def two_groups(duration: str = "2 s", rate: str = "10 Mbps") -> dict[str, Any]:
    return {
        "run": {"duration": duration, "warmup": "1 s"},
        "bottleneck": {"rate": rate, "delay": "2 ms", "buffer": "40 packets"},
        "flows": [{"name": "near", "count": 2, "rtt": "20 ms"}, {"name": "far", "rtt": "80 ms"}],
    }


def plan_text(**changes: Any) -> str:
    scenario = two_groups() | {"probes": {"interval": "10 ms"}}
    scenario["bottleneck"]["queue"] = "splitbuff"
    return json.dumps(lower(Scenario.from_dict(scenario), 1) | changes)


def endless_plan() -> str:
    """A plan that takes minutes."""
    return json.dumps(lower(Scenario.from_dict(two_groups("100000 s", "200 Mbps")), 1))


def tables(outcome: _core.Outcome) -> dict[str, pl.DataFrame]:
    return {name: pl.DataFrame(getattr(outcome, name)()) for name in TABLES}


def test_tables_have_the_engines_columns() -> None:
    source = (Path(__file__).parents[2] / "crates/simulator/src/outcome.rs").read_text()
    declared = {
        name: re.findall(r"^ +(\w+): (u32|u64|f64),$", body, re.MULTILINE)
        for name, body in re.findall(r"^    (\w+)Table \{$(.*?)^    \}$", source, re.MULTILINE | re.DOTALL)
    }
    types: dict[str, pl.DataType] = {"u32": pl.UInt32(), "u64": pl.UInt64(), "f64": pl.Float64()}
    kinds = (
        "Flow", "Queue", "Histogram", "QueueSample", "SenderSample", "ReceiverSample",
        "Class", "ClassHistogram", "ClassSample", "Exchange",
    )  # fmt: skip
    plan = json.loads(plan_text())
    law = {"kind": "constant", "value": 10**9}
    on = {"bytes": {"kind": "constant", "value": 1000}}
    turns = {"on": on, "off_ps": law, "after_idle": "keep", "fetch": False}
    plan["groups"][0]["source"]["on_off"] = turns
    found = tables(_core.simulate(json.dumps(plan)))
    for kind, name in zip(kinds, TABLES, strict=True):
        assert len(declared[kind]) >= 3
        assert dict(found[name].schema) == {column: types[rust] for column, rust in declared[kind]}
        assert found[name].height > 0


def test_a_table_can_be_read_again_and_outlives_its_outcome() -> None:
    table = _core.simulate(plan_text()).flows()
    first = pl.DataFrame(table)
    assert pl.DataFrame(table).equals(first)
    assert len(table) == first.height == 3


def test_an_unread_stream_is_released() -> None:
    table = _core.simulate(plan_text()).flows()
    for _ in range(1000):
        table.__arrow_c_stream__()
    assert pl.DataFrame(table).height == 3


def test_same_plan_same_bytes_in_any_thread() -> None:
    text = plan_text()
    expected = tables(_core.simulate(text))
    found: list[dict[str, pl.DataFrame]] = []
    threads = [threading.Thread(target=lambda: found.append(tables(_core.simulate(text)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for each in found:
        assert all(each[name].equals(expected[name]) for name in TABLES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "EOF"),
        ("[]", "plan"),
        ('{"version": 1}', "missing field"),
        (plan_text(version=99), "version"),
        (plan_text(surprise=1), "surprise"),
    ],
)
def test_an_invalid_plan_is_a_value_error_of_one_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        _core.simulate(text)
    assert "\n" not in str(caught.value)


def test_canceling_ends_a_run_at_once_while_python_goes_on() -> None:
    control = _core.Control()
    outcomes: list[_core.Outcome] = []
    text = endless_plan()
    thread = threading.Thread(target=lambda: outcomes.append(_core.simulate(text, control)))
    thread.start()
    seen: list[int] = []
    while len(set(seen)) < 3:  # Python runs, and sees the run proceed; if not, the test's own timeout ends it
        seen.append(control.reached_ps())
        time.sleep(0.005)
    control.cancel()
    thread.join()
    assert seen == sorted(seen)
    assert outcomes[0].canceled
    assert seen[-1] <= outcomes[0].reached_ps < 100_000 * 10**12


def test_a_control_canceled_before_the_start_prevents_the_run() -> None:
    control = _core.Control()
    control.cancel()
    outcome = _core.simulate(endless_plan(), control)
    assert outcome.canceled


def test_both_sides_agree_on_constants() -> None:
    assert _core.PLAN_VERSION == PLAN_VERSION
    assert _core.engine_version == bufferlab.__version__


def test_the_stub_names_what_the_module_has() -> None:
    stub = ast.parse((Path(bufferlab.__file__).parent / "_core.pyi").read_text())
    assert _described(stub.body) == {name for name in vars(_core) if not name.startswith("__")}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            members = {
                name for name in vars(getattr(_core, node.name)) if name not in {"__doc__", "__module__"}
            }
            assert _described(node.body) == members
        if isinstance(node, ast.FunctionDef):
            parameters = inspect.signature(getattr(_core, node.name)).parameters
            described = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            assert [argument.arg for argument in described] == list(parameters)


def _described(body: list[ast.stmt]) -> set[str]:
    names = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    annotated = {node.target for node in body if isinstance(node, ast.AnnAssign)}
    return names | {target.id for target in annotated if isinstance(target, ast.Name)}
