"""How far a buffer from a capture is off, by how long the capture is: what docs/observe.md has measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bufferlab.display import significant

_NEARLY: Final = 0.9
"""A capture is as long as another from that part of its length on. Our choice."""


@dataclass(frozen=True)
class Accuracy:
    """Of nine in ten links: buffers from captures of a length, over those from the true scenarios.

    Attributes:
        capture_s: How long the captures are, s.
        low: The 5th percentile.
        high: The 95th percentile.
    """

    capture_s: int
    low: float
    high: float

    def __str__(self) -> str:
        return f"{significant(self.low, 3)} to {significant(self.high, 3)}"


MEASURED: Final = (Accuracy(10, 0.80, 1.66), Accuracy(30, 0.83, 1.29), Accuracy(60, 0.83, 1.18))
"""With controls known, captured at the receivers (`bufferlab reproduce captures/decisions`)."""


_LONGER: Final = 1.2
"""A capture is called longer than one that was tried if by this factor. Our choice."""


def accuracy_text(duration_s: float) -> str:
    """How far off a buffer from a capture that long is, as a clause.

    Args:
        duration_s: How long the capture is.
    """
    *_, best = MEASURED
    reached = [each for each in MEASURED if duration_s >= _NEARLY * each.capture_s]
    own = reached[-1] if reached else MEASURED[0]
    is_longer = duration_s > _LONGER * own.capture_s
    nearest = f"captures of {own.capture_s} s, the nearest shorter," if is_longer else f"{own.capture_s} s"
    text = (
        f"a buffer sized from {nearest} was {own} times the right one in nine of ten "
        "simulated links with known controls"
    )
    if own == best:
        return text
    shorter = "" if reached else ", from less it is worse"
    return f"{text}, from {best.capture_s} s {best} times{shorter}: capture longer"


def short_texts(duration_s: float) -> Iterator[str]:
    """That a capture is short, as a doubt, if it is: one of half a minute is nearly as good as of a minute.

    Args:
        duration_s: How long the capture is.
    """
    if duration_s < _NEARLY * MEASURED[1].capture_s:
        yield accuracy_text(duration_s)
