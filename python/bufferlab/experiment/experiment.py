"""What to simulate and what to measure of it: points × seeds × measure.

A *measure* takes what is wanted from a run's `Result`; a *procedure* simulates as it likes, for searches that
decide by what they see. Both return plain values or data frames (see `values`), and both are functions of a
module, or `functools.partial` of one with plain arguments: a store keeps their values under the function's
name, the fingerprint of its code, and its arguments.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, Final, Generic, TypeVar

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.experiment import values
from bufferlab.experiment.fingerprint import describe, identity
from bufferlab.experiment.simulation import seed_list, simulate_plan
from bufferlab.plan import Plan, lower, plan_hash
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario

Key = TypeVar("Key")

Measure = Callable[[Result], Any]
"""Takes what is wanted from a run."""

Procedure = Callable[[Any, int, _core.Control], Any]
"""Simulates a point with a seed; returns `None` if the control, which it hands to the engine, canceled it."""

Simulator = Callable[[Scenario, int, _core.Control], Result | None]
"""Simulates a scenario with a seed; `None` if the control canceled it."""

Seeds = int | Sequence[int]
"""How many seeds, counted up from the scenario's own (1 where the point is no scenario), or which."""

TABLES: Final = "tables"
"""Stands for the measure where whole results are kept."""


@dataclass(frozen=True)
class Experiment(Generic[Key]):
    """Points, seeds, and what to measure.

    Attributes:
        title: Name of the work, for the progress bar.
        points: What to simulate, by key. A mapping may make its scenarios when they are asked for.
        measure: Takes what is wanted from a run: one for all points, or one for each. Without measure and
            procedure, the value of a run is its whole `Result`.
        procedure: Simulates instead of one run to its end. Points may then be any plain values.
        seeds: Seeds of each point, or a function that says which seeds a point has.
        weight: Expected cost of a run of a point, in any unit; heavy runs are started first. Default equal.
        parameters: What a point changes, as plain values by name: the columns that name it in tables and in
            the store. Default the fields of the key.
        brief: The measure needs `flows`, `queues` and `classes` only; runs of less than a second gain by it.
        simulator: Simulates in place of `simulate_plan`, for runs that are recorded or watched: the runs
            themselves are then wanted, so no store spares them.
    """

    title: str
    points: Mapping[Key, Any]
    measure: Measure | Mapping[Key, Measure] | None = None
    procedure: Procedure | None = None
    seeds: Seeds | Callable[[Key], Seeds] = 1
    weight: Callable[[Key], float] | None = None
    parameters: Callable[[Key], Mapping[str, Any]] | None = None
    brief: bool = False
    simulator: Simulator | None = None

    def tasks(self) -> Iterator[Task[Key]]:
        """All runs that are asked for, point by point, seed by seed.

        Raises:
            InputError: A point cannot be used.
        """
        number = 0
        for key in self.points:
            weight = 1.0 if self.weight is None else self.weight(key)
            for seed in self.seeds_of(key):
                yield Task(number, key, seed, weight)
                number += 1

    def seeds_of(self, key: Key) -> list[int]:
        """The seeds of a point.

        Raises:
            InputError: There are none, too many, or the same twice; or the point cannot be used.
        """
        wanted = self.seeds(key) if callable(self.seeds) else self.seeds
        first = 1
        if isinstance(wanted, int):
            point = self.points[key]
            first = point.run.seed if isinstance(point, Scenario) else 1
        return seed_list(wanted, first)

    def columns(self, key: Key) -> dict[str, Any]:
        """What names a point, by column."""
        if self.parameters is not None:
            return dict(self.parameters(key))
        if isinstance(key, Mapping):
            return dict(key)
        if is_dataclass(key) and not isinstance(key, type):
            return asdict(key)
        if isinstance(key, tuple):
            names = getattr(key, "_fields", None) or [f"point_{index}" for index in range(len(key))]
            return dict(zip(names, key, strict=True))
        return {"point": key}

    def job(self, task: Task[Key]) -> Job:
        """Prepare a run; what takes long about it is done here, by the thread that will simulate.

        Raises:
            InputError: The point cannot be used.
        """
        point = self.points[task.key]
        measure = self.measure[task.key] if isinstance(self.measure, Mapping) else self.measure
        plan: Plan | None = None
        if self.procedure is None or isinstance(point, Scenario):
            plan = lower(point, task.seed)
            name = plan_hash(plan)
        else:
            name = hashlib.sha256(f"{describe(point)} {task.seed}".encode()).hexdigest()
        return Job(
            name=name,
            seed=task.seed,
            point=point,
            plan=plan,
            parameters=self.columns(task.key),
            measure=measure,
            procedure=self.procedure,
            brief=self.brief,
            simulator=self.simulator,
        )


