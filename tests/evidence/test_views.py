"""What a reproduction shows on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from bufferlab.evidence.reproduction import Reproduced
from bufferlab.evidence.verdicts import COMPARISON, ranged
from bufferlab.evidence.views import reproduced_view
from bufferlab.render.grid import Grid


def row(what: str, **changes: object) -> dict[str, Any]:
    nothing = dict.fromkeys(COMPARISON)
    texts = {"claim": what, "setting": "", "what": what, "others": "", "stated": "1", "why": ""}
    return nothing | texts | {"verdict": "agrees", "ours": 0.98765} | changes


def shown(
    *rows: dict[str, Any],
    grids: tuple[Grid, ...] = (),
    columns: int = 80,
    points: Sequence[dict[str, Any]] = (),
) -> str:
    frame = pl.DataFrame(rows, schema=dict(COMPARISON))
    tables = {"points": pl.DataFrame(points)}
    result = Reproduced("paper/fig1", tables, {}, frame, ("a note", "a note"), keys=("flows",), grids=grids)
    return reproduced_view(result).text(columns)


def cell(text: str, what: str) -> str:
    """What stands under "ours" in a row."""
    return " ".join(next(line for line in text.splitlines() if what in line).split()[3:-2])


SEVERAL = {"ours_ci95": 0.01, "ours_min": 0.9, "ours_max": 1.1}
EQUAL = {"ours_ci95": 0.0, "ours_min": 0.98765, "ours_max": 0.98765}


def test_a_range_is_shown_of_runs_that_differ_only() -> None:
    known: dict[str, dict[str, Any]] = {
        "several": SEVERAL,
        "equal": EQUAL,
        "single": EQUAL | {"ours_ci95": None},
        "none": {},
    }
    text = shown(*(row(what, **changes) for what, changes in known.items()), columns=200)
    assert cell(text, "several") == "0.9877 (0.9 … 1.1)"
    assert cell(text, "equal") == cell(text, "single") == cell(text, "none") == "0.9877"
    assert ranged(2.0, 2.0, 2.0) == "2"


def test_runs_are_identical_if_all_that_was_measured_is() -> None:
    utilization = {"utilization_min": 1.0, "utilization_max": 1.0}
    points = [
        {"flows": 1, **utilization, "loss_min": 0.1, "loss_max": 0.1},
        {"flows": 2, **utilization, "loss_min": 0.1, "loss_max": 0.2},
    ]
    rows = [row(what, setting=f"flows = {flows}", **EQUAL) for flows, what in ((1, "one"), (2, "two"))]
    text = shown(*rows, columns=200, points=points)
    lines = text.splitlines()
    assert "0.9877, identical runs" in next(line for line in lines if "one" in line)
    assert "0.9877" in next(line for line in lines if "two" in line)
    assert text.count("identical runs") == 1


def test_it_has_verdicts_reasons_tables_and_notes_within_80_columns() -> None:
    grid = Grid(["buffer"], ["utilization, %"], [["20", "75"]], "By buffer")
    differs = row("far", verdict="differs", why="Ours is of another kind. " * 8)
    text = shown(row("near"), differs, grids=(grid,))
    assert "Claims: agrees 1, differs 1, not comparable 0" in text
    assert "far (differs): Ours is of another kind." in text
    assert "By buffer" in text and "75" in text
    assert text.count("a note") == 1
    assert max(map(len, text.splitlines())) <= 80
