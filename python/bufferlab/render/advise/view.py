"""An advice for people: the answer first, then the evidence."""

from __future__ import annotations

from typing import Final

from bufferlab.configure.cisco import CALLS
from bufferlab.configure.linux import CODEL_DIFFERS
from bufferlab.configure.shared import ITSELF, SHAPES
from bufferlab.display import as_view
from bufferlab.render.advise.box import NOTHING, Against, box_of, follows
from bufferlab.render.advise.evidence import details, evidence
from bufferlab.render.advise.explain import explanation
from bufferlab.render.advise.typed import LINUX, Typed
from bufferlab.render.framed import BelowBox
from bufferlab.render.scenario import ScenarioLines
from bufferlab.render.summary import notes
from bufferlab.render.view import Heading, Terms, Typing, View
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.words import is_llq

_MORE: Final = "--explain has all that was measured, the flows as simulated, and how this was found."


def brief_view(advice: Advice, *, typed: Typed = LINUX, against: Against = NOTHING) -> View:
    """The answer in a box and the lines to type, with what a shaper is good for, without the evidence.

    Args:
        advice: The advice.
        typed: Where lines are typed.
        against: What speaks against the scenario.
    """
    made = typed.lines(advice)
    box = box_of(advice, typed, against)
    if not made.lines or not follows(made.lines):
        return View([box])
    shaped = [("note", each) for each in made.notes if each.startswith(SHAPES)]
    typing = Typing(made.lines)
    return View([box, Heading(f"To type on {typed.platform}"), typing, Terms([*shaped, *made.after])])


@as_view.register
def advice_view(
    advice: Advice, *, typed: Typed = LINUX, explain: bool = False, against: Against = NOTHING
) -> View:
    """The answer in a box, the queues that were tried, the buffers.

    Args:
        advice: The advice.
        typed: Where lines are typed.
        explain: Tell also how it was found.
        against: What speaks against the scenario.
    """
    made = typed.lines(advice)
    grids = list(evidence(advice))
    more = list(details(advice)) if explain else []
    shown = [each for each in made.notes if explain or not each.startswith(CODEL_DIFFERS)]
    if any(map(is_llq, (each.queue.name for each in advice.entries.values()))):
        shown = [each for each in shown if each != CALLS]  # it was tried
    is_said = any(each.startswith(ITSELF) for each in shown)  # which rate the interface has to send at
    shaper = None if is_said or not made.lines else typed.shaper_note(advice.site.rate_bps)
    notices = (("note", each) for each in (*filter(None, [shaper]), *shown))
    about = Terms([*notices, *made.after, *(typed.restoring(advice) if made.lines else ())])
    in_box = not made.lines or not follows(made.lines)
    below: list[Heading | Typing] = [Heading(f"To type on {typed.platform}"), Typing(made.lines)]
    box = box_of(advice, typed, against)
    scenario = ScenarioLines(advice.resolved, (), {advice.site.link: ("queue", "buffer")}, advice.assumed)
    return View(
        [
            box,
            *([] if in_box else [*below, about]),
            BelowBox(box),
            *grids,
            *notes(grids),
            *(f"Note: {each}." for each in advice.notes),
            *([about] if in_box else []),
            scenario.terms() if explain else scenario.assumptions(),
            *more,
            *notes(more),
            *(explanation(advice, typed) if explain else [_MORE]),
        ]
    )
