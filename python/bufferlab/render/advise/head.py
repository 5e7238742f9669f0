"""The first lines of an answer: what to run, how sure that is, and what most speaks against it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from bufferlab.render.advise.beware import bewares, grave, loses_much, missed_default, spoilt
from bufferlab.render.advise.cases import ITEM, Cases, cases
from bufferlab.render.advise.decided import tie_text, undecided_text
from bufferlab.render.advise.felt import best_but_missed
from bufferlab.render.advise.limits import platform_end
from bufferlab.render.advise.mixes import controls_decide, may_be_bbr
from bufferlab.render.advise.reasons import starved, unequal
from bufferlab.render.advise.today import (
    beside_closest,
    default_text,
    is_of_loss_alone,
    kept_unmet,
    now_text,
    size_stays,
    today_name,
)
from bufferlab.render.advise.trade import gained_by_room, narrow
from bufferlab.render.advise.unfilled import unfilled
from bufferlab.render.advise.unmet import contradiction, narrower, prices
from bufferlab.render.advise.what_if import fragile
from bufferlab.render.advise.words import (
    CLOSEST,
    EVEN,
    START_MEASURED,
    asked_text,
    called_nearest,
    check_text,
    entry_text,
    queue_text,
    size_text,
    sure_text,
)
from bufferlab.render.words import listed, title_text
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.binding import binds
from bufferlab.studies.advise.budget import QUICK_S
from bufferlab.studies.advise.floor import FLOOR, USUAL_FLOOR
from bufferlab.studies.advise.staying import betters_today, keeps, runs_today, stays, why_kept_unmet
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS, loses_heavily
from bufferlab.studies.words import is_llq

MOST_SENTENCES: Final = 5
"""Sentences that an answer begins with, and one more for what speaks most against it or what it rests on.

More only where they must stand there; the others are rows below. Our choice: who reads eleven sentences has
forgotten the first."""


class _Said(NamedTuple):
    """A sentence of the first lines.

    Attributes:
        text: The sentence.
        rank: 0 if it always stands there; of the others those of the lowest ranks do.
    """

    text: str
    rank: int = 0


_SAME: Final = 0.005
"""Confidences that differ by less count as the same."""

_GRAVEST, _DECIDES, _BESIDE, _MORE = range(1, 5)
"""Ranks: what speaks most against an answer, what it rests on, what others give, what else is against it."""


def headline(advice: Advice) -> str:
    """The answer in one sentence: what to run, or that nothing meets the targets."""
    found = cases(advice, _what(advice))
    return head(advice)[0] if found is None else found.headline(_begin(advice))


def first_tried(advice: Advice) -> str:
    """What a first answer has tried of each queue."""
    aims = [each for each in advice.entries.values() if each.queue.knob == "target"]
    if any(each.least is not None for each in aims):
        return "only few delays"
    return "only usual delays" if aims else "only first searches"


def _quick(advice: Advice) -> str:
    left = f"; left out after {QUICK_S:g} s: {', '.join(advice.left_out)}" if advice.left_out else ""
    return f"--quick: {first_tried(advice)}, only this traffic{left}; a full run may say otherwise."


def interim(advice: Advice) -> str:
    """An answer so far in a line: "fifo, 1015 packets (1.52 MB, 19.6 ms): meets the target, 97 % sure"."""
    entry, them = advice.answer, _targets_text(advice)
    if not advice.choice.meets:
        known = advice.verdicts(entry)
        missed = [check_text(each, known[each.target]) for each in entry.checks if not each.met]
        why = "; ".join(missed) or f"not proven to meet {them}"
        return f"{_called(advice)} is {_brief(advice)}: {why}"
    sure = "" if entry.identical or advice.is_too_short else f", {sure_text(entry.confidence)}"
    asked = "" if advice.met else f" ({asked_text(advice.confidence)})"
    wait = MILLISECONDS.quantity(entry.checked("wait_mean_ms").mean or 0.0, digits=3)
    lost = FRACTION.quantity(entry.checked("loss").mean or 0.0, digits=2)
    return f"{_brief(advice)}: meets {them}{sure}{asked}; mean wait {wait}, loss {lost}"


def head(advice: Advice) -> list[str]:
    """The sentences above the labeled lines: no more than are read, those first that must be known.

    The cases of an answer count as one.
    """
    them = _targets_text(advice)
    said = list(_meeting(advice, them) if advice.choice.meets else _missing(advice, them))
    by_rank = sorted(range(len(said)), key=lambda at: (said[at].rank, at))
    usual = MOST_SENTENCES + sum(each.text.startswith(ITEM) for each in said)
    most = {0: len(said), _GRAVEST: usual + 1, _DECIDES: usual + 1}
    stay = {at for place, at in enumerate(by_rank) if place < most.get(said[at].rank, usual)}
    return [each.text for at, each in enumerate(said) if at in stay]


def cautions(advice: Advice) -> Iterator[str]:
    """What speaks against the answer, the gravest first, each as a sentence; nothing if today's is kept."""
    if stays(advice):
        return
    yield from dict.fromkeys(_cautions_in_turn(advice))


