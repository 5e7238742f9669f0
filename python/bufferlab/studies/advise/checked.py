"""Runs that check whether a setting meets the targets, where no search has checked that."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.least import Check, Run, check
from bufferlab.studies.least.candidates import LEAST_CHECKS
from bufferlab.studies.least.fit import runs_to_show
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target, Values

MOST_ASSURING: Final = 150
"""Most runs that check the answer's targets where no search has."""


@dataclass(frozen=True)
class Checked:
    """Runs that checked whether a setting meets the targets.

    Attributes:
        values: What they measured, by seed.
        chances: How often a chance to err counts, since other checks had theirs before.
        is_last: Whether they are the second ones, whose number the scatter of the first ones has set: rare
            runs may be far below the others, which few runs do not show.
    """

    values: dict[int, Values]
    chances: int
    is_last: bool


def checks_at(
    targets: Sequence[Target], setting: int, values: Mapping[int, Values], chances: int
) -> tuple[Check, ...]:
    """The targets at a setting; a chance to err is multiplied by how many there were.

    Args:
        targets: The targets.
        setting: The setting.
        values: What runs measured, by seed.
        chances: How many chances there were.
    """
    memory = Memory(targets)
    memory.add({Run(setting, seed): each for seed, each in values.items()})
    checks = [check(memory, setting, target, list(values)) for target in targets]
    sure = [max(1.0 - (1.0 - each.confidence) * chances, 0.0) for each in checks]
    return tuple(
        dataclasses.replace(each, confidence=level) for each, level in zip(checks, sure, strict=True)
    )


def runs_to_assure(entry: Entry) -> int:
    """How many runs should show that all targets are met, by the margins and their scatter so far."""
    wanted = LEAST_CHECKS
    for each in entry.checks:
        wanted = max(wanted, runs_to_show(entry.margins(each.target)))
    return min(wanted, MOST_ASSURING)
