"""What users feel, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, Protocol

from bufferlab.display import significant
from bufferlab.render.advise.words import entry_text
from bufferlab.render.summary import NONE
from bufferlab.render.words import measured, of_estimate, title_text, unknown_text
from bufferlab.resolved import FELT_BY_GOODPUT
from bufferlab.results.metrics.metric import BITS_PER_S, FRACTION, MILLISECONDS, NUMBER, Unit
from bufferlab.stats import Estimate
from bufferlab.studies.advise.absent import Absent
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.elsewhere import Spoiled
from bufferlab.studies.advise.entry import Entry, Users
from bufferlab.studies.choosing.choice import Rival
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.choosing.order import place
from bufferlab.studies.choosing.thresholds import MATERIAL, NOTABLE

_OPINIONS: Final = (
    (90, "very satisfied"),
    (80, "satisfied"),
    (70, "some dissatisfied"),
    (60, "many dissatisfied"),
    (0, "nearly all dissatisfied"),
)
"""Users by a call's rating: the five categories of ITU-T G.109, as manuals quote its table."""

_MOST_GROUPS: Final = 4
"""Groups that have a line each; with more, those whose users feel the goodput share one."""

_APART: Final = 2.0
_FELT_MS: Final = 1.0
"""The groups' waits are shown if one is at least this many times another, and longer by at least this."""

_TIMES: Final = 10.0
_BOUNDED: Final = "more than 10 times"
"""What is said of users who fare at least that many times better or worse."""

_HALF: Final = 0.5
"""What is worse by more than this share, a factor of two, is shown before what users feel as a whole."""

_VERBS: Final = {"wait": "waits", "loss": "loses"}

_ROUNDS_TO_ZERO: Final = 0.0005

NOTICED: Final = f"the {MATERIAL * 100:g} % that users notice"
"""Up to which difference queues are equal, in words."""


class HasMeans(Protocol):
    """A queue that measured something."""

    @property
    def name(self) -> str:
        """The queue."""

    @property
    def title(self) -> str:
        """The same, as it is called in sentences."""

    def mean(self, name: str) -> Estimate:
        """Mean of a value over its runs, and how sure it is."""


def users_lines(advice: Advice, entry: Entry) -> list[tuple[str, str]]:
    """For each flow group its name and what its users feel; none for those of which nothing was measured."""
    users = advice.site.users
    if len(users) <= _MOST_GROUPS:
        return _with_text((each.name, _felt(entry, each)) for each in users)
    found = []
    for other, members in groupby(sorted(users, key=_feels_other), key=_feels_other):
        listed = list(members)
        if not other and len(listed) > 1:
            found.append((f"{len(listed)} groups", _together(entry, listed)))
        else:
            found += [(each.name, _felt(entry, each)) for each in listed]
    return _with_text(found)


def apart(advice: Advice, entry: Entry) -> str:
    """Each group's 99th percentile of waits, where the link's says little of one."""
    waits = {each.name: entry.checked(f"{each.name}.wait_p99_ms").mean for each in advice.site.users}
    known = {name: wait for name, wait in waits.items() if wait is not None}
    if not 1 < len(known) <= _MOST_GROUPS:
        return ""
    least, most = min(known.values()), max(known.values())
    if most <= _APART * least or most - least <= _FELT_MS:
        return ""
    return f" ({', '.join(f'{name} {significant(wait, 2)}' for name, wait in known.items())} ms)"


def _with_text(lines: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, text) for name, text in lines if text]


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


def aspect_text(aspect: Aspect, entry: HasMeans) -> str:
    """One aspect's value: "5.2 ms"."""
    found = entry.mean(aspect.metric)
    if found.mean is None:
        return unknown_text(found)
    return _aspect_text(aspect.metric.rpartition(".")[2], found.mean) + of_estimate(found)


def _aspect_text(name: str, mean: float) -> str:
    if name.endswith("_bps"):
        return f"{significant(mean / 1e6, 3)} Mbps"
    if name.endswith("_ms"):
        return f"{significant(mean, 3)} ms"
    if name.endswith("_s"):
        return _time(mean)
    if name == "loss":
        return f"{significant(mean * 100, 3)} %"
    return significant(mean, 3)


def aspect_title(aspect: Aspect) -> str:
    """What an aspect is about: where a wait is felt as part of a round trip, the wait that is shown."""
    return "mean wait" if aspect.metric == "wait_mean_ms" else aspect.title


