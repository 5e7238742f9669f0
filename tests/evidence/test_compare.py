"""The rule, the classes and the explanations of the comparison."""

from __future__ import annotations

import dataclasses
import math
import statistics

import pytest
from scipy import stats

from bufferlab.evidence.ns2.classes import CLASSES, METRICS, class_of, is_tied
from bufferlab.evidence.ns2.equivalent import Variant
from bufferlab.evidence.ns2.explanations import EXPLANATIONS
from bufferlab.evidence.ns2.judging import (
    CAP,
    CAP_POINTS,
    Verdict,
    judged,
    judged_by_run,
    welch_half_width,
)
from bufferlab.evidence.ns2.measure import with_share
from bufferlab.evidence.ns2.reference import (
    SHIFT,
    Reference,
    load_experiments,
    load_references,
    ties_drawn,
    unsupported,
)
from bufferlab.evidence.ns2.validation import Point, explained, outcome_of

QUEUE = next(metric for metric in METRICS if metric.name == "mean_queue_packets")
UTILIZATION = next(metric for metric in METRICS if metric.name == "utilization")


def test_by_run_looks_at_the_worst_run() -> None:
    assert judged_by_run(QUEUE, [200.0, 300.0], [200.05, 300.05], 5e-4).agrees
    worst = judged_by_run(QUEUE, [200.0, 300.0], [200.0, 301.0], 5e-4)
    assert worst.verdict is Verdict.LARGE
    assert worst.difference == pytest.approx(1.0)
    assert judged_by_run(UTILIZATION, [0.5], [0.5005], 1e-3).agrees  # points, not parts


def test_by_run_does_not_let_runs_cancel() -> None:
    assert not judged_by_run(QUEUE, [200.0, 300.0], [201.0, 299.0], 5e-4).agrees


def test_variants_of_a_setting_are_one_sample() -> None:
    """Runs with each order of ties: they decide too much, or little enough."""
    reference = next(each for each in load_references() if class_of(each.setting).name == "tied")
    (seed, theirs), *_ = reference.runs.items()
    once = dataclasses.replace(reference, runs={seed: theirs})

    def verdict(apart: float) -> Verdict:
        queue = theirs["mean_queue_packets"]
        values = with_share(theirs, reference.setting)
        orders = [values | {"mean_queue_packets": queue * part} for part in (1 - apart, 1 + apart)]
        outcome = outcome_of(once, dict.fromkeys((seed, seed + 1, seed + 2), orders))
        return next(each.verdict for each in outcome.comparisons if each.figure is QUEUE)

    assert verdict(0.2) is Verdict.UNDECIDED
    assert verdict(0.004) is Verdict.SAME


def test_where_ns2_ran_once_its_scatter_is_ours() -> None:
    ours = [99.0, 100.0, 101.0, 100.5, 99.5]
    expected = stats.t.ppf(0.995, 4) * statistics.stdev(ours) * math.sqrt(1 + 1 / 5)
    assert welch_half_width([100.0], ours) == pytest.approx(expected)
    assert judged(QUEUE, [100.0], ours).verdict is Verdict.SAME
    assert judged(QUEUE, [100.0], [80.0, 120.0]).verdict is Verdict.UNDECIDED
    assert judged(QUEUE, [130.0], ours).verdict is Verdict.LARGE
    assert judged(QUEUE, [100.0], [100.0]).verdict is Verdict.UNDECIDED


def test_only_runs_without_chance_are_compared_one_by_one() -> None:
    (exact,) = (each for each in CLASSES.values() if each.margins)
    assert exact.name == "exact"
    assert len(exact.variants) == 1
    assert set(exact.margins) == {metric.name for metric in METRICS}
    for metric in METRICS:
        assert exact.margins[metric.name] < (CAP if metric.relative else CAP_POINTS) / 10


