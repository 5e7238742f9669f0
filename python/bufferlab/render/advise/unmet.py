"""Where no setting meets all targets: which of them can be had alone, and with which settings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from bufferlab.render.advise.felt import kept_by_groups
from bufferlab.render.advise.what_if import controls_decide, is_monotone
from bufferlab.render.advise.words import entry_text, queue_text
from bufferlab.render.words import listed, title_text
from bufferlab.results.metrics.metric import FRACTION
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.beyond import Beyond
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.choosing.choice import missed_targets
from bufferlab.studies.choosing.order import place
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS, loses_heavily
from bufferlab.studies.least.lacking import lack
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target, Values, bounds_loss, mean_over_runs

_CONTRADICT: Final = "; each is met by some, so they contradict each other here"
_MAY_CONTRADICT: Final = "; each is met by some"
"""Of a first answer, which has not searched the delays that queues aim at."""

_FAR: Final = 2.0
"""Standard errors by which the mean of a few runs may miss a target by chance."""


def contradiction(advice: Advice) -> str:
    """That targets exclude each other, as an addition to a sentence; empty if they do not, or may not."""
    if advice.choice.meets or len(advice.targets) < 2:
        return ""
    if not all(any(_haves(advice, target)) for target in advice.targets):
        return ""
    return _MAY_CONTRADICT if advice.is_early else _CONTRADICT


def hopeless(advice: Advice) -> str | None:
    """That targets are met by nothing even if no other counts, and what comes nearest, as a sentence."""
    if advice.choice.meets or len(advice.targets) < 2:
        return None
    texts = [f"{target}{_nearest(advice, target)}" for target in _hopeless(advice)]
    return f"Nothing that was tried meets {listed(texts)}, even if no other target counts." if texts else None


def _hopeless(advice: Advice) -> list[Target]:
    """The targets that no setting meets."""
    return [
        target
        for target in advice.targets
        if not any(_haves(advice, target)) and not any(_perhaps(advice, target))
    ]


def _perhaps(advice: Advice, target: Target) -> Iterator[str]:
    """What misses a target in the mean, maybe by chance: "fifo, 1334 packets (0.54 %)"."""
    for entry in advice.entries.values():
        for text, runs in _tried(entry):
            margins = np.asarray([target.margin(run.get(target.name)) for run in runs])
            if len(margins) < 2 or not np.isfinite(margins).all() or margins.mean() >= 0:
                continue
            if margins.mean() + _FAR * margins.std(ddof=1) / math.sqrt(len(margins)) >= 0:
                yield f"{text} ({target.show(mean_over_runs(target.name, runs).mean, 2)})"


def nearly(advice: Advice) -> str | None:
    """The least that one of several targets would have to give for all to be met, as a sentence.

    Of each setting that misses one target alone in the mean, and loses no more than anybody accepts.
    """
    if advice.choice.meets or len(advice.targets) < 2:
        return None
    found = []
    for entry in _searched(advice):
        for text, runs in _tried(entry):
            missed = missed_targets(runs, advice.targets)
            if len(missed) != 1 or (mean := mean_over_runs(missed[0].name, runs).mean) is None:
                continue
            if loses_heavily(mean_over_runs("loss", runs).mean, advice.targets):
                continue
            target = missed[0]
            far = lack(target, np.asarray([target.margin(run.get(target.name)) for run in runs]))
            given = f"{title_text(target)} {target.show(mean, 3)} in place of {target.show(target.bound)}"
            found.append(
                (far, f"With {given}, {text} would do ({len(runs)} run{'s' if len(runs) > 1 else ''}).")
            )
    return min(found, key=lambda each: each[0])[1] if found else None


def without_one(advice: Advice) -> str | None:
    """Which targets can be had together if one of several is given up, and with what, as a sentence."""
    if advice.choice.meets or len(advice.targets) < 2:
        return None
    others = "the other" if len(advice.targets) == 2 else "the others"
    texts = [f"without {target}, {_meets_rest(advice, target, others)}" for target in advice.targets]
    text = "; ".join(texts)
    return f"{text[:1].upper()}{text[1:]}."


def _meets_rest(advice: Advice, target: Target, others: str) -> str:
    """The first setting that is proven to meet all targets but one; or that may, by few runs; or none."""
    at = advice.targets.index(target)
    for name in sorted(advice.entries, key=place):
        entry = advice.entries[name]
        rest = [check for number, check in enumerate(entry.checks) if number != at]
        if all(check.met and check.confidence >= advice.confidence for check in rest):
            return f"{entry_text(entry)} meets {others}"
    targets = [each for each in advice.targets if each != target]
    perhaps = lossy = None
    for entry in _searched(advice):
        memory = Memory(targets) if entry.least is None else entry.least.memory.of(targets)
        for size in memory.sizes:
            text = f"{queue_text(entry.queue)}, {entry.queue.show(size)}"
            if not memory.meets_all(size):
                continue
            if (lost := memory.loss(size)) >= HEAVY_LOSS and not bounds_loss(targets):
                lossy = lossy or f"{text} may meet {others}, but lose {FRACTION.quantity(lost, digits=2)}"
            elif memory.verdict(size, advice.confidence) == "met":
                return f"{text} meets {others}"
            elif perhaps is None:
                perhaps = f"{text} may meet {others} (not proven)"
    return perhaps or lossy or f"nothing that was tried meets {others}"


def narrower(advice: Advice) -> str | None:
    """That some groups' own packets keep a bound on all waits that the answer misses, as sentences."""
    missed = [check.target for check in advice.answer.checks if not check.met]
    kept = {each: kept_by_groups(advice.answer, each, advice.site.users) for each in missed}
    return " ".join(f"{title_text(each)} of groups{text}." for each, text in kept.items() if text) or None


