"""How users fare with one queue beside another, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, Protocol

from bufferlab.display import significant
from bufferlab.render.advise.words import entry_text
from bufferlab.render.summary import NONE
from bufferlab.render.words import asked, instead, measured, of_estimate, unknown_text
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS
from bufferlab.stats import Estimate
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.elsewhere import Spoiled
from bufferlab.studies.advise.entry import Users
from bufferlab.studies.advise.staying import Measured
from bufferlab.studies.choosing.choice import Rival
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.choosing.order import keeps_apart, place, reason_of
from bufferlab.studies.choosing.thresholds import (
    HEAVY_LOSS,
    MATERIAL,
    NOTABLE,
    felt_sign,
    loses_heavily,
    may_be_chance,
)
from bufferlab.studies.targets import Target, Values

_TIMES: Final = 10.0
_BOUNDED: Final = "more than 10 times"
"""What is said of users who fare at least that many times better or worse."""

_HALF: Final = 0.5
"""What is worse by more than this share, a factor of two, is shown before what users feel as a whole."""

_VERBS: Final = {"wait": "waits", "loss": "loses"}

_ROUNDS_TO_ZERO: Final = 0.0005

SHORTER: Final = "packets wait less than their path takes"
"""Why a queue is preferred to one that is as good for users, but whose packets wait longer than that."""

FEW_FINISH: Final = "few finish"
"""In place of a time to finish that is unknown: what did not finish would have the longest."""

ALIKE: Final = "alike"
"""How users fare with what they do not notice."""

NOTICED: Final = f"the {MATERIAL * 100:g} % that users notice"
"""Up to which difference queues are equal, in words."""


class Checked(Measured, Protocol):
    """What was run as often as its targets need."""

    @property
    def runs(self) -> Sequence[Values]:
        """What each of these runs measured."""

    def checked(self, name: str) -> Estimate:
        """Mean of a value over these runs, and how sure it is."""


class HasMeans(Measured, Protocol):
    """A queue that measured something."""

    @property
    def name(self) -> str:
        """The queue."""

    @property
    def title(self) -> str:
        """The same, as it is called in sentences."""


def elsewhere_text(advice: Advice) -> str:
    """What users wait for or lose at other links, which no answer here mends."""
    texts = []
    for link, those in groupby(sorted(advice.elsewhere, key=_place), key=_place):
        parts = [
            f"{each.group} {_VERBS[each.what]} {_share(each)}"
            for each in sorted(those, key=lambda each: each.there, reverse=True)
        ]
        texts.append(f"at {link} {', '.join(parts)}")
    return f"{'; '.join(texts)}: no queue at {advice.site.link} mends that."


def elsewhere_brief(advice: Advice) -> str:
    """Who waits or loses there, in a line."""
    groups = dict.fromkeys(each.group for each in advice.elsewhere)
    links = dict.fromkeys(each.link for each in advice.elsewhere)
    return f"{', '.join(groups)} wait or lose mostly at {', '.join(links)}"


def judged_text(advice: Advice) -> str | None:
    """By what users were judged, where the wait at the link is no part of it."""
    if not advice.choice.rivals or any(each.metric == "wait_mean_ms" for each in advice.aspects):
        return None
    groups: dict[str, list[str]] = {}
    for each in advice.aspects:
        group, _, title = each.title.partition(": ")
        groups.setdefault(group, []).append(title)
    felt = "; ".join(f"{group}: {', '.join(titles)}" for group, titles in groups.items())
    return f"by {felt}. The mean wait counts only as far as these feel it."


def aspect_text(aspect: Aspect, entry: Measured) -> str:
    """One aspect's value: "5.2 ms"."""
    found, name = entry.mean(aspect.metric), aspect.metric.rpartition(".")[2]
    if found.mean is None:
        return f"unknown ({FEW_FINISH})" if name.endswith("_s") else unknown_text(found)
    return _aspect_text(name, found.mean) + of_estimate(found)


def _aspect_text(name: str, mean: float) -> str:
    if name.endswith("_bps"):
        return f"{significant(mean / 1e6, 3)} Mbps"
    if name.endswith("_ms"):
        return f"{significant(mean, 3)} ms"
    if name.endswith("_s"):
        return time_text(mean)
    if name == "loss":
        return f"{significant(mean * 100, 3)} %"
    return significant(mean, 3)


def aspect_title(aspect: Aspect) -> str:
    """What an aspect is about: where a wait is felt as part of a round trip, the wait that is shown."""
    return "mean wait" if aspect.metric == "wait_mean_ms" else aspect.title


