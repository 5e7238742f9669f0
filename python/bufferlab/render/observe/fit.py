"""How near a run of a capture's scenario comes to the capture, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bufferlab.captured.fitting import NEAR, Fit
from bufferlab.render.words import listed
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS

_WORDS: Final = {
    "utilization": ("utilization", FRACTION),
    "loss": ("loss", FRACTION),
    "wait_p50_ms": ("median wait", MILLISECONDS),
    "wait_p95_ms": ("95th percentile", MILLISECONDS),
}


def fit_lines(fit: Fit, *, is_mix_given: bool) -> Iterator[str]:
    """The controls and where they come from, what the run gives beside what was captured, and a warning."""
    if fit.controls is not None:
        alike = f"; {listed(list(fit.alike))} may be as near" if fit.alike else ""
        yield f"controls: of those tried, a run with {fit.controls} is nearest to the capture{alike}"
    elif not is_mix_given:
        is_far = fit.distance is not None
        why = "no run with any that was tried is near" if is_far else "a capture does not name them"
        yield f"controls: {why}; assumed is the Internet's mix, --mix names another"
    compared = ", ".join(_compared(fit))
    if compared:
        yield f"a run of the scenario: {compared}"
    if fit.left_out:
        shares = (f"{name} ({FRACTION.quantity(share, digits=2)})" for name, share in fit.left_out.items())
        yield f"left out, with their share of the link's rate: {listed(list(shares))}"
    if fit.distance is not None and fit.distance > NEAR:
        yield (
            "beware: the scenario does not do what was captured, so answers for it may be wrong; its round "
            "trips, controls or buffer are others, or the queue is none of those tried"
        )


def _compared(fit: Fit) -> Iterator[str]:
    for name, (words, unit) in _WORDS.items():
        own, other = fit.reproduced[name], fit.captured[name]
        if own is not None and other is not None:
            shown, seen = (unit.text(value, digits=2) for value in (own, other))
            yield f"{words} {shown} {unit.shown} (captured: {seen} {unit.shown})"
