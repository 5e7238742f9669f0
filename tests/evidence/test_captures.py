"""Captures against the truth: a few drawn scenarios here, all of them in docs/observe.md."""

from __future__ import annotations

import json

import polars as pl
import pytest

from bufferlab.cli import main
from bufferlab.evidence.captures.drawn import control_of, drawn
from bufferlab.evidence.captures.seen import PLACES, captured, estimates
from bufferlab.evidence.documents import bundled_documents
from bufferlab.scenario import Scenario
from bufferlab.studies.size import size

NEW = range(9_001, 9_007)
"""Scenarios that nothing was chosen by."""


def test_drawn_scenarios_are_scenarios_and_differ() -> None:
    tables = [drawn(number) for number in range(1, 41)]
    assert all(Scenario.from_dict(table).links for table in tables)
    assert len({json.dumps(table) for table in tables}) == 40
    assert {control_of(table) for table in tables} == {"reno", "cubic-linux(hystart)", "bbr"}
    assert {table["bottleneck"]["queue"] for table in tables} == {"fifo", "codel", "fq_codel", "pie"}
    assert drawn(7) == drawn(7) and drawn(7, plain=True)["bottleneck"]["queue"] == "fifo"


@pytest.fixture(scope="module")
def seen() -> pl.DataFrame:
    """A row an estimate of what was captured of new scenarios."""
    rows = []
    for number in NEW:
        table = drawn(number, duration_s=20)
        result, found = captured(table)
        for place in PLACES:
            own = {"place": place, "control": control_of(table)}
            rows += [own | vars(each) for each in estimates(table, result, found[place])]
    known = pl.DataFrame(rows, infer_schema_length=None).filter(pl.col("estimate").is_not_null())
    return known.with_columns(error=(pl.col("estimate") / pl.col("truth") - 1).abs())


@pytest.mark.parametrize(
    ("quantity", "median", "quartile"),
    [
        ("rate", 0.01, 0.03),
        ("long flows at a time", 0.02, 0.05),
        ("round trip of long flows, 50%", 0.05, 0.15),
        ("short flows a second", 0.02, 0.05),
    ],
)
def test_new_scenarios_are_seen_as_they_are(
    seen: pl.DataFrame, quantity: str, median: float, quartile: float
) -> None:
    errors = seen.filter(pl.col("quantity") == quantity)["error"].sort().to_list()
    assert len(errors) >= 2
    assert errors[len(errors) // 2] < median and errors[3 * len(errors) // 4] < quartile


def test_the_buffer_from_a_capture_is_that_of_the_scenario() -> None:
    """Flows of two round-trip times, most of which never see an empty queue."""
    table = drawn(1021, plain=True)
    found = captured(table)[1]["receivers"]
    overrides = {"run.duration": "60 s", "run.warmup": "10 s"}
    made = found.scenario(mix=[(control_of(table), 100.0)])
    true, seen = (
        size(each, ["utilization >= 99 %"], with_rules=False, overrides=overrides, progress=False).packets
        for each in (table, made)
    )
    assert true is not None and seen == pytest.approx(true, rel=0.2, abs=1)


def test_quick_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "captures/estimates", "--quick"]) == 0
    text = capsys.readouterr().out
    assert "long flows at a time" in text and "receivers" in text


def test_the_page_names_its_document() -> None:
    assert "captures" in {each.name for each in bundled_documents()}
