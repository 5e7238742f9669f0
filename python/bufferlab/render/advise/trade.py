"""What less buffer gives, and more: what the last part of a target costs, whether half is better."""

from __future__ import annotations

from typing import Final

from bufferlab.display import significant
from bufferlab.render.advise.felt import share_text
from bufferlab.render.advise.words import size_text
from bufferlab.render.words import asked, beside, title_text
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.brief import gains
from bufferlab.studies.advise.entry import Smaller
from bufferlab.studies.advise.halved import Half
from bufferlab.studies.advise.roomier import are_two_sided, edges_that_meet, largest_that_meets
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS, loses_notably_more
from bufferlab.studies.choosing.thresholds import LESS as LESS_LOST
from bufferlab.studies.least import Least
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target, want_largest
from bufferlab.units import packets_text

LESS: Final = 0.5
"""The part of the answer's buffer that another one may have, at most, to be mentioned."""

BUSY: Final = 0.99
"""Utilization from which a link counts as full."""

NEARLY: Final = 0.01
"""Or by how much less the link may be used than with the answer."""


_LOST: Final = 0.001
"""Loss from which on it is worth saying first that a larger buffer loses clearly less. Our choice."""

_ROOM: Final = 1.25
"""How many times as large as the answer a buffer must be to be mentioned."""


def trade(advice: Advice) -> str | None:
    """What is had for half the buffer or less, by the runs of the search; `None` if it is nothing much."""
    answer = advice.answer
    found = answer.least
    if found is None or answer.queue.knob != "limit" or not advice.choice.meets:
        return None
    if answer.smaller is not None:
        return _larger(advice, answer.smaller)
    if answer.least_behind is not None:  # no target takes this buffer
        return None
    return _largest(advice) or _part(advice, found)


def _part(advice: Advice, found: Least) -> str | None:
    """What is had for half the buffer or less, where a target takes what is more."""
    answer = advice.answer
    used = answer.checked("utilization").mean
    is_largest = want_largest(advice.targets)
    if used is None or (any(each.wants_less for each in advice.targets) and not is_largest):
        return None
    small = next(
        (
            size
            for size in found.memory.sizes
            if size <= LESS * answer.packets
            and _mean(found.memory, size, "utilization") >= min(BUSY, used - NEARLY)
            and found.memory.loss(size) < HEAVY_LOSS
        ),
        None,
    )
    if small is None or found.memory.meets_all(small):  # no target takes what is more than that
        return None
    return _price(advice, found.memory, small)


def _most_room(advice: Advice) -> tuple[Memory, int] | None:
    """The search, and up to which larger buffer its runs meet all targets, if there is one.

    Who bounds waits beside other targets gets the least buffer that meets all, or a larger one that holds in
    more traffic, and may want the rest.
    """
    answer = advice.answer
    found = answer.least
    if found is None or answer.queue.knob != "limit" or not advice.choice.meets:
        return None
    if not are_two_sided(advice.targets):
        return None
    most = largest_that_meets(found.memory, answer.setting)
    return None if most < _ROOM * answer.setting else (found.memory, most)


def gained_by_room(advice: Advice) -> str | None:
    """That a larger buffer meets all targets, too, and loses clearly less or uses more, as a sentence."""
    if (found := _most_room(advice)) is None:
        return None
    (memory, most), answer = found, advice.answer
    used, lost, wait_ms = (
        answer.checked(name).mean or 0.0 for name in ("utilization", "loss", "wait_mean_ms")
    )
    uses_more = _mean(memory, most, "utilization") >= used + NEARLY
    if not uses_more and not (lost >= _LOST and memory.loss(most) <= LESS_LOST * lost):
        return None
    values = [
        *([f"utilization {beside(FRACTION, _mean(memory, most, 'utilization'), used)}"] if uses_more else []),
        f"loss {beside(FRACTION, memory.loss(most), lost, digits=2)}",
        f"mean wait {beside(MILLISECONDS, _mean(memory, most, 'wait_mean_ms'), wait_ms)}",
    ]
    least = "is about the least" if answer.setting == 1 else "are about the least"
    begin = f"{packets_text(answer.setting)} {least}; up" if answer.broken is None else "Up"
    return f"{begin} to {packets_text(most)} meet all targets, too: {', '.join(values)}."


def room(advice: Advice) -> str | None:
    """Up to which larger buffer all targets are met as well, by the runs of the search; else `None`."""
    if (found := _most_room(advice)) is None:
        return None
    memory, most = found
    loss = FRACTION.quantity(memory.loss(most), digits=2)
    wait = MILLISECONDS.quantity(_mean(memory, most, "wait_mean_ms"), digits=3)
    runs = len(memory.values(most))
    counted = "1 run" if runs == 1 else f"{runs} runs"
    return (
        f"Larger buffers meet all targets, too, up to {size_text(advice.site, most)}: loss {loss}, mean wait "
        f"{wait} ({counted})."
    )


