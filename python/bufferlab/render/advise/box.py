"""The answer at a glance, in a box of 24 lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from bufferlab.render.advise.beware import loses_much
from bufferlab.render.advise.buffers import SHOWN
from bufferlab.render.advise.cases import cases
from bufferlab.render.advise.compared import brief_name, comparison, runner_up
from bufferlab.render.advise.decided import (
    edge_text,
    equal_text,
    nor_others,
    outlasted_text,
)
from bufferlab.render.advise.felt import (
    Checked,
    behind_text,
    better_but_missed,
    elsewhere_brief,
    elsewhere_text,
    gained,
    judged_text,
)
from bufferlab.render.advise.figures import figures
from bufferlab.render.advise.harm import harmed
from bufferlab.render.advise.head import cautions, first_tried, head
from bufferlab.render.advise.least import least_text
from bufferlab.render.advise.limits import searched, unsettled
from bufferlab.render.advise.mixes import without_counters
from bufferlab.render.advise.reasons import (
    idle_note,
    interval_note,
    loss_note,
    marks_note,
)
from bufferlab.render.advise.trade import gained_by_room, room, trade
from bufferlab.render.advise.typed import LINUX, WIDTH, Typed
from bufferlab.render.advise.unmet import helps, shorter_wait, without_one
from bufferlab.render.advise.users import LATE, apart, users_lines
from bufferlab.render.advise.what_if import of_kept, supposed_text, what_if
from bufferlab.render.advise.words import (
    check_text,
    entry_text,
    entry_texts,
    needs_text,
    place_text,
    sure_text,
)
from bufferlab.render.framed import USUAL_WIDTH, Box, Line
from bufferlab.render.words import asked, beside, listed, measured, of_classes_text
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.staying import keeps, stays
from bufferlab.studies.choosing.choice import Rival, missed_targets
from bufferlab.studies.choosing.thresholds import LONG_WAIT_MS
from bufferlab.studies.least import Check, Verdict, lowered
from bufferlab.studies.targets import Target

_UNFINISHED: Final = "not finished:"

_SO_FAR: Final = "So far"
"""In a first line that says what was tried alone."""

_BELOW: Final = "below this box"

MOST_TYPED: Final = 4
"""Lines to type that are in the box; more of them follow it, and so do long ones."""


def follows(lines: Sequence[str]) -> bool:
    """Whether lines to type stand below the box, as it has no room for them."""
    return len(lines) > MOST_TYPED or any(len(line) > WIDTH for line in lines)


_FAR_WAIT: Final = 4.0
"""Times as long as another one a mean wait is, from which on both are said though hardly anybody feels them.