def behind_text(rival: Rival, entry: HasMeans, chosen: HasMeans) -> str:
    """How much worse users fare, and in what most; of equals, why the other one was taken."""
    mean = rival.behind.mean or 0.0
    if rival.is_open:
        return _open_text(rival.behind)
    if rival.is_equal:
        return _equal_text(rival.behind) + (_tie_text(rival.name, chosen.name) if mean < 0 else "")
    worst = "" if rival.worst is None else _contrast(rival.worst[0], entry, chosen)
    text = f"users fare {share_text(rival.behind)} {{}} than with {_than(rival, chosen)}"
    if rival.worst is not None and rival.worst[1] > _HALF:
        word = "worse" if mean > 0 else "better"
        return f"{worst}; {text.format(word)} as a whole"
    if mean <= 0:
        return f"{text.format('better')} as a whole, {_chance_text(rival.behind)}but worse in {worst}"
    if may_be_chance(rival.behind):
        return f"{text.format('worse')} as a whole, {_chance_text(rival.behind)}but worse in {worst}"
    return text.format("worse") + (f", most: {worst}" if worst else "")


def rated_text(rating: float) -> str:
    """A call's rating, with what its users say of it."""
    words = next(words for least, words in _OPINIONS if rating >= least)
    return f"rating R {significant(rating, 3)} ({words})"


def gained(rival: Rival, chosen: HasMeans) -> Iterator[str]:
    """By how much users would fare better with a queue that was not taken, if they notice it."""
    mean = rival.behind.mean or 0.0
    if mean < -MATERIAL and not may_be_chance(rival.behind):
        yield f"users fare {share_text(rival.behind)} better than with {_than(rival, chosen)}"


def share_text(behind: Estimate) -> str:
    """How much worse or better, as a share with its interval, as in the tables: "11 ± 17 %"."""
    mean = behind.mean or 0.0
    if (behind.half_width or 0.0) >= 1.0 or _by(mean) == _BOUNDED:
        return _by(mean)
    return measured(Estimate(abs(mean), behind.half_width), FRACTION, digits=1)


def may_be_chance(behind: Estimate) -> bool:
    """Whether the interval has zero in it."""
    return bool(behind.half_width) and abs(behind.mean or 0.0) <= (behind.half_width or 0.0)


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
    return f"{word} by {abs(mean) * 100:.1f}{chance} %, less than {NOTICED}"


def _open_text(behind: Estimate) -> str:
    """By how much a queue differs that may yet turn out to be better."""
    word = "worse" if (behind.mean or 0.0) > 0 else "better"
    runs = f"{behind.known} runs" if behind.known > 1 else "one run"
    return f"{word} by {share_text(behind)}: not decided by {runs}"


def _tie_text(name: str, taken: str) -> str:
    """Why of two equal queues the one was taken that looks worse."""
    if place(name) <= place(taken):
        return "; of equals the first is taken"
    return "; of equals the first in our order is taken"


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


def gained_but_missed(advice: Advice) -> str | None:
    """That users would fare much better with a queue that misses a target, as a sentence; else `None`."""
    found = [each for each in advice.choice.rivals if each.missed and _much_better(each.behind)]
    if not found:
        return None
    best = min(found, key=lambda each: each.behind.mean or 0.0)
    entry = advice.entries[best.name]
    checks = {each.target: each for each in entry.checks}
    missed = [
        f"{title_text(target)} is {target.show_measured(checks[target].found.mean)}, not "
        f"{target.show(target.bound)}{' (our default)' if advice.needs.is_assumed(target) else ''}"
        for target in best.missed
    ]
    share = share_text(best.behind)
    return f"But users fare {share} better with {entry_text(entry)}, which misses: {'; '.join(missed)}."


def absent_text(found: Absent) -> str:
    """What a queue would do that the platform does not have."""
    means = ", ".join(
        f"{words} {unit.text(mean, digits=2)} {unit.shown}"
        for name, words, unit in (("wait_mean_ms", "mean wait", MILLISECONDS), ("loss", "loss", FRACTION))
        if (mean := found.mean(name).mean) is not None
    )
    behind, share = found.rival.behind, share_text(found.rival.behind)
    if abs(behind.mean or 0.0) <= MATERIAL or may_be_chance(behind):
        fare = "users would fare alike"
    else:
        fare = f"users would fare {share} {'worse' if (behind.mean or 0.0) > 0 else 'better'}"
    setting = found.queue.show(found.queue.usual)
    return f"{found.platform} has no {found.queue.kind}. With it ({setting}) {fare}: {means}."


