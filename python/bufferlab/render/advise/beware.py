"""What spoils an answer for users: the same sentences below every headline, of what meets and what misses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bufferlab.display import significant
from bufferlab.render.advise.felt import gained_but_missed
from bufferlab.render.advise.reasons import datagrams_lost, heavy_loss, lossy_what_ifs, much_lost, starved
from bufferlab.render.words import title_text
from bufferlab.results.metrics.metric import MILLISECONDS
from bufferlab.studies.advise.advice import Advice

LONG_WAIT_MS: Final = 20.0
"""A mean wait below this is not called long, however short the path. Our choice, well below the 150 ms
one way up to which ITU-T G.114 finds calls unharmed."""


def bewares(advice: Advice) -> Iterator[str]:
    """What users would not accept of the answer, or would have better, each as a sentence."""
    yield from filter(
        None,
        (
            _lost(advice),
            starved(advice),
            datagrams_lost(advice),
            lossy_what_ifs(advice),
            long_wait(advice),
            gained_but_missed(advice),
        ),
    )


def loses_much(advice: Advice) -> bool:
    """Whether it loses what hardly anybody would accept, and no target bounds that."""
    return much_lost(advice.answer.checked("loss").mean, advice.targets) is not None


def _lost(advice: Advice) -> str | None:
    entry = advice.answer
    lost, found = entry.checked("loss").mean, entry.least
    if advice.choice.meets:
        return heavy_loss(lost, advice.targets, None if found is None else found.memory)
    text = much_lost(lost, advice.targets)
    return None if text is None else f"{text}."


def long_wait(advice: Advice) -> str | None:
    """That packets wait longer than their path takes, where no target bounds what grows with the buffer."""
    wait_ms = advice.answer.checked("wait_mean_ms").mean
    rtt_ms = advice.site.rtt_ms
    if wait_ms is None or wait_ms < max(rtt_ms, LONG_WAIT_MS) or any(t.wants_less for t in advice.targets):
        return None
    wait = MILLISECONDS.quantity(wait_ms, digits=3)
    return (
        f"But packets wait {wait} in the mean, longer than the round trip of {significant(rtt_ms, 3)} ms; "
        "--max-delay bounds it."
    )


def missed_default(advice: Advice) -> str | None:
    """That all that the answer misses are targets that nobody has asked for, as a sentence."""
    missed = [check for check in advice.answer.checks if not check.met]
    if not missed or not all(advice.needs.is_assumed(check.target) for check in missed):
        return None
    values = "; ".join(
        f"{title_text(each.target)} is {each.target.show_measured(each.found.mean)}, not "
        f"{each.target.show(each.target.bound)}"
        for each in missed
    )
    return f"What it misses is our default ({values}): a target of your own replaces it."
