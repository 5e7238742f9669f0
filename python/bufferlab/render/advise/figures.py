"""What an answer does, as a few figures beside what was asked for: for the page, which has room for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bufferlab.render.advise.felt import Checked
from bufferlab.render.advise.words import sure_text
from bufferlab.render.grid import Column, Grid
from bufferlab.render.words import length_text, measured, metric_of, title_text, value_text
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.targets import Target

_PLAIN: Final = {
    "utilization": "time in which the link is busy (utilization)",
    "loss": "packets lost",
    "wait_mean_ms": "mean wait in the buffer",
    "wait_p99_ms": "99 of 100 packets wait at most",
}
"""What figures of the link are called where a table has room for it."""

_ALWAYS: Final = ("wait_mean_ms", "wait_p99_ms", "loss")


def figures(advice: Advice, shown: Checked) -> Grid:
    """Each target with what was measured, then waits and loss that no target is about.

    Args:
        advice: The advice.
        shown: What is to run: the answer, or what runs today.
    """
    asked = {each.name for each in advice.targets}
    rows = [
        *_asked(advice, shown),
        *([_PLAIN[name], _found(shown, name), "", ""] for name in _ALWAYS if name not in asked),
    ]
    runs = len(shown.runs)
    how = f"mean of {runs} run{'s' if runs > 1 else ''} of {length_text(advice.resolved)}"
    heads: list[str | Column] = ["measured", Column("asked for", "left"), Column("", "left")]
    return Grid([""], heads, rows, how)


def _asked(advice: Advice, shown: Checked) -> Iterator[list[str]]:
    answer, known = advice.answer, advice.verdicts(advice.answer)
    for each in answer.checks:
        target, is_answer = each.target, shown is answer
        found = each.found if is_answer else shown.checked(target.name)
        if is_answer:
            sure = each.met and not each.identical and known[target] == "met" and not advice.is_too_short
            verdict = f"{known[target]}, {sure_text(answer.confidence)}" if sure else known[target]
        else:
            verdict = "met" if target.margin(found.mean) >= 0 else "missed"
        yield [_name(target), value_text(target, found), _bound(target) + _source(advice, target), verdict]


def _name(target: Target) -> str:
    of = " (of 100: how good it is)" if target.metric.name == "call_r" else ""
    return _PLAIN.get(target.name, f"{title_text(target)}{of}")


def _bound(target: Target) -> str:
    return f"{'at least' if target.at_least else 'at most'} {target.show(target.bound)}"


def _source(advice: Advice, target: Target) -> str:
    """Who asked for a target, if the command's options did not."""
    if advice.needs.is_assumed(target):
        return ", our default"
    return ", by [advise]" if advice.needs.targets_from == "scenario" else ""


def _found(shown: Checked, name: str) -> str:
    return measured(shown.checked(name), metric_of(name).unit)