def narrow(advice: Advice) -> str:
    """That hardly another buffer meets all targets, as the end of a sentence; empty if others do."""
    answer = advice.answer
    held = [each.target for each in answer.checks]  # of our default less may be asked than of other queues
    edges = None if answer.buffers is None else edges_that_meet(answer.buffers.of(held), answer.setting)
    if edges is None or not are_two_sided(advice.targets) or edges[1] >= _ROOM * edges[0]:
        return ""
    low, high = edges
    which = packets_text(high) if low == high else f"{low} to {packets_text(high)}"
    return f", with almost no room: only about {which} {'does' if low == high == 1 else 'do'}"


def _larger(advice: Advice, found: Smaller) -> str:
    """What the larger buffer does in place of which the answer's is taken."""
    size, wait = size_text(advice.site, found.former), MILLISECONDS.quantity(found.wait_ms, digits=3)
    if not found.is_eased:
        worse = share_text(found.behind)
        return (
            f"Up to {size} keep the bounds; with those users fare {worse} worse, and the mean wait is {wait}."
        )
    used, fare = FRACTION.quantity(found.used), "gain" if (found.behind.mean or 0.0) >= 0 else "lose"
    takes = f"{used} of use takes {size} and a mean wait of {wait}"
    return f"{takes}; users {fare} {share_text(found.behind)} by that."


def _loses_more(advice: Advice) -> bool:
    """Whether half of the largest buffer that keeps bounds on waits loses more, so that it is not taken."""
    half, targets = advice.half, advice.targets
    if half is None or not want_largest(targets):
        return False
    return loses_notably_more(half.values, advice.answer.values, targets)


def _largest(advice: Advice) -> str | None:
    """Why the largest buffer that keeps bounds on waits is taken, where half of it loses more."""
    half = advice.half
    if half is None or not _loses_more(advice):
        return None
    now, lost = (FRACTION.quantity(each.mean("loss").mean or 0.0, digits=2) for each in (advice.answer, half))
    because = f"About the largest within the bounds, since it loses {now}; half of it loses {lost}"
    if not _gains(advice, half):
        return f"{because}."
    return f"{because}, though users fare {share_text(half.rival.behind)} better with that."


def _price(advice: Advice, memory: Memory, small: int) -> str:
    answer, site = advice.answer, advice.site
    is_largest = want_largest(advice.targets)
    given = [*filter(None, (_quantity(memory, small, target) for target in advice.targets))]
    if is_largest:
        given.append(f"a loss of {FRACTION.quantity(_mean(memory, small, 'loss'), digits=2)}")
    given.append(f"a mean wait of {MILLISECONDS.quantity(_mean(memory, small, 'wait_mean_ms'), digits=3)}")
    runs = len(memory.values(small))
    counted = "1 run" if runs == 1 else f"{runs} runs"
    used = FRACTION.quantity(_mean(memory, small, "utilization"))
    wait = MILLISECONDS.quantity(answer.checked("wait_mean_ms").mean or 0.0, digits=3)
    takes = "target takes" if len(advice.targets) == 1 else "targets take"
    drain = significant(site.buffer(answer.packets)["ms"], 3)
    if is_largest:  # the bounds allow the answer, and nothing asks for it
        lost = FRACTION.quantity(answer.checked("loss").mean or 0.0, digits=2)
        last = f"The largest buffer that keeps the bounds loses {lost} and has a mean wait of {wait}."
    else:
        last = f"The {takes} {drain} ms of buffer and a mean wait of {wait}."
    return (
        f"{size_text(site, small)} {'uses' if small == 1 else 'use'} {used} of the link, with "
        f"{' and '.join(given)} ({counted}). {last}"
    )


def _quantity(memory: Memory, size: int, target: Target) -> str:
    """What a size gives of a target that it misses, beside the utilization."""
    if target.name == "utilization" or memory.meets(size, target):
        return ""
    given = target.show_measured(_mean(memory, size, target.name), digits=3)
    return f"{title_text(target)} {given} (missed: {target.show(target.bound)})"


def _mean(memory: Memory, size: int, name: str) -> float:
    """A mean over a size's runs; NaN if they have none."""
    mean = memory.mean(size, name)
    return float("nan") if mean is None else mean


def _gains(advice: Advice, half: Half) -> bool:
    """Whether users surely fare better with half of the buffer, and not by brief waits alone."""
    return gains(advice.answer, half, (advice.aspects, advice.weights), advice.needs.emphasis)


def half_is_better(advice: Advice) -> str | None:
    """That users fare better with half of the buffer, which misses nothing that was asked, as a sentence."""
    found = advice.half
    if found is None or not all(map(advice.needs.is_assumed, found.missed)) or _loses_more(advice):
        return None
    behind = found.rival.behind
    if not _gains(advice, found):
        return None
    if not found.missed:
        share = share_text(behind)
        return f"But users fare {share} better with half of it, {found.size} packets, which meets them, too."
    values = "; ".join(asked(each, found.mean(each.name).mean, is_assumed=True) for each in found.missed)
    return f"But users fare {share_text(behind)} better with half of it, {found.size} packets: {values}."
