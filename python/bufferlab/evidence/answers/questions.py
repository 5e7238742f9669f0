"""What is asked: links, targets, and what both mean to the searches; `questions.toml` has them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from bufferlab.evidence.answers.true_least import FloatArray
from bufferlab.experiment.runner import Runner
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.question import Question as Asked
from bufferlab.studies.advise.question import link_index, prepared
from bufferlab.studies.buffers import with_buffer
from bufferlab.studies.least.together import Bench, Case
from bufferlab.studies.targets import Target, parse_targets, want_largest

_HERE: Final = Path(__file__).parent

FIRST_SEED: Final = 1_000_000
"""Of the runs that find the truth; searches have seeds from the scenario's own on."""


@dataclass(frozen=True)
class Question:
    """A link, and the targets for its buffer.

    Attributes:
        scenario: Name of the scenario's file.
        targets: What must be met, as written.
        link: Whose buffer; `None` where there is one link.
        seeds: Most seeds of a size near the truth.
        quick: Whether `--quick` asks it.
    """

    scenario: str
    targets: tuple[str, ...]
    link: str | None = None
    seeds: int = 96
    quick: bool = False

    @property
    def file(self) -> Path:
        """The scenario's file."""
        return _HERE / "scenarios" / f"{self.scenario}.toml"

    @cached_property
    def asked(self) -> Asked:
        """What `size` and `advise` make of it."""
        base = prepared(self.file, None)
        targets = parse_targets(self.targets, [flow["name"] for flow in base.flows])
        return Asked.of(base, link_index(base, self.link), targets, None)

    @property
    def wants_largest(self) -> bool:
        """Whether all targets are bounds on waits, which ask for the largest buffer."""
        return want_largest(self.asked.targets)

    def with_packets(self, packets: int) -> Scenario:
        """The scenario with a buffer."""
        return with_buffer(self.asked.base, self.asked.index, f"{packets} packets")


def questions(*, quick: bool = False) -> list[Question]:
    """All questions, or those of `--quick`."""
    rows = tomllib.loads((_HERE / "questions.toml").read_text(encoding="utf-8"))["questions"]
    found = [Question(**row | {"targets": tuple(row["targets"])}) for row in rows]
    return [each for each in found if each.quick or not quick]


class Margins:
    """Measures the targets' margins at buffers, with the seeds of the truth."""

    def __init__(self, question: Question, runner: Runner) -> None:
        self._question = question
        self._bench = Bench(question.asked.site.link, lambda case: question.with_packets(case.size), runner)

    def measure(self, wanted: Mapping[int, int]) -> dict[int, FloatArray]:
        """Margins by size as `true_least` asks for them, each in units of its bound."""
        targets = self._question.asked.targets
        return {
            size: np.array([[_margin(target, run[target.name]) for target in targets] for run in runs])
            for size, runs in self._values(wanted).items()
        }

    def _values(self, wanted: Mapping[int, int]) -> dict[int, Sequence[Mapping[str, float | None]]]:
        seeds = {size: list(range(FIRST_SEED, FIRST_SEED + count)) for size, count in wanted.items()}
        measured = self._bench.measure({Case("", size): own for size, own in seeds.items()})
        return {size: [measured[Case("", size), seed] for seed in own] for size, own in seeds.items()}


def _margin(target: Target, value: float | None) -> float:
    """A margin in units of the bound; a run without a value misses by the whole."""
    return -1.0 if value is None else target.margin(value) / target.bound
