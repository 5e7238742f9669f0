"""Why settings differ from ns-2, for those that do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bufferlab.evidence.ns2.compare import FEW_FLOWS
from bufferlab.evidence.ns2.reference import Setting


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


def _linux(*names: str, few: bool | None = None) -> Callable[[Setting], bool]:
    """Settings with these controls of Agent/TCP/Linux, with `few` (or without) at most ten flows."""

    def applies(setting: Setting) -> bool:
        right = few is None or few == (setting.flows <= FEW_FLOWS)
        return right and setting.stack in {f"linux-{name}" for name in names}

    return applies


_BURSTS = (
    "BIC and CUBIC' have no min_cwnd in Linux 2.6.22: the window is 0.8 of itself as soon as a loss is "
    "seen, and lost segments leave room that ns-2 fills at once, in a burst; proportional rate reduction "
    "spaces it. Bursts are lost again, and where the buffer is small the link idles meanwhile. Known by "
    "trial of a recovery that sends bursts of any size (sack): with 13 packets ten flows of BIC keep 0.63 "
    "here, 0.43 in ns-2 and 0.28 with bursts, of CUBIC' 0.50, 0.34 and 0.31, 200 flows of BIC 0.84, 0.81 "
    "and 0.78, of CUBIC' 0.90, 0.87 and 0.84; with 388 packets BIC's 200 lose 4.0, 5.1 and 5.2 %."
)
_BURSTS_OF_MIX = (
    "ns-2 fills what lost segments leave at once, in a burst, of which more is lost; proportional rate "
    "reduction spaces it. Known by trial of a recovery that sends bursts of any size (sack): with spread "
    "round trips of 90 ms flows behind 89 packets lose 0.98 % here, 1.28 % in ns-2 and 2.3 % with bursts, "
    "behind 466 packets 0.90, 1.30 and 1.36 %; in step CUBIC' has 0.57, 0.63 and 0.64 of the goodput at 28 "
    "ms behind 1451 packets, BIC 0.56, 0.83 and 0.89 at 231 ms behind 1197."
)

REASONS = (
    Reason(
        lambda setting: setting.stack.startswith("linux-") and bool(setting.option("overhead")),
        "Under overhead_ Agent/TCP/Linux waits for one random timer and then sends all that acknowledgments "
        "have allowed meanwhile (send_much); jitter here delays each answer by itself.",
    ),
    Reason(lambda setting: setting.stack == "linux-mix", _BURSTS_OF_MIX),
    Reason(
        _linux("westwood"),
        "Linux 2.6.22's Westwood+ sets the window to its estimate of rate times shortest round trip when a "
        "recovery starts (min_cwnd), and ns-2 never raises the event that ends it (CA_EVENT_COMPLETE_CWR); "
        "the window does not dip below that estimate. Kernels that let the window down in proportion (and "
        "ours) jump to it when the recovery ends, with a burst that overflows small buffers.",
    ),
    Reason(
        _linux("vegas"),
        "Both have alpha 2 and beta 4 (get_ca_default_param: 4 and 8, counted in halves). But Linux 2.6.22's "
        "Vegas compares the round trip with the data of the round before (beg_snd_nxt - beg_snd_una), which "
        "after a recovery spans all of it, and leaves slow start with a threshold of 2; later kernels (and "
        "ours) take the window itself. A lone flow of 12 Mbps keeps 1 or 14 packets waiting in ns-2, by the "
        "buffer, 3 to 4 here. With ten flows much hangs on which of them took others' queue for propagation "
        "when it started.",
    ),
    Reason(
        _linux("scalable"),
        "Linux 2.6.22's Scalable TCP grows by one segment in 51 acknowledgments (TCP_SCALABLE_AI_CNT 50, "
        "meant for delayed ones), here by one in 100, as Kelly has it; and its window falls to less than "
        "half in a recovery (min_cwnd is Reno's), of which ns-2 gives back what is in flight and three, here "
        "to 7/8.",
    ),
    Reason(_linux("bic", "cubic"), _BURSTS),
    Reason(
        _linux("reno", "compound", few=False),
        "ns-2 has no tail-loss probe (RFC 8985): with 13 packets and six a flow it counts 3168 timeouts for "
        "Reno's 200 flows where we count 1414, each of 200 ms at least. And: a window equal to the threshold "
        "is still in slow start in Linux 2.6.22, not here. Compound lacks there the low-window rule and the "
        "tuned gamma, too.",
    ),
    Reason(
        _linux("compound", few=True),
        "ns-2's Compound is a Linux port without the low-window rule and without the tuned gamma "
        "(tcp_compound.c: TCP_COMPOUND_GAMMA 30), which lets its delay window grow longer against the queue; "
        "ours is the draft's. How much of the losses is due to that was not tried.",
    ),
    Reason(
        lambda setting: setting.scenario.startswith("fig1") and setting.stack == "linux-reno",
        "25 ms are a phase artifact, see fig1 in docs/reproduce.md; the long flow sends 1300 packets in all.",
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
