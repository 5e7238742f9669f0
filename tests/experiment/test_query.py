"""Conditions and columns of lists of runs: what can be asked, and what a mistake is told."""

from __future__ import annotations

import polars as pl
import pytest

from bufferlab.errors import InputError
from bufferlab.experiment.store.query import choose, order, where
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
