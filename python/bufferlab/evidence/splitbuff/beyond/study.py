"""What the studies have in common: cases are run, means taken, drawn and put into a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.registry import Reproduced, Request, reproduction
from bufferlab.evidence.splitbuff.beyond.cases import (
    COLUMNS,
    RATE,
    Case,
    Effort,
    Row,
    effort_of,
    measure,
    points_of,
    simulate_cases,
)
from bufferlab.results.result import Result

HEADINGS: Final[Mapping[str, str]] = {
    "fairness": "Jain's index",
    "fairness_ci95": "± 95 %",
    "utilization": "utilization %",
    "goodput_short_mbps": "short, Mbps",
    "goodput_long_mbps": "long, Mbps",
    "wait_short_ms": "short wait, ms",
    "wait_long_ms": "long wait, ms",
    "wait_ms": "wait, ms",
    "loss_percent": "loss %",
}
"""How the tables call what all studies measure."""

DOCUMENT = "splitbuff-beyond"
CITATION = "beyond S. Jabeen, M. B. Zafar, I. A. Qazi and Z. A. Uzmi's SplitBuff"


@dataclass(frozen=True)
class Study:
    """A question, and how it is answered.

    Attributes:
        name: Its name within the document.
        title: What is asked.
        cases: The scenarios, for an effort.
        draw: The figure, from one row a case.
        compare: The table, from the same; nothing is published.
        notes: What to know of the flows.
        measured: What is measured of a run.
        columns: The names of that.
    """

    name: str
    title: str
    cases: Callable[[Effort], list[Case]]
    draw: Callable[[pl.DataFrame], Figure]
    compare: Callable[[pl.DataFrame], pl.DataFrame]
    notes: tuple[str, ...]
    measured: Callable[[Result], Row] = measure
    columns: tuple[str, ...] = COLUMNS


def tabulate(points: pl.DataFrame, keys: Sequence[str], *columns: str | pl.Expr) -> pl.DataFrame:
    """One row a case: its keys, and columns of `HEADINGS` or of the study's own."""
    shown = [column if isinstance(column, pl.Expr) else _headed(column) for column in columns]
    return points.select(*keys, *shown)


def _headed(column: str) -> pl.Expr:
    value = 100 * pl.col(column) if column == "utilization" else pl.col(column)
    return value.alias(HEADINGS[column])


def register(study: Study) -> None:
    """Make a study known to `bufferlab reproduce`."""
    name = f"{DOCUMENT}/{study.name}"

    @reproduction(name=name, title=study.title, citation=CITATION)
    def run(request: Request) -> Reproduced:
        effort = effort_of(request)
        cases = study.cases(effort)
        runs = simulate_cases(name, cases, effort.seeds, request, study.measured)
        points = points_of(runs, cases, study.columns)
        return Reproduced(
            name=name,
            tables={"runs": runs, "points": points},
            figures={study.name: study.draw(points)},
            comparison=study.compare(points),
            notes=(*_notes(effort), *study.notes),
        )


def _notes(effort: Effort) -> list[str]:
    notes = [
        f"{RATE}, stack rfc (SACK, 1000-byte segments) unless a case has another, runs of "
        f"{effort.duration_s:g} s measured from {effort.warmup_s:g} s, means of {effort.seeds} with common "
        "seeds."
    ]
    if effort.quick:
        notes.append("Quick: one short run a case: shows that it works, not what is to be found.")
    return notes
