"""What `size` and `advise` answer, and how that compares with the truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from bufferlab.evidence.answers.questions import Margins, Question
from bufferlab.evidence.answers.true_least import Effort, TrueLeast, true_least
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.runner import Runner
from bufferlab.results.result import Result
from bufferlab.studies.advise.advising import advise
from bufferlab.studies.size import size

SEEDS: Final = (1,)
"""Seeds of the scenario with which `size` is asked each question: of several, searches share no run."""

FEW_SEEDS: Final = 24
CLEAR: Final = 4.0
"""Standard errors between a mean and the bound from which on more seeds are not needed."""

PACKET: Final = 1
"""Buffers are whole: an answer that is a packet off is as near as can be."""


@dataclass(frozen=True)
class Answer:
    """What was answered.

    Attributes:
        packets: The buffer; `None` if there is none.
        confirmed: Whether it is as sure as was asked for.
        runs: Runs that it took.
    """

    packets: int | None
    confirmed: bool
    runs: int


ANY_LOSS: Final = "loss <= 100 %"
"""A bound that every buffer meets."""


class Judge:
    """Compares answers to a question with the truth.

    Args:
        question: The question.
        runner: Runs the simulations.
    """

    def __init__(self, question: Question, runner: Runner) -> None:
        self.question = question
        self.runner = runner
        self._margins = Margins(question, runner)

    @cached_property
    def truth(self) -> TrueLeast:
        """The true answer."""
        question = self.question
        return true_least(
            self._margins.measure,
            1,
            question.asked.upper,
            largest=question.wants_largest,
            lasting=[
                column
                for column, target in enumerate(question.asked.targets)
                if target.wants_less == question.wants_largest
            ],
            effort=Effort(seeds=question.seeds),
        )

    def by_size(self, seed: int) -> Answer:
        """What `bufferlab size` answers if the scenario has this seed."""
        found = size(
            self.question.file,
            self.question.targets,
            link=self.question.link,
            with_rules=False,
            overrides={"run.seed": seed},
            runner=self.runner,
        )
        return Answer(found.packets, found.met, found.runs)

    def by_advise(self, seed: int) -> Answer:
        """What `bufferlab advise --queues fifo` names as the least if the scenario has this seed.

        Where users fare better with another buffer it takes that, and names both. A bound on the loss that
        nothing misses has it search buffers that lose much, too, as `size` does.
        """
        found = advise(
            self.question.file,
            [*self.question.targets, *([] if self.question.wants_largest else [ANY_LOSS])],
            queues="fifo",
            link=self.question.link,
            sensitivity=False,
            overrides={"run.seed": seed},
            runner=self.runner,
        )
        entry = found.answer
        packets = entry.packets if entry.least is None else entry.least.size
        return Answer(packets if found.choice.meets else None, found.met, found.runs)

    def judged(self, answer: Answer) -> dict[str, Any]:
        """An answer as a row: how far it is from the truth, and what it gives."""
        row: dict[str, Any] = {
            "packets": answer.packets,
            "confirmed": answer.confirmed,
            "runs": answer.runs,
            "off_percent": None,
            "short_percent": None,
            "short_error_percent": None,
            "gives": "",
        }
        if answer.packets is None or self.truth.size is None:
            return row
        short, error, gives = self._shortfall(answer.packets)
        return row | {
            "off_percent": 100 * self.off(answer.packets),
            "short_percent": 100 * short,
            "short_error_percent": 100 * error,
            "gives": gives,
        }

    def off(self, packets: int) -> float:
        """How far a buffer is outside the truth's interval, as a share of that; a packet is free."""
        low, high = self.truth.low, self.truth.high
        if low is None or high is None or low - PACKET <= packets <= high + PACKET:
            return 0.0
        return packets / high - 1 if packets > high else packets / low - 1

    def cost_s(self) -> float:
        """Processor time of a run with the true buffer, s."""
        packets = self.truth.size or self.question.asked.upper
        experiment = Experiment("", {0: self.question.with_packets(packets)}, cpu_s, seeds=2)
        return float(np.mean(self.runner.values(experiment)))

    def _shortfall(self, packets: int) -> tuple[float, float, str]:
        """By which share of the bound the mean misses the worst target, its standard error, and the mean."""
        seeds = min(FEW_SEEDS, self.question.seeds)
        while True:
            margins = self._margins.measure({packets: seeds})[packets]
            means, errors = margins.mean(axis=0), margins.std(axis=0, ddof=1) / np.sqrt(seeds)
            worst = int(means.argmin())
            if seeds >= self.question.seeds or abs(means[worst]) > CLEAR * errors[worst]:
                break
            seeds *= 2
        target = self.question.asked.targets[worst]
        value = target.bound * (1 + (means[worst] if target.at_least else -means[worst]))
        return -float(means[worst]), float(errors[worst]), target.show(value, digits=5)


def cpu_s(run: Result) -> float:
    """Processor time of a run, s."""
    return float(run.cpu_s)
