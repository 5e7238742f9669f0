"""Why a link loses packets, and what else spoils an answer, as far as the runs tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from bufferlab.display import significant
from bufferlab.render.advise.felt import Checked
from bufferlab.resolved import FELT_BY_GOODPUT
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS
from bufferlab.stats import Estimate
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Entry, Users
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS, is_standing, loses_heavily
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target
from bufferlab.theory.tcp_models import MATHIS_CONSTANT_PER_SEGMENT
from bufferlab.units import PS_PER_MS, packets_text, parse_time

LITTLE_USED: Final = 0.9
"""Utilization below which it is reported, if no target is about it."""

NOTABLE_LOSS: Final = 0.01
"""Loss above which it is reported."""

STARVED: Final = 10.0
"""Flows starve that get this many times less than those of another group. Our choice."""

UNEQUAL: Final = 0.5
"""Jain's index of a group's goodput below which its flows share unequally: as if half of them had nothing."""

SLOW_PAGE_S: Final = 4.0
"""Time to fetch a page above which it is reported: what ITU-T G.1010 (appendix I) accepts of a web page."""

DATAGRAM_LOSS: Final = 0.01
"""Loss of datagrams above which it is reported: what ITU-T G.1010 (appendix I, performance targets) gives for
video phones; it gives 3 % for conversational voice."""

_WITH_INTERVAL: Final = ("codel", "fq_codel")
_INTERVAL: Final = "100 ms"
"""CoDel's default (RFC 8289, section 5.3)."""

ASK_FOR_LESS: Final = "; --target 'loss <= 1 %' asks for less"

_BOUND: Final = 0.01
"""The bound on losses that is proposed, if some buffer keeps it."""

_SEVERAL: Final = 3
"""From this many tried buffers on their losses say something about buffers."""

_MUCH_LESS: Final = 2.0
"""With another control the loss is reported if it is this many times less."""

_AGREES: Final = 3.0
"""The law of Mathis et al. explains a loss that is at most this many times its own."""


def heavy_loss(loss: float | None, targets: Sequence[Target], memory: Memory) -> str | None:
    """A loss that hardly anybody would accept, where no target bounds it, as a sentence.

    Args:
        loss: The answer's.
        targets: What was asked for.
        memory: The runs of a search for a buffer, which tell what others lose.
    """
    lost = much_lost(loss, targets)
    return None if lost is None else f"{lost}{all_lose(memory) or ASK_FOR_LESS}."


def all_lose(memory: Memory) -> str | None:
    """That all buffers that a search tried lose what hardly anybody would accept, to go on with; else `None`.

    Args:
        memory: The runs of the search, which tell what others lose.
    """
    known = {size: memory.loss(size) for size in memory.sizes}
    least = min(known.values(), default=0.0)
    if len(known) < _SEVERAL or least < HEAVY_LOSS:
        return None
    every = f"each of the {len(known)} buffers tried, up to {packets_text(max(known))},"
    return f", and {every} loses {math.floor(least * 100)} % or more"


def much_lost(loss: float | None, targets: Sequence[Target]) -> str | None:
    """The same, without a remedy."""
    if loss is None or not loses_heavily(loss, targets):
        return None
    return f"But {significant(loss * 100, 2)} % of the packets are lost"


def long_wait(
    wait_ms: float | None,
    rtt_ms: float,
    targets: Sequence[Target],
    *,
    who: str = "packets",
    remedy: str | None = None,
) -> str | None:
    """That packets wait longer than their path takes, where no target bounds what grows with the buffer.

    Args:
        wait_ms: The mean wait.
        rtt_ms: The round-trip time without waits.
        targets: What was asked for.
        who: Which packets.
        remedy: Why nothing is to be done; default what is.
    """
    if wait_ms is None or not is_standing(wait_ms, rtt_ms, targets):
        return None
    wait = MILLISECONDS.quantity(wait_ms, digits=3)
    return (
        f"But {who} wait {wait} in the mean, longer than the RTT of {significant(rtt_ms, 3)} ms; "
        f"{remedy or '--max-delay bounds it'}."
    )


def starved(advice: Advice, shown: Checked) -> str | None:
    """That flows of one group hardly get anything beside another's, as a sentence; `None` if none starve.

    Args:
        advice: The advice.
        shown: What it is said of: the answer, or what runs today.
    """
    return starving(advice.site.users, shown.checked)


