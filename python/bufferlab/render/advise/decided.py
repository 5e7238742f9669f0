"""What decides between queues that are equal for users, or has not yet, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from bufferlab.display import significant
from bufferlab.render.advise.felt import SHORTER, aspect_title, contrast
from bufferlab.render.words import listed, title_text
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.llq import TITLES
from bufferlab.studies.advise.sensitivity import Broken
from bufferlab.studies.choosing.choice import Choice
from bufferlab.studies.choosing.order import place, reason_of
from bufferlab.studies.choosing.thresholds import MATERIAL, NOTABLE, notable
from bufferlab.studies.targets import Target

MOST_WORSE: Final = 2
"""Queues of which it is said in what their users fare worse."""

MOST_NAMED: Final = 3
"""Queues that are named in a sentence, and what-ifs; of more, how many there are."""


def tie_text(advice: Advice) -> Iterator[str]:
    """That queues are equal and other traffic has not decided between them, as sentences; none if it has."""
    if not advice.tied:
        return
    if advice.choice.is_tie_shown and not advice.choice.open:
        yield f"As good for this traffic: {tied_names(advice)}; {_why(advice)}. {_remedy(advice)}"
        return
    near, far = _by_mean(advice)
    clauses = [f"distinguish it from {_names(advice, near)}"] if near else []
    clauses += [f"prove that {_names(advice, far)} {'is' if len(far) == 1 else 'are'} worse"] if far else []
    runs = len(advice.answer.values)
    unknown = f"{runs} runs of this traffic do not {', nor '.join(clauses)}"
    worse = "; ".join(_worse_in(advice, near))
    but = f" As a whole, that is: in the mean {worse}." if worse else ""
    yield f"{unknown}; {_why(advice)}.{but} {_remedy(advice)}"


def _worse_in(advice: Advice, names: Sequence[str]) -> list[str]:
    """In what users fare notably worse in the mean with queues that are not distinguished as a whole."""
    of_them = {each.name: each for each in advice.choice.rivals if each.name in names}
    return [
        f"{advice.entries[name].title} has {contrast(rival.worst[0], advice.entries[name], advice.answer)}"
        for name, rival in of_them.items()
        if rival.worst is not None and rival.worst[1] > notable(rival.worst[0], advice.weights)
    ][:MOST_WORSE]


def _why(advice: Advice) -> str:
    """Why the answer is taken of those."""
    return preferred(advice, (*advice.tied, *advice.choice.open))


def _by_mean(advice: Advice) -> tuple[list[str], list[str]]:
    """The queues that nothing tells from the answer, and those that are noticeably worse in the mean."""
    names = (*advice.tied, *advice.choice.open)
    behind = {rival.name: rival.behind.mean or 0.0 for rival in advice.choice.rivals}
    far = [name for name in names if behind[name] > MATERIAL]
    return [name for name in names if name not in far], far


def tied_names(advice: Advice) -> str:
    """The queues that nothing tells from the answer, the first in our order first: "fifo and codel"."""
    return _names(advice, (*advice.tied, *advice.choice.open))


def _names(advice: Advice, of: Sequence[str]) -> str:
    """The queues of settings, the first in our order first, without the answer's."""
    answer, names = advice.answer.queue, sorted(of, key=place)
    queues = {each.queue.name: each.queue for each in (advice.entries[name] for name in names)}
    queues.pop(answer.name, None)
    kinds = list(dict.fromkeys(queue.kind for queue in queues.values()))
    is_plain = len(kinds) == len(queues) and answer.kind not in kinds
    names = (
        [TITLES.get(each, each) for each in kinds] if is_plain else [queue.title for queue in queues.values()]
    )
    if len(names) > MOST_NAMED:
        names = [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"]
    return listed(names)


def _remedy(advice: Advice) -> str:
    """What may decide between them, and how to have it tried."""
    if not advice.finished:
        return f"Other traffic may decide, and was not {'all ' if advice.sensitivity else ''}tried yet."
    if advice.is_early:
        return "Without --quick, other traffic may decide, and smaller buffers are searched."
    return "Other traffic may decide, and is tried without --no-sensitivity."


def undecided_text(choice: Choice) -> str | None:
    """That other queues may yet turn out to be better, as a sentence; `None` if the choice is decided."""
    if not choice.open:
        return None
    known = next(rival.behind.known for rival in choice.rivals if rival.is_open)
    runs = f"{known} runs do" if known > 1 else "one run does"
    names = listed(choice.open) if len(choice.open) <= MOST_NAMED else f"{len(choice.open)} other queues"
    worse = [
        f"{each.name} is {significant(each.worst[1] * 100, 2)} % worse in {aspect_title(each.worst[0])}"
        for each in choice.rivals
        if each.name in choice.open and each.worst is not None and each.worst[1] > NOTABLE
    ]
    but = f" In the mean {'; '.join(worse[:MOST_WORSE])}." if worse else ""
    return (
        f"The queue is not decided: {runs} not tell whether users would notice the difference to {names} "
        f"as a whole ({MATERIAL * 100:g} %).{but}"
    )


def outlasted_text(advice: Advice, broken: Sequence[Broken], *, most: int = MOST_NAMED) -> str:
    """Why an equal queue was not taken: what it misses in other traffic, and the answer does not.

    Args:
        advice: The advice.
        broken: What it misses.
        most: What-ifs that are named.
    """
    return f"as good for users here, but not with other traffic: {_missed(advice, broken, most)}"


def equal_text(advice: Advice, named: Sequence[Entry]) -> str | None:
    """Why equal queues were not taken that have no line of their own; `None` if there are none.

    Args:
        advice: The advice.
        named: The entries that have one.
    """
    if advice.tied:
        return None
    queues = {entry.queue.name for entry in named}
    first: dict[str, str] = {}
    for name in (*advice.outlasted, *advice.choice.equals):
        if advice.entries[name].queue.name not in queues | {advice.answer.queue.name}:
            first.setdefault(advice.entries[name].queue.name, name)
    lost = [name for name in first.values() if name in advice.outlasted]
    later = [name for name in first.values() if name not in advice.outlasted]
    parts = [
        f"{advice.entries[name].title} misses {_missed(advice, advice.outlasted[name])}" for name in lost
    ]
    if later:
        titles = [advice.entries[name].title for name in later]
        parts.append(f"{listed(titles)}: as good for users; {preferred(advice, later)}")
    return f"{'; '.join(parts)}." if parts else None


def preferred(advice: Advice, others: Sequence[str]) -> str:
    """Why the answer is taken before other queues that are as good, by their names."""
    late = {each.name for each in advice.choice.rivals if each.is_standing}
    why = SHORTER if late.issuperset(others) else reason_of(advice.answer.name, advice.answer.title, others)
    return f"{advice.answer.title} is preferred: {why}"


def nor_others(advice: Advice) -> str | None:
    """That no equal queue misses targets by much in fewer what-ifs; `None` if one does, or none was tried."""
    if advice.is_sturdy or not advice.others:
        return None
    texts = [
        f"{advice.entries[name].title} misses {_missed(advice, each.broken)}"
        for name, each in sorted(advice.others.items(), key=lambda item: place(item[0]))
    ]
    return f"no equal queue misses fewer: {'; '.join(texts)}."


def _missed(advice: Advice, broken: Sequence[Broken], most: int = MOST_NAMED) -> str:
    """What is missed with which traffic: "utilization 98.6 % with 9 flows, 97 % with bbr (target 99 %)"."""
    values: dict[Target, list[str]] = {}
    for each in broken[:most]:
        values.setdefault(each.target, []).append(
            f"{each.target.show_measured(each.value)} with {each.change}"
        )
    texts = [
        f"{title_text(target)} {', '.join(found)} "
        f"({'our default' if advice.needs.is_assumed(target) else 'target'} {target.show(target.bound)})"
        for target, found in values.items()
    ]
    left = len(broken) - most
    more = [f"and in {left} more what-if{'s' if left > 1 else ''}"] if left > 0 else []
    return ", ".join([*texts, *more])


def edge_text(choice: Choice, called: Mapping[str, str] | None = None) -> str | None:
    """That thresholds a little other would take another queue, as a sentence; `None` if they would not.

    Args:
        choice: The choice.
        called: What queues are called in sentences, by name, where that is something else.
    """
    if choice.edge is None:
        return None
    name, times = choice.edge
    by = "a fifth lower" if times < 1 else "a quarter higher"
    other, taken = significant(MATERIAL * times * 100, 3), (called or {}).get(name, name)
    return f"With thresholds {by} ({other} % instead of {MATERIAL * 100:g} %), {taken} would be taken."
