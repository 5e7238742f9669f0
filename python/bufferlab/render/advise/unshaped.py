"""A home's line without a shaper beside the answers together, in a sentence and in columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bufferlab.display import significant
from bufferlab.render.advise.compared import TURN, Column, Compared, felt_column, in_columns
from bufferlab.render.framed import Line
from bufferlab.render.words import beside, instead, listed
from bufferlab.results.metrics.metric import BRIEF_SECONDS, MILLISECONDS, NUMBER, SECONDS
from bufferlab.stats import Estimate
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.joint import LinksAdvice
from bufferlab.studies.advise.unshaped import Unshaped
from bufferlab.studies.choosing.thresholds import NOTABLE, NOTABLE_RATING

_PLACE: Final = 0
"""The last to give way where there is no room."""

_SAID: Final = {"calls", "pages", "latency"}
"""Kinds of what users feel that a shaper is for."""

_MOST: Final = 3
"""Groups that are named in the sentence."""


@dataclass(frozen=True)
class _AtLinks:
    """What was measured at several links, each value by the link and its name: "upload|wait_mean_ms"."""

    joint: tuple[tuple[str, Entry], ...] = ()
    unshaped: Unshaped | None = None

    def mean(self, name: str) -> Estimate:
        """Mean of a value over the runs."""
        link, _, metric = name.partition("|")
        if self.unshaped is not None:
            return self.unshaped.mean(link, metric)
        return dict(self.joint)[link].mean(metric)


def unshaped_text(advice: LinksAdvice) -> str | None:
    """What users feel without the shaper, as a sentence; `None` where it was not run."""
    found = advice.unshaped
    if found is None or not advice.joint:
        return None
    with_it, without = _together(advice), _AtLinks(unshaped=found)
    columns = [*_felt(advice, said=True)]
    if advice.is_worse_than_unshaped:
        columns += _felt(advice, said=False)
    texts = []
    for column in columns:
        now, then = without.mean(column.metric).mean, with_it.mean(column.metric).mean
        if now is None or then is None or abs(now - then) <= NOTABLE_RATING * abs(then):
            continue
        texts.append(f"{column.head} {_change(column, now, then)}")
    what = f"Without the shaper, in a modem's {found.queue} of {found.buffer}"
    if found.is_assumed:
        what += " (assumed; --today says another)"
    if not texts:
        return f"{what}, users would notice no difference in this traffic."
    return f"{what}: {'; '.join(texts[:_MOST])}."


def price_text(advice: LinksAdvice) -> str | None:
    """What the shaper costs: what each direction carries with it, and without; `None` if nobody knows."""
    found = advice.unshaped
    if found is None or not advice.joint or advice.shaped is None or advice.shaped.share >= 1.0:
        return None
    with_it, without = _together(advice), _AtLinks(unshaped=found)
    texts: list[str] = []
    gains: list[str] = []
    for each in advice.links:
        name = f"{each.site.link}|throughput_bps"
        now, then = without.mean(name).mean, with_it.mean(name).mean
        if now is None or then is None:
            return None
        verb, unit = ("", "") if texts else (" carries", " Mbps")
        rates = instead(f"{significant(then / 1e6, 3)}{unit}", significant(now / 1e6, 3))
        if then < now:
            texts.append(f"{each.site.link}{verb} {rates}")
        elif then > now * (1 + NOTABLE):
            gains.append(f"{each.site.link} gains: {rates}")
    return "; ".join([*texts, *gains]) if texts else None


def _change(column: Column, now: float, then: float) -> str:
    """What something is without the shaper and with it: "R 61 instead of 93"; "2.2 s instead of 0.71 s"."""
    if column.shown == "R":
        return f"R {beside(NUMBER, now, then)}"
    unit = column.unit
    if unit in {SECONDS, BRIEF_SECONDS}:
        unit = SECONDS if now >= 1 else BRIEF_SECONDS
    return instead(unit.quantity(now, digits=3), unit.quantity(then, digits=3))


def unshaped_lines(advice: LinksAdvice) -> Iterator[Line]:
    """Rows of the answers together and of the line without a shaper."""
    found = advice.unshaped
    if found is None or not advice.joint:
        return
    names = listed(list(dict.fromkeys(each.answer.queue.label for each in advice.links)))
    rows = [
        Compared("answer", f"{names}, shaped", _together(advice), place=_PLACE),
        Compared("unshaped", f"{found.queue}, {found.buffer}", _AtLinks(unshaped=found), place=_PLACE),
    ]
    waits = [
        Column(each.site.link, "wait ms", f"{each.site.link}|wait_mean_ms", MILLISECONDS)
        for each in advice.links
    ]
    columns = [*_felt(advice, said=True), *waits, *_felt(advice, said=False)]
    yield from in_columns(rows, columns, len(advice.joint[0].values))


def _together(advice: LinksAdvice) -> _AtLinks:
    pairs = zip(advice.links, advice.joint, strict=True)
    return _AtLinks(tuple((each.site.link, entry) for each, entry in pairs))


def _felt(advice: LinksAdvice, *, said: bool) -> Iterator[Column]:
    """What users feel where their data crosses: of the kinds that a shaper is for, or of the others."""
    aspects = [
        (each, aspect)
        for each in advice.links
        for aspect in each.aspects
        if aspect.metric.rpartition(".")[0] in {users.name for users in each.site.users}
        and aspect.metric.rpartition(".")[2] not in {"jain_index", "loss"}
        and (aspect.kind in _SAID) == said
    ]
    for each, aspect in sorted(aspects, key=lambda pair: TURN.index(pair[1].kind)):
        column = felt_column(each, aspect)
        yield column._replace(metric=f"{each.site.link}|{column.metric}")
