"""What spoils an answer for users: the same sentences below every headline, of what meets and what misses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from bufferlab.render.advise.felt import gained_but_lossy, gained_but_missed, losers_text
from bufferlab.render.advise.harm import harmed
from bufferlab.render.advise.reasons import (
    all_lose,
    datagrams_lost,
    long_wait,
    much_lost,
    slow_page,
    starved,
    unequal,
)
from bufferlab.render.advise.today import today_loses
from bufferlab.render.advise.trade import gained_by_room, half_is_better
from bufferlab.render.advise.users import BAD_CALL, rated_text
from bufferlab.render.advise.words import WORTH_LESS, size_text
from bufferlab.render.words import listed, title_text
from bufferlab.resolved import datagrams_bps
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.staying import betters_today
from bufferlab.studies.choosing.losses import felt
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS, LESS, is_standing, loses_heavily
from bufferlab.studies.targets import bounds_loss, want_largest
from bufferlab.studies.words import is_llq
from bufferlab.units import packets_text

_KNOWN: Final = 4
"""Runs of a larger buffer from which on its loss is said: as many as a change of the traffic has at least."""

_CLIFF: Final = 3.0
"""Times as much a smaller buffer loses, from which on it is said that none may be rounded down to."""

_NEAR_BELOW: Final = 0.4
"""Part of the answer's buffer down to which others are what one may round it to. Both are our choice."""

LITTLE_LOST: Final = 0.01
"""Loss below which a buffer is named that loses less than the answer. Our choice."""

_RATINGS: Final = ("call_r", "call_mos")


def spoilt(advice: Advice) -> str | None:
    """What hardly anybody would accept of an answer that meets its targets, as a sentence."""
    if loses_much(advice):
        return _lost(advice)
    return None if is_llq(advice.answer.queue.name) else _waits_long(advice)  # calls do not wait there


def grave(advice: Advice) -> Iterator[str]:
    """What hardly anybody would accept of the answer, each as a sentence; without what stands first."""
    better = gained_but_missed(advice) if loses_much(advice) else None  # what would be worth running
    texts = (
        better,
        _lost(advice) or _loses_less(advice),
        _cliff(advice),
        _waits_long(advice),
        starved(advice, advice.answer),
        _is_largest_tried(advice),
    )
    yield from _behind_first(advice, texts)


def bewares(advice: Advice) -> Iterator[str]:
    """What else users would not like of the answer, or would have better, each as a sentence.

    Without what stands first.
    """
    texts = (
        unequal(advice, advice.answer),
        slow_page(advice),
        bad_call(advice) or (None if _is_of_floods(advice) else datagrams_lost(advice)),
        harmed(advice),
        _waits_long(advice),
        None if loses_much(advice) else gained_but_missed(advice),
        gained_but_lossy(advice),
        half_is_better(advice),
    )
    yield from _behind_first(advice, texts)


def _behind_first(advice: Advice, texts: Iterable[str | None]) -> Iterator[str]:
    first = spoilt(advice) if advice.choice.meets else None
    yield from (text for text in texts if text is not None and text != first)


def _waits_long(advice: Advice) -> str | None:
    who = "all but calls" if is_llq(advice.answer.queue.name) else "packets"
    rtt_ms, targets = advice.site.rtt_ms, advice.targets
    lost = f"where they wait less, {HEAVY_LOSS * 100:g} % or more are lost"
    remedy = lost if _lose_if_shorter(advice) else None
    return long_wait(_felt("wait_mean_ms", advice), rtt_ms, targets, who=who, remedy=remedy)


def _lose_if_shorter(advice: Advice) -> bool:
    """Whether each buffer that was tried, and in which packets do not wait long, loses much."""
    memory, rtt_ms = advice.answer.buffers, advice.site.rtt_ms
    if memory is None or bounds_loss(advice.targets):
        return False
    waits = {size: memory.mean(size, "wait_mean_ms") for size in memory.sizes if size < advice.answer.setting}
    short = [size for size, wait in waits.items() if wait and not is_standing(wait, rtt_ms, advice.targets)]
    return bool(short) and all(loses_heavily(memory.loss(size), advice.targets) for size in short)


def loses_much(advice: Advice) -> bool:
    """Whether it loses what hardly anybody would accept, no target bounds that, and nothing outweighs it."""
    if advice.choice.outweighs or not loses_heavily(_felt("loss", advice), advice.targets):
        return False
    return not betters_today(advice)


def _felt(metric: str, advice: Advice) -> float | None:
    return felt(metric, lambda name: advice.answer.checked(name).mean, advice.site.users)


def _lost(advice: Advice) -> str | None:
    """A loss that hardly anybody would accept, and what loses less of what was tried."""
    lost = advice.answer.checked("loss").mean
    text = much_lost(lost, advice.targets)
    if lost is None or text is None:
        return None
    if _is_of_floods(advice):
        losers = losers_text(advice.answer, advice.site.users)
        return f"{_share(lost)} of the packets are lost: {losers}."
    if not advice.choice.meets:  # which the sentence of what is closest says
        return None
    as_today = f"; {today_loses(advice)}" if betters_today(advice) else ""
    return f"{text}{as_today or _of_all(advice) or _less_lost(advice)}."


def _is_of_floods(advice: Advice) -> bool:
    """Whether the loss that hardly anybody would accept is that of datagrams that do not yield."""
    lost = advice.answer.checked("loss").mean
    return loses_heavily(lost, advice.targets) and not loses_heavily(_felt("loss", advice), advice.targets)


