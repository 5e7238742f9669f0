"""Criteria and classes of the comparison."""

from __future__ import annotations

import dataclasses

import pytest

from bufferlab.evidence.ns2.classes import CLASSES, METRICS, class_of, is_tied
from bufferlab.evidence.ns2.compare import compare
from bufferlab.evidence.ns2.reference import load_references, unsupported

EXACT, TIED, CHAOTIC, SYNCHRONIZED = (CLASSES[name] for name in ("exact", "tied", "chaotic", "synchronized"))
QUEUE = next(metric for metric in METRICS if metric.name == "mean_queue_packets")
UTILIZATION = next(metric for metric in METRICS if metric.name == "utilization")


def test_paired_looks_at_the_worst_run() -> None:
    assert compare(EXACT, QUEUE, [200.0, 300.0], [[200.05], [300.05]]).agrees
    worst = compare(EXACT, QUEUE, [200.0, 300.0], [[200.0], [301.0]])
    assert not worst.agrees
    assert worst.difference == pytest.approx(1.0)


def test_paired_does_not_let_runs_cancel() -> None:
    assert not compare(EXACT, QUEUE, [200.0, 300.0], [[201.0], [299.0]]).agrees


def test_bracket_wants_ns2_between_our_extremes() -> None:
    assert compare(TIED, QUEUE, [250.0], [[200.0, 300.0]]).agrees
    outside = compare(TIED, QUEUE, [310.0], [[200.0, 300.0]])
    assert not outside.agrees
    assert outside.difference == pytest.approx(-10.0)


def test_scatter_excuses_what_seeds_do_and_no_more() -> None:
    scattered = [[value] for value in (90.0, 110.0, 95.0, 105.0, 100.0)]
    assert compare(CHAOTIC, QUEUE, [115.0], scattered).agrees
    steady = [[value] for value in (99.0, 101.0, 99.5, 100.5, 100.0)]
    assert not compare(CHAOTIC, QUEUE, [115.0], steady).agrees


def test_floors_are_relative_or_absolute_as_the_metric_says() -> None:
    same = [[0.9], [0.9]]
    assert compare(SYNCHRONIZED, UTILIZATION, [0.9049], same).agrees
    assert not compare(SYNCHRONIZED, UTILIZATION, [0.9051], same).agrees
    queue = [[100.0], [100.0]]
    assert compare(SYNCHRONIZED, QUEUE, [103.0], queue).agrees
    assert not compare(SYNCHRONIZED, QUEUE, [103.2], queue).agrees


def test_every_class_has_settings_and_floors_for_every_metric() -> None:
    settings = [each.setting for each in load_references() if unsupported(each.setting) is None]
    assert {class_of(setting).name for setting in settings} == set(CLASSES)
    for each in CLASSES.values():
        assert set(each.floors) == {metric.name for metric in METRICS}


def test_multiples_of_a_transmission_time_are_tied() -> None:
    settings = [each.setting for each in load_references() if each.setting.scenario == "fig1"]
    assert {setting.wire_bytes for setting in settings if is_tied(setting)} == {1000}
    assert not is_tied(dataclasses.replace(settings[0], rtt_ms=(10.0, 10.0)))
