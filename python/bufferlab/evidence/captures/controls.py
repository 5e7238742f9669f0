"""Which controls are found in captures of links with one: docs/observe.md."""

from __future__ import annotations

from typing import Final

import polars as pl

from bufferlab.captured.findings import Findings
from bufferlab.errors import InputError
from bufferlab.evidence.captures.drawn import control_of, drawn
from bufferlab.evidence.captures.kept import Rows, rows_of
from bufferlab.evidence.captures.seen import PLACES, captured
from bufferlab.evidence.documents import Work
from bufferlab.experiment.runner import Runner

SCENARIOS: Final = 100
QUICK_SCENARIOS: Final = 3
FIRST: Final = 3_000
"""Numbers that nothing was chosen by."""

NONE: Final = "none_is_near"
UNKNOWN: Final = "rate_not_known"
FOUND: Final = ("cubic", "reno", "bbr", "bbr3", "mixes", NONE, UNKNOWN)


def control_tables(work: Work) -> dict[str, pl.DataFrame]:
    """A row a place, kind of queue and control: how often each was found."""
    count = QUICK_SCENARIOS if work.request.quick else SCENARIOS
    rows = rows_of(work.request, range(FIRST, FIRST + count), _rows)
    counted = pl.DataFrame(rows).group_by("place", "queue", "control", maintain_order=True)
    counts = [(pl.col("found") == name).sum().alias(name) for name in FOUND]
    found = counted.agg(pl.len().alias("links"), *counts)
    return {"controls": found.sort("place", "queue", "control")}


def _rows(number: int, _runner: Runner) -> Rows:
    table = drawn(number)
    seen = captured(table)[1]
    queue = "fifo" if table["bottleneck"]["queue"] == "fifo" else "codel, fq_codel, pie"
    common = {"queue": queue, "control": control_of(table).partition("(")[0]}
    return [{"place": place, **common, "found": found_in(seen[place])} for place in PLACES]


def found_in(found: Findings) -> str:
    """Which controls are taken, by a name of `FOUND`."""
    try:
        controls = found.fit().controls
    except InputError:
        return UNKNOWN
    if controls is None:
        return NONE
    return controls if controls in FOUND else "mixes"