def behind_text(rival: Rival, entry: HasMeans, chosen: HasMeans) -> str:
    """How much worse users fare, and in what most; of equals, why the other one was taken."""
    if rival.is_lossy:
        lost = FRACTION.quantity(entry.mean("loss").mean or 0.0, digits=2)
        return f"loses {lost}, which hardly anybody would accept"
    if rival.is_open:
        return _open_text(rival.behind)
    return _decided_text(rival, entry, chosen)


def _decided_text(rival: Rival, entry: HasMeans, chosen: HasMeans) -> str:
    mean = rival.behind.mean or 0.0
    if rival.is_equal:
        return _equal_text(rival.behind) + (tie_text(rival, chosen) if mean < 0 else "")
    worst = "" if rival.worst is None else contrast(rival.worst[0], entry, chosen)
    text = f"users fare {share_text(rival.behind)} {{}} than with {_than(rival, chosen)}"
    if rival.worst is not None and rival.worst[1] > _HALF:
        word = "worse" if mean > 0 else "better"
        return f"{worst}; {text.format(word)} as a whole"
    if mean <= 0:
        return f"{text.format('better')} as a whole, {_chance_text(rival.behind)}but worse in {worst}"
    if may_be_chance(rival.behind):
        return f"{text.format('worse')} as a whole, {_chance_text(rival.behind)}but worse in {worst}"
    return text.format("worse") + (f", most: {worst}" if worst else "")


def gained(rival: Rival, chosen: HasMeans) -> Iterator[str]:
    """By how much users would fare better with a queue that was not taken, if they notice it."""
    if felt_sign(rival.behind) < 0:
        yield f"users fare {share_text(rival.behind)} better than with {_than(rival, chosen)}"


def share_text(behind: Estimate) -> str:
    """How much worse or better, as a share with its interval, as in the tables: "11 ± 17 %"."""
    mean = behind.mean or 0.0
    if (behind.half_width or 0.0) >= 1.0 or _by(mean) == _BOUNDED:
        return _by(mean)
    return measured(Estimate(abs(mean), behind.half_width), FRACTION, digits=1)


def _chance_text(behind: Estimate) -> str:
    return "which may be chance, " if may_be_chance(behind) else ""


def _than(rival: Rival, chosen: HasMeans) -> str:
    """What a queue is compared with: the one that was taken, with its setting if it is the same queue."""
    queue, (taken, *_) = rival.name.partition(",")[0], chosen.name.partition(",")
    return chosen.name if queue == taken else chosen.title


def _equal_text(behind: Estimate) -> str:
    """By how much an equal queue differs all the same."""
    mean = behind.mean or 0.0
    if not _ROUNDS_TO_ZERO <= abs(mean) < _TIMES - 1:
        return "as good for users"
    word = "worse" if mean > 0 else "better"
    if abs(mean) > MATERIAL:
        half = significant((behind.half_width or 0.0) * 100, 2)
        return f"users fare {_by(mean)} {word}, which may be chance (± {half} %)"
    half = f"{(behind.half_width or 0.0) * 100:.1f}"
    chance = "" if float(half) == 0 else f" ± {half}"
    by = f"{word} by {abs(mean) * 100:.1f}{chance} %"
    if abs(mean) + (behind.half_width or 0.0) > MATERIAL:
        return f"{by}: these runs cannot tell"
    return f"{by}, too little to notice ({MATERIAL * 100:g} %)"


def _open_text(behind: Estimate) -> str:
    """By how much a queue differs that may yet turn out to be better."""
    word = "worse" if (behind.mean or 0.0) > 0 else "better"
    runs = f"{behind.known} runs" if behind.known > 1 else "one run"
    return f"{word} by {share_text(behind)}: not decided by {runs}"


def tie_text(rival: Rival, chosen: HasMeans) -> str:
    """Why of two equal queues the one was taken, to go on with."""
    if rival.is_standing:
        return f"; {chosen.title} is preferred: {SHORTER}"
    is_kept_apart = keeps_apart(chosen.name) and not keeps_apart(rival.name)
    if place(rival.name) <= place(chosen.name) and not is_kept_apart:
        return f"; {chosen.title} is preferred"
    return f"; {chosen.title} is preferred: {reason_of(chosen.name, chosen.title, [rival.name])}"


def fare_title(rivals: Iterable[Rival], first: str) -> str:
    """What a table's column "users fare" tells."""
    chance = (
        "; where ± reaches 0, that may be chance"
        if any(may_be_chance(each.behind) for each in rivals)
        else ""
    )
    return f"{first} better (+) or worse (-) than with the first{chance}"


