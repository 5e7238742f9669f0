"""Several searches at once over one runner, with common seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from bufferlab.experiment.experiment import Done, Experiment
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner
from bufferlab.progress import Round
from bufferlab.scenario import Scenario
from bufferlab.studies.least.answer import Least
from bufferlab.studies.least.step import Search, Step
from bufferlab.studies.targets import Values, values_of_run


@dataclass(frozen=True, order=True)
class Case:
    """A setting of something that is searched or tried.

    Attributes:
        name: Of what.
        size: Its setting.
    """

    name: str
    size: int


Scenarios = Callable[[Case], Scenario]
"""Makes the scenario of a case."""


class Bench:
    """Measures cases, each once per seed.

    Args:
        link: Name of the link that the question is about.
        scenarios: Makes the scenario of a case.
        runner: Runs the simulations.
        watch: Called with how far the runs are that were asked for.
    """

    def __init__(
        self, link: str, scenarios: Scenarios, runner: Runner, watch: Callable[[str], None] = lambda _: None
    ) -> None:
        self._measure = partial(values_of_run, link)
        self._scenarios = scenarios
        self._runner = runner
        self._watch = watch
        self._prepared: dict[Case, Scenario] = {}
        self.known: dict[tuple[Case, int], Values] = {}
        """What was measured, by case and seed."""

    @property
    def runs(self) -> int:
        """How many runs were made."""
        return len(self.known)

    def scenario(self, case: Case) -> Scenario:
        """The scenario of a case."""
        if case not in self._prepared:
            self._prepared[case] = self._scenarios(case)
        return self._prepared[case]

    def _take(self, done: Done[Case]) -> None:
        if done.seed is not None:  # a run that failed has none, and is an error before
            self.known[done.key, done.seed] = done.value

    def measure(self, wanted: Mapping[Case, list[int]]) -> dict[tuple[Case, int], Values]:
        """What cases measure with seeds; runs that were made before are not made again.

        Raises:
            InputError: The engine refuses a case.
            RunInterrupted: At Ctrl-C, with how many runs are left; those that finished are known.
        """
        missing = {
            case: [seed for seed in dict.fromkeys(seeds) if (case, seed) not in self.known]
            for case, seeds in wanted.items()
        }
        missing = {case: seeds for case, seeds in missing.items() if seeds}
        if missing:
            experiment = Experiment(
                "",
                {case: self.scenario(case) for case in missing},
                self._measure,
                seeds=lambda case: missing[case],
                parameters=lambda case: {"case": case.name, "size": case.size},
                brief=True,
            )
            before = self.runs
            try:
                for done in self._runner.runs(
                    experiment, Round(lambda text: self._watch(f"this round: {text}"))
                ):
                    self._take(done)
            except RunInterrupted as interrupted:
                for done in interrupted.finished or ():
                    self._take(done)
                left = max(before + interrupted.asked - self.runs, 0)
                raise RunInterrupted(None, 0, left, store=interrupted.store) from interrupted
        return {(case, seed): self.known[case, seed] for case, seeds in wanted.items() for seed in seeds}


def together(
    searches: Mapping[str, Search],
    bench: Bench,
    watch: Callable[[Mapping[str, Step]], None],
) -> dict[str, Least]:
    """Take searches to their ends, a round of each at a time.

    Args:
        searches: The searches by name, not yet begun.
        bench: Measures.
        watch: Called before each round with the state of the searches.

    Raises:
        InputError: The engine refuses a case.
        RunInterrupted: At Ctrl-C.
    """
    answers: dict[str, Least] = {}
    steps = {name: next(search) for name, search in searches.items()}
    while steps:
        watch(steps)
        wanted: dict[Case, list[int]] = {}
        for name, step in steps.items():
            for run in step.runs:
                wanted.setdefault(Case(name, run.size), []).append(run.seed)
        measured = bench.measure(wanted)
        following: dict[str, Step] = {}
        for name, step in steps.items():
            values = {run: measured[Case(name, run.size), run.seed] for run in step.runs}
            try:
                following[name] = searches[name].send(values)
            except StopIteration as end:
                answers[name] = end.value
        steps = following
    return answers
