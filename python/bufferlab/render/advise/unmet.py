"""Where no setting meets all targets: which of them can be had alone, and with which settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bufferlab.render.advise.felt import kept_by_groups
from bufferlab.render.advise.mixes import controls_decide
from bufferlab.render.advise.what_if import is_monotone
from bufferlab.render.advise.words import entry_text, queue_text
from bufferlab.render.words import begun, listed, title_text
from bufferlab.results.metrics.metric import FRACTION
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.advise.unmet import Alone, Instead, Tried, alone, by_chance, instead, nearest, searched
from bufferlab.studies.targets import Target

_CONTRADICT: Final = "; each is met by some, so they contradict each other here"
_MAY_CONTRADICT: Final = "; each is met by some"
"""Of a first answer, which has not searched the delays that queues aim at."""


def contradiction(advice: Advice) -> str:
    """That targets exclude each other, as an addition to a sentence; empty if they do not, or may not."""
    if advice.choice.meets or len(advice.targets) < 2:
        return ""
    if not all(any(_haves(advice, target)) for target in advice.targets):
        return ""
    return _MAY_CONTRADICT if advice.is_early else _CONTRADICT


def ranges(advice: Advice) -> str | None:
    """With which buffers of the queue each target is met, where they exclude each other, as a sentence."""
    answer = advice.answer.queue
    if not contradiction(advice) or answer.knob != "limit":
        return None
    texts = []
    for target in advice.targets:
        found = alone(advice.entries, advice.targets, target, advice.beyond)
        own = next((each for each in found if each.entry.queue == answer and each.does), None)
        if own is None or own.entry.least is None:
            return None
        texts.append(f"{target} {_where(own, target, is_named=False)}")
    return f"With {queue_text(answer)}, {'; '.join(texts)}."


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
        if not any(_haves(advice, target)) and next(by_chance(advice.entries, target), None) is None
    ]


def without_one(advice: Advice) -> str | None:
    """Which targets can be had together if one of several is given up, and with what, as a sentence."""
    if advice.choice.meets or len(advice.targets) < 2:
        return None
    others = "the other" if len(advice.targets) == 2 else "the others"
    given_up = [instead(advice.entries, advice.targets, each, advice.confidence) for each in advice.targets]
    none = f"nothing that was tried meets {others}"
    texts = [f"without {each.given_up}, {text}" for each in given_up if (text := _meets_rest(each, others))]
    rest = [each.given_up for each in given_up if each.queue is None]
    if not texts:
        return f"Whichever is given up, {none}."
    if rest:
        texts.append(f"without {rest[0] if len(rest) == 1 else 'any other'}, {none}")
    text = "; ".join(texts)
    return f"{text[:1].upper()}{text[1:]}."


def _meets_rest(found: Instead, others: str) -> str | None:
    """The first setting that is proven to meet all targets but one; or that may, by few runs; or none."""
    if found.queue is None:
        return None
    text = _text(Tried(found.queue, found.setting, ()))
    value = f"{title_text(found.given_up)} {found.given_up.show(found.value, 3)}"
    if found.loss is not None:
        return f"{text} may meet {others} ({value}), but lose {FRACTION.quantity(found.loss, digits=2)}"
    if found.verdict == "met":
        return f"{text} meets {others} ({value})"
    return f"{text} may meet {others} (not proven; {value})"


def narrower(advice: Advice) -> str | None:
    """That some groups' own packets keep a bound on all waits that the answer misses, as sentences."""
    missed = [check.target for check in advice.answer.checks if not check.met]
    kept = {each: kept_by_groups(advice.answer, each, advice.site.users) for each in missed}
    texts = [f"Groups' own packets keep {title_text(each)}{text}." for each, text in kept.items() if text]
    return " ".join(texts) or None


def helps(advice: Advice) -> str | None:
    """What would meet the targets that the answer misses: a sentence for each of several, and for traffic."""
    texts = []
    is_said = ranges(advice) is not None and len(list(searched(advice.entries))) == 1
    if len(advice.targets) > 1 and not is_said:
        texts += [f"{begun(str(target), target)}: {_who(advice, target)}." for target in advice.targets]
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


def _haves(advice: Advice, target: Target) -> Iterator[Entry]:
    """The queues of which some setting meets a target in the mean."""
    found = alone(advice.entries, advice.targets, target, advice.beyond)
    yield from (each.entry for each in found if each.does)
    at = advice.targets.index(target)
    for entry in advice.entries.values():
        if entry.least is None and entry.checks[at].met:
            yield entry


def _who(advice: Advice, target: Target) -> str:
    """Which settings of which queues meet a target alone."""
    found = alone(advice.entries, advice.targets, target, advice.beyond)
    have = [_where(each, target, is_named=len(found) > 1) for each in found if each.does]
    if not have:
        perhaps = next(by_chance(advice.entries, target), None)
        return (
            f"by none{_nearest(advice, target)}"
            if perhaps is None
            else f"perhaps {_perhaps(perhaps, target)}"
        )
    lacking = [queue_text(each.entry.queue) for each in found if not each.does]
    return f"{', '.join(have)}; not {', '.join(lacking)}" if lacking else ", ".join(have)


def _where(each: Alone, target: Target, *, is_named: bool) -> str:
    """Where a queue meets a target: "fifo up to 20 packets"."""
    queue = each.entry.queue
    name = queue_text(queue) if is_named else ""
    if each.larger is not None:  # a call is worse again with much more
        about = f"about {queue.show(each.larger.size)}"
        return (f"{name} from {about} on" if is_monotone(target) else f"{name} at {about}").lstrip()
    return entry_text(each.entry) if each.entry.least is None else _range(name, each)


def _range(name: str, each: Alone) -> str:
    """The sizes of a queue that met a target in the mean."""
    sizes, show, met = each.sizes, each.entry.queue.show, each.met
    if len(met) == len(sizes):
        text = "at all settings"
    elif sizes.index(met[-1]) - sizes.index(met[0]) >= len(met):  # some between miss it
        text = f"at {len(met)} of {len(sizes)} settings from {show(met[0])} to {show(met[-1])}"
    elif met[-1] == sizes[-1]:
        text = f"from {show(met[0])} on"
    elif met[0] == sizes[0]:
        text = f"up to {show(met[-1])} (not with {show(sizes[len(met)])})"
    else:
        text = f"from {show(met[0])} to {show(met[-1])}"
    return f"{name} {text}".lstrip()


def _perhaps(each: Tried, target: Target) -> str:
    """What misses a target in the mean, maybe by chance: "fifo, 1334 packets (0.54 %)"."""
    return f"{_text(each)} ({target.show(each.mean(target), 2)})"


def _nearest(advice: Advice, target: Target) -> str:
    """What comes nearest to a target that nothing meets: " (nearest: 0.29 %, fq_codel, target 40 ms)"."""
    found = nearest(advice.entries, target)
    return "" if found is None else f" (nearest: {target.show(found.mean(target), 3)}, {_text(found)})"


def _text(each: Tried) -> str:
    """A queue with its setting."""
    return f"{queue_text(each.queue)}, {each.queue.show(each.setting)}"


def _eased(queue: Queue, each: Sensitivity) -> str | None:
    """Where the targets would be met."""
    if each.holds:
        return each.brief
    if each.least is None or each.least.size is None:
        return None
    return f"{each.brief} and about {queue.show(each.least.size)}"
