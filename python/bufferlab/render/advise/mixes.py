"""Whether a mix of congestion controls decides an answer, which hardly anybody knows of a link, in words."""

from __future__ import annotations

import dataclasses
from typing import Final

from bufferlab.display import significant
from bufferlab.render.advise.reasons import least_lost
from bufferlab.render.advise.today import fault, today_name
from bufferlab.render.advise.words import about_size, asked_values, called_nearest
from bufferlab.render.words import beside
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.advise.staying import may_stay, runs_today, worst_rated
from bufferlab.studies.advise.today import Today
from bufferlab.studies.advise.unmixed import FAR_LESS, LITTLE_LOSS, Unmixed
from bufferlab.studies.choosing.thresholds import LESS, loses_heavily
from bufferlab.studies.internet import BBR_DECIDES
from bufferlab.studies.targets import mean_over_runs, want_largest
from bufferlab.units import packets_text

_FAR_LESS_LOST: Final = 1 / 3
"""Part of the loss of today's queue up to which it is said that another mix loses less. Our choice."""


def controls_decide(advice: Advice) -> str | None:
    """That one control of the mix alone takes far less or more buffer, or today's queue does, as a sentence.

    Where nothing meets the targets with the mix, any buffer that does so with one control is shown.
    """
    if (moved := _nearest_moved(advice)) is not None:
        return moved
    of_buffer = buffer_decided(advice)
    now = _today_there(advice, is_other=of_buffer is not None)
    if of_buffer is None and now is None:
        return None
    title = _title(advice)
    clauses = [text for text in (of_buffer, now) if text is not None]
    return f"{_mix(advice)} decides: with {title}, {', and '.join(clauses)}.{_how_to_learn(advice)}"


def _nearest_moved(advice: Advice) -> str | None:
    """What is closest to targets that nothing meets with one control alone, if it is far from the answer."""
    found = advice.nearest_alone
    if found is None or advice.choice.meets or FAR_LESS < found.size / advice.answer.packets < 1 / FAR_LESS:
        return None
    size = packets_text(about_size(found.size))
    if found.missed:
        called = called_nearest(found.values, found.missed)
        means = ((each, mean_over_runs(each.name, found.values).mean) for each in found.missed)
        values = asked_values(advice, means)
        what = f"{called} is about {size}: {values}"
    else:
        what = f"about {size} {'meets' if found.size == 1 else 'meet'} {_them(advice)}"
    learn = (
        _how_to_learn(advice)
        if (counters := _counted(advice)) is None
        else f" Drop counters tell: {counters}."
    )
    return f"{_mix(advice)} decides: with {found.title}, {what}.{learn}"


def _counted(advice: Advice) -> str | None:
    """What today's queue loses with the mix and with one control alone, if that tells them apart."""
    now, found = advice.today, advice.nearest_alone
    if now is None or not now.alone or now.default_of is not None or found is None:
        return None
    alone = mean_over_runs("loss", now.alone).mean or 0.0
    if not _tells(now, alone):
        return None
    lost, less = (FRACTION.quantity(each, digits=2) for each in (now.mean("loss").mean or 0.0, alone))
    return f"today's queue loses {lost} with the mix, {less} with {found.title}"


def _how_to_learn(advice: Advice) -> str:
    """How to learn which mix it is: by what is dropped today, or from a capture; empty if it is known."""
    now, there = advice.today, None if advice.unmixed is None else advice.unmixed.today
    if now is not None and now.default_of is None and there is not None and loses_by_mix(advice, now, there):
        lost, alone = (FRACTION.quantity(each.mean("loss").mean or 0.0, digits=2) for each in (now, there))
        title = _title(advice)
        return f" Drop counters tell: today's queue loses {lost} with the mix, {alone} with {title}."
    return " 'bufferlab observe' tells yours from a capture." if is_mix_assumed(advice) else ""


