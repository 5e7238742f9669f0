"""What runs today beside the answer, and whether to keep it, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from bufferlab.display import significant
from bufferlab.render.advise.felt import ALIKE, contrast, fare_words, share_text
from bufferlab.render.advise.words import WORTH_LESS, asked_values, size_text
from bufferlab.render.words import beside, instead, listed, title_text
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS, NUMBER
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.staying import (
    Against,
    KeptUnmet,
    Measured,
    may_stay,
    mean_wait_ms,
    runs_today,
    stands,
    surely_misses,
    waits_briefly,
    what_speaks_against,
    worse_call,
    worst_rated,
)
from bufferlab.studies.advise.today import Today
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.choosing.thresholds import (
    LESS,
    LONG_WAIT_MS,
    felt_sign,
    loses_heavily,
)
from bufferlab.studies.targets import Target, bounds_loss
from bufferlab.units import packets_text

_RATING: Final = "call_r"

_WITH_IT: Final = "with the answer"
_WITH_CLOSEST: Final = "with what is closest"


class Fault(NamedTuple):
    """Why what runs today is to be changed.

    Attributes:
        kind: What speaks against it.
        text: Why, as a clause.
        metrics: What the clause names of what users feel.
        is_felt: Whether somebody feels it.
    """

    kind: Against
    text: str
    metrics: Sequence[str] = ()
    is_felt: bool = True

    @property
    def is_of_ratings(self) -> bool:
        """Whether the clause says how a call fares."""
        return any(each.endswith(_RATING) for each in self.metrics)


def now_text(advice: Advice) -> str | None:
    """Whether to keep or to change what runs today, and why, as a sentence."""
    found = advice.today
    if found is None or found.default_of is not None or not advice.choice.meets or runs_today(advice):
        return None
    if may_stay(advice, found):
        return f"Keep what runs today, {_now_text(advice, found)}: {_met(advice, found)}."
    what = f"Today's {today_name(found)}"
    if found.presumed_of is not None:
        what = f"The default of {found.presumed_of}, {today_name(found)}"
    why, behind = fault(advice, found), found.rival.behind
    if found.missed and felt_sign(behind) < 0:
        better = f"but users fare {share_text(behind)} better with it than with the answer"
        return f"{what}, {_missing(found)}, {better}."
    if why is None:
        waits, fare = _waits(advice, found), fare_words(found.rival, found, advice.answer)
        return f"{what}, meets what is asked, too; packets wait {waits}; users fare {fare}."
    heard = _call_then(advice, found, why)
    return f"{what}, {_verb(found, why, heard)}: {heard}{why.text}.{_beside_fault(advice, found)}"


def _verb(found: Today, why: Fault, heard: str) -> str:
    """How it stands beside the answer, if that is about how a call fares, too."""
    if not why.is_felt and not heard:
        return "has longer waits"
    return "may be worse" if found.missed and not surely_misses(found) and not heard else "is worse"


def _beside_fault(advice: Advice, found: Today) -> str:
    """What is said behind the reason for a change: what it costs, and where it is done already."""
    return _price(advice, found) + _unless_there(advice, found)


def size_stays(advice: Advice) -> str | None:
    """That the size of the FIFO which runs today meets the targets in the answer's queue, too, as a sentence.

    What need not change can stay; how much longer packets wait so is said with it.
    """
    found, answer = advice.today, advice.answer
    if found is None or found.default_of is not None or found.queue != "fifo" or found.packets is None:
        return None
    memory, size = answer.buffers, found.packets
    is_other = answer.queue.knob == "limit" and answer.queue.kind != "fifo"
    if not is_other or memory is None or size <= answer.setting or size not in memory.sizes:
        return None
    lost, waited_ms = memory.mean(size, "loss"), memory.mean(size, "wait_mean_ms")
    if not memory.meets_all(size) or loses_heavily(lost, advice.targets) or waited_ms is None:
        return None
    waits = beside(MILLISECONDS, waited_ms, mean_wait_ms(answer))
    losses = beside(FRACTION, lost, _loss(answer), digits=2)
    runs = len(memory.values(size))
    them = "the target" if len(advice.targets) == 1 else "the targets"
    return (
        f"Today's {packets_text(size)} may stay: {answer.title} meets {them} with them, too ({runs} "
        f"run{'' if runs == 1 else 's'}); mean wait {waits}, loss {losses}."
    )


def _loss(found: Measured) -> float:
    return found.mean("loss").mean or 0.0


def is_of_loss_alone(advice: Advice) -> bool:
    """Whether nothing but its loss is said of what runs today."""
    found = advice.today
    why = None if found is None else fault(advice, found)
    if found is None or why is None or why.kind != "loses":
        return False
    return not _call_then(advice, found, why) and not _beside_fault(advice, found)


def _price(advice: Advice, found: Today) -> str:
    """What the change costs: who gets at most half of it then, and that clearly more is lost; else empty."""
    paying = [each for each in advice.aspects if _pays(advice, found, each)]
    texts = [contrast(each, advice.answer, found, "today") for each in paying]
    own, lost = _loss(advice.answer), _loss(found)  # with the same seeds
    if own >= WORTH_LESS and lost <= LESS * own and not bounds_loss(advice.targets):
        texts.append(f"loss {beside(FRACTION, own, lost, 'today', digits=2)}")
    return f" The price: {'; '.join(texts)}." if texts else ""


def _pays(advice: Advice, found: Today, aspect: Aspect) -> bool:
    """Whether a group's flows get at most half of what they get today."""
    now, then = (each.mean(aspect.metric).mean or 0.0 for each in (found, advice.answer))
    return aspect.kind == "throughput" and then <= now / 2


