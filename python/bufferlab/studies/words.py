"""Words that stand for queues and links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bufferlab.resolved import varies
from bufferlab.units import format_rate

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedLink

OWN: Final = "scenario"
"""The discipline that the scenario has, with its parameters."""

DEPLOYED: Final = ("fifo", "fq_codel", "codel", "pie")
"""What is compared unless said otherwise: disciplines that routers and operating systems have."""

CAKE: Final = "cake"
"""What home lines run besides: it is a shaper, too."""

ALL: Final = "all"
"""Every discipline that there is."""

EACH: Final = "each"
"""All links that data crosses."""


def about_rate(link: ResolvedLink) -> tuple[str, ...]:
    """What a buffer in time is a time of, and what rules look at, where the rate varies: a sentence."""
    if not varies(link):
        return ()
    return (
        f"the rate of {link['name']} varies: buffers in time, bdp and the published rules are of its mean, "
        f"{format_rate(link['rate_bps'])}, and utilization is a share of what it offers (docs/links.md)",
    )