def without_counters(advice: Advice) -> Advice:
    """The advice without the case that today's loss tells apart from the mix: a capture has that loss.

    Args:
        advice: The advice.
    """
    now, there = advice.today, None if advice.unmixed is None else advice.unmixed.today
    is_decided = now is not None and there is not None and loses_by_mix(advice, now, there)
    return dataclasses.replace(advice, unmixed=None) if is_decided else advice


def buffer_decided(advice: Advice) -> str | None:
    """How much buffer does with one control, or how much is lost, as a clause; `None` if about as much."""
    answer, controls = advice.answer, {each.control for each in advice.site.users} - {None}
    if len(controls) < 2:
        return None
    if (lost := _loss_decided(advice)) is not None:
        return lost
    if answer.queue.knob != "limit" or want_largest(advice.targets):
        return None
    meets = advice.choice.meets
    is_users = answer.least_behind is not None and answer.broken is None  # they take this buffer
    if meets and is_users and not _is_light(advice):
        return None
    size, what = enough(advice)
    if size is None or (meets and FAR_LESS < size / answer.packets < 1 / FAR_LESS):
        return None
    return f"{what} {'meets' if size == 1 else 'meet'} {_them(advice)}{_newer(advice)}"


def _them(advice: Advice) -> str:
    return "the target" if len(advice.targets) == 1 else "the targets"


def _is_light(advice: Advice) -> bool:
    """Whether about the least buffer of one control alone meets the targets and does not lose much."""
    least = None if advice.unmixed is None else advice.unmixed.least
    return (
        least is not None and not least.missed and not loses_heavily(least.mean("loss").mean, advice.targets)
    )


def _newer(advice: Advice) -> str:
    """What that is with the newer version of a control of the mix: " (with bbr3 for bbr about 60)"."""
    found = next((each for each in advice.sensitivity if each.is_newer), None)
    if found is None or found.least is None:
        return ""
    size = found.least.size
    return f" (with {found.brief} {'none' if size is None else f'about {about_size(size)}'})"


def enough(advice: Advice) -> tuple[int | None, str]:
    """A buffer that does with one control, and its name: about the least, or a rule's.

    It meets the targets, and one that is smaller than the answer's loses no more than anybody would accept.
    """
    there, found = advice.unmixed, _alone(advice)
    if there is not None and there.least is not None:
        size, lost = there.least.size, there.least.mean("loss").mean
        if found is None and (there.least.missed or loses_heavily(lost, advice.targets)):
            return None, ""
        if there.is_rule:
            return size, f"{packets_text(size)} (BDP/√n)"
        return size, f"about {packets_text(about_size(size))}"
    known = None if found is None or found.least is None else found.least.size
    if known is None or (there is not None and known < advice.answer.packets):
        return None, ""
    return known, f"about {packets_text(about_size(known))}"


def _alone(advice: Advice) -> Sensitivity | None:
    """What the answer comes to with one control of the mix alone."""
    return next((each for each in advice.sensitivity if each.is_alone), None)


def _title(advice: Advice) -> str:
    """Which traffic that is: "cubic alone"."""
    found = _alone(advice) or advice.unmixed
    return "one control alone" if found is None else found.title


def _today_there(advice: Advice, *, is_other: bool) -> str | None:
    """Whether what runs today does there in place of the answer, as a clause, where the mix decides that.

    Args:
        advice: The advice.
        is_other: Whether the mix decides the buffer; then it is also said that today's is as bad there.
    """
    alone, now = advice.unmixed, advice.today
    there = None if alone is None else alone.today
    if alone is None or now is None or there is None or runs_today(advice):
        return None
    if is_other and (contrast := _least_beside(alone, there)) is not None:
        return contrast
    what = "what runs today" if now.default_of is None else f"the default, {today_name(now)},"
    stays, stays_there = may_stay(advice, now), may_stay(advice, there, alone)
    if not stays and not stays_there and loses_by_mix(advice, now, there):
        return f"{what} is not as bad{_rating(advice, there)}"  # its loss is said with the drop counters'
    if stays == stays_there and not (is_other and now.default_of is None):
        return None
    if stays_there:
        return f"{what} meets {_them(advice)}, too ({_rated(advice, there)})"
    why = fault(advice, there, alone)
    return None if why is None else f"{what} is worse{' there, too' if not stays else ''}: {why.text}"


