"""What flows are if only their number and their mean round-trip time are known: as the Internet's.

Which congestion controls: A. Mishra, X. Sun, A. Jain, S. Pande, R. Joshi and B. Leong, "The Great Internet
TCP Congestion Control Census", Proc. ACM Meas. Anal. Comput. Syst. 3(3), 2019 (SIGMETRICS 2020), abstract:
CUBIC on about 36 % of the websites of the Alexa Top 20,000; BBR and its variant G1.1 on 22 %, which carry
more than 40 % of the traffic by an estimate; Akamai's own control, which is not public, on 6 %. The
abstract does not split the rest, and the paper's table was not available here. So the two shares that are
known and that we simulate are taken for the whole: 62 % and 38 %. A later census says that BBR's share of
websites has shrunk (A. Mishra and others, "Keeping an Eye on Congestion Control in the Wild with Nebby",
SIGCOMM 2024, abstract, which has no numbers). BBR is version 1, that of 2019, which is still widespread at
large CDNs (R. Ware and others, "CCAnalyzer", SIGCOMM 2024, abstract).

How far round-trip times spread: CAIDA's Ark monitors, pages "CCDF of destination RTTs"
(caida.org/projects/ark/statistics/MONITOR/dest_rtt_ccdf.html), which are round-trip times from one place to
destinations all over the Internet. Over the median, the percentiles 10, 25, 75 and 90 are 0.24, 0.58, 1.51,
1.83 for mst-nl; 0.25, 0.50, 1.48, 1.69 for bhd-uk; 0.24, 0.66, 1.49, 1.65 for hnd-jp; 0.21, 0.37, 1.51,
2.08 for ory5-fr; 0.24, 0.50, 1.38, 2.05 for dtw2-us (IPv6); 0.36, 0.52, 1.53, 1.94 for nic-cy; 0.37, 0.57,
1.17, 1.38 for aza-us. Times that are spaced evenly over ± 90 % have 0.28, 0.55, 1.45 and 1.72. They are not
the flows of one link, so to take this width is our choice.

A call is G.711 over RTP, 160 bytes of speech every 20 ms (RFC 3551, sections 4.2 and 4.5.14) and 40 of
headers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

STACK: Final = "linux"
"""The hosts."""

CALL: Final = {"kind": "udp", "packet": "200 B", "interval": "20 ms"}
"""The application of a call, as a scenario has it."""

CALL_DSCP: Final = "EF"
"""What calls are marked with where queues sort by that (RFC 3246; for telephony RFC 4594, section 4.1)."""

SPREAD: Final = 0.9
"""Round-trip times are spaced evenly over the mean times 1 ± this."""

SATELLITE_MS: Final = 4 * 35_786e3 / 299_792_458 * 1e3
"""Round-trip time over a geostationary satellite, ms: its height above the equator (ITU-R S.484) four times,
at the speed of light. No flow over it is faster, so that their round trips spread less."""

SHARES: Final = (("CUBIC", "cubic-linux(hystart)", 36.0), ("BBR", "bbr", 22.0))
"""Name, control and percentage of websites, the most frequent first."""


BBR_DECIDES: Final = "BBR (version 1) hardly yields to losses, which shapes what a fifo gives"
"""What is said of an assumed mix with BBR in it."""


def controls_of(flows: int) -> list[tuple[str, int]]:
    """The controls of a number of flows, the most frequent first, and how many have each.

    Args:
        flows: How many there are.
    """
    words = [(control, share) for _, control, share in SHARES]
    return shared_out(flows, words)


def shared_out(flows: int, shares: Sequence[tuple[str, float]]) -> list[tuple[str, int]]:
    """Whole flows by largest remainders; a share of less than a flow may get none."""
    total = sum(share for _, share in shares)
    exact = [flows * share / total for _, share in shares]
    counts = [int(value) for value in exact]
    order = sorted(range(len(shares)), key=lambda index: (counts[index] - exact[index], index))
    for index in order[: flows - sum(counts)]:
        counts[index] += 1
    return [(name, count) for (name, _), count in zip(shares, counts, strict=True) if count]


def about_controls(flows: int) -> str:
    """What was assumed about the controls of that many flows, why, and how to ask for something else."""
    names = {control: name for name, control, _ in SHARES}
    found = [f"{count} {names[control]}" for control, count in controls_of(flows)]
    sites = " and ".join(f"{share:g} % {name}" for name, _, share in SHARES)
    others = 100.0 - sum(share for _, _, share in SHARES)
    census = f"{sites} in the census of websites by Mishra and others, 2019; the other {others:g} % left out"
    if len(found) == 1:
        return f"the flow is {found[0]}, the most frequent control ({census}); --flows bbr:1 asks for BBR"
    without = f"--flows cubic:{flows}"
    return f"the {flows} flows are {' and '.join(found)} ({census}). {BBR_DECIDES}: {without} is without"


def spread_of(rtt_ms: float) -> float:
    """How far round-trip times spread around their mean, as a share.

    Args:
        rtt_ms: The mean, ms.
    """
    return min(SPREAD, 1.0 - SATELLITE_MS / rtt_ms) if rtt_ms > SATELLITE_MS else SPREAD


def about_round_trips(spread: float) -> str:
    """What was assumed about round-trip times, why, and how to ask for something else."""
    text = f"round-trip times lie evenly over ± {spread * 100:.3g} % of their mean"
    if spread < SPREAD:
        least = f"{SATELLITE_MS:.0f} ms, what a geostationary satellite takes"
        return f"{text}: down to {least}; --spread {SPREAD:g} is as wide as the Internet"
    why = "our choice, about as wide as CAIDA's Ark monitors see the Internet"
    return f"{text}: {why}; --spread 0.2 is narrower"