Our choice."""

MOST_AGAINST: Final = 2
"""Doubts of what was asked about that are in the box; the others stand below it."""


class Against(NamedTuple):
    """What speaks against a scenario, as of a capture.

    Attributes:
        first: That the scenario does not do what was captured, as a sentence before the answer; else empty.
        doubts: What else, the gravest first.
        lost: The loss that was measured, which need not be that of the simulation; `None` if unknown.
    """

    first: str = ""
    doubts: Sequence[str] = ()
    lost: float | None = None


NOTHING: Final = Against()


def box_of(advice: Advice, typed: Typed | None = LINUX, against: Against = NOTHING) -> Box:
    """The answer: what to run, what it gives, how sure, what would change it, what to type.

    Args:
        advice: The advice.
        typed: Where lines are typed; `None` where they are shown elsewhere.
        against: What speaks against the scenario.
    """
    if against.lost is not None:
        advice = _captured(without_counters(advice), against.lost)
    advice = replace(advice, is_doubted=bool(against.first))
    first = [*filter(None, [against.first]), *head(advice)]
    more = len(without_room(against.doubts))
    rest = [""] * (MOST_AGAINST - 1) + [f" ({more} more {_BELOW}.)" if more > 0 else ""]
    doubts = [
        Line("beware", f"{text[0].upper()}{text[1:]}.{after}")
        for text, after in zip(against.doubts, rest, strict=False)
    ]
    if (held := supposed_text(of_kept(advice))) is not None:
        doubts.append(Line("controls", held))
    title, shown = place_text(advice.site, advice.needs.emphasis), figures(advice, _shown(advice))
    rows = list(comparison(advice))
    made = Box(title, first, [*doubts, *_lines(advice, typed, first, rows, gives_way=bool(rows))], shown)
    if not rows or any(each.ends and each.text for each in made.fitted(USUAL_WIDTH)):
        return made
    return replace(made, lines=[*doubts, *_lines(advice, typed, first, rows, gives_way=False)])


def without_room(doubts: Sequence[str]) -> Sequence[str]:
    """The doubts of what was asked about that stand below the box."""
    return doubts[MOST_AGAINST:]


def _captured(advice: Advice, lost: float) -> Advice:
    """The advice with the loss that a capture shows of what runs today."""
    now = advice.today
    return advice if now is None else replace(advice, today=replace(now, captured_loss=lost))


def _lines(
    advice: Advice, typed: Typed | None, first: Sequence[str], compared: Sequence[Line], *, gives_way: bool
) -> Iterator[Line]:
    """The labeled lines, without what the first sentences say.

    Args:
        advice: The advice.
        typed: Where lines are typed.
        first: The sentences.
        compared: The table of what is beside the answer.
        gives_way: Whether what that table has, too, gives way to it.
    """
    shown = _shown(advice)
    of_runs = _of_other_runs(advice.answer) if compared and shown is advice.answer else ""
    yield Line("gives", _used(shown) + of_runs)
    mean, groups = _wait(shown), apart(advice, shown)
    briefly = [(3, "")] if gives_way else []
    yield Line("wait", mean + groups, shorter=[*([(5, mean)] if groups else []), *briefly])
    for at, (name, felt) in enumerate(users_lines(advice, shown)):
        is_rated = "rating R" in felt
        is_why = bool(advice.rests_on) and is_rated  # LLQ is there for calls
        stays = (is_why and not gives_way) or (not at and not compared)
        place = 3 if is_why else 4 if is_rated or LATE in felt else 11 if compared else 1
        yield Line(name[:9], felt, shorter=() if stays else [(place, "")])
    if advice.elsewhere:
        yield Line("elsewhere", elsewhere_text(advice), shorter=[(7, elsewhere_brief(advice)), (3, "")])
    if shown is advice.answer:  # what is kept meets them, as the first lines say
        yield from _targets(advice)
    yield from compared
    yield from _cautions(advice, first)
    if (text := needs_text(advice)) is not None:
        yield Line("asked", text, shorter=[(11, "")])
    if (least := least_text(advice.site, advice.answer)) is not None:
        yield Line("least", f"{least}.", shorter=[(9 if advice.answer.broken is None else 4, "")])
    elif (span := unsettled(advice)) is not None:
        yield Line(span[0], f"{span[1]}.", shorter=[(9, "")])
    yield from _smaller(advice, first)
    yield from _notes(advice, first)
    yield from what_if(of_kept(advice))
    yield from _others(advice)
    has_other_say = bool(advice.tied) or advice.is_sturdy  # other traffic decides, not the thresholds
    if not has_other_say and (edge := edge_text(advice.choice, entry_texts(advice))) is not None:
        yield Line("close", edge, shorter=[(9, "")])
    if (judged := judged_text(advice)) is not None:
        yield Line("judged", judged, shorter=[(12, "")])
    if typed is not None:
        yield from _typed(advice, typed)


def _cautions(advice: Advice, first: Sequence[str]) -> Iterator[Line]:
    """What speaks against the answer and is not said first; harm in other traffic stays longest, too."""
    for at, text in enumerate(text for text in cautions(advice) if text not in first):
        stays, said = not at or text == harmed(advice), text.removeprefix("But ")
        yield Line("beware", f"{said[0].upper()}{said[1:]}", shorter=[(4 if stays else 9, "")])


def _shown(advice: Advice) -> Checked:
    """What the lines are about: the answer, or what runs today where that is to be kept."""
    return advice.today if advice.today is not None and stays(advice) else advice.answer


def _smaller(advice: Advice, first: Sequence[str]) -> Iterator[Line]:
    """What less buffer gives, and what the last part of a target costs."""
    if (more := room(advice)) is not None and gained_by_room(advice) not in first:
        yield Line("room", more, shorter=[(7, "")])
    if (cost := trade(advice)) is not None:
        yield Line("price", cost, shorter=[(10, cost.partition(". ")[0] + "."), (9, "")])


def _targets(advice: Advice) -> Iterator[Line]:
    """Each target that is missed or open; those that are surely met in a row, which goes first.

    One that is alone and met is left out where the first lines name it and the link's row has its value.
    """
    checks, known = advice.answer.checks, advice.verdicts(advice.answer)
    several = len(checks) > 1
    met = [each for each in checks if several and known[each.target] == "met"]
    for each, level in zip(checks, lowered(checks, advice.answer.confidence), strict=True):
        verdict = known[each.target]
        brief = check_text(each, verdict)
        whole = brief + _sure(each, verdict, level) + _eased(advice, each)
        if each in met or (whole == brief and verdict == "met" and each.target.name in SHOWN):
            continue
        yield Line("target", whole, shorter=[(3, brief)] if whole != brief else [])
    if met:  # of them the first lines say that all are
        yield Line("targets", f"met: {', '.join(_asked(advice, each) for each in met)}", shorter=[(3, "")])


def _asked(advice: Advice, check: Check) -> str:
    """What it has of a target: "utilization 94 % (our default 90 % at a usual delay, else 99 %)"."""
    is_assumed, less = advice.needs.is_assumed(check.target), _instead_of_usual(advice, check)
    return asked(check.target, check.found.mean, is_assumed=is_assumed, more=less)


def _used(entry: Checked) -> str:
    used, lost = entry.checked("utilization"), entry.checked("loss")
    return f"utilization {measured(used, FRACTION)}, loss {measured(lost, FRACTION)}"


def _of_other_runs(entry: Entry) -> str:
    """Of which runs the figures are, where the table's are of others; and what only those miss."""
    if entry.runs == entry.values:
        return ""
    are_as_many = len(entry.runs) == len(entry.values)
    missed = [each.target for each in entry.checks if each.met and each.target in _missed_by(entry)]
    of_table = [each.show_measured(entry.mean(each.name).mean) for each in missed]
    other = f"; in the table's {len(entry.values)}, {listed(of_table)}" if of_table else ""
    return f" ({len(entry.runs)} {'other ' if are_as_many else ''}runs{other})"


