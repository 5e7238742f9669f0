"""One run, ready to be simulated and measured, here or on another machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self

from bufferlab import _core
from bufferlab.experiment import values
from bufferlab.experiment.fingerprint import identity
from bufferlab.experiment.simulation import simulate_plan
from bufferlab.experiment.store import Row
from bufferlab.plan import Plan
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario

Measure = Callable[[Result], Any]
"""Takes what is wanted from a run."""

Procedure = Callable[[Any, int, _core.Control], Any]
"""Simulates a point with a seed; returns `None` if the control, which it hands to the engine, canceled it."""

Simulator = Callable[[Scenario, int, _core.Control], Result | None]
"""Simulates a scenario with a seed; `None` if the control canceled it."""

TABLES: Final = "tables"
"""Stands for the measure where whole results are kept."""


@dataclass(frozen=True)
class Performed:
    """What became of a job.

    Attributes:
        text: What was measured, as `values` encodes it; empty where the result itself is wanted.
        result: The whole result, if there is one.
        wall_s: How long it took, s.
        figures: The row of its figures, if another machine made it.
    """

    text: str
    result: Result | None
    wall_s: float
    figures: Row | None = None

    def value(self) -> Any:  # noqa: ANN401 - whatever was measured
        """What was measured."""
        return values.decode(self.text) if self.text else self.result


@dataclass(frozen=True)
class Job:
    """A run that is ready to be simulated.

    Attributes:
        name: Identity of what is simulated: the plan's hash, or that of the point and the seed.
        seed: Its seed.
        title: Title of the scenario, empty if there is none.
        point: The scenario, or what a procedure takes in its place.
        plan: The plan, if the point is a scenario.
        resolved: The scenario under the seed, if the point is one.
        parameters: What names the point.
        measure: Takes what is wanted from the result; `None` for the whole of it.
        procedure: Simulates instead.
        brief: Whether few frames are enough.
        simulator: Simulates in place of `simulate_plan`.
    """

    name: str
    seed: int
    title: str
    point: Any
    plan: Plan | None
    parameters: Mapping[str, Any]
    resolved: ResolvedScenario | None = None
    measure: Measure | None = None
    procedure: Procedure | None = None
    brief: bool = False
    simulator: Simulator | None = None

    @property
    def duration_ps(self) -> int:
        """Simulated time, ps; 0 if a procedure decides."""
        return (
            0 if self.procedure is not None or self.resolved is None else self.resolved["run"]["duration_ps"]
        )

    def identity(self) -> str:
        """Name, fingerprint and arguments of what measures.

        Raises:
            TypeError: They cannot be determined.
        """
        function = self.procedure or self.measure
        return TABLES if function is None else identity(function)

    def portable(self) -> Self:
        """This job without the scenario, which the plan stands for: little to send."""
        return self if self.procedure is not None else replace(self, point=None)

    def perform(self, control: _core.Control) -> Performed | None:
        """Simulate and measure in this thread; `None` if the control canceled it.

        Raises:
            InputError: The engine refuses the plan.
        """
        began_s = time.monotonic()
        if self.procedure is not None:
            value = self.procedure(self.point, self.seed, control)
            return None if value is None else _performed(values.encode(value), None, began_s)
        result = self._simulate(control)
        if result is None:
            return None
        return _performed(
            "" if self.measure is None else values.encode(self.measure(result)), result, began_s
        )

    def _simulate(self, control: _core.Control) -> Result | None:
        if self.simulator is not None:
            return self.simulator(self.point, self.seed, control)
        if self.plan is None or self.resolved is None:
            raise TypeError(f"a {type(self.point).__name__} is no scenario: it needs a procedure")
        scenario = self.point
        return simulate_plan(
            self.plan,
            control,
            resolved=self.resolved,
            name=self.title,
            scenario="" if scenario is None else scenario.to_toml(),
            overrides={} if scenario is None else scenario.overrides,
            file=None if scenario is None else scenario.file,
            files=None if scenario is None else scenario.files,
            brief=self.brief,
        )


def _performed(text: str, result: Result | None, began_s: float) -> Performed:
    return Performed(text, result, time.monotonic() - began_s)