def _least_beside(alone: Unmixed, now: Today) -> str | None:
    """What about the least buffer does there beside what runs today, as a clause.

    `None` if that is unknown, or packets wait hardly less.
    """
    if alone.least is None or alone.least.missed:
        return None
    wait_ms, now_ms = (each.mean("wait_mean_ms").mean or 0.0 for each in (alone.least, now))
    if wait_ms > LESS * now_ms:
        return None
    whose = "today" if now.default_of is None else "by default"
    waits, lost = (
        beside(unit, alone.least.mean(name).mean, now.mean(name).mean, whose, digits=2)
        for name, unit in (("wait_mean_ms", MILLISECONDS), ("loss", FRACTION))
    )
    return f"packets wait {waits}; loss is {lost}"


def loses_by_mix(advice: Advice, now: Today, there: Today) -> bool:
    """Whether today's queue loses what hardly anybody accepts, and with one control a third of it at most."""
    is_heavy = loses_heavily(now.mean("loss").mean, advice.targets)
    return is_heavy and _tells(now, there.mean("loss").mean or 0.0)


def _tells(now: Today, alone: float) -> bool:
    """Whether what is dropped today tells the mix from one control alone, with which so much is lost."""
    lost = now.mean("loss").mean or 0.0
    return lost >= LITTLE_LOSS and alone <= lost * _FAR_LESS_LOST


def _rating(advice: Advice, found: Today) -> str:
    """How the worst call fares, behind a colon; empty where nobody calls."""
    worst = worst_rated(found, advice.site.users)
    return "" if worst is None else f": {worst[0]} R {significant(worst[1], 3)}"


def _rated(advice: Advice, found: Today) -> str:
    """What users feel of it most: the worst call's rating, or else the loss."""
    lost = f"loss {FRACTION.quantity(found.mean('loss').mean or 0.0, digits=2)}"
    worst = worst_rated(found, advice.site.users)
    return lost if worst is None else f"{worst[0]} R {significant(worst[1], 3)}, {lost}"


def _mix(advice: Advice) -> str:
    """The mix of controls, and whether somebody has said it."""
    return f"The {'assumed ' if is_mix_assumed(advice) else ''}mix of congestion controls"


def is_mix_assumed(advice: Advice) -> bool:
    """Whether nobody has said which controls the flows have."""
    return any(BBR_DECIDES in each for each in advice.assumed)


def _loss_decided(advice: Advice) -> str | None:
    """What is lost with one control of a mix that loses what hardly anybody accepts, as a clause."""
    mixed = advice.answer.checked("loss").mean or 0.0
    if not loses_heavily(mixed, advice.targets):
        return None
    found = _alone(advice)
    alone = least_lost([found] if found is not None and found.holds else [], mixed)
    if alone is None:
        return None
    return f"{FRACTION.quantity(alone[0], digits=2)} of the packets are lost"


def may_be_bbr(advice: Advice) -> str | None:
    """That a mix was assumed which may decide a FIFO's buffer, while none other was tried, as a sentence."""
    is_fifo = advice.answer.table == {"discipline": "fifo"}
    if not is_fifo or advice.sensitivity or not is_mix_assumed(advice):
        return None
    flows = sum(each.flows for each in advice.site.users if each.control is not None)
    asks = f"--flows cubic:{flows} asks without"
    return f"BBR is assumed in the mix, and may decide this buffer: {_counted_before(advice)}{asks}."


def _counted_before(advice: Advice) -> str:
    """What is dropped today with BBR and without, before other traffic was tried; empty if that is alike."""
    now = advice.today
    if now is None or not now.alone:
        return ""
    alone = mean_over_runs("loss", now.alone).mean or 0.0
    if not _tells(now, alone):
        return ""
    lost, less = (FRACTION.quantity(each, digits=2) for each in (now.mean("loss").mean or 0.0, alone))
    return f"first read today's drop counters: {lost} dropped mean BBR, {less} none; "
