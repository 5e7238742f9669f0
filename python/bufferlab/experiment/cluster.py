"""Simulates a sweep's runs on a Ray cluster: the one that runs, or one started on this machine for the time.

A task simulates a batch of runs that together last about a second, so that what Ray does for a task (some
milliseconds) does not count. Plans go out as JSON, rows come back as JSON: workers need nothing from this
machine but the same engine, which is checked. Rows are stored as batches come back; a batch whose worker
died is simulated again run by run, once, and what kills its worker again is a failure of that run.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bufferlab.errors import InputError
from bufferlab.experiment.batch import processors
from bufferlab.experiment.session import Job, Nothing, Session
from bufferlab.experiment.simulation import simulate_plan
from bufferlab.experiment.store import ENGINE, Row, done_row
from bufferlab.experiment.threads import report, why
from bufferlab.progress import Bar

if TYPE_CHECKING:
    from bufferlab.results.result import Result

_BATCH_S: Final = 1.0
_POLL_S: Final = 0.2
_SYNC_S: Final = 1.0
_LEAST_RATE_S: Final = 1e-4
_TASKS_A_PROCESSOR: Final = 2
"""Tasks under way for each processor: one that runs and one that waits, so that none idles."""

_NO_MODULE: Final = "No module named 'bufferlab'"
_INSTALL: Final = "pip install 'bufferlab[ray]'; or use the engine 'local'"


@dataclass(frozen=True)
class _Request:
    """A run as it goes to a worker."""

    title: str
    plan_json: str
    point: dict[str, Any]
    tables: bool


@dataclass(frozen=True)
class _Reply:
    """What comes back: the row as JSON, or why there is none; the full tables if they are kept."""

    row: str | None
    error: str
    wall_s: float
    result: Result | None = None


@dataclass(frozen=True)
class _Batch:
    jobs: Sequence[Job]
    again: bool = False


def run_ray(session: Session, bar: Bar, tasks: int | None = None, address: str | None = None) -> None:
    """Simulate all that the session has on a Ray cluster.

    Args:
        session: The work.
        bar: Where to show how far it is.
        tasks: Most tasks that simulate at a time; default one for each processor of the cluster.
        address: The cluster; default that of RAY_ADDRESS, or what `ray start` started here, else one that is
            started for the time and listens on this machine only.

    Raises:
        InputError: Ray is not installed, there is no such cluster, or its workers have another engine.
    """
    address = address or os.environ.get("RAY_ADDRESS") or _running()
    ray = _import_ray(local=address is None)
    own = not ray.is_initialized()
    if own:
        _connect(ray, address)
    try:
        _Driver(ray, session, bar, tasks).run()
    finally:
        if own:
            ray.shutdown()


def _running() -> str | None:
    """The cluster that `ray start` started on this machine, as Ray itself looks for it."""
    try:
        text = (Path(os.environ.get("RAY_TMPDIR", "/tmp")) / "ray" / "ray_current_cluster").read_text()  # noqa: S108
    except OSError:
        return None
    return text.strip() or None


def _import_ray(*, local: bool) -> Any:  # noqa: ANN401 - Ray is an extra, whose types are not there to check
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if local:
        # Ray's default on macOS and Windows: a cluster of one machine, listening on its loopback address only
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        import ray  # noqa: PLC0415 - an extra, and slow to start
    except ImportError as error:
        raise InputError(f"needs Ray ({error})", key="engine", value="ray", accepted=_INSTALL) from None
    return ray


def _connect(ray: Any, address: str | None) -> None:  # noqa: ANN401 - see _import_ray
    """Join a cluster, or start one of this machine; SIGTERM keeps its meaning, which Ray would change."""
    on_termination = signal.getsignal(signal.SIGTERM)
    try:
        if address is None:
            ray.init(
                address="local",
                num_cpus=processors(),
                include_dashboard=False,
                log_to_driver=False,
                logging_level="error",
            )
        else:
            ray.init(address=address, log_to_driver=False, logging_level="error")
    except (ConnectionError, ValueError, RuntimeError) as error:
        text = " ".join(str(error).split())
        raise InputError(
            f"cannot be reached ({text})",
            key="ray_address",
            value=address or "local",
            accepted="host:port of a Ray cluster that runs (`ray stop` forgets one that does not)",
        ) from error
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, on_termination)


class _Driver:
    """Keeps the cluster busy, and takes what comes back."""

    def __init__(self, ray: Any, session: Session, bar: Bar, tasks: int | None) -> None:  # noqa: ANN401
        self._ray = ray
        self._session = session
        self._bar = bar
        processors_there = int(ray.cluster_resources().get("CPU", 1))
        at_a_time = min(tasks, processors_there) if tasks else processors_there
        self._at_most = at_a_time if tasks else _TASKS_A_PROCESSOR * at_a_time
        self._task = ray.remote(num_cpus=1, max_retries=0)(_simulate_batch)
        self._under_way: dict[Any, _Batch] = {}
        self._again: deque[Job] = deque()
        self._run_s = _BATCH_S
        self._synced_s = time.monotonic()

    def run(self) -> None:
        """Simulate everything."""
        try:
            while self._fill() or self._under_way:
                self._collect()
                if time.monotonic() - self._synced_s >= _SYNC_S:
                    self._session.sync()
                    self._synced_s = time.monotonic()
                report(self._session, self._bar)
        except BaseException:
            self._session.stop()
            for task in self._under_way:
                with suppress(Exception):
                    self._ray.cancel(task, force=True)
            raise

    def _fill(self) -> bool:
        """Start tasks while there is room; say whether there may be more to do later."""
        while len(self._under_way) < self._at_most:
            if self._again:
                self._start(_Batch([self._again.popleft()], again=True))
                continue
            jobs, nothing = self._take()
            if jobs:
                self._start(_Batch(jobs))
            if nothing is Nothing.OVER:
                return bool(self._again)
            if nothing is Nothing.LATER:
                return True
        return True

    def _take(self) -> tuple[list[Job], Nothing | None]:
        tally = self._session.tally
        left = tally.total - tally.settled
        most = max(min(int(_BATCH_S / self._run_s), left // (2 * self._at_most)), 1)
        jobs: list[Job] = []
        while len(jobs) < most:
            job = self._session.next(wait=False)
            if isinstance(job, Nothing):
                return jobs, job
            jobs.append(job)
        return jobs, None

    def _start(self, batch: _Batch) -> None:
        requests = [
            _Request(job.scenario.title, job.text, job.point, self._session.tables) for job in batch.jobs
        ]
        self._under_way[self._task.remote(ENGINE, requests)] = batch

    def _collect(self) -> None:
        if not self._under_way:  # others simulate what is left
            time.sleep(_POLL_S)
            return
        ready, _ = self._ray.wait(list(self._under_way), timeout=_POLL_S)
        for task in ready:
            batch = self._under_way.pop(task)
            try:
                replies = self._ray.get(task)
            except self._ray.exceptions.RayTaskError as error:
                raise _cause(error) from error
            except self._ray.exceptions.RayError as error:
                self._mourn(batch, error)
            else:
                for job, reply in zip(batch.jobs, replies, strict=True):
                    self._record(job, reply)

    def _record(self, job: Job, reply: _Reply) -> None:
        self._run_s = max(0.8 * self._run_s + 0.2 * reply.wall_s, _LEAST_RATE_S)
        if reply.row is None:
            self._session.record(job, job.failure(reply.error, reply.wall_s))
            return
        row: Row = json.loads(reply.row)
        result = reply.result
        if result is not None:
            scenario = job.scenario
            result = replace(result, scenario=scenario.to_toml(), overrides=scenario.overrides)
        self._session.record(job, row, result)

    def _mourn(self, batch: _Batch, error: Exception) -> None:
        """A worker died with a batch: its runs get a second try, each on its own."""
        if not batch.again:
            self._again.extend(batch.jobs)
            return
        for job in batch.jobs:
            reason = next(iter(str(error).splitlines()), "")
            self._session.record(job, job.failure(f"its worker died twice: {type(error).__name__}: {reason}"))


def _simulate_batch(engine: str, requests: Sequence[_Request]) -> list[_Reply]:
    """What a worker does."""
    if engine != ENGINE:
        raise InputError(
            f"runs on a worker with engine {ENGINE}",
            key="engine",
            value="ray",
            accepted=f"workers with engine {engine}, as here: install the same Bufferlab on all nodes",
        )
    return [_simulate(request) for request in requests]


def _simulate(request: _Request) -> _Reply:
    began_s = time.monotonic()
    try:
        plan = json.loads(request.plan_json)
        result = simulate_plan(plan, name=request.title, scenario="", overrides={}, brief=not request.tables)
        if result is None:
            return _Reply(None, "was canceled", time.monotonic() - began_s)
        wall_s = time.monotonic() - began_s
        row = done_row(result, parameters=request.point, wall_s=wall_s)
    except Exception as error:  # noqa: BLE001 - one run's failure, whatever it is, must not end the others
        return _Reply(None, why(error), time.monotonic() - began_s)
    return _Reply(json.dumps(row, allow_nan=False), "", wall_s, result if request.tables else None)


def _cause(error: BaseException) -> BaseException:
    """What a task failed from, as the user is to read it."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, InputError):
        return cause
    if _NO_MODULE in str(error):  # Ray tells of a task that it cannot even unpack in words only
        return InputError(
            "runs on a worker that has no Bufferlab",
            key="engine",
            value="ray",
            accepted="the same Bufferlab on all nodes, for the Python that runs `ray start`: install it",
        )
    return error
