"""Conditions and columns of lists of runs: what can be asked, and what is said of a mistake."""

from __future__ import annotations

import polars as pl
import pytest

from bufferlab.errors import InputError
from bufferlab.experiment.store.query import choose, condition_notes, order, where
from bufferlab.experiment.store.rows import FIGURES

BUFFERS = ["20 packets", "100 packets", "9 packets"]
FRAME = pl.DataFrame({"seed": [1, 2, 3], "links[0].buffer": BUFFERS, "utilization": [0.9, 1.0, 0.8]})


def test_conditions_are_over_paths_and_figures() -> None:
    assert where(FRAME, ["utilization > 0.85", "links[0].buffer = '20 packets'"])["seed"].to_list() == [1]
    assert where(FRAME, ["links[0].buffer in ('9 packets', 'a.b') and utilization < 1.0"]).height == 1
    assert order(FRAME, "links[0].buffer")["seed"].to_list() == [3, 1, 2]


@pytest.mark.parametrize(
    ("condition", "column", "close"),
    [
        ("utilisation > 0.99", "utilisation", "utilization"),
        ("seed = 1 and wait_p95 > 3", "wait_p95", "wait_p95_ms"),
        ("links[0].bufer = '20 packets'", "links[0].bufer", "links[0].buffer"),
        ("\"Utilization\" > 0.5 and 'utilisation' = 'utilisation'", "Utilization", "utilization"),
    ],
)
def test_an_unknown_column_is_named_with_the_closest_and_all_there_are(
    condition: str, column: str, close: str
) -> None:
    with pytest.raises(InputError) as caught:
        where(FRAME, [condition])
    error = caught.value
    assert (error.file, error.value) == ("--where", column)
    assert error.problem == f"is no column (did you mean '{close}'?)"
    assert error.accepted is not None
    assert {*FRAME.columns, *FIGURES} == set(error.accepted.split(", "))


def test_what_resembles_nothing_has_no_suggestion() -> None:
    with pytest.raises(InputError, match="'xyzzy' is no column; accepted: seed, "):
        where(FRAME, ["xyzzy > 1"])
    with pytest.raises(InputError, match=r"--columns: 'los' is no column \(did you mean 'loss'\?\)"):
        choose(FRAME, ["los"])


def test_a_condition_that_is_none_says_so() -> None:
    with pytest.raises(InputError, match="is no usable condition"):
        where(FRAME, ["utilization >"])


UNITS = pl.DataFrame({"seed": [1], "run.duration": ["10 s"], "utilization": [0.9], "wait_mean_ms": [15.0]})


@pytest.mark.parametrize(
    ("condition", "unit", "accepted"),
    [
        ("wait_mean_ms < 0.02 s", "'s': wait_mean_ms is in ms", "'wait_mean_ms < 20'"),
        ("seed = 1 and wait_mean_ms<20ms", "'ms': wait_mean_ms is in ms", "'wait_mean_ms<20'"),
        ("utilization >= 99 %", "'%': utilization is a fraction", "'utilization >= 0.99'"),
        ("(utilization >= 99 %) and seed = 1", "'%': utilization is a fraction", "'utilization >= 0.99'"),
        (
            "wait_mean_ms < 20 packets",
            "'packets': wait_mean_ms is in ms",
            "a number alone, such as 'wait_mean_ms < 20'",
        ),
        ("seed = 2 s", "'s': seed is a plain value", "a number alone, such as 'seed = 2'"),
    ],
)
def test_a_unit_is_refused_with_what_to_write(condition: str, unit: str, accepted: str) -> None:
    with pytest.raises(InputError) as caught:
        where(UNITS, [condition])
    assert (caught.value.file, caught.value.value) == ("--where", condition)
    assert caught.value.problem == f"has a unit, {unit}"
    assert caught.value.accepted == accepted


def test_a_unit_is_refused_wherever_it_stands() -> None:
    with pytest.raises(InputError, match="has 's' after 20: values are in the column's own unit"):
        where(UNITS, ["wait_mean_ms between 10 and 20 s"])


@pytest.mark.parametrize(
    "condition",
    [
        "run.duration = '10 s'",
        "seed % 2 = 1",
        "wait_mean_ms between 1e1 and 20 and seed < 2 or seed = 3",
        "case when seed = 1 then 1 else 0 end = 1",
    ],
)
def test_what_only_looks_like_a_unit_is_none(condition: str) -> None:
    assert where(UNITS, [condition]).height == 1


def test_a_share_in_percent_is_noted() -> None:
    assert condition_notes(UNITS, ["wait_mean_ms > 99 and utilization > 99", "utilization <= 1"]) == [
        "--where: utilization is a fraction, at most 1: 99 % is 'utilization > 0.99'"
    ]


def test_a_text_in_double_quotes_should_be_in_single_ones() -> None:
    with pytest.raises(InputError, match="'fifo' is no column: write texts in single quotes") as caught:
        where(FRAME.rename({"links[0].buffer": "bottleneck.queue"}), ['bottleneck.queue = "fifo"'])
    assert caught.value.accepted == "bottleneck.queue = 'fifo'"
