"""The tables of docs/observe.md."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.figure import Figure

from bufferlab.captured.findings import Findings
from bufferlab.errors import InputError
from bufferlab.evidence.captures.drawn import DURATION_S, control_of, drawn
from bufferlab.evidence.captures.kept import Rows, rows_of
from bufferlab.evidence.captures.seen import PLACES, captured, estimates
from bufferlab.evidence.documents import Work
from bufferlab.evidence.reproduction import Request
from bufferlab.experiment.runner import Runner
from bufferlab.render.plots.style import Drawing
from bufferlab.scenario import Scenario
from bufferlab.studies.internet import SHARES
from bufferlab.studies.size import size

SCENARIOS: Final = 200
QUICK_SCENARIOS: Final = 4
DECISIONS: Final = 100
FIRST_DECISION: Final = 1_000
"""Number of the first scenario whose buffer is sized; estimates are of others."""

TARGET: Final = "utilization >= 99 %"
NEAR_PERCENT: Final = 20.0

SHORTER_S: Final = (30, 10)
"""Captures of the decisions that are shorter, s."""

UNKNOWN: Final = f"{DURATION_S} s at the receivers, controls unknown"

_INTERNET: Final = [(control, share) for _, control, share in SHARES]

BEST: Final = f"{DURATION_S} s at the receivers"


def estimate_tables(work: Work) -> dict[str, pl.DataFrame]:
    """A row an estimate and place: its error over all scenarios."""
    return {"estimates": summaries(_seen(work.request))}


def summaries(rows: Rows) -> pl.DataFrame:
    """The errors of estimates, a row a place and quantity."""
    groups = pl.DataFrame(rows, infer_schema_length=None).group_by("place", "quantity", maintain_order=True)
    return pl.DataFrame([_summary(str(place), str(what), own) for (place, what), own in groups])


def decision_tables(work: Work) -> dict[str, pl.DataFrame]:
    """A row a kind of capture: how near the buffers are that it leads to."""
    rows = pl.DataFrame(_decided(work.request), infer_schema_length=None)
    groups = rows.group_by("capture", maintain_order=True)
    summaries = [_near(str(name), own) for (name,), own in groups]
    return {"decisions": pl.DataFrame(summaries, infer_schema_length=None), "each": rows}


def draw(work: Work) -> Figure:
    """For each kind of capture, the part of the buffers up to a ratio to the true one."""
    rows = pl.DataFrame(_decided(work.request), infer_schema_length=None)
    figure = Drawing(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for name, own in rows.filter(pl.col("packets").is_not_null()).group_by("capture", maintain_order=True):
        ratios = np.sort((own["packets"] / own["truth"]).to_numpy())
        axes.step(ratios, np.arange(1, len(ratios) + 1) / len(own), where="post", label=str(name[0]))
    near = NEAR_PERCENT / 100
    axes.axvspan(1 - near, 1 + near, color="C2", alpha=0.2, label=f"within {NEAR_PERCENT:g} %")
    axes.set(xscale="log", xlabel="buffer from the capture / true buffer", ylabel="part of the scenarios")
    axes.legend(fontsize="small")
    return figure


@lru_cache(maxsize=1)
def _seen(request: Request) -> Rows:
    count = QUICK_SCENARIOS if request.quick else SCENARIOS
    return rows_of(request, range(1, count + 1), _estimated)


def _estimated(number: int, _runner: Runner) -> Rows:
    table = drawn(number)
    result, found = captured(table)
    return [
        {"scenario": number, "place": place} | vars(seen)
        for place in PLACES
        for seen in estimates(table, result, found[place])
    ]


def _summary(place: str, quantity: str, rows: pl.DataFrame) -> dict[str, Any]:
    known = rows.filter(pl.col("estimate").is_not_null() & pl.col("estimate").is_finite())
    errors = 100 * (known["estimate"] / known["truth"] - 1).to_numpy()
    covered = known.filter(pl.col("low").is_not_null())
    within = ((covered["low"] <= covered["truth"]) & (covered["truth"] <= covered["high"])).mean()
    return {
        "place": place,
        "quantity": quantity,
        "scenarios": rows.height,
        "known": known.height,
        "bias_percent": float(np.median(errors)) if errors.size else None,
        "error_percent": float(np.median(np.abs(errors))) if errors.size else None,
        "p90_percent": float(np.quantile(np.abs(errors), 0.9)) if errors.size else None,
        "covered_percent": None if within is None else 100.0 * float(within),  # type: ignore[arg-type]
    }


@lru_cache(maxsize=1)
def _decided(request: Request) -> Rows:
    count = 1 if request.quick else DECISIONS
    return rows_of(request, range(FIRST_DECISION, FIRST_DECISION + count), _sizes)


def _sizes(number: int, runner: Runner) -> Rows:
    truth = sized(drawn(number, plain=True), runner)
    if truth is None:
        return []
    common = {"scenario": number, "truth": truth}
    return [common | {"capture": name, "packets": packets} for name, packets in _by_captures(number, runner)]


def _by_captures(number: int, runner: Runner) -> list[tuple[str, int | None]]:
    """The buffers that captures of a scenario lead to, by what was captured."""
    of_length = partial(drawn, number, plain=True)
    table = of_length()
    mix, rate = [(control_of(table), 100.0)], str(table["bottleneck"]["rate"])
    found = {seconds: captured(of_length(duration_s=seconds))[1] for seconds in (DURATION_S, *SHORTER_S)}
    whole = found[DURATION_S]
    answers = [
        (BEST, _answer(whole["receivers"], runner, mix=mix)),
        (f"{DURATION_S} s at the senders, rate known", _answer(whole["senders"], runner, mix=mix, rate=rate)),
        (UNKNOWN, _answer(whole["receivers"], runner, mix=_INTERNET)),
    ]
    return answers + [
        (f"{seconds} s at the receivers", _answer(found[seconds]["receivers"], runner, mix=mix))
        for seconds in SHORTER_S
    ]


def _answer(
    found: Findings, runner: Runner, mix: list[tuple[str, float]] | None = None, rate: str | None = None
) -> int | None:
    try:
        made = found.scenario(mix=mix, rate=rate)
    except InputError:  # it says that it cannot know the rate, or the round trips
        return None
    return sized(made, runner)


def sized(
    scenario: Scenario | dict[str, Any], runner: Runner, other: Mapping[str, str] = MappingProxyType({})
) -> int | None:
    """The buffer that `size` takes for a scenario, with other values of it."""
    overrides = {"run.duration": f"{DURATION_S} s", "run.warmup": "10 s", "run.seed": 1, **other}
    return size(scenario, [TARGET], with_rules=False, overrides=overrides, runner=runner).packets


def is_near(rows: pl.DataFrame) -> npt.NDArray[np.bool_]:
    """Which buffers of rows are within 20 % of the truth, or a packet, the finest step of an answer."""
    ratios = (rows["packets"] / rows["truth"]).to_numpy()
    off = (rows["packets"] - rows["truth"]).abs().to_numpy()
    near: npt.NDArray[np.bool_] = (np.abs(ratios - 1) <= NEAR_PERCENT / 100) | (off <= 1)
    return near


def _near(name: str, rows: pl.DataFrame) -> dict[str, Any]:
    known = rows.filter(pl.col("packets").is_not_null())
    ratios = (known["packets"] / known["truth"]).to_numpy()
    near = is_near(known)
    return {
        "capture": name,
        "scenarios": rows.height,
        "answered": known.height,
        "near": int(near.sum()),
        "median_ratio": float(np.median(ratios)) if ratios.size else None,
        "low_ratio": float(np.quantile(ratios, 0.05)) if ratios.size else None,
        "high_ratio": float(np.quantile(ratios, 0.95)) if ratios.size else None,
    }
