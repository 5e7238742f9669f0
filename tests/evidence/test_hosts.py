"""Real hosts and the least buffer: the search, its quick run, what is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bufferlab.evidence import Request, find_reproductions
from bufferlab.evidence.documents import bundled_documents
from bufferlab.evidence.hosts import least
from bufferlab.evidence.hosts.least import SIZES, STEPS
from bufferlab.evidence.measured import load
from bufferlab.experiment.runner import Runner

(DOCUMENT,) = (each for each in bundled_documents() if each.name == "hosts")


def recorded(control: str, flows: int, step: str) -> dict[str, Any]:
    """The recorded row of a point."""
    measured = load(DOCUMENT, DOCUMENT.figures["least"])
    assert measured is not None
    point = (pl.col("control") == control, pl.col("flows") == flows, pl.col("step") == step)
    return measured.points.filter(*point).row(0, named=True)


@pytest.mark.parametrize("needed", [SIZES[0], 30, SIZES[-1]])
def test_bisection_finds_the_first_size_that_does(needed: int) -> None:
    assert least.least(lambda size: size >= needed) == min(size for size in SIZES if size >= needed)


def test_no_size_does_where_the_largest_fails() -> None:
    assert least.least(lambda _size: False) is None


def test_every_point_is_recorded_and_bursts_need_less_than_ideal_hosts() -> None:
    measured = load(DOCUMENT, DOCUMENT.figures["least"])
    assert measured is not None and measured.points.height == 4 * 7 * len(STEPS)
    assert recorded("reno", 64, "ideal")["utilization"] > 3 * recorded("reno", 64, "bursts")["utilization"]


def test_the_quick_run_has_every_kind_of_hosts_and_is_taken_from_the_store(tmp_path: Path) -> None:
    (found,) = find_reproductions("hosts/least")
    runners = [Runner(progress=False, store=tmp_path / "store") for _ in range(2)]
    first, again = (found.function(Request(quick=True, shared=runner)) for runner in runners)
    table = first.tables["least"]
    assert table["step"].to_list() == list(STEPS)
    assert table["queue"][0] == max(table["queue"]) and table["queue"].is_in(SIZES).all()
    assert [runner.stored for runner in runners] == [0, len(STEPS)]
    assert table.equals(again.tables["least"])
    assert set(first.scenarios) == {f"reno-4-{step}" for step in STEPS}
    assert list(first.figures) == ["least"]