@pytest.mark.parametrize(
    ("ours", "options", "explains"),
    [
        (1.2, (), True),
        (0.8, (), False),
        (1.2, (("overhead", "0.001"),), False),
        (9.0, (), False),
    ],
)
def test_explanations_are_bound_to_setting_sign_and_size(
    ours: float, options: tuple[tuple[str, str], ...], explains: bool
) -> None:
    above = next(each for each in EXPLANATIONS if each.sign == 1 and "mean_queue_packets" in each.metrics)
    setting = dataclasses.replace(load_references()[0].setting, options=options)
    comparison = judged(QUEUE, [100.0], [100.0 * ours] * 10)
    assert above.covers(setting, comparison) is explains


def test_an_explanation_counts_where_its_experiment_agrees() -> None:
    reference = next(
        each for each in load_references() if each.setting.stack == "linux-reno" and len(each.runs) == 1
    )
    theirs = {seed: with_share(each, reference.setting) for seed, each in reference.runs.items()}
    far = {seed: [each | {"loss1": each["loss1"] * 1.3}] * 2 for seed, each in theirs.items()}
    near = {seed: [dict(each)] * 2 for seed, each in theirs.items()}
    explanation = next(each for each in EXPLANATIONS if each.sign == 1 and "loss1" in each.metrics)
    outcome = outcome_of(reference, far)
    assert [each.figure.name for each in outcome.unexplained] == ["loss1"]
    experiment = Reference(explanation.experiment(reference.setting), reference.runs)
    point = Point(experiment, reference.setting, explanation)
    assert explained(outcome, [(point, outcome_of(experiment, near))]).explained == {
        "loss1": explanation.name
    }
    assert explained(outcome, [(point, outcome_of(experiment, far))]).unexplained == outcome.unexplained
    other = Point(experiment, load_references()[0].setting, explanation)
    assert explained(outcome, [(other, outcome_of(experiment, near))]).unexplained == outcome.unexplained


def test_experiments_of_ns2_are_those_of_explanations() -> None:
    settings = [each.setting for each in load_references()]
    possible = {each.experiment(setting) for each in EXPLANATIONS for setting in settings}
    experiments = load_experiments()
    assert experiments
    assert experiments.keys() <= possible
    assert not experiments.keys() & set(settings)


def test_ties_are_drawn_often_in_settings_that_are_there_without() -> None:
    references = [each for each in load_references() if each.setting.option(SHIFT)]
    plain = {each.setting for each in load_references()} - {each.setting for each in references}
    assert references
    for each in references:
        options = tuple(option for option in each.setting.options if option[0] != SHIFT)
        without = dataclasses.replace(each.setting, options=options)
        assert without in plain
        assert ties_drawn(without) == each.setting
        assert len(each.runs) >= 10
        assert class_of(each.setting).variants == (Variant(),)
        assert not class_of(each.setting).margins  # the tolerance of all settings


def test_runs_with_the_same_drawn_ties_are_compared_in_pairs() -> None:
    """What a draw does to both sides cancels, in whichever order ours end; what differs remains."""
    reference = next(each for each in load_references() if each.setting.option(SHIFT))
    theirs = {seed: with_share(each, reference.setting) for seed, each in reference.runs.items()}
    scattered = {seed: each | {"mean_queue_packets": 100.0 * seed} for seed, each in theirs.items()}
    once = dataclasses.replace(reference, runs=scattered)

    def verdict(factor: float) -> Verdict:
        ours = {
            seed: [each | {"mean_queue_packets": each["mean_queue_packets"] * factor}]
            for seed, each in reversed(scattered.items())
        }
        return next(each.verdict for each in outcome_of(once, ours).comparisons if each.figure is QUEUE)

    assert verdict(1.0) is Verdict.SAME
    assert verdict(1.02) is Verdict.SMALL
    assert verdict(1.5) is Verdict.LARGE


def test_every_class_has_settings() -> None:
    settings = [each.setting for each in load_references() if unsupported(each.setting) is None]
    assert {class_of(setting).name for setting in settings} == set(CLASSES)


def test_multiples_of_a_transmission_time_are_tied() -> None:
    settings = [each.setting for each in load_references() if each.setting.scenario == "fig1"]
    assert {setting.wire_bytes for setting in settings if is_tied(setting)} == {1000}
    assert not is_tied(dataclasses.replace(settings[0], rtt_ms=(10.0, 10.0)))
