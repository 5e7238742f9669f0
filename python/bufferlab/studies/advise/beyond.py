"""Where each of several targets would be met for itself: between the buffers that were searched, and beyond.

A search for all targets ends where larger buffers come no nearer to all of them. Whoever must choose between
targets that contradict wants to know what each asks for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from bufferlab.studies.least import Bench, Case, Least, Run
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target, Values

STEPS: Final = 6
"""How often the largest buffer is doubled."""


EDGE: Final = 0.1
"""The buffer up to which, or from which on, a target is met is known to within this share."""


@dataclass(frozen=True)
class Beyond:
    """Where one target is met.

    Attributes:
        target: The target.
        size: The first buffer tried that meets it, packets; of none, the largest tried.
        is_met: Whether it does, in the mean of its runs.
        runs: How many runs say so.
        values: What they measured.
    """

    target: Target
    size: int
    is_met: bool
    runs: int
    values: tuple[Values, ...]


def beyond(name: str, found: Least, bench: Bench, *, seeds: Sequence[int], most: int) -> tuple[Beyond, ...]:
    """Try larger buffers for the targets that a search for several has met with none.

    Their runs are added to the search's memory.

    Args:
        name: The queue, as the bench knows it.
        found: The search, which found nothing.
        bench: Measures.
        seeds: Of each buffer's runs.
        most: The largest buffer that is allowed, packets.
    """
    memory = found.memory
    targets = memory.targets
    searched = memory.sizes
    left = [
        each
        for each in targets
        if not each.wants_less and not any(memory.meets(size, each) for size in searched)
    ]
    if len(targets) < 2 or not left:
        return ()
    answers, size = [], searched[-1]
    for _ in range(STEPS):
        if not left or size >= most:
            break
        size = min(2 * size, most)
        measured = bench.measure({Case(name, size): list(seeds)})
        memory.add({Run(size, seed): measured[Case(name, size), seed] for seed in seeds})
        met = [each for each in left if memory.meets(size, each)]
        values = tuple(memory.values(size))
        answers += [Beyond(each, size, is_met=True, runs=len(seeds), values=values) for each in met]
        left = [each for each in left if each not in met]
    values = tuple(memory.values(size))
    none = (Beyond(each, size, is_met=False, runs=len(values), values=values) for each in left)
    return (*answers, *none)


def edged(name: str, found: Least, bench: Bench, *, seeds: Sequence[int]) -> Least:
    """The search, with runs until it is known where each target that some buffers meet begins to be missed.

    Args:
        name: The queue, as the bench knows it.
        found: The search, which found nothing for all targets.
        bench: Measures.
        seeds: Of each buffer's runs.
    """
    memory = found.memory.copy()
    for target in memory.targets:
        while (size := _on_edge(memory, target)) is not None:
            measured = bench.measure({Case(name, size): list(seeds)})
            memory.add({Run(size, seed): measured[Case(name, size), seed] for seed in seeds})
    return replace(found, memory=memory)


def _on_edge(memory: Memory, target: Target) -> int | None:
    """A buffer between the last that meets a target and the next one, which does not."""
    sizes = memory.sizes if target.wants_less else memory.sizes[::-1]
    met = [size for size in sizes if memory.meets(size, target)]
    if not met or met[-1] == sizes[-1]:
        return None
    low, high = sorted((met[-1], sizes[sizes.index(met[-1]) + 1]))
    if high - low <= 1 or high <= low * (1.0 + EDGE):
        return None
    return min(max(round(math.sqrt(low * high)), low + 1), high - 1)