def _cautions_in_turn(advice: Advice) -> Iterator[str]:
    """The same; one may come twice."""
    if advice.choice.meets and advice.start_measured:
        yield "Longer runs, as 'too short' has them, may say otherwise: BBR's start may have been measured."
    yield from grave(advice)
    if (broken := fragile(advice)) is not None:
        yield broken
    yield from bewares(advice)
    if advice.choice.meets and not advice.tied and (open_ := undecided_text(advice.choice)) is not None:
        yield open_


def _targets_text(advice: Advice) -> str:
    """How many targets there are, and that one of several is assumed: "both targets and our default"."""
    asked = [each for each in advice.answer.checks if not advice.needs.is_assumed(each.target)]
    known = len(asked) or len(advice.answer.checks)
    them = {1: "the target", 2: "both targets"}.get(known, f"all {known} targets")
    if 0 < len(asked) < len(advice.answer.checks):
        floor = next(each.target for each in advice.answer.checks if each not in asked)
        if not binds(advice, floor):
            return them
        them += f" and our default, {title_text(floor)} {floor.show(floor.bound)}"
    return them


def _named(advice: Advice, them: str) -> str:
    """The same; a target that is alone by name, and whose it is: "our default, utilization 99 %"."""
    if len(advice.answer.checks) > 1:
        return them
    only = advice.answer.checks[0].target
    if not advice.needs.is_assumed(only):
        return f"the target, {title_text(only)} {only.show(only.bound)}"
    # of the answer's own queue less may be asked, which the row of the target says
    is_less = only in advice.targets and only.name == "utilization" and only.bound == USUAL_FLOOR
    why = f" where people feel waits ({only.show(FLOOR)} elsewhere)" if is_less else ""
    return f"our default, {title_text(only)} {only.show(only.bound)}{why}"


def _meeting(advice: Advice, them: str) -> Iterator[_Said]:
    """What to run, how sure it is, what it rests on, and what spoils it."""
    now = now_text(advice)
    if now is not None and keeps(advice):
        yield from _keeping(advice, now, them)
        return
    by_case = cases(advice, _what(advice))
    if by_case is not None:
        yield from _by_case(advice, by_case, now, them)
        return
    yield from map(_Said, _taken(advice, them))
    is_lossy = loses_much(advice)
    better = best_but_missed(advice) if is_lossy else None
    if better is not None:  # what else is known is of what nobody should run
        yield _Said(better)
        if (decides := controls_decide(advice)) is not None:
            yield _Said(decides, _DECIDES)
        return
    yield from map(_Said, tie_text(advice))
    of_it = _BESIDE if is_lossy else 0  # of what nobody should run
    if now is not None:
        yield _Said(now, of_it)
    yield from (_Said(text, of_it) for text in advice.rests_on)
    yield _Said(_sure(advice, them, "It" if now is None else "The answer"), of_it)
    beside = (
        (controls_decide(advice) or may_be_bbr(advice), _DECIDES),
        (size_stays(advice), _DECIDES),
        (gained_by_room(advice), _DECIDES),
        (default_text(advice), _BESIDE),
    )
    yield from (_Said(text, rank) for text, rank in beside if text is not None)
    if advice.stage == "first" and advice.finished and not advice.tied:
        yield _Said(_quick(advice), _DECIDES)
    yield from _cautions(advice)