def _missed_by(entry: Entry) -> tuple[Target, ...]:
    """What the runs of the table miss."""
    return missed_targets(entry.values, [each.target for each in entry.checks])


def _wait(entry: Checked) -> str:
    mean, late = entry.checked("wait_mean_ms"), entry.checked("wait_p99_ms")
    return f"mean {measured(mean, MILLISECONDS)}, 99th percentile {measured(late, MILLISECONDS)}"


def _sure(check: Check, verdict: Verdict, confidence: float) -> str:
    """How sure it is that a target is met whose mean is on the right side."""
    is_open = check.met and not check.identical and verdict == "not proven"
    return f", {sure_text(confidence)}" if is_open else ""


def _eased(advice: Advice, check: Check) -> str:
    """That nobody asked for a target beside others, and that less of it is expected of a usual setting."""
    if (less := _instead_of_usual(advice, check)) != "":
        return f"; our default{less}"
    is_beside = check.target == advice.needs.floor and advice.needs.targets_from != "default"
    return "; our default, --utilization sets it" if is_beside else ""


def _instead_of_usual(advice: Advice, check: Check) -> str:
    """Why less is asked than by default, and what that is; empty where it is not less."""
    floor = advice.needs.floor
    if floor is None or check.target in advice.targets:
        return ""
    of = "where more would be waits alone" if advice.answer.smaller is not None else "at a usual delay"
    return f" {of}, else {floor.show(floor.bound)}"


