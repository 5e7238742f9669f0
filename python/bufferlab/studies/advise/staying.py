"""Whether what runs today may stay, where something else was taken: what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from bufferlab.stats import Estimate
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Users
from bufferlab.studies.advise.today import Today
from bufferlab.studies.choosing.closest import closest, off
from bufferlab.studies.choosing.thresholds import (
    HEAVY_LOSS,
    LESS,
    LONG_WAIT_MS,
    MATERIAL,
    NOTABLE,
    NOTABLE_RATING,
    felt_sign,
    is_standing,
    loses_heavily,
    may_be_chance,
)

Against = Literal["misses", "loses", "waits", "fares"]
"""What speaks against a queue: it misses a target, loses or waits much, or users fare worse."""


KeptUnmet = Literal["same", "fares", "calls", "loses", "nearer"]
"""Why what runs today stays where nothing meets the targets: it is what is closest; with that users fare
worse, a call is worse, or so much is lost that hardly anybody accepts it; or today's is nearer."""


class Measured(Protocol):
    """What measured something."""

    def mean(self, name: str) -> Estimate:
        """Mean of a value over its runs, and how sure it is."""


def runs_today(advice: Advice) -> bool:
    """Whether the answer is what runs today."""
    found = advice.today
    return found is not None and found.default_of is None and not found.is_shaped and is_answer(advice, found)


def is_answer(advice: Advice, found: Today) -> bool:
    """Whether what runs today is the answer, with the same seeds."""
    answer = advice.answer
    if found.queue != answer.queue.kind:
        return False
    if answer.queue.knob == "limit":
        return found.packets == answer.packets
    return found.values == answer.values  # with the same seeds


def keeps(advice: Advice) -> bool:
    """Whether what runs today is kept, though it is not the answer."""
    found = advice.today
    if found is None or found.default_of is not None or runs_today(advice):
        return False
    return may_stay(advice, found)


def why_kept_unmet(advice: Advice) -> KeptUnmet | None:
    """Why what runs today is kept where nothing meets the targets; `None` where it is not.

    A change that misses them as well has to bring something: that users surely fare better, and not what
    hardly anybody would run.
    """
    found = advice.today
    if found is None or found.default_of is not None or found.is_shaped or not found.missed:
        return None
    if advice.choice.meets or advice.stage == "begun":
        return None
    if is_answer(advice, found):
        return "same"
    own, lost = advice.answer.mean("loss").mean or 0.0, found.mean("loss").mean or 0.0
    if own >= HEAVY_LOSS and lost < HEAVY_LOSS and lost <= LESS * own:
        return "loses"
    return _by_users(advice, found)


def _by_users(advice: Advice, found: Today) -> KeptUnmet | None:
    """The same, by how users fare."""
    worse = felt_sign(found.rival.behind)
    if worse:
        return "fares" if worse < 0 else None
    if worse_call(advice, advice.answer, found) is not None:
        return "calls"
    is_lossy = (found.mean("loss").mean or 0.0) >= HEAVY_LOSS
    return "nearer" if not is_lossy and _is_nearer(advice, found) else None


def _is_nearer(advice: Advice, found: Today) -> bool:
    """Whether what runs today is clearly nearer to the targets than the answer."""
    runs = {"today": found.values, "answer": advice.answer.values}
    near = closest({name: off(values, advice.targets, advice.site.users) for name, values in runs.items()})
    return near == ["today"]


def stays(advice: Advice) -> bool:
    """Whether what runs today is to be kept, whatever the targets, though it is not the answer."""
    return keeps(advice) or why_kept_unmet(advice) not in {None, "same"}


def may_stay(advice: Advice, found: Today, chosen: Measured | None = None) -> bool:
    """Whether a setting meets the targets, and users fare no worse with it, as far as they notice.

    Where few runs leave that open, what they favor in the mean stays: a change has to show what it brings.
    Where packets wait long with it, only if the answer is little better: a change must bring something. What
    is worse for some is weighed where users fare better as a whole, but for calls. Waits that are not long
    are no reason for a change where nothing else is worse by as much.

    Args:
        advice: The answer.
        found: What runs today.
        chosen: What the answer measured in the traffic of that; default with its own.
    """
    chosen = chosen or advice.answer
    if found.missed or not advice.choice.meets or found.is_shaped:
        return False
    if loses_heavily(found.mean("loss").mean, advice.targets) or waits_longer(advice, found, chosen):
        return False
    if worse_call(advice, found, chosen) is not None:
        return False
    worst, behind = found.rival.worst, found.rival.most_behind
    if behind < 0 or waits_briefly(found, chosen):
        return True
    if behind < NOTABLE and what_speaks_against(advice, found, chosen) is None:
        return True  # some gain by a change what others lose by it: that is no reason for one
    is_as_good = behind <= MATERIAL or (found.rival.behind.mean or 0.0) <= 0
    return is_as_good and (worst is None or worst[1] <= NOTABLE)