def fare_text(behind: Estimate) -> str:
    """How users fare beside the answer, in a table: "-2.7 ± 0.1 %"; better is more."""
    if behind.mean is None:
        return NONE
    if (behind.half_width or 0.0) >= 1.0:
        return NONE  # some runs measured nothing: no figure says how much that is
    if _by(behind.mean) == _BOUNDED:
        return f"{_BOUNDED} {'worse' if behind.mean > 0 else 'better'}"
    text = measured(Estimate(-behind.mean, behind.half_width), FRACTION, digits=1)
    number = text.partition(" ")[0]
    if float(number) == 0:
        return text.replace(number, "0", 1)
    return text if text.startswith("-") else f"+{text}"


def worse_text(rival: Rival) -> str:
    """In what users fare worse most, whatever they gain elsewhere: "cubic: goodput a flow, by 62 %"."""
    if rival.worst is None or rival.worst[1] <= NOTABLE:
        return ""
    aspect, share = rival.worst
    return f"{aspect_title(aspect)}, by {_by(share)}"


def most_text(rival: Rival, entry: Measured, chosen: Measured) -> str:
    """In what users fare worse most, or better, where they surely do: "call: rating R 49 instead of 93"."""
    aspect = _most(rival) if felt_sign(rival.behind) else None
    return "" if aspect is None else contrast(aspect, entry, chosen)


def _most(rival: Rival) -> Aspect | None:
    """What users surely gain most with a queue where they fare better, and lose most where they do not."""
    if (rival.behind.mean or 0.0) < 0:
        return rival.gains
    return None if rival.worst is None else rival.worst[0]


def better_but_missed(advice: Advice) -> Rival | None:
    """The queue that misses a target, and with which users would fare much better; `None` without one.

    Beside an answer that loses what hardly anybody would accept better is enough, if it does not.
    """
    is_lossy = loses_heavily(advice.answer.checked("loss").mean, advice.targets)
    found = [
        each
        for each in advice.choice.rivals
        if each.missed and (_much_better(each.behind) or (is_lossy and _is_better_and_mild(advice, each)))
    ]
    best = min(found, key=lambda each: each.behind.mean or 0.0, default=None)
    if best is None:
        return None
    queue = advice.entries[best.name].queue
    # of the same queue its usual delay, if users hardly notice the difference
    usual = [
        each
        for each in found
        if advice.entries[each.name].queue == queue
        and advice.entries[each.name].setting == queue.usual
        and len(each.missed) <= len(best.missed)
        and (each.behind.mean or 0.0) - (best.behind.mean or 0.0) <= MATERIAL
    ]
    return usual[0] if usual else best


def _is_better_and_mild(advice: Advice, rival: Rival) -> bool:
    """Whether users surely fare better with a queue that does not lose what hardly anybody accepts."""
    lost, behind = advice.entries[rival.name].mean("loss").mean, rival.behind
    is_better = (behind.mean or 0.0) < 0 and not may_be_chance(behind)
    return is_better and not loses_heavily(lost, advice.targets)


def gained_but_missed(advice: Advice) -> str | None:
    """That users would fare much better with a queue that misses a target, as a sentence; else `None`."""
    best = better_but_missed(advice)
    if best is None:
        return None
    entry, share = advice.entries[best.name], share_text(best.behind)
    return f"But users fare {share} better with {entry_text(entry)}, which misses: {_misses(advice, best)}."


def best_but_missed(advice: Advice) -> str | None:
    """What to run if a target may be missed, where nothing that meets all is worth running, as a sentence."""
    best = better_but_missed(advice)
    if best is None:
        return None
    entry, share = advice.entries[best.name], share_text(best.behind)
    misses = _misses(advice, best)
    return (
        f"Best is {entry_text(entry)}, if it may miss a target: {misses}. Users fare {share} better with it."
    )


def _misses(advice: Advice, best: Rival) -> str:
    """What a queue misses, with its value and whose packets keep it: "loss 3 % (asked 1 %)"."""
    entry = advice.entries[best.name]
    checks = {each.target: each for each in entry.checks}
    missed = [
        asked(
            target,
            checks[target].found.mean,
            is_assumed=advice.needs.is_assumed(target),
            more=_kept_text(entry, target, advice.site.users),
        )
        for target in best.missed
    ]
    return "; ".join(missed)


def kept_by_groups(entry: Checked, target: Target, users: Sequence[Users]) -> dict[str, float]:
    """The groups whose own packets keep a bound on all waits, and what they have of it in the mean.

    In a queue that keeps flows apart, what a flow of BBR lets wait is its own.
    """
    if target.group is not None or not target.wants_less or not target.name.startswith("wait_"):
        return {}
    waits = {each.name: entry.checked(f"{each.name}.{target.name}").mean for each in users}
    return {group: wait for group, wait in waits.items() if wait is not None and target.margin(wait) >= 0}


