"""What other traffic would do to the answer, in words."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Final

from bufferlab.display import significant
from bufferlab.render.advise.harm import harms
from bufferlab.render.advise.least import loss_decided
from bufferlab.render.advise.words import about_size
from bufferlab.render.framed import WITHIN, Line
from bufferlab.render.words import begun, listed, title_text
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.binding import binds
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.advise.staying import keeps
from bufferlab.studies.choosing.thresholds import NOTED_LOSS, loses_heavily
from bufferlab.studies.targets import Target, bounds_loss, want_largest

_FIRST_SIZE: Final = re.compile(r"\(about (\d+)")

_FEW: Final = 2
"""Changes of the traffic that are named in the first lines."""

_MOST_LINES: Final = 4
"""Lines of the box that the warning takes at most."""


def of_kept(advice: Advice) -> Advice:
    """The advice with the changes of what runs today in place of the answer's, where that is kept."""
    if advice.today is None or not keeps(advice):
        return advice
    return dataclasses.replace(advice, sensitivity=advice.today.sensitivity)


def supposed_text(advice: Advice) -> str | None:
    """Whether the answer holds in the scenarios that may be as true, as a sentence; `None` without any."""
    tried = [each for each in advice.sensitivity if each.is_supposed]
    if not tried or not advice.choice.meets:
        return None
    holding = [each.brief for each in tried if _is_fine(advice, each)]
    other = [f"with {each.brief} {_failing(advice, each)}" for each in tried if not _is_fine(advice, each)]
    what = "what runs today" if keeps(advice) else "the answer"
    held = f"{what} holds with {listed(holding)}, too" if holding else f"{what} does not hold"
    text = "; ".join([held, *other])
    return f"{text[0].upper()}{text[1:]}."


def _failing(advice: Advice, each: Sensitivity) -> str:
    """What the answer misses in a change, or what harm it does there, as a clause."""
    if not each.missed:
        return f"it {' and '.join(text for text, _ in harms(advice, each))}"
    target = each.missed[0]
    return f"{title_text(target)} is {_broken(advice, each, target)}"


def _is_fine(advice: Advice, each: Sensitivity) -> bool:
    """Whether the answer meets all targets in a change, and does no harm."""
    return each.holds and not harms(advice, each)


def fragile(advice: Advice) -> str | None:
    """That other traffic would miss a target: which traffic, which target, about which buffer holds there."""
    changes = _what_ifs(advice)
    missing = [*_breaking(advice, changes)]
    if not missing or not advice.choice.meets:
        return None
    counted = f"{len(missing)} of {len(changes)} what-ifs miss"
    common = _for_all(advice, missing)
    held = _from_to(advice, missing) if common is None else common
    missed = list(dict.fromkeys(target for each in missing for target in each.missed))
    if all(map(advice.needs.is_assumed, missed)):
        where = f"{len(missing)} of {len(changes)} what-ifs{_named_few(missing)}{held}"
        return _unasked(advice, missed, where)
    counted = f"Fragile: {counted} {_them(advice)}"
    if len(missed) == 1:
        which = "" if len(advice.targets) == 1 else f" ({title_text(missed[0])})"
        return f"{counted}{which}{_named_few(missing)}{held}."
    texts = [
        f"{counted}: {_naming_packets(_by_target(advice, missing, sizes=common is None))}{common or ''}.",
        f"{counted}: {_by_target(advice, missing, sizes=False)}{held}.",
        f"{counted}{held}.",
    ]
    return next((text for text in texts if len(wrap(text, WITHIN)) <= _MOST_LINES), texts[-1])


def _breaking(advice: Advice, changes: Sequence[Sensitivity]) -> Iterator[Sensitivity]:
    """The changes that surely miss a target which may decide the answer, each with those of its targets."""
    for each in changes:
        missed = tuple(target for target in each.missed if binds(advice, target))
        if missed and each.surely_breaks:
            yield dataclasses.replace(each, missed=missed)


def _named_few(missing: Sequence[Sensitivity]) -> str:
    """With which traffic targets are missed, unless that is with many."""
    return f": with {' or '.join(map(_with_value, missing))}" if len(missing) <= _FEW else ""


def _with_value(each: Sensitivity) -> str:
    """A change of the traffic, with what it gives of the one target that it misses: "8 flows (79 %)"."""
    known = [(target, each.values.get(target.name)) for target in each.missed]
    if len(known) != 1 or known[0][1] is None:
        return each.brief
    ((target, value),) = known
    return f"{each.brief} ({target.show_measured(value, digits=3)})"


def _unasked(advice: Advice, missed: Sequence[Target], where: str) -> str:
    """The same of targets that nobody has asked for: whether that matters is for the user to say."""
    if len(advice.targets) == 1:  # the first lines name it
        return f"Missed in {where}."
    bounds = listed([f"{title_text(target)} {target.show(target.bound)}" for target in missed])
    return f"Our default target, {bounds}, is missed in {where}."