def _unmet(advice: Advice, first: Sequence[str]) -> Iterator[Line]:
    """What can be had where no setting meets all targets, and up to where was searched."""
    if advice.choice.meets:
        return
    several = len(advice.targets) > 1
    is_said = len(advice.targets) == 2  # what meets one alone meets all without the other
    for label, text, place, shorter in (
        ("or", None if stays(advice) else shorter_wait(advice), 1, ""),
        ("instead", None if is_said else without_one(advice), 1, _BELOW),
        ("helps", helps(advice), 8 if several else 1, "" if several else _BELOW),
        ("searched", searched(advice), 6, ""),
    ):
        if text is not None and text not in first:
            yield Line(label, text, shorter=[(place, shorter)])


def _notes(advice: Advice, first: Sequence[str]) -> Iterator[Line]:
    yield from _unmet(advice, first)
    if (text := advice.sharing) is not None:
        yield Line("by chance", text, shorter=[(6, "")])
    if (text := idle_note(advice)) is not None:
        yield Line("idle", text, shorter=[(7, "")])
    if not stays(advice) and (text := loss_note(advice)) is not None:
        yield Line("loss", text, shorter=[(9, "")])
    if (text := marks_note(advice)) is not None:
        yield Line("marks", text, shorter=[(7, "")])
    if (text := interval_note(advice)) is not None:
        yield Line("interval", text, shorter=[(3, "")])
    if advice.short_runs is not None:
        longer = f"Use {advice.short_runs.longer}."
        yield Line("too short", str(advice.short_runs), most=3, shorter=[(8, longer)], is_elsewhere=True)
    if advice.stage == "begun":
        text = f"{_UNFINISHED} no larger buffer, other queue or other traffic was tried yet"
        is_said = any(_SO_FAR in each for each in first)
        yield Line("so far", text, shorter=[(3, "")] if is_said else [])
    elif advice.stage == "first" and not advice.finished:
        done = f"{_UNFINISHED} {first_tried(advice)}, {len(advice.answer.values)} seeds"
        yield Line("so far", done if advice.tied else f"{done}, no what-ifs: more may change the queue")
    elif not advice.finished:
        tried = "not everything" if advice.sensitivity else "nothing"
        text = f"{_UNFINISHED} {tried} that could change the answer was tried"
        yield Line("so far", text, shorter=[(3, _UNFINISHED.rstrip(":"))])


def _others(advice: Advice) -> Iterator[Line]:
    """Why the runner-up was not taken, and what is equal."""
    second, fifo = runner_up(advice), advice.best_fifo()
    named = [] if second is None else [advice.entries[second.name]]
    if advice.plain is not None and fifo is not None:
        rival = next(each for each in advice.choice.rivals if each.name == fifo.name)
        named.append(fifo)
        yield Line("why not", f"{brief_name(fifo)}: {_lost(advice, rival)}.", shorter=[(8, "")])
    elif second is not None:
        start = brief_name(named[0]) + _less_asked(advice, named[0])
        text = f"{start}: {_lost(advice, second)}."
        nearer = shorter_wait(advice) is not None  # which says more than what is farther from the targets
        shorter = [(8, f"{start}: {_brief(advice, second)}"), (3 if nearer else 2, "")]
        yield Line("why not", text, shorter=shorter)
    if (why := equal_text(advice, named)) is not None:
        yield Line("why not", why, shorter=[(10, "")])
    if (nor := nor_others(advice)) is not None:
        yield Line("why not", nor, shorter=[(7, "")])


def _less_asked(advice: Advice, entry: Entry) -> str:
    """That a queue need not use the link as much as was asked, where it does not: " (90 % asked)"."""
    floor = advice.needs.floor
    if floor is None:
        return ""
    asked = next(each.target for each in entry.checks if each.target.name == floor.name)
    used = entry.mean(floor.name).mean
    if asked.bound == floor.bound or used is None or used >= floor.bound:
        return ""
    return f" ({asked.show(asked.bound)} asked)"


