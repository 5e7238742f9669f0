"""Criteria and classes of the comparison."""

from __future__ import annotations

import dataclasses

import pytest

from bufferlab.evidence.ns2.classes import CLASSES, METRICS, class_of, is_tied
from bufferlab.evidence.ns2.compare import CAP, CAP_POINTS, Verdict, compare
from bufferlab.evidence.ns2.explanations import EXPLANATIONS
from bufferlab.evidence.ns2.measure import with_share
from bufferlab.evidence.ns2.reference import load_references, unsupported
from bufferlab.evidence.ns2.validation import Point, explained, outcome_of

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


def test_variants_of_a_setting_are_one_sample() -> None:
    between = compare(TIED, QUEUE, [250.0], [[200.0, 300.0], [200.0, 300.0]])
    assert between.difference == pytest.approx(0.0)
    assert between.verdict is Verdict.UNDECIDED  # the orders decide too much
    assert compare(TIED, QUEUE, [250.0], [[249.0, 251.0], [249.0, 251.0]]).agrees


def test_scatter_excuses_what_seeds_do_and_no_more() -> None:
    scattered = [[100.0 + value] for value in (-2.0, 2.0, -1.0, 1.0, 0.0) * 2]
    assert compare(CHAOTIC, QUEUE, [104.0], scattered).agrees
    steady = [[100.0 + value] for value in (-0.2, 0.2, -0.1, 0.1, 0.0) * 2]
    assert compare(CHAOTIC, QUEUE, [104.0], steady).verdict is Verdict.DIFFERS


def test_no_scatter_excuses_more_than_the_cap() -> None:
    wild = [[100.0 + value] for value in (-20.0, 20.0, -10.0, 10.0, 0.0) * 2]
    comparison = compare(CHAOTIC, QUEUE, [104.0], wild)
    assert comparison.tolerance == pytest.approx(CAP * 104.0)
    assert comparison.verdict is Verdict.UNDECIDED
    assert not comparison.agrees
    assert compare(CHAOTIC, QUEUE, [300.0], wild).verdict is Verdict.DIFFERS
    idle = [[0.5 + value] for value in (-0.1, 0.1, -0.05, 0.05, 0.0) * 2]
    assert compare(CHAOTIC, UTILIZATION, [0.52], idle).tolerance == pytest.approx(CAP_POINTS)


def test_floors_are_within_the_caps() -> None:
    for each in CLASSES.values():
        for metric in METRICS:
            assert each.floors[metric.name] <= (CAP if metric.relative else CAP_POINTS)


@pytest.mark.parametrize(
    ("ours", "stack", "explains"),
    [
        (1.2, "linux-reno", True),
        (0.8, "linux-reno", False),
        (1.2, "sack1", False),
        (9.0, "linux-reno", False),
    ],
)
def test_explanations_are_bound_to_setting_sign_and_size(ours: float, stack: str, explains: bool) -> None:
    above = next(each for each in EXPLANATIONS if each.sign == 1 and "mean_queue_packets" in each.metrics)
    setting = dataclasses.replace(load_references()[0].setting, stack=stack)
    comparison = compare(CLASSES["kernel"], QUEUE, [100.0], [[100.0 * ours]] * 10)
    assert above.covers(setting, comparison) is explains


def test_an_explanation_counts_where_its_experiment_agrees() -> None:
    reference = next(
        each for each in load_references() if each.setting.stack == "linux-reno" and len(each.runs) == 1
    )
    theirs = {seed: with_share(each, reference.setting) for seed, each in reference.runs.items()}
    far = {seed: [each | {"loss1": each["loss1"] * 1.3}] for seed, each in theirs.items()}
    near = {seed: [dict(each)] for seed, each in theirs.items()}
    explanation = next(each for each in EXPLANATIONS if each.sign == 1 and "loss1" in each.metrics)
    outcome = outcome_of(reference, far)
    assert [each.metric.name for each in outcome.unexplained] == ["loss1"]
    point = Point(reference, explanation)
    assert all(each.keys == explanation.keys for each in point.variants)
    assert explained(outcome, [(point, outcome_of(reference, near))]).explained == {"loss1": explanation.name}
    assert explained(outcome, [(point, outcome)]).unexplained == outcome.unexplained


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
