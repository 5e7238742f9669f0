"""Why settings differ from ns-2, for those that do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bufferlab.validation.reference import Setting


@dataclass(frozen=True)
class Reason:
    """A known difference.

    Attributes:
        applies: Whether a setting is subject to it.
        text: What it is, and how that is known.
    """

    applies: Callable[[Setting], bool]
    text: str


def explain(setting: Setting) -> str:
    """The known reason why a setting differs from ns-2's; empty if none is known."""
    return next((reason.text for reason in REASONS if reason.applies(setting)), "")


REASONS = (
    Reason(
        lambda setting: setting.stack == "linux-reno",
        "ns-2's Agent/TCP/Linux is a port of Linux 2.6's input path with its own recovery (FACK with a "
        "scoreboard of its own); here Linux's growth and RFC 6675 under ns-2's timers stand for it. In oc3 "
        "with 10 flows it also lets one flow of ten take half the link (standard deviation 34 Mbps at a "
        "mean of 21), which no Reno does.",
    ),
    Reason(
        lambda setting: setting.stack in {"newreno", "reno"},
        "ns-2's NewReno empties the inflated window at a partial acknowledgment, restarts the timer at "
        "each, sends at most two packets an acknowledgment in recovery and grows once at its end; RFC 6582 "
        "deflates by what was acknowledged and restarts the timer at the first only. Its Reno grows once "
        "at the end of recovery, too.",
    ),
    Reason(
        lambda setting: setting.option("access") == "100",
        "Access and bottleneck have one rate and both flows' packets reach a full buffer at the very "
        "moments of its departures: one flow never gets through. Which one, rounding decides in ns-2 (the "
        "short one loses) and a fixed order here (the long one does).",
    ),
    Reason(
        lambda setting: bool(setting.option("overhead")) and setting.flows >= 100,
        "ns-2's overhead_ delays only what an opened window sends: limited transmit and the fast "
        "retransmission go at once. Jitter here delays every answer. At losses of 5 % to 25 % that costs 4 "
        "% to 9 % more losses; with limited transmit off, or without jitter, ns-2 and we agree within 1.6 "
        "%.",
    ),
    Reason(
        lambda setting: setting.scenario == "fig4" and setting.stack == "sack1",
        "ns-2 makes an acknowledgment 8 bytes longer for each SACK block, which takes 0.64 us more on the "
        "way back; here all have one size. With such acknowledgments in the engine both of these settings "
        "agree, and three of the chaotic ones equal ns-2 packet by packet.",
    ),
    Reason(
        lambda setting: setting.scenario == "mininet" and setting.flows == 800,
        "800 flows of one round-trip time without jitter share 453 + B packets: every arrival meets others "
        "at the same moment, and the rule for ties decides. With a fixed order the types lose 14.6 % and "
        "18.4 % at B = 181, with random ties both 16.2 %, in ns-2, by rounding, 14.9 % to 15.7 % over four "
        "seeds.",
    ),
)
"""The first that applies is given."""
