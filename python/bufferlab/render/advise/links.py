"""Answers for several links, for people: all at a glance, what to type, and a box for each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Final

from bufferlab.configure import PLATFORMS, Platform
from bufferlab.configure.linklayer import PPP
from bufferlab.display import as_parts, as_view
from bufferlab.errors import InputError
from bufferlab.render.advise.beware import bewares, loses_much
from bufferlab.render.advise.box import box_of
from bufferlab.render.advise.decided import tied_names, undecided_text
from bufferlab.render.advise.evidence import details, evidence
from bufferlab.render.advise.explain import explanation
from bufferlab.render.advise.head import headline
from bufferlab.render.advise.typed import LINUX, LOSSY, NOTHING, TOO_EARLY, Typed, after
from bufferlab.render.advise.unfilled import unfilled
from bufferlab.render.advise.unshaped import price_text, unshaped_lines, unshaped_text
from bufferlab.render.advise.users import users_lines
from bufferlab.render.advise.words import (
    asked_text,
    check_text,
    entry_text,
    queue_text,
    size_text,
    sure_text,
)
from bufferlab.render.framed import BelowBox, Box, Line
from bufferlab.render.scenario import ScenarioLines
from bufferlab.render.summary import notes
from bufferlab.render.view import Heading, Part, Terms, Typing, View
from bufferlab.render.words import listed, measured, rate_text
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.joint import LinksAdvice

_COUPLED: Final = (
    "links share nothing but the flows that cross several of them, with data or acknowledgments; each was "
    "answered with the others' answers in place"
)

_CONTINUES: Final = "The same command continues from here."

_TYPED: Final = (
    "What to type is beside the answers for all links: advice.txt and advice.json of the folder above."
)

_TABLES: Final = "--explain has each link's tables: the queues, the buffers, other traffic."


@as_view.register
def links_view(advice: LinksAdvice, *, typed: Typed = LINUX, explain: bool = False) -> View:
    """The answers at a glance, a box for each link, what to type, and what they rest on.

    Args:
        advice: The answers.
        typed: Where lines are typed.
        explain: Tell also how they were found.
    """
    varied = {each.site.link: ("queue", "buffer") for each in advice.links}
    assumed = (*advice.assumed, *dict.fromkeys(each for link in advice.links for each in link.assumed))
    scenario = ScenarioLines(advice.resolved, (), varied, (*assumed, _COUPLED))
    return View(
        [
            *_whole(summary_box(advice, typed)),
            *_to_type(advice, typed),
            *(part for each in advice.links for part in _whole(box_of(each, None))),
            scenario.terms() if explain else scenario.assumptions(),
            *(part for each in advice.links for part in _rest(each, tables=explain)),
            *([] if explain else [_TABLES]),
            *(
                part
                for each in advice.links[:1]
                if explain
                for part in explanation(each, typed, advice.links)
            ),
        ]
    )


def link_view(advice: Advice) -> View:
    """One link of several, with its tables; what to type is for all of them together.

    Args:
        advice: The link's answer.
    """
    return View([*_whole(box_of(advice, None)), *_rest(advice, tables=True), _TYPED])


@as_parts.register
def _parts(advice: LinksAdvice) -> dict[str, View]:
    return {each.site.link: link_view(each) for each in advice.links}


def _whole(box: Box) -> tuple[Box, BelowBox]:
    """A box, and what it has no room for."""
    return box, BelowBox(box)


def links_headline(advice: LinksAdvice) -> str:
    """The answers in one sentence, or what they miss."""
    return next(_head(advice))


def summary_box(advice: LinksAdvice, typed: Typed) -> Box:
    """All answers at a glance, with what they measure together."""
    names = " and ".join(advice.wanted) if len(advice.wanted) <= 2 else f"{len(advice.wanted)} links"
    return Box(f"{advice.title}: {names}", list(_head(advice)), list(_lines(advice, typed)))


def _head(advice: LinksAdvice) -> Iterator[str]:
    if advice.unmet:
        for each in advice.unmet:
            idle = unfilled(each)
            yield f"{each.site.link}: {headline(each) if idle is None else _lowered(idle)}"
    else:
        yield from _taken(advice)
        yield from (f"{each.site.link}: {text}" for each in advice.links if (text := _open(each)))
    for each in advice.links:
        yield from (f"{each.site.link}: {_lowered(text)}" for text in bewares(each))
    if advice.missing:
        yield f"There is no answer yet for {', '.join(advice.missing)}."
    yield from (f"{each.site.link}: {_unproven(each)}" for each in advice.links if _is_unproven(each))
    yield from _joint(advice)


def _taken(advice: LinksAdvice) -> Iterator[str]:
    """What to run where, and what users feel without the shaper: first, if that is better."""
    what, without = _what(advice), unshaped_text(advice)
    if without is None:
        yield what
    elif advice.is_worse_than_unshaped:
        yield f"Do not shape for these targets: what meets them is worse for users than no shaper. {without}"
        yield f"What meets the targets all the same: {_lowered(what)}"
    else:
        yield what
        yield without


def _is_unproven(advice: Advice) -> bool:
    """Whether a link's answer meets its targets in the mean, and is less sure than was asked for."""
    return advice.choice.meets and not advice.met and not advice.answer.identical


