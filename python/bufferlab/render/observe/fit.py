"""How near a run of a capture's scenario comes to the capture, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bufferlab.captured.filled import assumed_use
from bufferlab.captured.fitting import LITTLE_LOSS, OFF, Fit
from bufferlab.captured.link import CapturedLink
from bufferlab.captured.scenario import Known
from bufferlab.render.words import listed
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS
from bufferlab.units import format_rate

_WORDS: Final = {
    "utilization": ("utilization while long flows send", FRACTION),
    "loss": ("loss without the flows' starts", FRACTION),
    "marks": ("packets marked", FRACTION),
    "wait_p50_ms": ("median wait", MILLISECONDS),
    "wait_p95_ms": ("95th percentile", MILLISECONDS),
}
_ALIKE: Final = 1.1
"""A loss of the run is said beside that of the capture if one is as many times the other. Our choice."""

_NEAR_HEAVY: Final = 1.3
"""Losses of two captures of one link differ by as much, as each counts its own repairs. Our choice."""

BEWARE: Final = "beware: "
"""How lines begin that speak against the scenario."""

UNSEEN_DEPTH: Final = "how much it holds was not seen and is assumed"

_OTHERS: Final = (
    "its round trips, controls or buffer are others, or more of its flows pause (on-off, video) than were "
    "seen to"
)
_UNTRIED: Final = "Vegas, DCTCP and others"

_NEAREST: Final = "of those tried, a run with {} is nearest to the capture"


def fit_lines(fit: Fit, *, is_mix_given: bool) -> Iterator[str]:
    """Controls and queue and where they come from, what the run gives beside the capture, and a warning."""
    is_far = fit.is_far
    if fit.hidden_ms:
        wait = MILLISECONDS.quantity(fit.hidden_ms, digits=3)
        why = "which has no round trip as short as --rtt"
        yield f"waits: {wait} more in the median than the capture shows, {why}"
    yield from _controls(fit, is_mix_given=is_mix_given, is_far=is_far)
    yield _queue(fit)
    compared = ", ".join(_compared(fit))
    if compared:
        yield f"a run of the scenario: {compared}"
    if fit.left_out:
        shares = (f"{name} ({FRACTION.quantity(share, digits=2)})" for name, share in fit.left_out.items())
        yield f"left out, with their share of the link's rate: {listed(list(shares))}"
    if is_mix_given and _loses_otherwise(fit):
        yield (
            f"{BEWARE}with the controls given a run loses less or more than was captured by over a third "
            f"({_both(fit, 'loss')}): others run as well, or some is lost elsewhere"
        )
    off = [_WORDS[name][0] for name in _WORDS if fit.differs(name)]
    if off and not is_far:
        yield (
            f"{BEWARE}the {' and the '.join(off)} of the run and of the capture are far apart, so answers "
            f"for the scenario may be wrong; {_OTHERS}"
        )
    if fit.shared_otherwise and not is_far:
        yield f"{BEWARE}flows share the link otherwise than in the capture: {_shared(fit)}"
    if is_far:
        yield (
            f"{BEWARE}the scenario does not do what was captured, so answers for it may be wrong; {_OTHERS}, "
            "or the queue is none of those tried"
        )


def _loses_otherwise(fit: Fit) -> bool:
    """Whether losses of the run and the capture are apart by so much that controls may be others."""
    lost = [each or 0.0 for each in (fit.captured["loss"], fit.reproduced["loss"])]
    return fit.captured["loss"] is not None and max(lost) > max(OFF * min(lost), LITTLE_LOSS)


def scenario_text(fit: Fit) -> str:
    """The scenario as a file, with a comment at a buffer that was not seen.

    Args:
        fit: What comes nearest.
    """
    text = fit.scenario.to_toml()
    return (
        text if fit.queue_by == "seen" else text.replace("\nbuffer = ", f"\n# {UNSEEN_DEPTH}\nbuffer = ", 1)
    )


def is_like(fit: Fit) -> bool:
    """Whether a run of the scenario does what was captured, so that its queue may be what runs there."""
    return not fit.is_far and not any(fit.differs(name) for name in _WORDS)


def unfit_text(fit: Fit) -> str:
    """That an answer rests on a scenario which does not do what was captured, as a sentence; else nothing.

    Args:
        fit: What comes nearest.
    """
    if is_like(fit):
        return ""
    off = [name for name in _WORDS if fit.differs(name)] or list(_WORDS)
    both = "; ".join(
        _both(fit, name) for name in off if None not in (fit.reproduced[name], fit.captured[name])
    )
    return f"Beware, this may be wrong: the simulation does not do what was captured ({both})."


def use_text(link: CapturedLink, fit: Fit, known: Known) -> str:
    """That an answer assumes flows which use the link far more than they did, as a sentence; else nothing.

    Args:
        link: What was captured.
        fit: What comes nearest.
        known: What the operator says.
    """
    found = assumed_use(link, fit, known)
    if found is None:
        return ""
    used, own = (FRACTION.quantity(each, digits=2) for each in found)
    return (
        f"{used} of the link was used; the answer assumes that these flows use {own}, as what held them back "
        "is not in the capture."
    )


def pace_text(link: CapturedLink, known: Known) -> str:
    """That an answer rests on a rate which may be none of the link's, as a sentence; else nothing.

    Args:
        link: What was captured.
        known: What the operator says; with a rate, it is an answer for that.
    """
    if not link.is_rate_a_pace or link.rate_bps is None or known.rate is not None:
        return ""
    rate = format_rate(link.rate_bps, 3)
    return (
        f"Beware, this may be wrong: {rate} may be the pace of the senders and not the link's rate (--rate)."
    )


def _both(fit: Fit, name: str) -> str:
    """What the run gives, and what was captured."""
    words, unit = _WORDS[name]
    own, seen = (unit.quantity(each[name] or 0.0, digits=2) for each in (fit.reproduced, fit.captured))
    return f"{words} {own}, measured {seen}"


def fit_doubts(fit: Fit, *, is_mix_given: bool) -> Iterator[str]:
    """What most speaks against the scenario, in few words, as a box has room for."""
    if is_like(fit):
        yield from _of_today(fit)
    if fit.controls is not None and fit.alike and not is_mix_given:
        others = listed([fit.controls, *map(str, fit.alike[:2])])
        yield f"controls are not distinguished by runs: {others}; {_UNTRIED} were not tried; --mix names them"
    yield from _near_heavy(fit)
    if fit.controls is None and not is_mix_given:
        yield "controls are not known and assumed, and the answer rests on them: --mix names them"


def _of_today(fit: Fit) -> Iterator[str]:
    """What of today's queue is no measurement."""
    if not fit.is_queue_known:
        yield f"what runs today is not judged: no buffer was seen to fill, and {fit.buffer} is assumed"
        return
    if fit.shared_otherwise:
        yield f"what runs today is not judged: in its simulation {_shared(fit)}"
        return
    if fit.queue_by == "runs":
        yield f"what runs today is a guess, by runs: {fit.queue} ({fit.buffer}{_LIMIT})"
    if fit.differs("loss", _ALIKE):
        yield f"losses of today's queue are those of the simulation: {_both(fit, 'loss')}"


