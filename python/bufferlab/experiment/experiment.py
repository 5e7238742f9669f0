"""What to simulate and what to measure of it: points × seeds × measure.

A *measure* takes what is wanted from a run's `Result`; a *procedure* simulates as it likes, for searches that
decide by what they see. Both return plain values or data frames (see `values`), and both are functions of a
module, or `functools.partial` of one with plain arguments: a store keeps their values under the function's
name, the fingerprint of its code, and its arguments.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from bufferlab.experiment.fingerprint import describe
from bufferlab.experiment.job import Job, Measure, Procedure, Simulator
from bufferlab.experiment.points import Point
from bufferlab.experiment.simulation import prepare, seed_list
from bufferlab.plan import plan_hash, plan_of
from bufferlab.scenario import Scenario

Key = TypeVar("Key")

Seeds = int | Sequence[int]
"""How many seeds, counted up from the scenario's own (1 where the point is no scenario), or which."""


@dataclass(frozen=True)
class Task(Generic[Key]):
    """A run that is asked for.

    Attributes:
        number: Its place among all.
        key: Its point.
        index: Which of the point's seeds it has.
        weight: Its expected cost.
    """

    number: int
    key: Key
    index: int
    weight: float


@dataclass(frozen=True)
class Done(Generic[Key]):
    """A run that needs no more work.

    Attributes:
        number: Its place among all that were asked for.
        key: Its point.
        name: Identity of what was simulated.
        seed: Its seed; `None` if it failed before it had one.
        value: What was measured.
        stored: Whether it was in the store already.
        failed: Whether it failed just now.
    """

    number: int
    key: Key
    name: str
    seed: int | None
    value: Any = None
    stored: bool = False
    failed: bool = False


@dataclass(frozen=True)
class Experiment(Generic[Key]):
    """What to simulate and what to measure: points, seeds, and a function of each run's result.

    Attributes:
        title: Name of the work, for the progress bar; without one there is none.
        points: What to simulate, by key. A mapping may make its scenarios when they are asked for.
        measure: Takes what is wanted from a run: one for all points, or one for each. Without measure and
            procedure, the value of a run is its whole `Result`.
        procedure: Simulates instead of one run to its end. Points may then be any plain values.
        seeds: Seeds of each point, or a function that says which seeds a point has.
        seed_by_seed: Start all points with their first seed before any with its second, so that the points
            can be compared whenever it ends. Otherwise point by point.
        weight: Expected cost of a run of a point, in any unit; heavy runs are started first. Default equal.
        parameters: What a point changes, as plain values by name: the columns that name it in tables and in
            the store. Default the fields of the key.
        brief: The measure needs `flows`, `queues` and `exchanges` only; short runs gain by it.
        simulator: Simulates in place of `simulate_plan`, for runs that are recorded or watched: the runs
            themselves are then wanted, so no store spares them.
    """

    title: str
    points: Mapping[Key, Any]
    measure: Measure | Mapping[Key, Measure] | None = None
    procedure: Procedure | None = None
    seeds: Seeds | Callable[[Key], Seeds] = 1
    seed_by_seed: bool = False
    weight: Callable[[Key], float] | None = None
    parameters: Callable[[Key], Mapping[str, Any]] | None = None
    brief: bool = False
    simulator: Simulator | None = None

    @property
    def total(self) -> int:
        """How many runs there are."""
        if callable(self.seeds):
            return sum(self.count(key) for key in self.points)
        return len(self.points) * _count(self.seeds)

    def tasks(self) -> Iterator[Task[Key]]:
        """All runs that are asked for, point by point, seed by seed."""
        number = 0
        for key in self.points:
            weight = 1.0 if self.weight is None else self.weight(key)
            for index in range(self.count(key)):
                yield Task(number, key, index, weight)
                number += 1

    def count(self, key: Key) -> int:
        """How many seeds a point has."""
        return _count(self._seeds(key))

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
            InputError: The point cannot be used, or has no such seeds.
        """
        point, seed = self.points[task.key], self.seed(task)
        is_scenario = isinstance(point, Scenario)
        seeded = point.seeded(seed) if isinstance(point, Scenario) and self.simulator is None else None
        plan = None if seeded is None else plan_of(seeded)
        if seeded is not None:
            name = plan_hash(seeded.plan_json())
        else:
            subject = point.to_toml() if is_scenario else describe(point)
            name = hashlib.sha256(f"{subject} {seed}".encode()).hexdigest()
        return Job(
            name=name,
            seed=seed,
            title=point.title if is_scenario else "",
            point=point,
            plan=plan,
            parameters=self.columns(task.key),
            resolved=None if seeded is None else seeded.resolved,
            measure=self.measure[task.key] if isinstance(self.measure, Mapping) else self.measure,
            procedure=self.procedure,
            brief=self.brief,
            simulator=self.simulator,
        )

    def seed(self, task: Task[Key]) -> int:
        """The seed of a run.

        Raises:
            InputError: The point cannot be used, or has no such seeds.
        """
        wanted = self._seeds(task.key)
        point = self.points[task.key]
        first = point.run["seed"] if isinstance(point, Scenario) else 1
        if task.index == 0:
            seed_list(wanted, first)
        return first + task.index if isinstance(wanted, int) else wanted[task.index]

    def _seeds(self, key: Key) -> Seeds:
        return self.seeds(key) if callable(self.seeds) else self.seeds


class Variants(Mapping[int, Scenario]):
    """A scenario with the changes of each of many points, made when it is asked for; keys are indices."""

    def __init__(self, base: Scenario, points: Sequence[Point]) -> None:
        """Remember what to change."""
        self.base = base
        self.points = points
        self._prepared = lru_cache(maxsize=64)(self._prepare)  # seeds of a point follow each other

    def __getitem__(self, index: int) -> Scenario:
        """The scenario of a point.

        Raises:
            InputError: The point does not fit the scenario.
        """
        return self._prepared(index)

    def __iter__(self) -> Iterator[int]:
        """The indices of the points."""
        return iter(range(len(self.points)))

    def __len__(self) -> int:
        """How many points there are."""
        return len(self.points)

    def _prepare(self, index: int) -> Scenario:
        return prepare(self.base, self.points[index])


def _count(seeds: Seeds) -> int:
    return seeds if isinstance(seeds, int) else len(seeds)