def _by_case(advice: Advice, found: Cases, now: str | None, them: str) -> Iterator[_Said]:
    """The answer case by case, and how sure it is with the mix that was assumed."""
    yield from map(_Said, found.sentences(_begin(advice)))
    if (first := spoilt(advice)) is not None:
        yield _Said(f"With the assumed mix {first.removeprefix('But ')}")
    yield from map(_Said, tie_text(advice))
    if now is not None and not (found.are_counted and is_of_loss_alone(advice)):
        yield _Said(now)
    yield from map(_Said, advice.rests_on)
    yield _Said(_sure(advice, them, "With the assumed mix it"))
    if (larger := size_stays(advice)) is not None:
        yield _Said(larger, _DECIDES)
    yield from _cautions(advice)


def _keeping(advice: Advice, now: str, them: str) -> Iterator[_Said]:
    """That what runs today is kept, whether the mix decides that, and what to run if it must change."""
    yield _Said(now)
    if (decides := controls_decide(advice) or may_be_bbr(advice)) is not None:
        yield _Said(decides)
    yield _Said(f"If it must change: {_what(advice)}. {_sure(advice, them)}")
    if advice.today is not None:
        of_it = (starved(advice, advice.today), unequal(advice, advice.today))
        yield from (_Said(text, _GRAVEST) for text in of_it if text is not None)
    if advice.stage == "first" and advice.finished:
        yield _Said(_quick(advice), _DECIDES)


def _cautions(advice: Advice, *said: str | None) -> Iterator[_Said]:
    """What speaks against the answer: the gravest has a place before what is beside the answer."""
    for at, text in enumerate(text for text in cautions(advice) if text not in said):
        yield _Said(text, _MORE if at else _GRAVEST)


def _sure(advice: Advice, them: str, what: str = "It") -> str:
    """How sure it is that the answer, called `what`, meets what was asked for."""
    entry = advice.answer
    if entry.identical:
        same = f"All {len(entry.runs)} runs are the same: nothing is random here."
        return f"{what} meets {_named(advice, them)}. {same}"
    if advice.met and advice.is_too_short:
        runs = f"the mean of {len(entry.runs)} runs, which may be too short to tell how surely"
        return f"{what} meets {_named(advice, them)}: by {runs}{narrow(advice)}."
    if advice.met:
        where = "in the simulation " if advice.is_doubted else ""
        sure = f"{where}{sure_text(entry.confidence)}"
        return f"{what} meets {_named(advice, them)}: {sure} ({len(entry.runs)} runs){narrow(advice)}."
    alone = min(check.confidence for check in entry.checks)
    tried = ", since other settings were tried before it" if entry.confidence < alone - _SAME else ""
    sure = f"that is {sure_text(entry.confidence)}{tried}; {asked_text(advice.confidence)}"
    return f"Not proven: the mean of {len(entry.runs)} runs meets {them}, but {sure}."


def _begin(advice: Advice) -> str:
    """What an answer begins with that nothing spoils."""
    if runs_today(advice):
        return "Keep what runs today:"
    is_doubtful = advice.answer.confidence < EVEN and not advice.answer.identical
    return "Perhaps run" if is_doubtful else "Run"


def _taken(advice: Advice, them: str) -> Iterator[str]:
    """What to run; what users would not accept is no advice to run it, and comes right after it."""
    begin, first = _begin(advice), spoilt(advice)
    if loses_much(advice) and best_but_missed(advice) is not None:
        lost = FRACTION.quantity(advice.answer.checked("loss").mean or 0.0, digits=2)
        what = entry_text(advice.answer)
        yield f"Nothing is worth running as asked: {what}, meets {them} and loses {lost}."
        return
    if loses_much(advice):
        begin = f"Nothing is worth running. What meets {them}:"
    elif loses_heavily(advice.answer.checked("loss").mean, advice.targets) and betters_today(advice):
        begin = "Better than what runs today, but lossy:"
    elif first is not None:
        begin = "Only if its wait is accepted:"
    elif advice.stage == "begun" and not runs_today(advice):
        begin = f"So far, of {listed(_tried(advice))} alone:"
    yield f"{begin} {_what(advice)}."
    if first is not None:
        yield first


