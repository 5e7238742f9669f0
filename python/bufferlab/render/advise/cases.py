"""The answer case by case, where a mix of congestion controls that was only assumed decides it.

Who asks does not know the mix, but the drop counters of what runs today may tell it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from bufferlab.render.advise.mixes import buffer_decided, enough, is_mix_assumed, loses_by_mix
from bufferlab.render.advise.today import today_name
from bufferlab.render.advise.words import about_size
from bufferlab.render.words import beside, listed
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS
from bufferlab.stats import Estimate
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.halved import Half
from bufferlab.studies.advise.sensitivity import called
from bufferlab.studies.advise.staying import keeps, may_stay, runs_today
from bufferlab.studies.advise.today import Today
from bufferlab.studies.advise.unmixed import Unmixed
from bufferlab.studies.choosing.thresholds import LESS, loses_heavily
from bufferlab.studies.targets import Values, mean_over_runs
from bufferlab.units import packets_text

Means = Callable[[str], Estimate]
"""Gives a value's mean by its name."""

ITEM: Final = "- "
"""What the sentence of a case begins with."""

_COUNTED: Final = "irst read today's drop counters, as the flows' congestion controls decide:"
_CAPTURED: Final = "Which they are, 'bufferlab observe' tells from a capture."


class _Case(NamedTuple):
    """Controls that the flows may have.

    Attributes:
        flows: Which: "cubic alone".
        run: What to run then.
        gives: What that gives; empty if it is not known.
        lost: The share of packets that today's queue loses then, in words; empty if it is not known.
    """

    flows: str
    run: str
    gives: str
    lost: str

    def sentence(self, condition: str = "") -> str:
        """What to run, under which condition, and what that gives."""
        return f"{self.run}{condition}{self.gives and f'; {self.gives}'}."


class Cases(NamedTuple):
    """An answer case by case.

    Attributes:
        mixed: The assumed mix.
        others: The other cases.
        are_counted: Whether the drop counters of today's queue tell them apart.
        queue: The queue of all cases, where it is another one than today's; else empty.
    """

    mixed: _Case
    others: list[_Case]
    are_counted: bool
    queue: str = ""

    def sentences(self, begin: str) -> list[str]:
        """The first lines of the answer.

        Args:
            begin: What the answer begins with where nothing is to be read before: "Run".
        """
        if self.are_counted:
            found = [
                f"{ITEM}about {each.lost} dropped, {each.flows}: {each.sentence()}" for each in self._known()
            ]
            first = f"{begin} {self.queue}. For its buffer f" if self.queue else "F"
            return [f"{first}{_COUNTED}", *found]
        others = [f"{ITEM}if they are {each.flows}: {each.sentence()}" for each in self.others]
        return [f"{begin} {self.mixed.sentence(f' if the flows are {self.mixed.flows}')}", *others, _CAPTURED]

    def headline(self, begin: str) -> str:
        """The answer in one sentence."""
        if not self.are_counted:
            return self.sentences(begin)[0]
        found = [f"{each.run} if about {each.lost} are dropped today" for each in self._known()]
        return f"{begin} {'; '.join(found)}."

    def _known(self) -> list[_Case]:
        """The cases whose drop counters are known: that of the mix, the most dropped, first."""
        return [each for each in (self.mixed, *reversed(self.others)) if each.lost]


def cases(advice: Advice, what: str) -> Cases | None:
    """The answer case by case; `None` where the mix does not decide it, or was not assumed.

    Args:
        advice: The advice.
        what: What to run with the assumed mix.
    """
    there, now = advice.unmixed, advice.today
    is_lossy = loses_heavily(advice.answer.checked("loss").mean, advice.targets)
    if there is None or is_lossy or not advice.choice.meets or not is_mix_assumed(advice) or keeps(advice):
        return None
    now = None if now is None or now.default_of is not None or runs_today(advice) else now
    are_counted = now is not None and there.today is not None and loses_by_mix(advice, now, there.today)
    alone = _alone(advice, there, are_counted=are_counted)
    if alone is None:
        return None
    controls = dict.fromkeys(called(each.control) for each in advice.site.users if each.control is not None)
    flows = "the assumed mix" if are_counted else f"{listed(list(controls))}, as assumed"
    gives = _gives(advice.answer.checked, None if now is None else now.mean, are_counted=are_counted)
    mixed = _Case(flows, what, gives, _lost(now) if are_counted else "")
    is_other = (
        now is not None and now.queue != advice.answer.queue.kind and buffer_decided(advice) is not None
    )
    others = [alone, *_newer(advice, there, are_counted=are_counted)]
    return Cases(mixed, others, are_counted, advice.answer.title if is_other else "")


