"""The buffers that captures lead to where runs find controls and queue: docs/observe.md."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import polars as pl

from bufferlab.captured.findings import Findings
from bufferlab.errors import InputError
from bufferlab.evidence.captures.drawn import control_of, drawn
from bufferlab.evidence.captures.figures import FIRST_DECISION, is_near, sized
from bufferlab.evidence.captures.kept import Rows, rows_of
from bufferlab.evidence.captures.seen import captured
from bufferlab.evidence.documents import Work
from bufferlab.experiment.runner import Runner

SCENARIOS: Final = 30
QUICK_SCENARIOS: Final = 1

GIVEN: Final = "given"
NEAREST: Final = "nearest of the runs"

_FIFO: Final = {"bottleneck.queue": "fifo"}
"""What is asked is a FIFO's buffer, whatever queue a run shows."""


def found_tables(work: Work) -> dict[str, pl.DataFrame]:
    """A row where the controls come from: how many were answered, and how near the buffers are."""
    count = QUICK_SCENARIOS if work.request.quick else SCENARIOS
    rows = rows_of(work.request, range(FIRST_DECISION, FIRST_DECISION + count), _rows)
    groups = pl.DataFrame(rows, infer_schema_length=None).group_by("controls", maintain_order=True)
    return {"found": pl.DataFrame([_summary(str(name), own) for (name,), own in groups])}


def _rows(number: int, runner: Runner) -> Rows:
    truth = sized(drawn(number, plain=True), runner)
    if truth is None:
        return []
    seen = captured(drawn(number, plain=True))[1]["receivers"]
    return [row | {"scenario": number, "truth": truth} for row in _answers(seen, number, runner)]


def _answers(seen: Findings, number: int, runner: Runner) -> Rows:
    mix = [(control_of(drawn(number, plain=True)), 100.0)]
    rows: Rows = []
    for name, shares in ((GIVEN, mix), (NEAREST, None)):
        try:
            fit = seen.fit(mix=shares)
        except InputError:  # it says that it cannot know the rate, or the round trips
            rows.append({"controls": name, "packets": None, "queue": None, "is_sure": False})
            continue
        is_sure = shares is not None or fit.controls is not None
        packets = sized(fit.scenario, runner, _FIFO)
        rows.append({"controls": name, "packets": packets, "queue": fit.queue, "is_sure": is_sure})
    return rows


def _summary(name: str, rows: pl.DataFrame) -> dict[str, Any]:
    sure = rows.filter(pl.col("is_sure") & pl.col("packets").is_not_null())
    ratios = (sure["packets"] / sure["truth"]).to_numpy()
    other = rows.filter(~pl.col("is_sure") & pl.col("packets").is_not_null())
    return {
        "controls": name,
        "scenarios": rows.height,
        "answered": sure.height,
        "near": int(is_near(sure).sum()),
        "unsure": other.height,
        "unsure_near": int(is_near(other).sum()),
        "fifo": sure.filter(pl.col("queue") == "fifo").height,
        "median_ratio": float(np.median(ratios)) if ratios.size else None,
    }
