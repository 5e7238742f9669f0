"""Congestion controls in the sizing theory: an epoch of the window for each, and its source.

Names are those of scenarios. If the shape of an epoch does not depend on window and round-trip time, neither
does the protocol's characteristic value, and a closed form checks it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from bufferlab.errors import InputError, did_you_mean
from bufferlab.theory.epochs import (
    Epoch,
    bbr3_epoch,
    bbr_epoch,
    bic_epoch,
    ctcp_epoch,
    cubic_epoch,
    cubic_reno_friendly_epoch,
    dctcp_epoch,
    fixed_epoch,
    htcp_epoch,
    no_epoch,
    reno_epoch,
    scalable_epoch,
)

REFERENCE_WINDOW_PACKETS: Final = 100.0
"""Default w_max for protocols whose epoch depends on it, packets."""

REFERENCE_RTT_S: Final = 0.1
"""Default round-trip time for such protocols, s."""


@dataclass(frozen=True)
class Protocol:
    """A congestion control.

    Attributes:
        name: Its name in commands.
        title: Its name in tables.
        beta: Window after a loss over the window before it; for BBR v1, the utilization without a buffer.
        epoch: Function from w_max in packets and the round-trip time in s to an epoch.
        source: Source of growth function and constants, and what the model leaves out.
        scale_free: Whether a is the same for every window and round-trip time.
        peak: w_max over the mean window; `None` for 2/(1 + beta), the middle between beta·w_max and w_max.
        standing_packets: Packets that a flow always keeps in the buffer. They are added to (1) to (14), which
            do not know them.
    """

    name: str
    title: str
    beta: float
    epoch: Callable[[float, float], Epoch]
    source: str
    scale_free: bool = True
    peak: float | None = None
    standing_packets: float = 0.0

    @property
    def peak_over_mean(self) -> float:
        """w_max over the mean window."""
        return 2.0 / (1.0 + self.beta) if self.peak is None else self.peak

    def characteristic(
        self, window_packets: float = REFERENCE_WINDOW_PACKETS, rtt_s: float = REFERENCE_RTT_S
    ) -> float:
        """The value a, by numeric integration of (4) and (5).

        Args:
            window_packets: w_max, packets.
            rtt_s: Round-trip time, s.

        Raises:
            ValueError: A window or a round-trip time that is not positive.
            InputError: There is no model of the protocol's window.
        """
        if not (window_packets > 0 and rtt_s > 0):
            raise ValueError("window_packets and rtt_s must be positive")
        return self.epoch(window_packets, rtt_s).moments.characteristic


def get_protocol(name: str) -> Protocol:
    """The protocol with this name, which is a scenario's congestion control; parentheses are ignored.

    Raises:
        InputError: There is none; the message suggests the closest name.
    """
    word = name.partition("(")[0]
    found = PROTOCOLS.get(_OTHER_NAMES.get(word, word))
    if found is None:
        hint = did_you_mean(name, [*PROTOCOLS, *_OTHER_NAMES])
        raise InputError(f"is not a known protocol{hint}", value=name, accepted=", ".join(PROTOCOLS))
    return found


_DOCUMENT: Final = "P. Yang, E. Zhang and L. Xu (2013), Table II"

PROTOCOLS: Final[Mapping[str, Protocol]] = {
    each.name: each
    for each in (
        Protocol("reno", "RENO", 0.5, reno_epoch, _DOCUMENT),
        Protocol("bic", "BIC", 0.8, bic_epoch, f"{_DOCUMENT}; the first step of the binary search only"),
        Protocol(
            "cubic-0.8",
            "CUBIC' (Linux up to 2.6.25)",
            0.8,
            lambda window, rtt: cubic_epoch(window, rtt, beta=0.8),
            f"{_DOCUMENT}, with 1 - beta in T",
        ),
        Protocol(
            "cubic-0.7",
            "CUBIC'' (Linux from 2.6.26)",
            0.7,
            cubic_epoch,
            f"{_DOCUMENT}, with 1 - beta in T",
        ),
        Protocol(
            "cubic",
            "CUBIC (RFC 9438)",
            0.7,
            cubic_reno_friendly_epoch,
            "RFC 9438, sections 4.2, 4.3 and 4.6: Reno-friendly where that is faster; no fast convergence",
            scale_free=False,
        ),
        Protocol(
            "cubic-linux",
            "CUBIC (Linux 5)",
            0.7,
            cubic_reno_friendly_epoch,
            "Linux net/ipv4/tcp_cubic.c, whose growth is RFC 9438's; no fast convergence",
            scale_free=False,
        ),
        Protocol("ctcp", "CTCP", 0.5, ctcp_epoch, _DOCUMENT),
        Protocol("scalable", "Scalable TCP", 0.875, scalable_epoch, "T. Kelly, ACM CCR 33(2), 2003"),
        Protocol(
            "htcp",
            "H-TCP",
            0.5,
            htcp_epoch,
            "D. Leith and R. Shorten, PFLDnet 2004; beta at its lower bound 0.5",
            scale_free=False,
        ),
        Protocol(
            "bbr",
            "BBR v1",
            0.75,
            bbr_epoch,
            "our model of ProbeBW's gain cycle, without ProbeRTT and without cwnd as the bound",
        ),
        Protocol(
            "bbr3",
            "BBR v3",
            0.7,
            bbr3_epoch,
            "our model of ProbeBW's cycle without losses and ProbeRTT; beta is the draft's BBR.Beta",
            scale_free=False,
            peak=1.25,
        ),
        Protocol(
            "vegas",
            "Vegas",
            0.5,
            fixed_epoch,
            "L. Brakmo and L. Peterson, IEEE JSAC 13(8), 1995: a constant window that keeps 2 to 4 packets "
            "waiting; the buffer must hold them for every flow, or losses halve the window",
            standing_packets=4.0,
        ),
        Protocol(
            "westwood",
            "Westwood+",
            1.0,
            no_epoch("westwood"),
            "none: a loss leaves the BDP, so the fall is the buffer's own (L. Grieco and S. Mascolo, ACM CCR "
            "34(2), 2004)",
        ),
        Protocol(
            "dctcp",
            "DCTCP on a link that marks",
            0.5,
            dctcp_epoch,
            "M. Alizadeh et al., SIGCOMM 2010, section 3.3; a loss halves (RFC 8257, section 3.5)",
            scale_free=False,
            peak=1.0,
        ),
        Protocol(
            "dctcp-unmarked",
            "DCTCP without marks",
            0.5,
            reno_epoch,
            "RFC 8257, sections 3.4 and 3.5: growth and answer to losses are RFC 5681's",
        ),
        Protocol(
            "prague",
            "Prague",
            0.5,
            no_epoch("prague"),
            "none: marks come by chance where it is at home (RFC 9332); a loss halves",
        ),
        Protocol(
            "ledbat++",
            "LEDBAT++",
            0.5,
            no_epoch("ledbat++"),
            "none: delay and slowdowns govern it; a loss halves (draft-irtf-iccrg-ledbat-plus-plus)",
        ),
        Protocol("fixed", "fixed window", 1.0, fixed_epoch, "a window that never changes"),
    )
}
"""The protocols by name."""

_OTHER_NAMES: Final = {
    "tahoe": "reno",
    "newreno": "reno",
    "cubic'": "cubic-0.8",
    "cubic''": "cubic-0.7",
    "compound": "ctcp",
    "bbr1": "bbr",
    "reno-2.6": "reno",
    "scalable-2.6": "scalable",
    "htcp-2.6": "htcp",
    "vegas-2.6": "vegas",
    "westwood-2.6": "westwood",
    "compound-2.6": "ctcp",
}
"""Names whose window grows like another protocol's in congestion avoidance."""
