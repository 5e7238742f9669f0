"""The verdict at the head of docs/validation.md: how many settings agree with ns-2, how many do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from bufferlab.evidence.ns2 import report as published
from bufferlab.evidence.ns2.explanations import note
from bufferlab.evidence.ns2.judging import AGREE, CAP, CAP_POINTS, CONFIDENCE, Verdict
from bufferlab.evidence.ns2.reference import Reference, load_references
from bufferlab.evidence.referee import report as drawn
from bufferlab.evidence.referee.study import DECIDING

BEGIN: Final = "<!-- verdict: python -m bufferlab.evidence.report -->"

_KEYS: Final = ("scenario", "setting")

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Tally:
    """How many settings came to what.

    Attributes:
        agree: Every figure lies within the margin.
        explained: Some lie beyond it, all for reasons that an experiment shows.
        supposed: Some lie beyond it, and a reason is known that no experiment has shown.
        unknown: Some lie beyond it for no known reason.
        undecided: The others.
    """

    agree: int
    explained: int
    supposed: int
    unknown: int
    undecided: int

    @property
    def differ(self) -> int:
        """Settings with a figure beyond the margin."""
        return self.explained + self.supposed + self.unknown

    @property
    def settings(self) -> int:
        """All settings."""
        return self.agree + self.differ + self.undecided


def tally(frame: pl.DataFrame, keys: tuple[str, ...], has_note: Callable[[Row], bool]) -> Tally:
    """Count the settings of a comparison.

    Args:
        frame: One row a setting and figure, with the columns `verdict` and `explanation`.
        keys: The columns that name a setting.
        has_note: Whether a reason is known for the differences of a setting, by its columns `keys`.
    """
    large = pl.col("verdict") == str(Verdict.LARGE)
    settings = frame.group_by(keys, maintain_order=True).agg(
        agrees=pl.col("verdict").is_in([str(each) for each in AGREE]).all(),
        differs=large.any(),
        open=(large & (pl.col("explanation").fill_null("") == "")).any(),
    )
    differing = settings.filter("differs")
    unexplained = differing.filter("open").to_dicts()
    supposed = sum(has_note(each) for each in unexplained)
    agree = int(settings["agrees"].sum())
    return Tally(
        agree=agree,
        explained=differing.height - len(unexplained),
        supposed=supposed,
        unknown=len(unexplained) - supposed,
        undecided=settings.height - agree - differing.height,
    )


def verdict(page: Path) -> str:
    """One paragraph, by the details of both comparisons beside the page."""
    references = {(each.setting.scenario, each.setting.title): each for each in load_references()}
    sized = drawn.detail(page).filter(pl.col("figure").is_in(DECIDING))
    random = tally(sized, ("number",), lambda _: False)
    frame = published.detail(page)
    known = tally(frame, _KEYS, lambda row: bool(note(_reference(references, row).setting)))
    exact = tally(frame.filter(pl.col("class") == "exact"), _KEYS, lambda _: False)
    both = Tally(*(one + other for one, other in zip(astuple(random), astuple(known), strict=True)))
    once = _undecided_once(frame, references)
    return (
        f"**Of {both.settings} settings, {both.agree} agree with ns-2, {both.differ} differ "
        f"and {both.undecided} are undecided.** A setting agrees if every figure lies within {CAP:.0%} of "
        f"ns-2's ({CAP_POINTS * 100:g} points for utilization and shares) with {CONFIDENCE:.0%} confidence. "
        "It differs if a figure lies beyond that with the same confidence. "
        f"Of the {random.settings} settings drawn at random, {random.agree} agree in utilization, mean "
        f"queue, wait and loss, {_differ(random)} and {random.undecided} are undecided because runs scatter "
        f"too widely. Of the {known.settings} settings of published work, {known.agree} agree in every "
        f"metric, {_differ(known)} and {known.undecided} are undecided, {once} of "
        f"which ns-2 ran only once. {exact.agree} of {exact.settings} settings whose only randomness is the "
        "start times agree packet by packet. "
        f"Of the {both.differ} that differ, an experiment explains {both.explained or 'none'}, for "
        f"{both.supposed or 'none'} ns-2's sources or single runs suggest a cause, and for "
        f"{both.unknown or 'none'} no cause is known ([which](#differences-that-nothing-explains-yet))."
    )


def _differ(counted: Tally) -> str:
    return f"{counted.differ} {'differs' if counted.differ == 1 else 'differ'}"


def _reference(references: Mapping[tuple[str, str], Reference], row: Row) -> Reference:
    return references[row["scenario"], row["setting"]]


def _undecided_once(frame: pl.DataFrame, references: Mapping[tuple[str, str], Reference]) -> int:
    """How many of the undecided settings ns-2 ran with one seed only."""
    verdicts = frame.group_by(_KEYS).agg(pl.col("verdict"))
    return sum(
        len(_reference(references, row).runs) == 1
        for row in verdicts.iter_rows(named=True)
        if Verdict.LARGE not in row["verdict"] and Verdict.UNDECIDED in row["verdict"]
    )
