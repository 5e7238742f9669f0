"""What users feel, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, Protocol

from bufferlab.display import significant
from bufferlab.render.advise.words import measured, of_estimate, unknown_text
from bufferlab.resolved import FELT_BY_GOODPUT
from bufferlab.results.metrics.metric import BITS_PER_S, FRACTION, MILLISECONDS, NUMBER, Unit
from bufferlab.stats import Estimate
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.choice import MATERIAL, Rival
from bufferlab.studies.advise.entry import Entry, Users
from bufferlab.studies.advise.objectives import Aspect

_OPINIONS: Final = (
    (90, "very satisfied"),
    (80, "satisfied"),
    (70, "some dissatisfied"),
    (60, "many dissatisfied"),
    (0, "nearly all dissatisfied"),
)
"""Users by a call's rating (ITU-T G.109, table 1)."""

_MOST_GROUPS: Final = 4
"""Groups that have a line each; with more, those whose users feel the goodput share one."""


class HasMeans(Protocol):
    """A queue that measured something."""

    def mean(self, name: str) -> Estimate:
        """Mean of a value over its runs, and how sure it is."""


def users_lines(advice: Advice, entry: Entry) -> list[tuple[str, str]]:
    """For each flow group its name and what its users feel."""
    users = advice.site.users
    if len(users) <= _MOST_GROUPS:
        return [(each.name, _felt(entry, each)) for each in users]
    found = []
    for other, members in groupby(sorted(users, key=_feels_other), key=_feels_other):
        listed = list(members)
        if not other and len(listed) > 1:
            found.append((f"{len(listed)} groups", _together(entry, listed)))
        else:
            found += [(each.name, _felt(entry, each)) for each in listed]
    return found


def aspect_text(aspect: Aspect, entry: HasMeans) -> str:
    """One aspect's value: "5.2 ms"."""
    found = entry.mean(aspect.metric)
    if found.mean is None:
        return unknown_text(found)
    return _aspect_text(aspect.metric.rpartition(".")[2], found.mean) + of_estimate(found)


def _aspect_text(name: str, mean: float) -> str:
    if name == "goodput_bps":
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
    """How much worse users fare, and in what most."""
    mean = rival.behind.mean or 0.0
    share = f"{significant(abs(mean) * 100, 2)} %"
    if rival.is_equal and abs(mean) > MATERIAL:
        half = significant((rival.behind.half_width or 0.0) * 100, 2)
        return f"users fare {share} {'worse' if mean > 0 else 'better'}, which may be chance (± {half} %)"
    if rival.is_equal:
        return f"as good for users (difference {share})" if abs(mean) >= 0.0005 else "as good for users"
    worst = "" if rival.worst is None else f"most: {_contrast(rival.worst[0], entry, chosen)}"
    if mean <= 0:
        return f"users fare {share} better as a whole, but worse in {worst.removeprefix('most: ')}"
    return f"users fare {share} worse" + (f", {worst}" if worst else "")


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
    def shown(name: str, words: str, unit: Unit) -> str:
        return f"{words} {measured(entry.checked(f'{users.name}.{name}'), unit)}".strip()

    def time(name: str, words: str) -> str:
        found = entry.checked(f"{users.name}.{name}")
        shown = unknown_text(found) if found.mean is None else _time(found.mean) + of_estimate(found)
        return f"{words} {shown}"

    if users.kind in FELT_BY_GOODPUT:
        each = " each" if users.flows > 1 else ""
        yield shown("goodput_bps", "", BITS_PER_S) + each
        if users.flows > 1:
            yield shown("jain_index", "Jain's index", NUMBER)
    elif users.kind == "udp":
        if rating is not None:
            words = next(words for least, words in _OPINIONS if rating >= least)
            yield f"rating R {significant(rating, 3)} ({words})"
            yield f"MOS {significant(opinion or 0.0, 2)}"
        yield shown("loss", "loss", FRACTION)
    elif users.kind == "ping":
        yield shown("loaded_rtt_p50_ms", "median", MILLISECONDS)
        yield shown("loaded_rtt_p95_ms", "95th percentile", MILLISECONDS)
    elif users.kind in {"web", "echo"}:
        yield time("exchange_p50_s", "fetched in")
        yield time("exchange_p95_s", "95th percentile")
    else:
        yield time("completion_s", "completed in")
        yield time("completion_p95_s", "95th percentile")


def _together(entry: Entry, users: Sequence[Users]) -> str:
    rates = {each.name: entry.checked(f"{each.name}.goodput_bps").mean or 0.0 for each in users}
    slow, fast = min(rates, key=rates.__getitem__), max(rates, key=rates.__getitem__)
    indices = [
        index
        for each in users
        if each.flows > 1 and (index := entry.checked(f"{each.name}.jain_index").mean) is not None
    ]
    fair = f"; Jain's index ≥ {significant(min(indices), 3)} in each" if indices else ""
    low, high = significant(rates[slow] / 1e6, 3), significant(rates[fast] / 1e6, 3)
    return f"{low} ({slow}) … {high} Mbps ({fast}){fair}"


def _time(seconds: float) -> str:
    return f"{significant(seconds, 3)} s" if seconds >= 1 else f"{significant(seconds * 1e3, 3)} ms"