def asked_alone(target: Target, group: str) -> str:
    """How to ask for a bound on all waits of one group alone."""
    asked = f"{group}.{target.name.removesuffix('_ms')} <= {target.show(target.bound)}"
    return f"--target '{asked}' asks for that alone"


def _kept_text(entry: Checked, target: Target, users: Sequence[Users]) -> str:
    """The same behind a semicolon, and how to ask for it; empty if no group keeps the bound."""
    kept = kept_by_groups(entry, target, users)
    if not kept:
        return ""
    those = ", ".join(f"{group} {target.show(wait, 2)}" for group, wait in kept.items())
    return f"; {those}; {asked_alone(target, next(iter(kept)))}"


def gained_but_lossy(advice: Advice) -> str | None:
    """That users would fare much better with a queue that was not taken for its loss, as a sentence.

    Of several it is the one that loses least.
    """
    found = [each for each in advice.choice.rivals if each.is_lossy and _much_better(each.behind)]
    if not found:
        return None
    best = min(found, key=lambda each: advice.entries[each.name].mean("loss").mean or 0.0)
    entry, share = advice.entries[best.name], share_text(best.behind)
    lost = FRACTION.quantity(entry.mean("loss").mean or 0.0, digits=2)
    losers = losers_text(entry, advice.site.users)
    return f"But users fare {share} better with {entry_text(entry)}, which loses {lost}: {losers}."


def losers_text(entry: Measured, users: Sequence[Users]) -> str:
    """Who loses how much with a queue, the most first; little is put together: "flood 91 %"."""
    known = {each.name: entry.mean(f"{each.name}.loss").mean for each in users}
    lost = dict(sorted(((name, share or 0.0) for name, share in known.items()), key=lambda pair: -pair[1]))
    heavy = {name: share for name, share in lost.items() if share >= HEAVY_LOSS}
    texts = [f"{name} {FRACTION.quantity(share, digits=2)}" for name, share in heavy.items()]
    rest = max((share for name, share in lost.items() if name not in heavy), default=None)
    if rest is not None:
        texts.append(f"{'others at most' if texts else 'each at most'} {FRACTION.quantity(rest, digits=2)}")
    return ", ".join(texts)


def fare_words(rival: Rival, entry: Measured, chosen: Measured) -> str:
    """How users fare beside the answer, in words: "alike", "alike as a whole, but ...", "12 ± 3 % worse"."""
    behind = rival.behind
    if not felt_sign(behind):
        known = (each for each in (rival.loses, rival.gains) if each is not None)
        apart = "; ".join(contrast(each, entry, chosen) for each in known)
        return f"{ALIKE} as a whole, but {apart}" if apart else ALIKE
    most = f", most: {text}" if (text := most_text(rival, entry, chosen)) else ""
    return f"{share_text(behind)} {'better' if (behind.mean or 0.0) < 0 else 'worse'}{most}"


def _much_better(behind: Estimate) -> bool:
    return (behind.mean or 0.0) + (behind.half_width or 0.0) < -NOTABLE


def _by(behind: float) -> str:
    """How much worse or better, as a share; what is beyond ten times has no figure."""
    times = 1.0 - behind if behind < 0 else 1.0 / max(1.0 - behind, 1e-9)
    return _BOUNDED if times > _TIMES else f"{significant(abs(behind) * 100, 2)} %"


def contrast(aspect: Aspect, entry: Measured, chosen: Measured, whose: str = "") -> str:
    """What users feel of an entry beside another one: "call: rating R 49 instead of 93"."""
    found, other = (aspect_text(aspect, each) for each in (entry, chosen))
    return f"{aspect_title(aspect)} {instead(found, other, whose)}"


def _place(each: Spoiled) -> str:
    return each.link


def _share(each: Spoiled) -> str:
    """A part of all: "38 of its 41 ms"."""
    unit = MILLISECONDS if each.what == "wait" else FRACTION
    there, total = (unit.text(value, digits=2) for value in (each.there, each.total))
    return f"{there} of its {total} {unit.shown}" if there != total else f"all its {total} {unit.shown}"


def time_text(seconds: float) -> str:
    """A time in the unit that reads best: "23 ms", "1.2 s"."""
    return f"{significant(seconds, 3)} s" if seconds >= 1 else f"{significant(seconds * 1e3, 3)} ms"