def _shared(fit: Fit) -> str:
    """What flows get in the run, and what they got in the capture, where these are far apart."""
    return listed(
        [
            f"{name} gets {format_rate(own_bps, 3)} a flow, measured {format_rate(seen_bps, 3)}"
            for name, (seen_bps, own_bps) in fit.shared_otherwise.items()
        ]
    )


_LIMIT: Final = ", the limit by default"
"""Of a queue that drops early no capture shows how much it may hold."""


def _near_heavy(fit: Fit) -> Iterator[str]:
    """That the loss is near the bound by which queues are kept or not, and what its other side would give.

    A run's loss is said only where the capture shows none.
    """
    lost = fit.captured["loss"] if fit.captured["loss"] is not None else fit.reproduced["loss"]
    if lost is None or not HEAVY_LOSS / _NEAR_HEAVY <= lost <= HEAVY_LOSS * _NEAR_HEAVY:
        return
    share, bound = (FRACTION.quantity(each, digits=2) for each in (lost, HEAVY_LOSS))
    side, other = (
        ("above", "a queue that loses less, rather than the smallest buffer that meets the targets")
        if lost < HEAVY_LOSS
        else ("below", "the smallest buffer that meets the targets, or what runs today")
    )
    yield (
        f"the loss, {share}, is near {bound}: for another capture of this link, with a loss {side} {bound}, "
        f"the answer may be {other}; a target for the loss (advise --target) settles it"
    )


def _controls(fit: Fit, *, is_mix_given: bool, is_far: bool) -> Iterator[str]:
    if fit.controls is not None and fit.alike:
        near = listed([fit.controls, *map(str, fit.alike)])
        yield (
            f"controls: not distinguished: runs with {near} come as near to the capture; the scenario has "
            f"{fit.controls}, --mix names another"
        )
    elif fit.controls is not None:
        yield f"controls: {_NEAREST.format(fit.controls)}"
    elif not is_mix_given:
        is_tried = is_far and None not in (fit.captured["loss"], fit.captured["wait_p50_ms"])
        why = "no run with any that was tried is near" if is_tried else "losses and waits are not both known"
        yield f"controls: not known, since {why}; assumed is the Internet's mix, --mix names another"


def _queue(fit: Fit) -> str:
    queue = f"{fit.queue} ({fit.buffer})"
    if fit.queue_by == "seen":
        also = _also(fit.queues_alike) or "; one that drops early may, too"
        return f"queue: taken for a {queue}, since losses come at that depth{also}"
    if fit.queue_by == "runs":
        assumed = (
            "; its limit is Linux's default, and was not seen" if fit.is_queue_known else f"; {UNSEEN_DEPTH}"
        )
        return f"queue: {_NEAREST.format(queue)}{_also(fit.queues_alike)}{assumed}"
    return f"queue: not known, since no buffer was seen to fill; assumed is {queue}"


def _also(others: tuple[str | None, ...]) -> str:
    return f"; {listed([str(other) for other in others])} may be as near" if others else ""


def _compared(fit: Fit) -> Iterator[str]:
    for name, (words, unit) in _WORDS.items():
        own, other = fit.reproduced[name], fit.captured[name]
        if own is not None and other is not None:
            shown, seen = (unit.text(value, digits=2) for value in (own, other))
            yield f"{words} {shown} {unit.shown} (captured: {seen} {unit.shown})"
        elif own is not None and name == "utilization" and fit.distance is not None:
            yield f"{words} {unit.text(own, digits=3)} {unit.shown} (not seen in the capture)"