def helps(advice: Advice) -> str | None:
    """What would meet the targets that the answer misses: a sentence for each of several, and for traffic."""
    texts = []
    if len(advice.targets) > 1:
        texts += [f"{target}: {_who(advice, target)}." for target in advice.targets]
    queue = advice.answer.queue
    shown = controls_decide(advice) is not None  # the first lines have it
    eased = [
        text
        for each in advice.sensitivity
        if not (shown and each.is_of_control) and (text := _eased(queue, each)) is not None
    ]
    if is_hopeless(advice):
        texts.append(f"Other traffic does not help: {', '.join(each.brief for each in advice.sensitivity)}.")
    if eased:
        texts.append(f"{'All met' if texts else 'Met'} with {', or '.join(eased)}.")
    return " ".join(texts) or None


def is_hopeless(advice: Advice) -> bool:
    """Whether the targets are missed in all changes of the traffic, too, by every setting that was tried."""
    changes = advice.sensitivity
    return bool(changes) and not any(each.holds or (each.least and each.least.size) for each in changes)


def _searched(advice: Advice) -> Iterator[Entry]:
    """Of each queue the entry that has most runs of it: the one that a search came to, if there was one."""
    found: dict[str, Entry] = {}
    for entry in advice.entries.values():
        known = found.get(entry.queue.name)
        if known is None or (known.least is None and entry.least is not None):
            found[entry.queue.name] = entry
    yield from found.values()


def _haves(advice: Advice, target: Target) -> Iterator[Entry]:
    """The queues of which some setting meets a target in the mean."""
    for entry in _searched(advice):
        if _larger(advice, entry, target) or any(_met(entry, target)):
            yield entry
    at = advice.targets.index(target)
    for entry in advice.entries.values():
        if entry.least is None and entry.checks[at].met:
            yield entry


def _larger(advice: Advice, entry: Entry, target: Target) -> Beyond | None:
    """A buffer beyond those that were searched for all that meets a target alone."""
    those = advice.beyond.get(entry.queue.name, ())
    return next((each for each in those if each.target == target and each.is_met), None)


def _met(entry: Entry, target: Target) -> list[int]:
    if entry.least is None:
        return []
    memory = entry.least.memory
    return [size for size in memory.sizes if memory.meets(size, target)]


def _who(advice: Advice, target: Target) -> str:
    """Which settings of which queues meet a target alone."""
    at, have, lacking = advice.targets.index(target), [], []
    searched = list(_searched(advice))
    for entry in searched:
        name = queue_text(entry.queue) if len(searched) > 1 else ""
        larger = _larger(advice, entry, target)
        if larger is not None:
            about = f"about {entry.queue.show(larger.size)}"  # a call is worse again with much more
            have.append(
                f"{name} from {about} on".lstrip() if is_monotone(target) else f"{name} at {about}".lstrip()
            )
        elif entry.least is not None and _met(entry, target):
            have.append(_range(name, entry, entry.least.memory, target))
        elif entry.least is None and entry.checks[at].met:
            have.append(entry_text(entry))
        else:
            lacking.append(queue_text(entry.queue))
    if not have:
        perhaps = next(_perhaps(advice, target), None)
        return f"by none{_nearest(advice, target)}" if perhaps is None else f"perhaps {perhaps}"
    if not lacking:
        return ", ".join(have)
    return f"{', '.join(have)}; not {', '.join(lacking)}"


def _range(name: str, entry: Entry, memory: Memory, target: Target) -> str:
    """The sizes of a queue that met a target in the mean."""
    sizes, show, met = memory.sizes, entry.queue.show, _met(entry, target)
    if len(met) == len(sizes):
        text = "at all settings"
    elif sizes.index(met[-1]) - sizes.index(met[0]) >= len(met):  # some between miss it
        text = f"at {len(met)} of {len(sizes)} settings, the least {show(met[0])}"
    elif met[-1] == sizes[-1]:
        text = f"from {show(met[0])} on"
    elif met[0] == sizes[0]:
        text = f"up to {show(met[-1])}"
    else:
        text = f"from {show(met[0])} to {show(met[-1])}"
    return f"{name} {text}".lstrip()


def _nearest(advice: Advice, target: Target) -> str:
    """What comes nearest to a target that nothing meets: " (nearest: 0.29 %, fq_codel, target 40 ms)"."""
    tried = [one for entry in advice.entries.values() for one in _tried(entry)]
    found = [
        (lack(target, margins), f"{target.show(mean, 3)}, {text}")
        for text, runs in tried
        if (mean := mean_over_runs(target.name, runs).mean) is not None
        and (margins := np.asarray([target.margin(run.get(target.name)) for run in runs])).size
    ]
    return f" (nearest: {min(found)[1]})" if found else ""


def _tried(entry: Entry) -> Iterator[tuple[str, Sequence[Values]]]:
    """What was tried of a queue, and its runs."""
    yield entry_text(entry), entry.runs
    name, show = queue_text(entry.queue), entry.queue.show
    if entry.least is not None:
        memory = entry.least.memory
        yield from ((f"{name}, {show(size)}", memory.values(size)) for size in memory.sizes)


def _eased(queue: Queue, each: Sensitivity) -> str | None:
    """Where the targets would be met."""
    if each.holds:
        return each.brief
    if each.least is None or each.least.size is None:
        return None
    return f"{each.brief} and about {queue.show(each.least.size)}"
