"""What a search for the least size is asked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from bufferlab.errors import InputError
from bufferlab.studies.targets import Target


@dataclass(frozen=True)
class Goal:
    """What a search for the least size is asked.

    A search for the largest size goes the same way from the other end: what is said here of larger sizes than
    the answer is then true of smaller ones.

    Attributes:
        targets: What must be met, at least one.
        lower: Least size, at least 1.
        upper: Largest size.
        first_seed: Seed of the first run; others follow.
        confidence: With which all targets must be met at the answer.
        resolution: The answer may be larger than the least by this share.
        guess: A size near which the answer is expected; the scan looks there, too.
        edges: Sizes at which targets may begin or end to be met; looked at where none of the scan meets all.
        runs: About the most runs. If they do not suffice for the resolution, the answer is larger, not less
            sure; candidates that are refused for want of runs may then take up to 200 more.
        largest: Search the largest size that meets all targets in place of the least.
        most: Up to which `upper` is doubled while no size meets all targets and larger ones come nearer;
            `None` leaves it as it is.
        unit: Of the sizes, for progress lines.
        shunned: What sizes that meet all targets shall not miss either: those that do are passed over for the
            first of the scan that does not, or misses it by least. It is no target: nothing is claimed of it.
    """

    targets: tuple[Target, ...]
    lower: int
    upper: int
    first_seed: int = 1
    confidence: float = 0.95
    resolution: float = 0.1
    guess: int | None = None
    edges: tuple[int, ...] = ()
    runs: int = 300
    largest: bool = False
    most: int | None = None
    unit: str = "packets"
    shunned: Target | None = None

    def check(self) -> None:
        """Refuse what no search can use.

        Raises:
            InputError: A number is out of bounds.
        """
        limits = (
            ("confidence", 0.5 <= self.confidence < 1.0, "from 0.5 to below 1, such as 0.95"),
            ("resolution", 0.01 <= self.resolution <= 1.0, "from 0.01 to 1, such as 0.1 for 10 %"),
            ("runs", self.runs >= 20, "20 or more"),
        )
        for key, fits, accepted in limits:
            if not fits:
                raise InputError("is out of bounds", key=key, value=getattr(self, key), accepted=accepted)

    def ordered(self, sizes: Iterable[int]) -> list[int]:
        """Sizes in the order of preference: the least first, or the largest."""
        return sorted(sizes, reverse=self.largest)

    def preferred(self, size: int, other: int) -> bool:
        """Whether a size would be a better answer than another."""
        return size > other if self.largest else size < other

    def safer(self, size: float, share: float) -> int:
        """A size by a share farther from the preferred end, rounded away from it, within the bounds."""
        moved = math.floor(size / (1.0 + share)) if self.largest else math.ceil(size * (1.0 + share))
        return self.within(moved)

    def bolder(self, size: int, share: float) -> int:
        """A size by a share nearer to the preferred end, rounded towards it, within the bounds."""
        moved = math.ceil(size * (1.0 + share)) if self.largest else math.floor(size / (1.0 + share))
        return self.within(moved)

    def within(self, size: int) -> int:
        """The size, or the nearest bound."""
        return min(max(size, self.lower), self.upper)