def starving(users: Sequence[Users], mean: Callable[[str], Estimate]) -> str | None:
    """The same of groups of flows. One that pauses may have little to send, so that it starves is not said.

    Args:
        users: The groups.
        mean: Mean of a value over runs.
    """
    rates = {
        each.name: rate
        for each in users
        if each.kind in FELT_BY_GOODPUT and (rate := mean(f"{each.name}.goodput_bps").mean) is not None
    }
    always = [each.name for each in users if each.name in rates and each.kind == "bulk"]
    if len(rates) < 2 or not always:
        return None
    slow, fast = min(always, key=rates.__getitem__), max(rates, key=rates.__getitem__)
    if rates[fast] < STARVED * rates[slow]:
        return None
    low, high = (significant(rates[name] / 1e6, 2) for name in (slow, fast))
    return f"But {slow} starves: {low} Mbps a flow, where {fast} has {high} Mbps."


def unequal(advice: Advice, shown: Checked) -> str | None:
    """That flows of one group share unequally, where no target is about that, as a sentence.

    Args:
        advice: The advice.
        shown: What it is said of: the answer, or what runs today.
    """
    several = [each for each in advice.site.users if each.kind in FELT_BY_GOODPUT and each.flows > 1]
    indices = unasked(advice, several, "jain_index", shown=shown)
    name = min(indices, key=indices.__getitem__, default=None)
    if name is None or indices[name] >= UNEQUAL:
        return None
    return (
        f"But the flows of {name} share unequally: Jain's index {significant(indices[name], 2)} (1 is equal)."
    )


def slow_page(advice: Advice) -> str | None:
    """That a page takes long, where no target is about that, as a sentence."""
    pages = [each for each in advice.site.users if each.kind == "web"]
    times = unasked(advice, pages, "exchange_p50_s", family="exchange_")
    name = max(times, key=times.__getitem__, default=None)
    if name is None or times[name] <= SLOW_PAGE_S:
        return None
    wanted = f"--target '{name}.exchange_p50 <= {SLOW_PAGE_S:g} s'"
    return f"But {name}: {significant(times[name], 3)} s to fetch a page; {wanted} asks for less."


def unasked(
    advice: Advice,
    users: Sequence[Users],
    metric: str,
    *,
    family: str | None = None,
    shown: Checked | None = None,
) -> dict[str, float]:
    """What groups have of a metric, where that is known and no target is about it.

    Args:
        advice: The advice.
        users: The groups.
        metric: The metric.
        family: What the names of metrics begin with that say the same; default the metric alone.
        shown: With what they have it; default with the answer.
    """
    asked = {
        target.group
        for target in advice.targets
        if (target.metric.name == metric if family is None else target.metric.name.startswith(family))
    }
    found = shown or advice.answer
    means = {each.name: found.checked(f"{each.name}.{metric}").mean for each in users}
    return {name: mean for name, mean in means.items() if mean is not None and name not in asked}


def datagrams_lost(advice: Advice) -> str | None:
    """That datagrams are lost more than their users put up with, where no target bounds it, as a sentence."""
    lost = unasked(advice, [each for each in advice.site.users if each.kind == "udp"], "loss")
    name = max(lost, key=lost.__getitem__, default=None)
    if name is None or lost[name] <= DATAGRAM_LOSS:
        return None
    share = significant(lost[name] * 100, 2)
    return f"But {name} loses {share} %; --target '{name}.loss <= 1 %' asks for less."


def loss_note(advice: Advice) -> str | None:
    """A loss that is worth telling, with its reason if the runs show it."""
    entry = advice.answer
    loss, used = entry.checked("loss").mean, entry.checked("utilization").mean
    if loss is None or used is None or loss <= NOTABLE_LOSS:
        return None
    text = f"Loss is {significant(loss * 100, 2)} %"
    if all(each.control is None for each in advice.site.users):
        offered = used / (1 - loss)
        if offered > 1:
            share = significant(offered * 100, 3)
            return f"{text}: the datagrams offer {share} % of the rate, so no buffer avoids it."
        return _unbounded(advice, text)
    other = least_lost((each for each in advice.sensitivity if each.is_of_control), loss)
    if (few := _few_under_way(advice, loss, used)) is not None:
        return f"{text}: {few}{'' if other is None else f' With {_of_control(other)}.'}"
    if other is not None:
        return f"{text}: the congestion control causes most, as with {_of_control(other)}."
    return _unbounded(advice, text)


