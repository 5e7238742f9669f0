"""A unit says how values look; a metric's words come from its title."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import numpy as np
import pytest

import bufferlab
from bufferlab.results.metrics.metric import BITS_PER_S, BYTES, FRACTION, MILLISECONDS, NUMBER
from bufferlab.results.metrics.registry import DIMENSIONS, QUEUE_SUMMARY, STORED

PACKAGE = Path(bufferlab.__file__).parent


@pytest.mark.parametrize(
    ("value", "half_width", "shown"),
    [
        (0.98765, None, "98.77"),
        (0.98765, 0.01234, "98.77 ± 1.2"),
        (0.98765, 0.0, "98.77"),
        (0.98765, math.nan, "98.77"),
        (0.98765, 1e-9, "98.77"),
        (0.0, 0.01, "0 ± 1"),
    ],
)
def test_a_value_has_an_interval_only_where_runs_differ(
    value: float, half_width: float | None, shown: str
) -> None:
    assert FRACTION.text(value, half_width) == shown
    assert FRACTION.quantity(value, half_width) == f"{shown} %"


def test_scaling_does_not_round_what_is_whole() -> None:
    values = np.arange(1, 2000) * 1e6
    assert BITS_PER_S.scaled(values).tolist() == list(range(1, 2000))
    assert (BYTES.scaled(12345), MILLISECONDS.scaled(2), FRACTION.scaled(0.5)) == (12.345, 2, 50)
    assert FRACTION.quantity(0.999999, digits=10) == "99.9999 %"


def test_pure_numbers_have_no_unit() -> None:
    assert (NUMBER.quantity(0.5), NUMBER.label("share"), NUMBER.axis("share")) == ("0.5", "share", "share")
    assert (MILLISECONDS.label("wait"), MILLISECONDS.axis("wait")) == ("wait, ms", "wait (ms)")


def test_titles_name_a_quantity_and_which_statistic_of_it() -> None:
    wait, loss = STORED["wait_p95_ms"], STORED["loss"]
    assert (wait.what, wait.statistic, wait.words) == ("wait", "95th percentile", "95th percentile wait")
    assert (loss.what, loss.statistic, loss.words) == ("loss", "", "loss")
    grouped = {
        metric.name for metric in QUEUE_SUMMARY if metric.statistic and metric.what in {"wait", "backlog"}
    }
    assert grouped == {
        metric.name for metric in QUEUE_SUMMARY if metric.name.startswith(("wait_", "backlog_"))
    }


def test_labels_of_metrics_stand_in_the_registry_only() -> None:
    """Nobody types a title with its unit again: tables and figures read it."""
    metrics = [metric for dimension in DIMENSIONS for metric in dimension.columns]
    shown = [metric for metric in metrics if metric.title and metric.unit.shown]
    labels = {text for metric in shown for text in (metric.label, metric.axis)}
    typed = [
        f"{path.name}:{node.lineno}: {node.value!r}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in labels
    ]
    assert len(labels) > 60
    assert not typed