def _tried(advice: Advice) -> list[str]:
    """The queues that were tried."""
    return list(dict.fromkeys(each.title for each in advice.entries.values()))


def _missing(advice: Advice, them: str) -> Iterator[_Said]:
    """That nothing meets the targets, whether today's queue stays, what each costs, and what is closest."""
    why = why_kept_unmet(advice)
    yield from map(_Said, _missed(advice, them, is_kept=why is not None))
    now = advice.today
    beside = beside_closest(advice) if why is None or now is None else kept_unmet(advice, now, why)
    if beside is not None:
        yield _Said(beside)
    if (kept := narrower(advice)) is not None:
        yield _Said(kept)
    if (idle := unfilled(advice)) is not None:
        yield _Said(idle)
    yield from (_Said(f"{ITEM}{text}") for text in prices(advice))
    if (alone := controls_decide(advice) or may_be_bbr(advice)) is not None:
        yield _Said(alone, _DECIDES)
    if why != "same":
        yield _Said(f"{_closest(advice, is_kept=why is not None)}: {_what(advice)}.")
    yield from map(_Said, advice.rests_on)
    if advice.stage == "first" and advice.finished:
        yield _Said(_quick(advice), _DECIDES)
    if (default := missed_default(advice)) is not None:
        yield _Said(default, _GRAVEST)
    yield from _cautions(advice)


def _closest(advice: Advice, *, is_kept: bool) -> str:
    """What the answer is called that misses targets: what misses one many times over is close to nothing."""
    lost = advice.answer.checked("loss").mean or 0.0
    spoils = f", but not worth running, as it loses {FRACTION.quantity(lost, digits=2)}"
    called = _called(advice)
    if is_kept:
        begin = f"Of what was tried, {called}"
    else:
        begin = "Closest" if called == CLOSEST else f"Nothing comes near. {called.capitalize()}"
    return f"{begin}{spoils if lost >= HEAVY_LOSS else ''}"


def _called(advice: Advice) -> str:
    """What the answer is called that misses targets."""
    return called_nearest(advice.answer.runs, [each.target for each in advice.answer.checks])


def _missed(advice: Advice, them: str, *, is_kept: bool) -> Iterator[str]:
    """The verdict."""
    if advice.start_measured:
        yield f"Not known yet: {START_MEASURED}. Run it again as 'too short' says; in these runs:"
    ended, keep = platform_end(advice), ""
    if is_kept and advice.today is not None:
        keep = f": keep today's {today_name(advice.today)}"
    if advice.stage == "begun":
        tried = _tried(advice)
        were, do = ("was", "does") if len(tried) == 1 else ("were", "do")
        yield f"So far only {listed(tried)} {were} searched, which {do} not meet {them}."
    elif ended is not None:
        yield f"No buffer that {ended} meets {them}{contradiction(advice)}{keep}."
    elif all(any(not check.met for check in each.checks) for each in advice.entries.values()):
        yield f"No setting that was tried meets {them}{contradiction(advice)}{keep}."
    else:
        yield f"No setting is proven to meet {them}{keep}: {advice.confidence * 100:g} % sure is asked for."


def _what(advice: Advice) -> str:
    entry = advice.answer
    size = size_text(advice.site, entry.packets, is_ample=entry.queue.knob == "target")
    if is_llq(entry.queue.name):
        return f"{entry.title}: queue-limit {size} in class-default"
    if entry.queue.knob == "limit":
        return f"{queue_text(entry.queue)} with a buffer of {size}"
    return f"{queue_text(entry.queue)}: {entry.queue.show(entry.setting)}, limit {size}"


def _brief(advice: Advice) -> str:
    """The same in few words: "fq_codel, target 5 ms", "fifo, 1015 packets (1.52 MB, 19.6 ms)"."""
    entry = advice.answer
    if entry.queue.knob == "limit":
        return f"{queue_text(entry.queue)}, {size_text(advice.site, entry.packets)}"
    return entry_text(entry)
