"""What is nearest to targets that nothing meets where a mix's most frequent congestion control is alone.

What is closest with a mix may be many times what is closest without: whoever reads the one has to know of the
other. A few runs of sizes that double or halve tell about where it is, which is all that is said of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.studies.advise.beside import link_means
from bufferlab.studies.choosing.choice import missed_targets
from bufferlab.studies.choosing.closest import Off
from bufferlab.studies.targets import Target, Values, mean_over_runs

SEEDS: Final = 2
"""Runs of each size. Our choice: they only have to tell sizes apart of which one is twice the other."""


@dataclass(frozen=True)
class NearestAlone:
    """The buffer of the answer's queue that is nearest to the targets with one control alone.

    Attributes:
        title: Which traffic it is: "cubic alone".
        size: The buffer, packets.
        missed: Targets that it misses in the mean.
        values: What its runs measured.
    """

    title: str
    size: int
    missed: tuple[Target, ...]
    values: tuple[Values, ...]

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        return {
            "title": self.title,
            "packets": self.size,
            "missed": [str(target) for target in self.missed],
            "runs": len(self.values),
            **link_means(lambda name: mean_over_runs(name, self.values)),
        }


def nearest_alone(
    title: str,
    start: int,
    bounds: tuple[int, int],
    targets: tuple[Target, ...],
    *,
    measure: Callable[[int], tuple[Values, ...]],
    off: Callable[[tuple[Values, ...]], Off],
) -> NearestAlone:
    """Look for it from the answer's size, in steps of two, as long as they come nearer.

    Args:
        title: Which traffic it is.
        start: The answer's buffer, packets.
        bounds: The least and the largest that is tried, packets.
        targets: What is asked.
        measure: Gives what a buffer measures in that traffic.
        off: Gives how far runs are off.
    """
    low, high = bounds
    best, values = start, measure(start)
    for times in (0.5, 2.0):
        while low <= (size := round(best * times)) <= high and size != best:
            other = measure(size)
            if not off(other).lack < off(values).lack:
                break
            best, values = size, other
        if best != start:
            break
    return NearestAlone(title, best, missed_targets(values, targets), values)