def _unproven(advice: Advice) -> str:
    """That a link's answer is less sure than was asked for."""
    sure, runs = sure_text(advice.answer.confidence), len(advice.answer.runs)
    return f"not proven, {sure} by {runs} runs ({asked_text(advice.confidence)})."


def _joint(advice: LinksAdvice) -> Iterator[str]:
    """What all answers do together."""
    if not advice.joint:
        yield "They were not run together yet."
        return
    runs, sure = len(advice.joint[0].values), min(entry.confidence for entry in advice.joint)
    for each, entry in advice.disturbed:
        missed = "; ".join(check_text(check, "missed") for check in entry.checks if not check.met)
        yield f"Together, {each.site.link} misses: {missed}."
    if not advice.meets:
        return
    count = len(advice.links)
    them = "it meets its targets" if count == 1 else f"{_all(count)} meet their targets"
    if sure >= advice.links[0].confidence:
        yield f"Run together, {them}: {sure_text(sure)} for this traffic ({runs} runs)."
        return
    yield (
        f"Run together, {them} in the mean of {runs} runs, which is not proven: {sure_text(sure)}, "
        f"{asked_text(advice.links[0].confidence)}. A link's box has runs of that link."
    )


def _open(advice: Advice) -> str | None:
    """That a link's queue is as good as others, or not decided."""
    if advice.tied:
        return f"{_alike(advice)}; its box says more."
    undecided = undecided_text(advice.choice)
    return None if undecided is None else _lowered(undecided)


def _alike(advice: Advice) -> str:
    """Which queues nothing tells from a link's answer."""
    if advice.choice.is_tie_shown:
        return f"as good for this traffic: {tied_names(advice)}"
    return f"{len(advice.answer.values)} runs do not distinguish it from {tied_names(advice)}"


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _what(advice: LinksAdvice) -> str:
    """What to run, where."""
    queues = {queue_text(each.answer.queue) for each in advice.links}
    if len(queues) == 1:
        where = _all(len(advice.links)) if len(advice.links) > 1 else advice.links[0].site.link
        return f"{_shape(advice)} {queues.pop()} at {where}."
    texts = [f"{_in_brackets(queue_text(each.answer.queue))} at {each.site.link}" for each in advice.links]
    return f"{_shape(advice)} {listed(texts)}."


def _in_brackets(queue: str) -> str:
    """A queue among others: "fq_codel (quantum 300 B)"."""
    name, comma, given = queue.partition(", ")
    return f"{name} ({given})" if comma else name


def _shape(advice: LinksAdvice) -> str:
    """Begins what to run: a home's line is shaped first, or packets wait in the modem."""
    if advice.shaped is None or advice.shaped.share >= 1.0:
        return "Run"
    rates = [f"{each.site.link} to {rate_text(each.site.rate_bps)}" for each in advice.links]
    return f"Shape {listed(rates)}, and run"


def _all(links: int) -> str:
    return {1: "it", 2: "both links"}.get(links, f"all {links} links")