def _unless_there(advice: Advice, found: Today) -> str:
    """That nothing is to be done where the answer runs already: what Linux runs differs by distribution."""
    answer = advice.answer
    is_usual = answer.queue.knob == "target" and answer.setting == answer.queue.usual
    if not is_usual or answer.queue.kind not in (found.presumed_of or ""):
        return ""
    return f" If 'tc qdisc show' prints {answer.queue.kind}, keep that."


def _call_then(advice: Advice, found: Today, why: Fault) -> str:
    """How the worst call fares, today and then, where nothing was said of it: "call R 49 (with …); "."""
    heard = None if why.is_of_ratings else worse_call(advice, found, advice.answer)
    if heard is None:
        return ""
    name, now, then = heard
    return f"{name} R {beside(NUMBER, now, then, _WITH_IT)}; "


def fault(advice: Advice, found: Today, chosen: Measured | None = None) -> Fault | None:
    """Why what runs today is to be changed, in words; `None` if nothing surely speaks against it.

    Args:
        advice: The answer.
        found: What runs today.
        chosen: What the answer measured in the traffic of that; default with its own.
    """
    chosen = chosen or advice.answer
    kind, worst = what_speaks_against(advice, found, chosen), found.rival.worst
    if kind == "misses":
        return Fault(kind, f"it {_missing(found)}", [each.name for each in found.missed])
    if kind == "loses":
        return Fault(kind, _loses(found))
    if kind == "waits":
        now, then = (mean_wait_ms(each) for each in (found, chosen))
        is_felt = fare_words(found.rival, found, chosen) != ALIKE
        unfelt = "" if is_felt else ", which nobody feels in this traffic"
        waits = _in_the_mean(now, then, _WITH_IT)
        return Fault(kind, f"packets wait {waits}{unfelt}", is_felt=is_felt)
    if kind == "fares":
        named = [] if worst is None else [worst[0].metric]
        return Fault(kind, f"users fare {fare_words(found.rival, found, chosen)}", named)
    return None


def _loses(found: Today) -> str:
    """What it loses in the simulation, and in the capture if there is one that shows another loss."""
    texts = [
        FRACTION.quantity(each or 0.0, digits=2) for each in (found.mean("loss").mean, found.captured_loss)
    ]
    run, seen = texts
    if found.captured_loss is None or run == seen:
        return f"it loses {run}"
    return f"it loses {run} in the simulation (measured: {seen})"


def _missing(found: Today) -> str:
    """What it misses, and how surely, as a predicate."""
    missed = listed([_missed_text(found, each) for each in found.missed])
    return f"{'misses' if surely_misses(found) else 'may miss'} {missed}"


def _missed_text(found: Today, target: Target) -> str:
    """What it misses, and what it has of it: "99th percentile wait 12 ms (it has 48.5 ms)"."""
    mean = found.mean(target.name).mean
    has = "no value" if mean is None else target.show_measured(mean)
    return f"{title_text(target)} {target.show(target.bound)} (it has {has})"


def default_text(advice: Advice) -> str | None:
    """That the platform's default may stay, as a sentence."""
    found = advice.today
    if found is None or found.default_of is None or not may_stay(advice, found):
        return None
    return f"The default of {found.default_of}, {_now_text(advice, found)}, may stay: {_met(advice, found)}."