def _brief(advice: Advice, rival: Rival) -> str:
    """Why a queue was not taken, in few words: neither what is worse most, nor all other traffic."""
    if not rival.missed and rival.name in advice.outlasted:
        return f"{outlasted_text(advice, advice.outlasted[rival.name], most=1)}."
    text = _lost(advice, rival).partition(", most: ")[0]
    return f"{text if rival.missed else text.partition('; ')[0]}."


def _lost(advice: Advice, rival: Rival) -> str:
    """Why a queue was not taken."""
    entry, chosen = advice.entries[rival.name], advice.answer
    if rival.missed:
        checks, known = {each.target: each for each in entry.checks}, advice.verdicts(entry)
        missed = [check_text(checks[target], known[target]) for target in rival.missed]
        return "; ".join([*missed, *gained(rival, chosen)])
    if rival.name in advice.outlasted:
        return outlasted_text(advice, advice.outlasted[rival.name])
    behind = behind_text(rival, entry, chosen)
    wait_ms = entry.mean("wait_mean_ms").mean
    if wait_ms is None or "wait" in behind:
        return behind
    if not rival.is_standing:
        return behind + _unfelt(wait_ms, chosen.mean("wait_mean_ms").mean)
    return (
        f"packets wait {MILLISECONDS.quantity(wait_ms, digits=3)} in the mean, longer than the RTT; {behind}"
    )


def _unfelt(wait_ms: float, chosen_ms: float | None) -> str:
    """That waits differ several times over, where that is no part of how users fare; else empty."""
    short, long = sorted((wait_ms, chosen_ms or wait_ms))
    if long < max(_FAR_WAIT * short, LONG_WAIT_MS):
        return ""
    return f"; packets wait {beside(MILLISECONDS, wait_ms, chosen_ms)}, which these flows' users hardly feel"


def _of_classes(entry: Entry) -> str:
    """That a command's buffer is that of all classes, where the answer names the limit of one."""
    parts = entry.queue.parts
    return "" if parts == 1 else f" Its buffer is for all classes: {of_classes_text(parts, entry.packets)}."


def _typed(advice: Advice, typed: Typed) -> Iterator[Line]:
    made = typed.lines(advice)
    entry, lines = made.entry, made.lines
    if not advice.choice.meets or loses_much(advice):
        better = better_but_missed(advice) if advice.choice.meets else None
        problem = "nothing, to keep what runs today" if stays(advice) else made.problem
        chosen = advice.answer if better is None else advice.entries[better.name]
        is_plain = better is None and not stays(advice)
        what = "the lines all the same" if is_plain else f"those of {entry_text(chosen)}"
        yield Line("type", f"{problem}. Below is what writes {what}.{_of_classes(chosen)}")
        command = "\n".join(LINUX.folded([typed.command(advice, chosen)]))
        yield Line("", command, verbatim=True, shorter=[(4, "")])
        return
    if entry is None:
        none = "" if advice.stage == "begun" else ", nor is there another of these queues, as far as is known"
        yield Line("type", f"{made.problem}{none}.")
        return
    label = "type"
    if keeps(advice):
        yield Line(label, "nothing, to keep what runs today. To change it:")
        label = ""
    elif cases(advice, "") is not None:
        yield Line(label, "With the assumed mix; else with the other case's buffer:")
        label = ""
    if entry is not advice.answer:
        missed = {each.name: each.missed for each in advice.choice.rivals}[entry.name]
        but = ", which misses a target" if missed else ""
        yield Line("type", f"{made.problem}; for {entry_text(entry)}{but}:")
        label = ""
    shaper, below = typed.shaper_asked(advice.site.rate_bps), f"the lines for {typed.platform} are {_BELOW}"
    if follows(lines):
        whole = below if shaper is None else f"{below}. {shaper}"
        yield Line(label, whole, shorter=[(5, below)] if shaper is not None else ())
    else:
        text = "\n".join(lines)
        shorter = [(4, below)]
        yield Line(label, text, verbatim=True, shorter=shorter if len(lines) > 1 else ())
    if made.amounts_to:
        yield Line("", made.amounts_to)
    if shaper is not None and not follows(lines):
        yield Line("", shaper, shorter=[(5, "")])
