"""What the users of each flow group feel with a queue, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from bufferlab.display import significant
from bufferlab.render.advise.felt import Checked
from bufferlab.render.words import measured
from bufferlab.resolved import FELT_BY_GOODPUT
from bufferlab.results.metrics.metric import (
    BITS_PER_S,
    BRIEF_SECONDS,
    FRACTION,
    MILLISECONDS,
    NUMBER,
    SECONDS,
    Unit,
)
from bufferlab.stats import Estimate
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Users

_OPINIONS: Final = (
    (90, "very satisfied"),
    (80, "satisfied"),
    (70, "some dissatisfied"),
    (60, "many dissatisfied"),
    (0, "nearly all dissatisfied"),
)
"""Users by a call's rating: the five categories of ITU-T G.109, as manuals quote its table."""

BAD_CALL: Final = 70.0
"""Rating of a call below which many users are dissatisfied (ITU-T G.109)."""

_MOST_GROUPS: Final = 4
"""Groups that have a line each; with more, those whose users feel the goodput share one."""

_LATE_USUAL: Final = "95th percentile"
LATE: Final = "but one in 20 takes more than"
"""What is said of pages of which some take far longer than most."""

_FAR_LATER: Final = 3.0
_LATE_S: Final = 2.0
"""It is said where the 95th percentile is more than this many times the median, and longer than this, s; our
choice."""

_APART: Final = 2.0
_FELT_MS: Final = 1.0
"""The groups' waits are shown if one is at least this many times another, and longer by at least this."""


_SHOWN: Final[Mapping[str, Sequence[tuple[str, str, Unit]]]] = {
    "ping": [
        ("loaded_rtt_p50_ms", "median {}", MILLISECONDS),
        ("loaded_rtt_p95_ms", "95th percentile {}", MILLISECONDS),
    ],
    "video": [("bitrate_bps", "{}", BITS_PER_S), ("stalls", "stalled {} of the time", FRACTION)],
    "video-call": [
        ("goodput_bps", "{}", BITS_PER_S),
        ("frame_p95_ms", "frames within {} (95th percentile)", MILLISECONDS),
        ("frames_late", "{} of them late", FRACTION),
    ],
}
"""What is shown of groups whose users feel the same whatever there is: metrics with their words and units."""


def users_lines(advice: Advice, entry: Checked) -> list[tuple[str, str]]:
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


def apart(advice: Advice, entry: Checked) -> str:
    """Each group's 99th percentile of waits, where the link's says little of one."""
    waits = {each.name: entry.checked(f"{each.name}.wait_p99_ms").mean for each in advice.site.users}
    known = {name: wait for name, wait in waits.items() if wait is not None}
    if not 1 < len(known) <= _MOST_GROUPS:
        return ""
    least, most = min(known.values()), max(known.values())
    if most <= _APART * least or most - least <= _FELT_MS:
        return ""
    return f" (of {', '.join(f'{name} {significant(wait, 2)}' for name, wait in known.items())} ms)"


def rated_text(rating: float) -> str:
    """A call's rating, with what its users say of it."""
    words = next(words for least, words in _OPINIONS if rating >= least)
    return f"rating R {significant(rating, 3)} ({words})"


def _with_text(lines: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, text) for name, text in lines if text]


def _feels_other(users: Users) -> bool:
    """Whether users of a group feel something other than its goodput."""
    return users.kind not in FELT_BY_GOODPUT


def _felt(entry: Checked, users: Users) -> str:
    def mean(name: str) -> float | None:
        return entry.checked(f"{users.name}.{name}").mean

    return ", ".join(_parts(entry, users, mean("call_r"), mean("call_mos")))


def _parts(entry: Checked, users: Users, rating: float | None, opinion: float | None) -> Iterator[str]:
    def shown(name: str, words: str, unit: Unit) -> Iterator[str]:
        """Nothing, where nothing was measured, as of datagrams that do not cross the link."""
        found = entry.checked(f"{users.name}.{name}")
        if found.mean is not None or found.is_partial:
            yield words.format(measured(found, unit))

    if users.kind in FELT_BY_GOODPUT:
        yield from shown("goodput_bps", "{} each" if users.flows > 1 else "{}", BITS_PER_S)
        if users.flows > 1:
            yield from shown("jain_index", "Jain's index {} (1 is equal)", NUMBER)
    elif users.kind == "udp":
        yield from _rated(entry, users, rating, opinion)
        yield from shown("loss", "loss {}", FRACTION)
    elif users.kind in _SHOWN:
        for name, words, unit in _SHOWN[users.kind]:
            yield from shown(name, words, unit)
    else:
        is_page = users.kind in {"web", "echo"}
        names = ("exchange_p50_s", "exchange_p95_s") if is_page else ("completion_s", "completion_p95_s")
        usual, late = (entry.checked(f"{users.name}.{name}") for name in names)
        if usual.mean is None:
            yield f"hardly any {'page' if is_page else 'transfer'} was finished{_in_runs(usual)}"
            return
        yield f"{'fetched' if is_page else 'completed'} in {_time(usual)}"
        yield f"{LATE if is_page and _is_late(usual.mean, late.mean) else _LATE_USUAL} {_time(late)}"


def _time(found: Estimate) -> str:
    return measured(found, BRIEF_SECONDS if (found.mean or 0.0) < 1 else SECONDS)


def _in_runs(found: Estimate) -> str:
    """In how many runs a figure is not known, if it is in others."""
    return f" in {found.lacking} of {found.runs} runs" if found.is_partial else ""


def _is_late(usual_s: float, late_s: float | None) -> bool:
    """Whether one fetch in twenty takes far longer than most, and too long."""
    return late_s is not None and late_s > max(_FAR_LATER * usual_s, _LATE_S)


def _rated(entry: Checked, users: Users, rating: float | None, opinion: float | None) -> Iterator[str]:
    if rating is not None:
        yield rated_text(rating) + _worst_run(entry, users, rating)
        yield f"MOS {significant(opinion or 0.0, 2)}"


def _worst_run(entry: Checked, users: Users, rating: float) -> str:
    """That a call was bad in single runs, which a good mean hides."""
    ratings = [found for run in entry.runs if (found := run.get(f"{users.name}.call_r")) is not None]
    bad = [each for each in ratings if each < BAD_CALL]
    if not bad or rating < BAD_CALL:
        return ""
    return f", below {BAD_CALL:g} in {len(bad)} of {len(entry.runs)} runs (least {significant(min(bad), 2)})"


def _together(entry: Checked, users: Sequence[Users]) -> str:
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
