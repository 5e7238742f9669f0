"""What a search says to who runs simulations for it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from bufferlab.studies.least.answer import Least
from bufferlab.studies.least.memory import Run
from bufferlab.studies.targets import Values


@dataclass(frozen=True)
class Step:
    """What a search asks for next.

    Attributes:
        runs: The runs that it needs.
        note: Where it stands, for a progress line.
        answer: The best answer so far, if there is one.
    """

    runs: tuple[Run, ...]
    note: str
    answer: Least | None = None


Search = Generator[Step, Mapping[Run, Values], Least]


def step(size: int, seeds: Sequence[int], note: str, answer: Least | None) -> Step:
    """The step that asks for the runs of a size."""
    return Step(tuple(Run(size, seed) for seed in seeds), note, answer)