def _them(advice: Advice) -> str:
    return "the target" if len(advice.targets) == 1 else "a target"


def _by_target(advice: Advice, missing: Sequence[Sensitivity], *, sizes: bool) -> str:
    """Which targets are missed with what: "utilization with 2 flows and half the RTT; loss with bbr"."""
    found: dict[tuple[Target, ...], list[str]] = {}
    for each in missing:
        found.setdefault(each.missed, []).append(each.brief + (_holds_there(advice, each) if sizes else ""))
    return "; ".join(
        f"{listed([_named(advice, target) for target in targets])} with {listed(changes)}"
        for targets, changes in found.items()
    )


def _named(advice: Advice, target: Target) -> str:
    """A target; of one that nobody has asked for, that."""
    return title_text(target) + (" (our default)" if advice.needs.is_assumed(target) else "")


def _holds_there(advice: Advice, each: Sensitivity) -> str:
    """About which setting meets the targets in a change: " (about 320 do)", " (target 12 ms does)"."""
    if each.least is None:
        return ""
    size, queue = each.least.size, advice.answer.queue
    if size is None:
        return f" (no {_knob(advice)} tried does)"
    return (
        f" (about {about_size(size)} {'does' if size == 1 else 'do'})"
        if queue.knob == "limit"
        else f" ({queue.show(size)} does)"
    )


def _knob(advice: Advice) -> str:
    return "buffer" if advice.answer.queue.knob == "limit" else "target delay"


def _about(advice: Advice, size: int) -> str:
    """That a setting holds: "about 320 packets hold", "a target delay of about 12 ms holds"."""
    is_one = size == 1 or advice.answer.queue.knob == "target"
    return f"{_setting_about(advice, size)} {'holds' if is_one else 'hold'}"


def _setting_about(advice: Advice, size: int) -> str:
    """About which setting: "about 320 packets", "a target delay of about 12 ms"."""
    if advice.answer.queue.knob == "limit":
        return f"about {advice.answer.queue.show(about_size(size))}"
    return f"a target delay of about {_delay(advice, size)}"


def _delay(advice: Advice, size: int) -> str:
    return advice.answer.queue.show(size).removeprefix("target ")


def _naming_packets(text: str) -> str:
    """A text whose first size has its unit."""
    return _FIRST_SIZE.sub(lambda found: f"{found[0]} packet{'' if found[1] == '1' else 's'}", text, count=1)


def _for_all(advice: Advice, missing: Sequence[Sensitivity]) -> str | None:
    """The buffer that holds wherever one does; `None` if neither more nor less of it is always safer."""
    hopeless = [each for each in missing if each.least is None or each.least.size is None]
    held = [*missing, *(each for each in advice.sensitivity if each.holds and harms(advice, each))]
    sizes = [each.least.size for each in held if each.least and each.least.size]
    if all(each.least is None for each in missing):
        return ""
    if _more_is_safer(advice):
        enough = max(sizes, default=None)
    elif want_largest(advice.targets):
        enough = min(sizes, default=None)
    else:
        return None
    if enough is None:
        return f"; no {_knob(advice)} that was tried holds there"
    where = "there" if len(held) == 1 else "for all"
    but = f" but {listed([each.brief for each in hopeless])}" if hopeless else ""
    return f"; {_about(advice, enough)} {where}{but}"


def _from_to(advice: Advice, missing: Sequence[Sensitivity]) -> str:
    """Between which settings those are that hold, each in its change."""
    sizes = sorted({each.least.size for each in missing if each.least and each.least.size})
    show = advice.answer.queue.show
    if not sizes:
        return f"; no {_knob(advice)} that was tried holds there"
    none = [each.brief for each in missing if each.least is not None and each.least.size is None]
    but = f", none that was tried with {listed(none)}" if none else ""
    if len(sizes) == 1:
        held = [each.brief for each in missing if each.least is not None and each.least.size is not None]
        return f"; {_about(advice, sizes[0])} {f'with {listed(held)}' if none else 'there'}{but}"
    span = f"a target delay of {_delay(advice, sizes[0])} to {_delay(advice, sizes[-1])}"
    if advice.answer.queue.knob == "limit":
        span = f"about {about_size(sizes[0])} to {show(about_size(sizes[-1]))}"
    return f"; there it takes {span}, which for which is in the what-if table{but}"


def _more_is_safer(advice: Advice) -> bool:
    """Whether larger buffers meet what smaller ones do."""
    return all(map(is_monotone, advice.targets))


def is_monotone(target: Target) -> bool:
    """Whether a larger buffer meets what a smaller one does: the use of the link, and losses."""
    return target.metric.name in {"utilization", "loss"}