def _much_better(behind: Estimate) -> bool:
    return (behind.mean or 0.0) + (behind.half_width or 0.0) < -NOTABLE


def _by(behind: float) -> str:
    """How much worse or better, as a share; what is beyond ten times has no figure."""
    times = 1.0 - behind if behind < 0 else 1.0 / max(1.0 - behind, 1e-9)
    return _BOUNDED if times > _TIMES else f"{significant(abs(behind) * 100, 2)} %"


def _contrast(aspect: Aspect, entry: HasMeans, chosen: HasMeans) -> str:
    return f"{aspect_title(aspect)} {aspect_text(aspect, entry)}, not {aspect_text(aspect, chosen)}"


def _feels_other(users: Users) -> bool:
    """Whether users of a group feel something other than its goodput."""
    return users.kind not in FELT_BY_GOODPUT


def _felt(entry: Entry, users: Users) -> str:
    def mean(name: str) -> float | None:
        return entry.checked(f"{users.name}.{name}").mean

    return ", ".join(_parts(entry, users, mean("call_r"), mean("call_mos")))


def _parts(entry: Entry, users: Users, rating: float | None, opinion: float | None) -> Iterator[str]:
    def shown(name: str, words: str, unit: Unit) -> Iterator[str]:
        """Nothing, where nothing was measured, as of datagrams that do not cross the link."""
        found = entry.checked(f"{users.name}.{name}")
        if found.mean is not None or found.is_partial:
            yield words.format(measured(found, unit))

    def time(name: str, words: str) -> str:
        found = entry.checked(f"{users.name}.{name}")
        shown = unknown_text(found) if found.mean is None else _time(found.mean) + of_estimate(found)
        return f"{words} {shown}"

    if users.kind in FELT_BY_GOODPUT:
        yield from shown("goodput_bps", "{} each" if users.flows > 1 else "{}", BITS_PER_S)
        if users.flows > 1:
            yield from shown("jain_index", "Jain's index {} (1 is equal)", NUMBER)
    elif users.kind == "udp":
        if rating is not None:
            yield rated_text(rating)
            yield f"MOS {significant(opinion or 0.0, 2)}"
        yield from shown("loss", "loss {}", FRACTION)
    elif users.kind == "ping":
        yield from shown("loaded_rtt_p50_ms", "median {}", MILLISECONDS)
        yield from shown("loaded_rtt_p95_ms", "95th percentile {}", MILLISECONDS)
    elif users.kind in {"web", "echo"}:
        yield time("exchange_p50_s", "fetched in")
        yield time("exchange_p95_s", "95th percentile")
    else:
        yield time("completion_s", "completed in")
        yield time("completion_p95_s", "95th percentile")


def _place(each: Spoiled) -> str:
    return each.link


def _share(each: Spoiled) -> str:
    """A part of all: "38 of its 41 ms"."""
    unit = MILLISECONDS if each.what == "wait" else FRACTION
    there, total = (unit.text(value, digits=2) for value in (each.there, each.total))
    return f"{there} of its {total} {unit.shown}" if there != total else f"all its {total} {unit.shown}"


def _together(entry: Entry, users: Sequence[Users]) -> str:
    rates = {each.name: entry.checked(f"{each.name}.goodput_bps").mean or 0.0 for each in users}
    slow, fast = min(rates, key=rates.__getitem__), max(rates, key=rates.__getitem__)
    indices = [
        index
        for each in users
        if each.flows > 1 and (index := entry.checked(f"{each.name}.jain_index").mean) is not None
    ]
    fair = f"; Jain's index ≥ {significant(min(indices), 3)} (fairness; 1 is equal)" if indices else ""
    low, high = significant(rates[slow] / 1e6, 3), significant(rates[fast] / 1e6, 3)
    return f"{low} ({slow}) to {high} Mbps ({fast}){fair}"


def _time(seconds: float) -> str:
    return f"{significant(seconds, 3)} s" if seconds >= 1 else f"{significant(seconds * 1e3, 3)} ms"
