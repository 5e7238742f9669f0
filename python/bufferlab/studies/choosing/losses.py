"""Whose loss it is: datagrams that do not yield may lose most packets of a link, and nobody else any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from bufferlab.studies.choosing.thresholds import HEAVY_LOSS


class Group(Protocol):
    """A flow group."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def kind(self) -> str:
        """Kind of its application."""


Mean = Callable[[str], float | None]
"""Gives the mean of a value by its name; `None` where there is none."""


def floods(mean: Mean, groups: Sequence[Group]) -> dict[str, float]:
    """The groups of datagrams that are no calls and lose what hardly anybody accepts, and how much."""
    lost = {
        each.name: mean(f"{each.name}.loss")
        for each in groups
        if each.kind == "udp" and mean(f"{each.name}.call_r") is None
    }
    return {name: share for name, share in lost.items() if share is not None and share >= HEAVY_LOSS}


def felt(metric: str, mean: Mean, groups: Sequence[Group]) -> float | None:
    """The link's loss or mean wait; that of the others, if datagrams that do not yield have more than they.

    A queue that keeps flows apart drops what comes too fast, and lets it wait: the link may lose half of its
    packets while calls and transfers lose none (RFC 8290, section 1).

    Args:
        metric: Which: a name of the link's metrics that groups have as well.
        mean: Gives the means of what was measured.
        groups: The flow groups of the link.
    """
    total, those = mean(metric), floods(mean, groups)
    others = [mean(f"{each.name}.{metric}") for each in groups if each.name not in those]
    known = [value for value in others if value is not None]
    if total is None or not those or not known:
        return total
    return min(total, max(known))
