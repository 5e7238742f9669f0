"""The registry of metrics: names, units, what reads it, and the code that makes stored figures."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest

import bufferlab
from bufferlab.experiment.store import rows, sources
from bufferlab.results.metrics import metric as metrics
from bufferlab.results.metrics.metric import Metric
from bufferlab.results.metrics.registry import DIMENSIONS, FRAMES, STORED, SUMMARY
from bufferlab.results.result import Result

PACKAGE = Path(bufferlab.__file__).parent
SUFFIXES = {
    "_ms": metrics.MILLISECONDS, "_s": metrics.SECONDS, "_bps": metrics.BITS_PER_S, "_bytes": metrics.BYTES,
    "_fraction": metrics.FRACTION, "_segments": metrics.SEGMENTS,
}  # fmt: skip
ALL = [metric for dimension in DIMENSIONS for metric in dimension.columns]


def test_a_name_says_the_unit() -> None:
    for metric in ALL:
        if metric.name != "packets_per_cpu_s":
            suffix = next((each for each in SUFFIXES if metric.name.endswith(each)), None)
            assert suffix is None or metric.unit.name == SUFFIXES[suffix].name, metric.name
            timed = metric.unit in {metrics.MILLISECONDS, metrics.SECONDS, metrics.BITS_PER_S}
            assert timed <= (suffix is not None), metric.name


def test_a_name_has_one_unit_everywhere() -> None:
    for metric in ALL:
        assert {each.unit for each in ALL if each.name == metric.name} == {metric.unit}, metric.name


def test_names_are_unique_where_they_meet() -> None:
    for dimension in DIMENSIONS:
        names = [metric.name for metric in dimension.columns]
        assert len(set(names)) == len(names), dimension.name
    stored = [metric.name for dimension in SUMMARY if dimension.name != "latency" for metric in dimension]
    assert len(set(STORED)) == len(STORED)
    assert set(STORED) <= set(stored)


def test_a_definition_is_a_sentence_and_a_label_fits() -> None:
    for metric in ALL:
        assert not metric.definition[0].islower(), metric.name
        assert metric.definition.endswith("."), metric.name
        assert len(metric.label) <= 30, metric.label


def test_frames_have_the_registered_columns(result: Result) -> None:
    for name, dimension in FRAMES.items():
        frame = getattr(result, name)
        assert frame.columns == [metric.name for metric in dimension.columns], name
        texts = {metric.name for metric in dimension.columns if metric.unit is metrics.TEXT}
        assert {column for column, kind in frame.schema.items() if kind == pl.String} == texts, name


def test_summaries_have_the_registered_metrics(result: Result) -> None:
    summary = result.summary()
    groups, queues, latency, runs = SUMMARY
    found_of = {groups: summary["flows"], queues: summary["queues"], latency: summary["latency"]}
    for dimension, found in (*found_of.items(), (runs, [summary])):
        for row in found:
            assert set(dimension.names) <= set(row)
            assert {f"{name}{metrics.CONFIDENCE_SUFFIX}" for name in dimension.numbers} <= set(row)


def uncovered(modules: Iterable[str]) -> set[str]:
    return set(modules) - set(sources.reached(*rows.MAKERS))


def test_the_store_s_fingerprint_covers_every_metric() -> None:
    modules = {metric.compute.__module__ for metric in ALL if metric.compute is not None}
    assert len(modules) > 5
    assert uncovered(modules) == set()
    assert (
        uncovered(["bufferlab.stats", "bufferlab.results.exchanges", "bufferlab.results.engine_frames"])
        == set()
    )


def test_a_metric_of_a_module_that_is_not_reached_would_be_found() -> None:
    elsewhere = Metric("x", metrics.COUNT, "X.", compute=inspect.getmodule)
    assert elsewhere.compute is not None
    assert uncovered([elsewhere.compute.__module__]) == {"inspect"}


def test_a_change_of_any_module_changes_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sources.fingerprint(*rows.MAKERS)
    assert rows.ENGINE.endswith(f".{before}")
    changed = PACKAGE / "results" / "exchanges.py"
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + (b"#" if path == changed else b""))
    assert sources.fingerprint(*rows.MAKERS) != before


def test_reached_modules_are_those_of_the_syntax_trees() -> None:
    reached = sources.reached(*rows.MAKERS)
    for name, path in reached.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bufferlab"):
                names = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Import):
                names = {alias.name for alias in node.names if alias.name.startswith("bufferlab")}
            else:
                continue
            own = {each for each in names if each and each != "bufferlab" and file_of(each) is not None}
            assert own <= set(reached), name


def file_of(module: str) -> Path | None:
    stem = PACKAGE.parent.joinpath(*module.split("."))
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.exists()), None)
