"""Words that stand for queues and links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bufferlab.resolved import varies
from bufferlab.units import format_rate, format_time

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedLink

OWN: Final = "scenario"
"""The discipline that the scenario has, with its parameters."""

FIFO: Final = "fifo"
"""One queue, whose packets all wait for all before them."""

DEPLOYED: Final = (FIFO, "fq_codel", "codel", "pie")
"""What is compared unless said otherwise: disciplines that routers and operating systems have."""

CAKE: Final = "cake"
"""What home lines run besides: it is a shaper, too."""

LLQ: Final = "llq"
"""The word of low latency queueing in `--queues` of `advise`, and in documents: `diffserv` with classes."""

LLQ_FAIR: Final = "llq-fair"
"""LLQ with `fair-queue` in class-default."""

ALL: Final = "all"
"""Every discipline that there is."""

EACH: Final = "each"
"""All links that data crosses."""


def is_llq(word: str) -> bool:
    """Whether a queue has marked calls go first."""
    return word in {LLQ, LLQ_FAIR}


def about_rate(link: ResolvedLink) -> tuple[str, ...]:
    """What a buffer in time is a time of, and what rules look at, where the rate varies: a sentence."""
    if not varies(link):
        return ()
    return (
        f"the rate of {link['name']} varies: buffers in time, bdp and the published rules are of its mean, "
        f"{format_rate(link['rate_bps'])}, and utilization is a share of what it offers (docs/links.md)",
    )


def about_changes(link: ResolvedLink, *, of: str = "") -> tuple[str, ...]:
    """That changes of a link's buffer are left out where a buffer is tried: a sentence.

    Args:
        link: The link as the scenario has it.
        of: Of which queues; empty for all that are tried.
    """
    moments = [format_time(each["at_ps"]) for each in link["changes"] if each["buffer"] is not None]
    if not moments:
        return ()
    what = f"the changes of {link['name']}'s buffer (at {', '.join(moments)}) are left out"
    return (f"{what}{of and f' of {of}'}: a buffer that is tried stays as it is for the whole run",)