def what_if(advice: Advice) -> Iterator[Line]:
    """Where the answer still meets all targets, and where it misses which; which sizes do there."""
    if not _what_ifs(advice) or not advice.choice.meets:
        return
    texts = [_text(advice, sizes=True), _text(advice, sizes=False), _counted(advice)]
    if not all(_is_fine(advice, each) for each in _what_ifs(advice)):
        texts = [_rows(advice), *texts]
    first, *less = texts
    yield Line("what if", first, shorter=[*((8, text) for text in less), (2, "")], is_elsewhere=True)


def _what_ifs(advice: Advice) -> list[Sensitivity]:
    """The changes but for scenarios that may be as true, which are spoken of by themselves."""
    return [each for each in advice.sensitivity if not each.is_supposed]


def _rows(advice: Advice) -> str:
    """A row for each change of the traffic: whether the targets are met, and about which buffer does."""
    changes = _what_ifs(advice)
    width = max(len(each.brief) for each in changes)
    return "\n".join(f"{each.brief:<{width}}  {_outcome(advice, each)}" for each in changes)


def _outcome(advice: Advice, each: Sensitivity) -> str:
    """What becomes of the answer in a change: "met; about 358 packets suffice"."""
    but = f"; {', '.join(text for text, _ in found)}" if (found := harms(advice, each)) else ""
    if each.holds:
        kept = "" if but else _kept(advice, each)
        return f"met{but}; {kept}" if kept else f"met{but}"
    target = each.missed[0]
    about = f"{title_text(target)} " if len(advice.targets) > 1 else ""
    return f"missed: {about}{_broken(advice, each, target)}{but}"


def _text(advice: Advice, *, sizes: bool) -> str:
    holding = [
        _with(each, _kept(advice, each)) if sizes else each.brief for each in _what_ifs(advice) if each.holds
    ]
    parts = [f"Met with {', '.join(holding)}."] if holding else []
    missing: dict[Target, list[str]] = {}
    for each in _what_ifs(advice):
        for target in each.missed[:1]:
            text = _with(each, _broken(advice, each, target)) if sizes else each.brief
            missing.setdefault(target, []).append(text)
    for target, found in missing.items():
        parts.append(f"{begun(title_text(target), target)} missed with {', '.join(found)}.")
    return " ".join(parts)


def _counted(advice: Advice) -> str:
    """In how many changes the answer meets all targets, and of how many the runs leave that open."""
    changes = _what_ifs(advice)
    holding, total = sum(each.holds for each in changes), len(changes)
    unsure = sum(each.is_unsure for each in changes)
    open_ones = f", {unsure} {'is' if unsure == 1 else 'are'} not sure" if unsure else ""
    most = max((each.values.get("loss") or 0.0 for each in changes), default=0.0)
    lossy = f" (loss up to {significant(most * 100, 2)} %)" if loses_heavily(most, advice.targets) else ""
    return f"Met in {holding} of {total} what-ifs{lossy}{open_ones}."


def _with(each: Sensitivity, note: str) -> str:
    """A change, and a note on it in brackets."""
    return f"{each.brief} ({note})" if note else each.brief


def _kept(advice: Advice, each: Sensitivity) -> str:
    """Of a change that keeps the targets, how much less buffer would do; what it loses, if that is much."""
    lost = each.values.get("loss")
    if lost is not None and (loss_decided(advice.answer) or loses_heavily(lost, advice.targets)):
        return f"loss {significant(lost * 100, 2)} %"
    size = None if each.least is None else each.least.size
    if size is None or size >= advice.answer.packets:
        return ""
    return f"about {about_size(size)} suffice{_losing(advice, each)}"


def _losing(advice: Advice, each: Sensitivity) -> str:
    """What about the least buffer loses in a change, where that is worth a word and no target bounds it."""
    lost = each.least_loss
    if lost is None or lost < NOTED_LOSS or bounds_loss(advice.targets):
        return ""
    return f", but lose {significant(lost * 100, 2)} %"


def _broken(advice: Advice, each: Sensitivity, target: Target) -> str:
    found = target.show_measured(each.values.get(target.name)) + (", not sure" if each.is_unsure else "")
    if each.least is None or len(each.least.tried) < 2:
        return found
    queue = advice.answer.queue
    if each.least.size is not None:
        do = (
            f"about {about_size(each.least.size)} do{_losing(advice, each)}"
            if queue.knob == "limit"
            else f"about {queue.show(each.least.size)} does"
        )
        return f"{found}; {do}"
    first, last = each.least.tried[0], each.least.tried[-1]
    if queue.knob == "target":
        return f"{found}; no target delay up to {queue.show(last).removeprefix('target ')} does"
    if target.wants_less:
        return f"{found}; none tried from {first} to {last} does"
    return f"{found}; none up to {last} does"