def what_speaks_against(advice: Advice, found: Today, chosen: Measured | None = None) -> Against | None:
    """Why what runs today is to be changed; `None` if nothing surely speaks against it.

    Args:
        advice: The answer.
        found: What runs today.
        chosen: What the answer measured in the traffic of that; default with its own.
    """
    chosen = chosen or advice.answer
    worse = felt_sign(found.rival.behind)
    if found.missed:
        return "misses"
    if loses_more(advice, found, chosen):
        return "loses"
    if waits_longer(advice, found, chosen) and worse >= 0:
        return "waits"
    return "fares" if worse > 0 else None


def betters_today(advice: Advice) -> bool:
    """Whether what runs today loses about as much as the answer, and users fare better with the answer.

    Then the answer is worth running, whatever it loses.
    """
    found = advice.today
    if found is None or not advice.choice.meets or runs_today(advice):
        return False
    own, lost = advice.answer.mean("loss").mean or 0.0, found.mean("loss").mean or 0.0
    behind, worst = found.rival.behind, found.rival.worst
    if lost <= LESS * own or ((behind.mean or 0.0) < 0 and not may_be_chance(behind)):
        return False
    return felt_sign(behind) > 0 or (worst is not None and worst[1] > NOTABLE)


def surely_misses(found: Today) -> bool:
    """Whether it misses a target by more than the interval of its mean."""
    means = ((each, found.mean(each.name)) for each in found.missed)
    return any(not each.margin(of.mean) >= -(of.half_width or 0.0) for each, of in means)  # NaN misses, too


def loses_more(advice: Advice, found: Today, chosen: Measured) -> bool:
    """Whether today loses what hardly anybody would accept, and the answer clearly less."""
    own, lost = chosen.mean("loss").mean or 0.0, found.mean("loss").mean or 0.0
    return loses_heavily(lost, advice.targets) and own <= LESS * lost


def waits_longer(advice: Advice, found: Today, chosen: Measured) -> bool:
    """Whether packets wait longer today than their path takes, and clearly less with the answer."""
    return stands(advice, found) and mean_wait_ms(chosen) <= LESS * mean_wait_ms(found)


def waits_briefly(found: Today, chosen: Measured) -> bool:
    """Whether users fare worse with it by waits most, which are not long, and no more is lost."""
    worst, own = found.rival.worst, chosen.mean("loss").mean or 0.0
    is_of_waits = worst is not None and worst[0].kind == "latency" and mean_wait_ms(found) < LONG_WAIT_MS
    return is_of_waits and (found.mean("loss").mean or 0.0) <= own


def stands(advice: Advice, found: Today) -> bool:
    """Whether packets wait longer today than their path takes."""
    return is_standing(mean_wait_ms(found), advice.site.rtt_ms, advice.targets)


def mean_wait_ms(found: Measured) -> float:
    """How long packets wait, in the mean, ms."""
    return found.mean("wait_mean_ms").mean or 0.0


def worse_call(advice: Advice, found: Measured, chosen: Measured) -> tuple[str, float, float] | None:
    """The worst call, its rating and that with what is chosen, if that is noticeably better; else `None`."""
    worst = worst_rated(found, advice.site.users)
    then = None if worst is None else chosen.mean(f"{worst[0]}.call_r").mean
    if worst is None or then is None or then - worst[1] <= NOTABLE_RATING * then:
        return None
    return *worst, then


def worst_rated(found: Measured, users: Sequence[Users]) -> tuple[str, float] | None:
    """The call with the least rating, and that; `None` where nobody calls."""
    rated = ((each.name, found.mean(f"{each.name}.call_r").mean) for each in users)
    known = [(name, rating) for name, rating in rated if rating is not None]
    return min(known, key=lambda each: each[1], default=None)