def _few_under_way(advice: Advice, loss: float, used: float) -> str | None:
    """That flows lose often since each has few packets under way, as sentences; `None` if that is no reason.

    It is none of BBR: the law is of flows that yield to losses.
    """
    those = filling(advice)
    flows = sum(each.flows for each in those)
    under_way = _under_way(advice, advice.answer, used)
    if not flows or any((each.control or "").startswith("bbr") for each in those):
        return None
    if loss > _AGREES * (MATHIS_CONSTANT_PER_SEGMENT * flows / under_way) ** 2:
        return None
    window = significant(under_way / flows, 2)
    have = f"{flows} flows have about {window} packets each" if flows > 1 else f"1 flow has {window} packets"
    return f"{have} under way. With so few, they lose often."


def _of_control(other: tuple[float, str]) -> str:
    """What the loss is with another control: "reno alone it is 0.18 %"."""
    share, title = other
    return f"{title} it is {significant(share * 100, 2)} %"


def least_lost(changes: Iterable[Sensitivity], loss: float) -> tuple[float, str] | None:
    """The change that loses least, if that is much less than a loss: what it loses, and its title."""
    lost = ((each.values.get("loss"), each.title) for each in changes)
    less = [(share, title) for share, title in lost if share is not None and share < loss / _MUCH_LESS]
    return min(less, default=None)


def idle_note(advice: Advice) -> str | None:
    """A link that is hardly used by those who could fill it, where nobody has asked for its use."""
    used = advice.answer.checked("utilization").mean
    asked = any(target.name == "utilization" for target in advice.targets)
    if used is None or used >= LITTLE_USED or asked or not filling(advice):
        return None
    share = FRACTION.quantity(used, digits=2)
    return f"Only {share} of the link is used; --target 'utilization >= 99 %' would bound that."


def interval_note(advice: Advice) -> str | None:
    """That CoDel's interval is shorter than the round trip, which it is to cover, or was set to cover it."""
    table, rtt_ms = advice.answer.table, advice.site.rtt_ms
    interval_ms = parse_time(table.get("interval", _INTERVAL)) / PS_PER_MS
    if table["discipline"] not in _WITH_INTERVAL:
        return None
    if interval_ms < rtt_ms:
        return (
            f"CoDel's interval, {significant(interval_ms, 3)} ms, is shorter than the round trip of "
            f"{significant(rtt_ms, 3)} ms, which it is to cover (RFC 8289, section 5.3): it drops before "
            "senders can have answered. In a scenario's queue, interval sets it."
        )
    if advice.answer.queue.is_own or interval_ms == parse_time(_INTERVAL) / PS_PER_MS:
        return None
    return (
        f"CoDel's interval is {significant(interval_ms, 3)} ms in place of {_INTERVAL}, to cover the round "
        "trip (RFC 8289, section 5.3); its usual target is 5 % of that (section 4.3)."
    )


def marks_note(advice: Advice) -> str | None:
    """That DCTCP meets nobody who marks."""
    marks = any(each["mark_above"] is not None for each in advice.resolved["links"])
    dctcp = any((each.control or "").startswith("dctcp") for each in advice.site.users)
    if marks or not dctcp or advice.answer.table != {"discipline": "fifo"}:
        return None
    return (
        "Nothing marks here, so that DCTCP backs off at losses, as Reno does (RFC 8257, 3.5); --set "
        f"links.{advice.site.link}.mark_above='30 packets' marks."
    )


def filling(advice: Advice) -> list[Users]:
    """The groups of TCP that could fill the link."""
    return [each for each in advice.site.users if each.control is not None and each.kind in FELT_BY_GOODPUT]


def _under_way(advice: Advice, entry: Entry, used: float) -> float:
    """Packets that are under way or wait, by Little's law."""
    wait_ms = entry.checked("wait_mean_ms").mean or 0.0
    return used * advice.site.rate_bps * (advice.site.rtt_ms + wait_ms) / 8e3 / advice.site.packet_bytes


def _unbounded(advice: Advice, text: str) -> str | None:
    """The loss with the target that would bound it; `None` without one, as the link's row has the loss."""
    bounded = any(target.name == "loss" for target in advice.targets)
    searched = advice.searched_buffer()
    memory = None if searched is None else searched.buffers
    light = [] if memory is None else [size for size in memory.sizes if memory.loss(size) <= _BOUND]
    return None if bounded or not light else f"{text}; --target 'loss <= 1 %' would bound it."
