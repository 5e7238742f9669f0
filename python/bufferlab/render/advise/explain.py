"""How an advice was found: the course, the statistics, the weights, the sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bufferlab.configure import PLATFORMS
from bufferlab.render.advise.decided import edge_text
from bufferlab.render.advise.typed import Typed
from bufferlab.render.advise.words import entry_text, entry_texts, order_text, sure_text
from bufferlab.render.view import Heading
from bufferlab.render.words import title_text
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.choosing.choice import LOOKS
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.choosing.thresholds import MATERIAL, NOTABLE, NOTABLE_RATING, TWICE

_FROM: Final = {
    "asked": "as asked for",
    "scenario": "by [advise] of the scenario",
    "default": "by default, as nobody said otherwise",
}

_AROUND: Final = (
    "no other was searched: at {} delays from the least to the largest users fare no better than with the "
    "answer"
)
_UNFELT: Final = "no other was searched: the best imaginable would be as good for users as the answer"


def explanation(advice: Advice, typed: Typed, links: Sequence[Advice] = ()) -> Iterator[str | Heading]:
    """How it was found.

    Args:
        advice: The answer; of several links, the first one's.
        typed: Where lines are typed.
        links: The answers of all links, if there are several.
    """
    for each in links or (advice,):
        yield Heading(f"{each.site.link}: how it was found" if links else "How it was found")
        yield from _found(each)
    yield (
        "A setting meets a target if the mean over independent runs does. Confidence is one minus the chance "
        "of a margin as good if the target were missed: Student's t test with Hall's correction for "
        "skewness, of runs with seeds that the search has not seen; of n runs at most 1 - 1/2^n, as a sign "
        "test has it. Refused candidates are accounted for."
    )
    yield from _compared(advice)
    for each in links or (advice,):
        yield from _weighed(each, f"{each.site.link}: " if links else "")
    yield Heading("Sources")
    yield (
        "Intersection-union test: R. L. Berger, Technometrics 24(4), 1982. Skewness: P. Hall, J. R. Statist. "
        "Soc. B 54(1), 1992. Rating R: ITU-T G.107, G.109. Jain's index: DEC-TR-301, 1984. CoDel's least "
        "target: RFC 8289, section 4.3."
    )
    known = PLATFORMS[typed.platform]
    yield f"Lines for {known.title}: {'; '.join(dict.fromkeys(source.title for source in known.sources))}."


def _found(advice: Advice) -> Iterator[str]:
    changed = sum(each.runs for each in advice.sensitivity)
    changed += sum(each.runs for other in advice.others.values() for each in other.changed)
    of_changes = (
        f", {changed} of them with {len(advice.sensitivity)} changes of the traffic" if changed else ""
    )
    yield (
        f"{advice.runs} runs{of_changes}. Of queues without a target of delay, "
        "the buffer was searched; of the others, the target, with a limit that is ample."
    )
    for entry in advice.entries.values():
        yield f"{entry_text(entry)}: {_course(advice, entry.name)}"


def _compared(advice: Advice) -> Iterator[str | Heading]:
    yield Heading("How queues were compared")
    yield (
        "Each queue was run with the same seeds. Its score is the weighted mean of logarithms of what users "
        f"get; queues within {MATERIAL * 100:g} %, or whose difference may be luck, are equal "
        f"if no aspect is surely worse by more than {NOTABLE * 100:g} % (calls: {NOTABLE_RATING * 100:g} %; "
        f"what weighs less counts for less, up to {TWICE * 100:g} %). "
        "Of equals the first in our order is taken; if that misses a target in a what-if, the one that does "
        f"so in fewest. What {LOOKS[0]} seeds do not tell apart gets {LOOKS[1]}, then {LOOKS[2]}. "
        f"{order_text(advice)} Intervals of how much worse users fare allow for all queues, aspects and "
        "looks: that luck passes over the queue that is truly the best has a chance of at most 5 %."
    )


def _weighed(advice: Advice, of_link: str) -> Iterator[str]:
    if advice.choice.meets:
        yield f"{of_link}{_with_thresholds(advice)}"
    targets, weights = (_FROM[each] for each in (advice.needs.targets_from, advice.needs.weights_from))
    yield f"{of_link}Targets: {targets}. Weights: {weights}."
    total = sum(advice.weights.values())
    for kind, weight in advice.weights.items():
        aspects = "; ".join(_aspect(each) for each in advice.aspects if each.kind == kind)
        yield f"{kind}, weight {weight / total * 100:.0f} %: {aspects}"
    uneven = [each.name for each in advice.site.users if each.control == "bbr" and each.flows > 1]
    if uneven:
        yield (
            f"A low Jain's index of {', '.join(uneven)} is BBR's own: version 1 shares unevenly after its "
            "start-up, and by round-trip times (docs/sizing.md, BBR's Jain index)."
        )


def _with_thresholds(advice: Advice) -> str:
    """What would be taken with other thresholds, which are a choice."""
    half, twice = (entry_text(advice.entries[advice.choice_with(times).name]) for times in (0.5, 2.0))
    edge = edge_text(advice.choice, entry_texts(advice))
    return (
        "These thresholds are a choice of this program. Of what was tried, half of each would take "
        f"{half}; twice as much {twice}.{'' if edge is None else f' {edge}'}"
    )


def _course(advice: Advice, name: str) -> str:
    entry = advice.entries[name]
    found = entry.least
    if found is None:
        usual = f"the usual setting, {len(entry.runs)} runs, {sure_text(entry.confidence)}"
        if entry.around:
            if entry.setting != entry.queue.usual:
                usual = (
                    f"the best that was tried around, {len(entry.runs)} runs, {sure_text(entry.confidence)}"
                )
            return f"{usual}; {_AROUND.format(entry.around)}"
        return usual if _is_searched(advice, entry) else f"{usual}; {_UNFELT}"
    tried = f"{len(found.memory.sizes)} settings from {found.lower} to {found.upper} in {found.runs} runs"
    if found.size is None:
        missed = ", ".join(title_text(each) for each in found.conflict)
        return f"{tried}; none meets all targets; missed here: {missed}"
    if entry.broken is not None:
        return f"{tried}; {found.size} meet the targets, but this one holds in more what-ifs"
    if entry.least_behind is not None:
        return f"{tried}; {found.size} meet the targets, but this one is better for users"
    below = "" if found.beyond is None else f"; {entry.queue.show(found.beyond)} missed"
    return f"{tried}; checked by {len(entry.runs)} fresh runs, {sure_text(entry.confidence)}{below}"


def _is_searched(advice: Advice, entry: Entry) -> bool:
    """Whether the queue's own best setting was searched, or is going to be."""
    of_queue = [each for each in advice.entries.values() if each.queue == entry.queue]
    return advice.is_early or any(each.least is not None for each in of_queue)


def _aspect(aspect: Aspect) -> str:
    more = {"more": "more is better", "less": "less is better", "rest": "the rest is what users get"}
    offset = f", with a round trip of {aspect.offset:.4g} ms added" if aspect.offset else ""
    return f"{aspect.title} ({aspect.metric}, {more[aspect.form]}{offset})"
