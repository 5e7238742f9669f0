"""The verdict at the head of docs/validation.md."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from bufferlab.evidence import overall
from bufferlab.evidence.overall import Tally, tally

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"


def test_a_setting_is_counted_by_its_worst_figure() -> None:
    rows = [
        ("agrees", "same", ""),
        ("agrees", "small", ""),
        ("explained", "large", "ties"),
        ("explained", "undecided", ""),
        ("supposed", "large", "ties"),
        ("supposed", "large", ""),
        ("unknown", "large", None),
        ("unknown", "same", ""),
        ("undecided", "same", ""),
        ("undecided", "undecided", ""),
    ]
    frame = pl.DataFrame(rows, ["setting", "verdict", "explanation"], orient="row")
    counted = tally(frame, ("setting",), lambda row: row["setting"] == "supposed")
    assert counted == Tally(agree=1, explained=1, supposed=1, unknown=1, undecided=1)
    assert (counted.differ, counted.settings) == (3, 5)


def test_the_page_begins_with_the_verdict_whose_numbers_add_up() -> None:
    title, marker, paragraph, *_ = (line for line in PAGE.read_text(encoding="utf-8").splitlines() if line)
    assert (title, marker) == ("# Validation", overall.BEGIN)
    found = re.match(
        r"\*\*Of (\d+) settings, (\d+) agree with ns-2, (\d+) differ and (\d+) are undecided", paragraph
    )
    assert found is not None
    settings, *parts = map(int, found.groups())
    assert sum(parts) == settings