def _alone(advice: Advice, there: Unmixed, *, are_counted: bool) -> _Case | None:
    """The case of one control alone; `None` if it takes about what the mix does."""
    now = there.today
    lost = _lost(now) if are_counted else ""
    is_said = now is not None and now.default_of is None
    if buffer_decided(advice) is not None:
        gives = ""
        if there.least is not None and not there.least.missed:
            gives = _gives(there.least.mean, now.mean if now and is_said else None, are_counted=are_counted)
            gives += _roomier(advice, there, there.least)
        return _Case(there.title, enough(advice)[1], gives, lost)
    if now is None or advice.today is None or not may_stay(advice, now, there):
        return None
    if runs_today(advice) or may_stay(advice, advice.today):  # with the mix, too
        return None
    whose = "keep today's" if is_said else "the default,"
    gives = _gives(now.mean, None, are_counted=are_counted)
    return _Case(there.title, f"{whose} {today_name(now)}", gives, lost)


def _newer(advice: Advice, there: Unmixed, *, are_counted: bool) -> list[_Case]:
    """The case of the newer version of a control of the mix, if the buffer that it takes is known."""
    found = next((each for each in advice.sensitivity if each.is_newer), None)
    size = None if found is None or found.least is None else found.least.size
    if found is None or size is None:
        return []
    lost = mean_over_runs("loss", there.newer).mean if are_counted and there.newer else None
    run, gives = f"about {packets_text(about_size(size))}", ""
    if there.newer_least:
        gives = _gives(_means(there.newer_least), _means(there.newer), are_counted=are_counted)
    return [_Case(found.title, run, gives, "" if lost is None else _share(lost))]


def _means(runs: Sequence[Values]) -> Means | None:
    """The means over runs, if there are any."""
    return partial(mean_over_runs, runs=runs) if runs else None


def _roomier(advice: Advice, there: Unmixed, least: Half) -> str:
    """What the answer's buffer gives in a case that takes less, if it loses clearly less; else empty."""
    size, lost = advice.answer.packets, there.mean("loss").mean
    if advice.answer.queue.knob != "limit" or there.missed or size <= least.size or lost is None:
        return ""
    return "" if lost > LESS * (least.mean("loss").mean or 0.0) else f" ({size}: {_values(there.mean)})"


def _values(found: Means) -> str:
    """The loss and the mean wait: "loss 0.8 %, wait 9 ms"."""
    wait = MILLISECONDS.quantity(found("wait_mean_ms").mean or 0.0, digits=2)
    return f"loss {_share(found('loss').mean or 0.0)}, wait {wait}"


def _gives(found: Means | None, now: Means | None, *, are_counted: bool) -> str:
    """The mean wait and the loss, beside those of what runs today: "wait 8.7 ms (today 47); …".

    Args:
        found: The means of what is to be run.
        now: Those of what runs today, if that is another; `None` if it is not known.
        are_counted: Whether the loss of what runs today is said before.
    """
    if found is None:
        return ""
    texts = []
    for name, title, unit in (("wait_mean_ms", "wait", MILLISECONDS), ("loss", "loss", FRACTION)):
        if are_counted and name == "loss" and now is None:  # it is that of what runs today
            continue
        value = found(name).mean
        alone = unit.quantity(value or 0.0, digits=2)
        text = alone if now is None else beside(unit, value, now(name).mean, "today", digits=2)
        texts.append(f"{title} {text}")
    return "; ".join(texts)


def _lost(now: Today | None) -> str:
    return "" if now is None else _share(now.mean("loss").mean or 0.0)


def _share(lost: float) -> str:
    return FRACTION.quantity(lost, digits=2)
