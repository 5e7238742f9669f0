"""What a small run costs beside its simulation."""

from __future__ import annotations

from functools import partial
from typing import NoReturn

import polars as pl
import pytest

from bufferlab import _core
from bufferlab.experiment.experiment import Experiment
from bufferlab.scenario import Scenario
from bufferlab.studies.targets import values_of_run

from ..small import dumbbell


def test_no_query_is_planned_for_the_values_of_a_small_run(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = partial(values_of_run, "bottleneck")
    experiment = Experiment("", {1: Scenario.from_toml(dumbbell())}, measure, brief=True)
    (task,) = experiment.tasks()

    def planned(_frame: pl.DataFrame) -> NoReturn:
        raise AssertionError("a query takes longer than this run")

    monkeypatch.setattr(pl.DataFrame, "lazy", planned)
    performed = experiment.job(task).perform(_core.Control())
    assert performed is not None
    assert performed.value()["utilization"] > 0.5