def _lines(advice: LinksAdvice, typed: Typed) -> Iterator[Line]:
    entries = advice.joint or tuple(each.answer for each in advice.links)
    for each, entry in zip(advice.links, entries, strict=True):
        yield Line(each.site.link, _link(each, entry))
    for name, felt in _users(advice, entries):
        yield Line(name, felt, shorter=[(1, "")])
    yield from unshaped_lines(advice)
    if advice.shaped is not None:
        yield _shaped_line(advice)
    is_held = advice.is_line and any(_withheld(advice, PLATFORMS[typed.platform]))
    lines = f"lines for {typed.platform}"
    yield Line("type", f"no {lines}: why is below this box" if is_held else f"the {lines} are below this box")


def _shaped_line(advice: LinksAdvice) -> Line:
    """At which rates a home's line is shaped, and what that costs."""
    rates, price = shaped_text(advice), price_text(advice)
    if price is None or advice.shaped is None:
        return Line("shaped", rates, shorter=[(2, rates.partition(":")[0])])
    brief = f"to {advice.shaped.share * 100:g} %: {price}"
    return Line("shaped", f"{rates}. The price: {price}.", shorter=[(2, brief)])


def _link(advice: Advice, entry: Entry) -> str:
    """A link's setting, and what it does beside the others."""
    is_target = entry.queue.knob == "target"
    size = f"limit {size_text(advice.site, entry.packets, is_ample=is_target)}"
    setting = f"{entry.queue.show(entry.setting)}, {size}" if is_target else size
    used, wait = entry.checked("utilization"), entry.checked("wait_mean_ms")
    return (
        f"{rate_text(advice.site.rate_bps)}: {setting}; utilization {measured(used, FRACTION)}, mean wait "
        f"{measured(wait, MILLISECONDS)}"
    )