def _met(advice: Advice, found: Today) -> str:
    begin = f"in the mean of {len(found.values)} runs it meets what is asked"
    other = _WITH_IT if found.default_of else "after the change"
    waits = f"packets wait {_waits(advice, found, other)}"
    if waits_briefly(found, advice.answer):
        losses = beside(FRACTION, _loss(found), _loss(advice.answer), other, digits=2)
        return f"{begin} and loses {losses}; {_not_worth(advice, found, other) or waits}"
    fare = fare_words(found.rival, found, advice.answer)
    return f"{begin}, and users fare {fare}{f'; but {waits}' if stands(advice, found) else ''}"


def _not_worth(advice: Advice, found: Today, other: str) -> str:
    """That a wait is no reason for a change, where users fare worse by it in the score; else empty."""
    if felt_sign(found.rival.behind) <= 0:
        return ""
    worse, waits = share_text(found.rival.behind), _waits(advice, found, other)
    why = f"which is not worth a change below {LONG_WAIT_MS:g} ms"
    return f"users fare {worse} worse by the score, most by a wait of {waits}, {why}"


def _waits(advice: Advice, found: Today, other: str = _WITH_IT) -> str:
    """How long packets wait, and how long with the answer: "41 ms in the mean (with the answer 20)"."""
    now, then = (mean_wait_ms(each) for each in (found, advice.answer))
    return _in_the_mean(now, then, other)


def _in_the_mean(now: float, then: float, whose: str) -> str:
    return instead(
        f"{MILLISECONDS.quantity(now, digits=3)} in the mean", MILLISECONDS.text(then, digits=3), whose
    )


def kept_unmet(advice: Advice, found: Today, why: KeptUnmet) -> str:
    """What is kept has of what nothing meets, and what speaks for it, as a sentence."""
    return f"It has {_values_text(advice, found)}; {_for_it(advice, found, why)}."


def _for_it(advice: Advice, found: Today, why: KeptUnmet) -> str:
    """Why it is kept, as a clause."""
    if why == "same":
        return "nothing that was tried is closer"
    if why == "fares":
        return f"users fare {share_text(found.rival.behind)} better with it than with what is closest"
    if why == "calls" and (heard := worse_call(advice, advice.answer, found)) is not None:
        name, then, now = heard
        return f"{name} R {beside(NUMBER, now, then, _WITH_CLOSEST)}"
    if why == "loses":
        return f"what is closest loses {FRACTION.quantity(_loss(advice.answer), digits=2)}"
    return "that is nearer to what is asked than all else that was tried"


def _values_text(advice: Advice, found: Today) -> str:
    """What it has of the targets that it misses: "loss 1.65 % (asked 0.5 %)"."""
    return asked_values(advice, ((each, found.mean(each.name).mean) for each in found.missed))


def beside_closest(advice: Advice) -> str | None:
    """What runs today beside what is closest to targets that nothing meets, as a sentence; else `None`."""
    found = advice.today
    if found is None or found.default_of is not None or advice.choice.meets or not found.missed:
        return None
    share = share_text(found.rival.behind)
    is_worse = felt_sign(found.rival.behind) > 0
    fare = f", and users fare {share} worse with it than with what is closest" if is_worse else ""
    return f"Today's {today_name(found)}, misses as well: {_values_text(advice, found)}{fare}."


def today_name(today: Today) -> str:
    """What runs today, in few words: "fifo, 64 packets"."""
    size = today.buffer if today.packets is None else packets_text(today.packets)
    return f"{today.label or today.queue}, {size}{', shaped' if today.is_shaped else ''}"


def _now_text(advice: Advice, found: Today) -> str:
    size = found.buffer if found.packets is None else size_text(advice.site, found.packets)
    return f"{found.label or found.queue}, {size}"


def today_loses(advice: Advice) -> str:
    """What is lost today, as a clause; empty where nobody knows."""
    found = advice.today
    if found is None:
        return ""
    what = "what runs today" if found.default_of is None else f"the default of {found.default_of}"
    lost = FRACTION.quantity(found.mean("loss").mean or 0.0, digits=2)
    worst = worst_rated(found, advice.site.users)
    calls = "" if worst is None else f", with {worst[0]} R {significant(worst[1], 3)}"
    return f"{what} loses {lost}{calls}"
