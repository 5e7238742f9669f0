"""What spoils an answer for users: the same sentences below every headline, of what meets and what misses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bufferlab.render.advise.felt import gained_but_missed
from bufferlab.render.advise.half import half_is_better
from bufferlab.render.advise.reasons import (
    datagrams_lost,
    heavy_loss,
    long_wait,
    lossy_what_ifs,
    much_lost,
    slow_page,
    starved,
    unequal,
)
from bufferlab.render.advise.users import BAD_CALL, rated_text
from bufferlab.render.advise.words import size_text
from bufferlab.render.words import title_text
from bufferlab.results.metrics.metric import FRACTION
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.targets import bounds_loss, want_largest

WORTH_LESS: Final = 0.02
"""Loss from which on it is said that a larger buffer loses clearly less. Our choice: by the law of Mathis and
others (1.22 over the root of the loss) flows have then fewer than nine packets each under way."""

WORTH_A_LOOK: Final = 0.01
"""Loss from which on it is said that no larger buffer was tried. Our choice."""

LESS: Final = 2 / 3
"""What loses at most this part of another buffer's loss loses clearly less. Our choice."""

_RATINGS: Final = ("call_r", "call_mos")


def bewares(advice: Advice) -> Iterator[str]:
    """What users would not accept of the answer, or would have better, each as a sentence."""
    yield from filter(
        None,
        (
            _lost(advice) or _loses_less(advice),
            _is_largest_tried(advice),
            starved(advice),
            unequal(advice),
            slow_page(advice),
            bad_call(advice) or datagrams_lost(advice),
            lossy_what_ifs(advice),
            long_wait(advice.answer.checked("wait_mean_ms").mean, advice.site.rtt_ms, advice.targets),
            gained_but_missed(advice),
            half_is_better(advice),
        ),
    )


def loses_much(advice: Advice) -> bool:
    """Whether it loses what hardly anybody would accept, no target bounds that, and nothing outweighs it."""
    return (
        not advice.choice.outweighs
        and much_lost(advice.answer.checked("loss").mean, advice.targets) is not None
    )


def _lost(advice: Advice) -> str | None:
    entry = advice.answer
    lost, found = entry.checked("loss").mean, entry.least
    if advice.choice.meets:
        return heavy_loss(lost, advice.targets, None if found is None else found.memory)
    text = much_lost(lost, advice.targets)
    return None if text is None else f"{text}."


def _loses_less(advice: Advice) -> str | None:
    """That a larger buffer loses clearly less, where nobody bounds the loss, as a sentence."""
    entry = advice.answer
    lost = entry.checked("loss").mean or 0.0
    if entry.least is None or lost < WORTH_LESS or bounds_loss(advice.targets):
        return None
    memory = entry.least.memory
    sizes = [size for size in memory.sizes if size > entry.packets and memory.meets_all(size)]
    size = next((size for size in sizes if memory.loss(size) <= LESS * lost), None)
    if size is None:
        return None
    less = FRACTION.quantity(memory.loss(size), digits=2)
    return (
        f"It loses {FRACTION.quantity(lost, digits=2)}; {size_text(advice.site, size)} lose {less}. --target "
        "'loss <= 1 %' asks for less."
    )


def _is_largest_tried(advice: Advice) -> str | None:
    """That no larger buffer was tried than the answer, which loses packets, as a sentence."""
    entry = advice.answer
    if entry.queue.knob != "limit" or entry.least is None or want_largest(advice.targets):
        return None
    if entry.setting < max(entry.least.memory.sizes) or (entry.checked("loss").mean or 0.0) < WORTH_A_LOOK:
        return None
    return "No larger buffer was tried; --bounds sets up to where."


def bad_call(advice: Advice) -> str | None:
    """That many users of a call are dissatisfied, where no target bounds its rating, as a sentence."""
    asked = {target.group for target in advice.targets if target.metric.name in _RATINGS}
    ratings = {
        each.name: rating
        for each in advice.site.users
        if each.name not in asked
        and (rating := advice.answer.checked(f"{each.name}.{_RATINGS[0]}").mean) is not None
    }
    name = min(ratings, key=ratings.__getitem__, default=None)
    if name is None or ratings[name] >= BAD_CALL:
        return None
    return f"But {name} has {rated_text(ratings[name])}; --target '{name}.r > 80' asks for more."


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
