"""Links so fast that a run takes minutes, and the smaller link that says nearly the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bufferlab.scenario import Scenario
from bufferlab.units import PS_PER_S

_MINUTE_PACKETS: Final = 12 * 10**7
"""What a processor simulates in about a minute, packets: 2 million a second, as with thousands of flows."""

_FEWEST: Final = 100
"""Flows that a smaller link keeps, at least: of fewer, chance makes a queue longer."""

_LEAST: Final = 4
"""A link that is smaller by less saves little."""


def minutes_a_run(scenario: Scenario) -> float:
    """About how long a run takes on one processor, minutes, by the packets that its fastest link can send."""
    fastest_bps = max(link["rate_bps"] or 0 for link in scenario.links)  # one that nobody shapes has none
    packets = fastest_bps * scenario.run["duration_ps"] / PS_PER_S / (8 * 1500)
    return packets / _MINUTE_PACKETS


def smaller_by(flows: Iterable[int]) -> int | None:
    """By what to divide a link's rate, and each group's flows, to simulate it sooner; `None` if by nothing.

    Each flow keeps its share of the link, and so its window and how often it loses. In time a queue of fewer
    flows is no shorter, as their windows even out less: by 1/√n with n flows (G. Appenzeller, I. Keslassy,
    N. McKeown, Sizing router buffers, ACM SIGCOMM 2004, section 3). So the smaller link's buffer, in ms, is
    enough for the larger.

    Args:
        flows: How many flows each group has.
    """
    counts = [count for count in flows if count > 0]
    factor = min(sum(counts) // _FEWEST, *counts) if counts else 0
    if factor < _LEAST:
        return None
    power = int(10 ** (len(str(factor)) - 1))
    return power * max(each for each in (1, 2, 4, 5) if each * power <= factor)


def warning(scenario: Scenario) -> str | None:
    """That runs of a scenario take minutes each, and what is simulated sooner; `None` where nothing is."""
    minutes = minutes_a_run(scenario)
    factor = smaller_by(group["count"] for group in scenario.resolved["flows"])
    if minutes < 1 or factor is None:
        return None
    return f"a run of this link takes about {minutes:.0f} min on one processor. {sooner(factor)}"


def sooner(factor: int) -> str:
    """What to ask about in place of a fast link."""
    return (
        f"Ask about 1/{factor} of the rate and of each group's flows: that takes 1/{factor} of the time, "
        "each flow has the same share, and a buffer that is enough there is enough here in ms, as more flows "
        "even out more"
    )