@dataclass(frozen=True)
class Task(Generic[Key]):
    """A run that is asked for.

    Attributes:
        number: Its place among all.
        key: Its point.
        seed: Its seed.
        weight: Its expected cost.
    """

    number: int
    key: Key
    seed: int
    weight: float


@dataclass(frozen=True)
class Done(Generic[Key]):
    """A run that is finished.

    Attributes:
        number: Its place among all that were asked for.
        key: Its point.
        seed: Its seed.
        value: What was measured.
        stored: Whether it was in the store already.
    """

    number: int
    key: Key
    seed: int
    value: Any
    stored: bool = False


@dataclass(frozen=True)
class Performed:
    """What became of a job.

    Attributes:
        text: What was measured, as `values` encodes it; empty where the result itself is wanted.
        result: The whole result, if there is one.
        wall_s: How long it took, s.
    """

    text: str
    result: Result | None
    wall_s: float

    def value(self) -> Any:  # noqa: ANN401 - whatever was measured
        """What was measured."""
        return values.decode(self.text) if self.text else self.result


@dataclass(frozen=True)
class Job:
    """A run that is ready to be simulated.

    Attributes:
        name: Identity of what is simulated: the plan's hash, or that of the point and the seed.
        seed: Its seed.
        point: The scenario, or what a procedure takes in its place.
        plan: The plan, if the point is a scenario.
        parameters: What names the point.
        measure: Takes what is wanted from the result; `None` for the whole of it.
        procedure: Simulates instead.
        brief: Whether few frames are enough.
        simulator: Simulates in place of `simulate_plan`.
    """

    name: str
    seed: int
    point: Any
    plan: Plan | None
    parameters: Mapping[str, Any]
    measure: Measure | None
    procedure: Procedure | None
    brief: bool
    simulator: Simulator | None

    @property
    def title(self) -> str:
        """Title of the scenario, empty if there is none."""
        return self.point.title if isinstance(self.point, Scenario) else ""

    @property
    def duration_ps(self) -> int:
        """Simulated time, ps; 0 if a procedure decides."""
        return 0 if self.procedure is not None or self.plan is None else int(self.plan["duration_ps"])

    def identity(self) -> str:
        """Name, fingerprint and arguments of what measures.

        Raises:
            TypeError: They cannot be told.
        """
        function = self.procedure or self.measure
        return TABLES if function is None else identity(function)

    def perform(self, control: _core.Control) -> Performed | None:
        """Simulate and measure in this thread; `None` if the control canceled it.

        Raises:
            InputError: The engine refuses the plan.
        """
        began_s = time.monotonic()
        if self.procedure is not None:
            value = self.procedure(self.point, self.seed, control)
            return None if value is None else self._performed(value, None, began_s)
        result = self.simulate(control)
        if result is None:
            return None
        value = None if self.measure is None else self.measure(result)
        return self._performed(value, result, began_s)

    def simulate(self, control: _core.Control) -> Result | None:
        """Simulate in this thread; `None` if the control canceled it."""
        if self.simulator is not None:
            return self.simulator(self.point, self.seed, control)
        if self.plan is None:
            raise InputError("is no scenario", key="points", value=self.point, accepted="scenarios")
        return simulate_plan(
            self.plan,
            control,
            name=self.point.title,
            scenario=self.point.to_toml(),
            overrides=self.point.overrides,
            file=self.point.file,
            brief=self.brief,
        )

    def _performed(self, value: object, result: Result | None, began_s: float) -> Performed:
        text = "" if self.measure is None and self.procedure is None else values.encode(value)
        return Performed(text, result, time.monotonic() - began_s)


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """What names a point, for the store's column `parameters`."""
    return json.dumps(dict(parameters), ensure_ascii=False, default=str)
