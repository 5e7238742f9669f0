"""The work of a sweep while it goes on: which run is next, and what became of each."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from bufferlab.errors import InputError, OutputError
from bufferlab.experiment.points import Point
from bufferlab.experiment.simulation import prepare, seed_list
from bufferlab.experiment.store import Claim, Row, Writer, failed_row
from bufferlab.plan import Plan, lower, plan_hash, plan_json
from bufferlab.results import folder as folders
from bufferlab.scenario import Scenario

if TYPE_CHECKING:
    from bufferlab.results.result import Result

_PATIENCE_S: Final = 0.2


@dataclass(frozen=True)
class Job:
    """A run that is ours to simulate."""

    point: Point
    scenario: Scenario
    plan: Plan
    plan_hash: str

    @property
    def seed(self) -> int:
        """Its seed."""
        return int(self.plan["seed"])

    @property
    def text(self) -> str:
        """The plan as JSON."""
        return plan_json(self.plan)

    def failure(self, error: str, wall_s: float = 0.0) -> Row:
        """The row to store if it fails."""
        return failed_row(
            self.plan_hash,
            error,
            scenario=self.scenario.title,
            seed=self.seed,
            parameters=self.point,
            wall_s=wall_s,
        )


class Nothing(Enum):
    """Why there is no job."""

    LATER = "others simulate what is left"
    OVER = "all is done"


@dataclass
class Tally:
    """How many runs came to what.

    Attributes:
        total: Runs of the sweep.
        simulated: Done by us.
        stored: In the store before, or done by others meanwhile.
        failed: Failed with us.
    """

    total: int
    simulated: int = 0
    stored: int = 0
    failed: int = 0

    @property
    def settled(self) -> int:
        """Runs that need no more work."""
        return self.simulated + self.stored + self.failed


@dataclass
class _Candidate:
    number: int
    point: Point
    scenario: Scenario
    seed: int


class Session:
    """Hands out jobs and takes rows back; all threads may share it.

    Attributes:
        tally: How many runs came to what.
        hashes: Identity of each run of the sweep, in order, as far as it is known.
        tables: The sweep keeps full tables.
        error: Why no more jobs are handed out, if something went wrong.
    """

    def __init__(
        self,
        base: Scenario,
        points: Sequence[Point],
        seeds: int | Sequence[int],
        writer: Writer,
        *,
        tables: bool,
    ) -> None:
        each = seeds if isinstance(seeds, int) else len(seeds)
        self.tally = Tally(len(points) * each)
        self.hashes: list[str | None] = [None] * self.tally.total
        self.error: OutputError | None = None
        self._writer = writer
        self.tables = tables
        self._mutex = threading.Lock()
        self._fresh = self._candidates(base, points, seeds)
        self._deferred: deque[tuple[int, Job]] = deque()
        self._stopped = threading.Event()

    def next(self, *, wait: bool = True) -> Job | Nothing:
        """The next run to simulate, claimed.

        Args:
            wait: While others simulate all that is left, wait for them; else say `LATER`.

        Raises:
            OutputError: The store cannot be written; later calls say `OVER`.
        """
        while not self._stopped.is_set():
            with self._mutex:
                candidate = next(self._fresh, None)
            if candidate is not None:
                job = self._claimed(candidate.number, self._plan(candidate))
            else:
                with self._mutex:
                    number, deferred = self._deferred.popleft() if self._deferred else (0, None)
                if deferred is None:
                    return Nothing.OVER
                job = self._claimed(number, deferred)
                if job is Claim.TAKEN and not wait:
                    return Nothing.LATER
                if job is Claim.TAKEN:
                    self._stopped.wait(_PATIENCE_S)
            if isinstance(job, Job):
                return job
        return Nothing.OVER

    def record(self, job: Job, row: Row, result: Result | None = None) -> None:
        """Store what became of a job.

        Args:
            job: The job.
            row: What to store.
            result: Its full tables, which are kept if the sweep keeps them.
        """
        if result is not None and self.tables:
            try:
                self._keep_tables(job, result)
            except OutputError as error:  # the run is stored all the same
                self.stop(error)
        try:
            self._writer.put(row)
        except OutputError as error:
            self.stop(error)
            return
        with self._mutex:
            if row["status"] == "done":
                self.tally.simulated += 1
            else:
                self.tally.failed += 1

    def sync(self) -> None:
        """Make what was recorded survive a power cut."""
        try:
            self._writer.sync()
        except OutputError as error:
            self.stop(error)

    def stop(self, error: OutputError | None = None) -> None:
        """Hand out no more jobs."""
        self.error = self.error or error
        self._stopped.set()

    def _candidates(
        self, base: Scenario, points: Sequence[Point], seeds: int | Sequence[int]
    ) -> Iterator[_Candidate]:
        number = 0
        for point in points:
            try:
                scenario = prepare(base, point)
                wanted = seed_list(seeds, scenario.run.seed)
            except InputError as error:
                for index in range(seeds if isinstance(seeds, int) else len(seeds)):
                    self._refuse(number, base, point, f"seed {index} of it", error)
                    number += 1
                continue
            for seed in wanted:
                yield _Candidate(number, point, scenario, seed)
                number += 1

    def _plan(self, candidate: _Candidate) -> Job | None:
        """Lower a run; one that cannot be is recorded as failed."""
        try:
            plan = lower(candidate.scenario, candidate.seed)
        except InputError as error:
            with self._mutex:
                self._refuse(
                    candidate.number, candidate.scenario, candidate.point, f"seed {candidate.seed}", error
                )
            return None
        identity = plan_hash(plan)
        self.hashes[candidate.number] = identity
        return Job(candidate.point, candidate.scenario, plan, identity)

    def _claimed(self, number: int, job: Job | None) -> Job | Claim:
        if job is None:
            return Claim.DONE
        try:
            claim = self._writer.claim(job.plan_hash)
        except OutputError as error:
            self.stop(error)
            return Claim.TAKEN
        if claim is Claim.MINE:
            return job
        with self._mutex:
            if claim is Claim.DONE:
                self.tally.stored += 1
            else:
                self._deferred.append((number, job))
        return claim

    def _refuse(self, number: int, scenario: Scenario, point: Point, which: str, error: InputError) -> None:
        """Record a run that has no plan; its identity is what was asked for."""
        asked = json.dumps([scenario.to_dict(), point, which], sort_keys=True)
        identity = f"refused-{hashlib.sha256(asked.encode()).hexdigest()[:56]}"
        self.hashes[number] = identity
        try:
            if self._writer.claim(identity) is Claim.MINE:
                self._writer.put(failed_row(identity, str(error), scenario=scenario.title, parameters=point))
            self.tally.failed += 1
        except OutputError as full:
            self.stop(full)

    def _keep_tables(self, job: Job, result: Result) -> None:
        folder = self._writer.store.tables_folder(job.plan_hash)
        folder.parent.mkdir(parents=True, exist_ok=True)
        folders.save([result], result.summary(), folder)