def _users(advice: LinksAdvice, entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """What each group of users feels, by the runs of all answers, at the first link that its data crosses."""
    paths = {flow["name"]: flow["path"] for flow in advice.resolved["flows"]}
    seen: set[str] = set()
    for each, entry in zip(advice.links, entries, strict=True):
        for users in each.site.users:
            if users.name not in seen and each.site.link in paths[users.name]:
                seen.add(users.name)
                alone = dataclasses.replace(each, site=dataclasses.replace(each.site, users=(users,)))
                yield from users_lines(alone, entry)


def shaped_text(advice: LinksAdvice) -> str:
    """At which rates, and why they are below the line's."""
    if (shaped := advice.shaped) is None:
        return ""
    if shaped.share >= 1.0:
        return "at the line's own rate: right only if it is this router that sends into the line"
    rates = " and ".join(
        f"{rate_text(each.site.rate_bps)} of {rate_text(shaped.line_bps[each.site.link])}"
        for each in advice.links
        if each.site.link in shaped.line_bps
    )
    return (
        f"at {rates}, {shaped.share * 100:g} % (--share): packets then wait here and not in the modem. These "
        "rates were simulated"
    )


def _to_type(advice: LinksAdvice, typed: Typed) -> Iterator[Part]:
    yield Heading(f"To type on {typed.platform}")
    held = list(_withheld(advice, PLATFORMS[typed.platform]))
    yield from held
    if held and advice.is_line:  # which is typed as a whole
        return
    if advice.directions is not None:
        try:
            both = advice.configuration(typed.platform, typed.device, typed.linklayer)
        except InputError as error:
            yield f"{typed.platform} cannot take it ({error})."
            return
        if both is not None:
            if both.refused is not None:
                yield (
                    f"The answers cannot be typed ({both.refused}). For {entry_text(both.down)} and "
                    f"{entry_text(both.up)}:"
                )
            if typed.device is None:
                named = PLATFORMS[typed.platform].device_at(max(each.site.rate_bps for each in advice.links))
                yield f"{named} stands for the interface to the line: --device names yours."
            yield Typing(typed.folded(both.made.lines))
            about = [("note", each) for each in (*both.made.notes, *_overhead(advice, typed))]
            yield Terms([*about, *after(both.made)])
            return
    comment, shown = PLATFORMS[typed.platform].comment, set[str]()
    none = [link for links in _held(advice).values() for link in links]
    for each in (link for link in advice.links if link not in none):
        made = dataclasses.replace(typed, shape=typed.shape or advice.shaped is not None).lines(each)
        yield f"{comment} {each.site.link}: {_where(advice, each, typed)}"
        own = [line.replace("bufferlab", f"bufferlab-{each.site.link}") for line in made.lines]
        if made.problem:
            yield f"{comment} {made.problem}" + (f"; for {entry_text(made.entry)}:" if made.entry else "")
        yield Typing(own)
        fresh = [note for note in made.notes if note not in shown]
        shown |= set(fresh)
        following = [
            (what, text.replace("bufferlab", f"bufferlab-{each.site.link}")) for what, text in made.after
        ]
        yield Terms([*(("note", note) for note in fresh), *following])


def _held(advice: LinksAdvice) -> dict[str, Sequence[Advice]]:
    """The links of which nothing is typed, by the reason."""
    lossy = [each for each in advice.links if each.choice.meets and loses_much(each)]
    early = [each for each in advice.early if each not in lossy]
    return {NOTHING: advice.unmet, LOSSY: lossy, TOO_EARLY: early}


def _withheld(advice: LinksAdvice, platform: Platform) -> Iterator[str]:
    """Why nothing is typed of some links, or of a line."""
    for why, links in _held(advice).items():
        if links:
            yield f"{', '.join(each.site.link for each in links)}: {why}."
    if advice.is_line:
        yield from _withheld_of_line(advice, platform)


def _withheld_of_line(advice: LinksAdvice, platform: Platform) -> Iterator[str]:
    """Why nothing is typed of a line whose directions by themselves have something."""
    if advice.is_worse_than_unshaped and not advice.unmet:
        yield "Nothing, since users fare better without the shaper; --json has the lines all the same."
    if advice.missing:
        what = f"there is no answer for {listed(advice.missing)}: the lines are for both directions at once"
        yield f"Nothing yet, as {what}. {_CONTINUES}"
    elif platform.has_one_queue and len({each.answer.queue.kind for each in advice.links}) > 1:
        yield (
            f"Nothing yet, as {platform.title} has one queue for both directions, and the answers so far "
            f"have two. {_CONTINUES}"
        )


def _where(advice: LinksAdvice, link: Advice, typed: Typed) -> str:
    """On which interface the lines are typed; --device is the one to the line."""
    if advice.directions is None:
        return "on the interface that sends into it"
    if link is not advice.directions[0]:
        return "on the interface to the line"
    device = typed.device or PLATFORMS[typed.platform].device_at(link.site.rate_bps)
    return f"on the interface to the home, whose name is to replace {device}"


def _overhead(advice: LinksAdvice, typed: Typed) -> Iterator[str]:
    """What a packet takes on the line beyond what a shaper counts, if nobody said it."""
    if typed.linklayer is not None and (typed.device or "").startswith(PPP):
        yield (
            f"{typed.device} counts packets without an Ethernet header: more is to be added than for an "
            "Ethernet interface, 30 bytes and not 16 with VDSL2 (docs/home-line.md has a table)."
        )
    if typed.linklayer is None and advice.shaped is not None and advice.shaped.share < 1.0:
        counts = ": --linklayer counts it" if PLATFORMS[typed.platform].linklayers else ""
        yield (
            "On the line a packet is longer: by 18 bytes with cable (DOCSIS), by 30 and one 64th with VDSL2 "
            "and PPPoE; on ADSL it takes whole cells (tc-cake(8)). The share below the line's rate covers "
            f"that for full packets, for many small ones it may not{counts} (docs/home-line.md)."
        )


def _rest(advice: Advice, *, tables: bool) -> Iterator[Part]:
    """What a link's answer rests on, and what the reader should know."""
    grids = [*evidence(advice), *details(advice)] if tables else []
    if tables:
        yield Heading(f"{advice.site.link}: what the answer rests on")
    yield from grids
    yield from notes(grids)
    where = "" if tables else f"{advice.site.link}: "
    yield from (f"Note: {where}{each}." for each in advice.notes)
