"""Why a larger buffer was taken than the least that meets the targets, in words."""

from __future__ import annotations

from bufferlab.display import significant
from bufferlab.render.advise.felt import share_text
from bufferlab.results.metrics.metric import FRACTION
from bufferlab.studies.advise.entry import Entry, Site
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS, NOTED_LOSS, may_be_chance
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import bounds_loss
from bufferlab.units import packets_text


def least_text(site: Site, entry: Entry) -> str | None:
    """That less buffer meets the targets, too, and what it costs users; `None` where this is the least."""
    behind, found = entry.least_behind, entry.least
    if behind is None or found is None or found.size is None:
        return None
    if (passed := passed_over(entry, found.size)) is not None:
        return passed
    count = packets_text(found.size)
    if site.allowed is not None and found.size <= site.allowed.least:
        count += f" ({site.allowed.title} takes no less)"
    if entry.broken is not None:
        return f"The least that meets the targets: {count}; {_breaks(entry.broken)} with it"
    if is_largest_for_loss(entry):
        losses = map(found.memory.loss, (found.size, entry.setting))
        less, now = (FRACTION.quantity(each, digits=2) for each in losses)
        largest = f"{packets_text(entry.setting)}, about the largest that keeps the bounds, lose {now}"
        return f"The least that meets the targets: {count}; but it loses {less}, and {largest}"
    if loss_decided(entry):
        lost = found.memory.loss(found.size)
        near = _beside(entry, found.size, found.memory)
        return f"The least that meets the targets: {count}; but it loses {significant(lost * 100, 2)} %{near}"
    worse = f"users fare {share_text(behind)} worse with it than with {entry.setting}"
    chance = ", which may be chance" if may_be_chance(behind) else ""
    return f"The least that meets the targets: {count}; {worse}{chance}"


def _breaks(broken: int) -> str:
    return "one what-if misses a target" if broken == 1 else f"{broken} what-ifs miss a target"


def is_largest_for_loss(entry: Entry) -> bool:
    """Whether the largest buffer within bounds on waits was taken since the least loses more."""
    found, targets = entry.least, [each.target for each in entry.checks]
    is_larger = entry.least_behind is not None and entry.broken is None
    if not is_larger or found is None or found.size is None or bounds_loss(targets):
        return False
    lost, now = (found.memory.loss(size) for size in (found.size, entry.setting))
    return any(each.wants_less for each in targets) and lost >= NOTED_LOSS and lost > now


def loss_decided(entry: Entry) -> bool:
    """Whether a larger buffer than the least was taken since that loses what hardly anybody accepts."""
    found = entry.least
    if entry.least_behind is None or found is None or found.size is None:
        return False
    lost, now = (found.memory.loss(size) for size in (found.size, entry.setting))
    return lost >= HEAVY_LOSS > now


def _beside(entry: Entry, least: int, memory: Memory) -> str:
    """What the buffers before and after a larger one than the least lose; each is twice the last."""
    sizes = sorted(memory.sizes)
    at = sizes.index(entry.setting)
    texts = [
        f"{size} lose {significant(lost * 100, 2)} %"
        for size in (*sizes[max(at - 1, 0) : at], *sizes[at + 1 : at + 2])
        if size != least and (lost := memory.mean(size, "loss")) is not None
    ]
    return f", {', '.join(texts)}" if texts else ""


def passed_over(entry: Entry, least: int | None = None) -> str | None:
    """That a buffer below the least that a first answer has searched meets the targets, but loses much."""
    if entry.least is None:
        return None
    memory, below = entry.least.memory, entry.setting if least is None else least
    smaller = [size for size in memory.sizes if size < below and memory.meets_all(size)]
    lossy = [size for size in smaller if memory.loss(size) >= HEAVY_LOSS]
    if not lossy or any(lossy[0] < size < below and size not in smaller for size in memory.sizes):
        return None  # one that meets the targets below others that do not has met them by chance
    lost = FRACTION.quantity(memory.loss(lossy[0]), digits=2)
    them = "the target" if len(memory.targets) == 1 else "the targets"
    loses = "loses" if lossy[0] == 1 else "lose"
    return f"{packets_text(lossy[0])} may meet {them}, too, but {loses} {lost}"