def _of_all(advice: Advice) -> str | None:
    """That all buffers that were tried lose about as much."""
    memory = advice.answer.buffers
    return None if memory is None else all_lose(memory)


def _less_lost(advice: Advice) -> str:
    """The smallest FIFO buffer that was tried and loses little, and how long packets wait in it."""
    fifo = advice.best_fifo()
    memory = None if fifo is None else fifo.buffers
    if memory is None:
        return ""
    size = next((each for each in memory.sizes if memory.loss(each) < LITTLE_LOST), None)
    if size is None:
        return f"; no fifo up to {packets_text(max(memory.sizes))} loses less than {_share(LITTLE_LOST)}"
    wait = memory.mean(size, "wait_mean_ms")
    waits = "" if wait is None else f", and packets wait {MILLISECONDS.quantity(wait, digits=3)} in the mean"
    missed = [each for each in memory.targets if not memory.meets(size, each)]
    if not all(map(advice.needs.is_assumed, missed)):
        return ""  # it is no way out
    misses = f", which misses {listed([title_text(each) for each in missed])}" if missed else ""
    return f"; with a fifo of {packets_text(size)}{misses}, it is {_share(memory.loss(size))}{waits}"


def _loses_less(advice: Advice) -> str | None:
    """That a larger buffer loses clearly less, where nobody bounds the loss, as a sentence."""
    entry = advice.answer
    lost = entry.checked("loss").mean or 0.0
    memory = entry.buffers
    if memory is None or lost < WORTH_LESS or bounds_loss(advice.targets):
        return None
    if gained_by_room(advice) is not None:  # which says it, too
        return None
    known = [size for size in memory.sizes if len(memory.values(size)) >= _KNOWN]
    sizes = [size for size in known if size > entry.packets and memory.meets_all(size)]
    size = next((size for size in sizes if memory.loss(size) <= LESS * lost), None)
    if size is None:
        return None
    wait = memory.mean(size, "wait_mean_ms")
    waits = "" if wait is None else f", with a mean wait of {MILLISECONDS.quantity(wait, digits=3)}"
    return f"It loses {_share(lost)}; {size_text(advice.site, size)} lose {_share(memory.loss(size))}{waits}."


def _cliff(advice: Advice) -> str | None:
    """That a somewhat smaller buffer loses several times as much, so that none is to be rounded down to."""
    entry, memory, half = advice.answer, advice.answer.buffers, advice.half
    if memory is None or not advice.choice.meets:
        return None
    losses = {size: memory.loss(size) for size in memory.sizes}
    if half is not None:
        losses[half.size] = half.mean("loss").mean or 0.0
    near = [losses[size] for size in sorted(losses) if _NEAR_BELOW * entry.packets <= size < entry.packets]
    here = entry.checked("loss").mean or 0.0
    if not near or not loses_heavily(near[-1], ()) or near[-1] < _CLIFF * here:
        return None
    least, most = (FRACTION.text(each, digits=2) for each in (min(near[-1], *near), max(near)))
    lost = most if least == most else f"{least} to {most}"
    return f"Do not round down: below about {packets_text(entry.packets)} {lost} % of the packets are lost."


def _share(value: float) -> str:
    return FRACTION.quantity(value, digits=2)


def _is_largest_tried(advice: Advice) -> str | None:
    """That no larger buffer was tried than the answer, which loses packets, and why not, as a sentence."""
    entry, site = advice.answer, advice.site
    if entry.buffers is None or want_largest(advice.targets):
        return None
    if entry.setting < max(entry.buffers.sizes) or (entry.checked("loss").mean or 0.0) < WORTH_LESS:
        return None
    if site.allowed is not None and 2 * entry.setting > site.allowed.most:
        return f"No larger buffer was tried, as {site.allowed.title} takes no more than {site.allowed.most}."
    if is_standing(_felt("wait_mean_ms", advice) or 0.0, site.rtt_ms, advice.targets):
        why = "as packets wait long in this one; --for throughput tries them"
        return f"No larger buffer of {entry.title} was tried, {why}."
    return f"No larger buffer of {entry.title} was tried; --bounds sets up to where."


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
    share = _offered(advice)
    if share > 1:  # no queue helps
        return (
            f"But {name} has {rated_text(ratings[name])}: datagrams alone offer {_share(share)} of the rate."
        )
    return f"But {name} has {rated_text(ratings[name])}; --target '{name}.r > 80' asks for more."


def _offered(advice: Advice) -> float:
    """What datagrams offer, which do not yield, as a part of the link's rate."""
    crossing = (flow for flow in advice.resolved["flows"] if advice.site.link in flow["path"])
    return sum(map(datagrams_bps, crossing)) / advice.site.rate_bps


def missed_default(advice: Advice) -> str | None:
    """That all that the answer misses are targets that nobody has asked for, as a sentence."""
    missed = [check for check in advice.answer.checks if not check.met]
    if not missed or not all(advice.needs.is_assumed(check.target) for check in missed):
        return None
    values = "; ".join(
        f"{title_text(each.target)} {each.target.show_measured(each.found.mean)} instead of "
        f"{each.target.show(each.target.bound)}"
        for each in missed
    )
    return f"What it misses is our default ({values}): a target of your own replaces it."
