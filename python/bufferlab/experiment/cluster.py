"""Simulates an experiment's runs on a Ray cluster: the one that runs, or one started here for the time.

A task simulates a batch of runs that together last about a second, so that what Ray does for a task (some
milliseconds) does not count. Plans and measures go out, values and figures come back: workers need nothing
from this machine but the same engine, which is checked. Runs are stored as batches come back; a batch whose
worker died is simulated again run by run, once, and what kills its worker again is a failure of that run.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.experiment.job import Job, Performed
from bufferlab.experiment.keeping import WorkerError, variant_row, why, with_scenario
from bufferlab.experiment.local import processors
from bufferlab.experiment.store import ENGINE
from bufferlab.experiment.work import Nothing, Ready, Work

_BATCH_S: Final = 1.0
_POLL_S: Final = 0.2
_LEAST_RATE_S: Final = 1e-4
_TASKS_A_PROCESSOR: Final = 2
"""Tasks under way for each processor: one that runs and one that waits, so that none idles."""

_NO_MODULE: Final = "No module named 'bufferlab'"
_INSTALL: Final = "pip install 'bufferlab[ray]'; or use the engine 'local'"


@dataclass(frozen=True)
class _Request:
    """A run as it goes to a worker, and whether its whole result is wanted back."""

    job: Job
    tables: bool


@dataclass(frozen=True)
class _Reply:
    """What comes back: what became of the run, or why nothing did."""

    performed: Performed | None
    error: Exception | None
    wall_s: float


@dataclass(frozen=True)
class _Batch:
    ready: Sequence[Ready[Any]]
    again: bool = False


class Cluster:
    """Keeps a cluster busy, and takes what comes back."""

    poll_s: Final = 0.0

    def __init__(self, work: Work[Any], tasks: int | None, address: str | None, *, tables: bool) -> None:
        """Prepare to use a cluster.

        Args:
            work: The work.
            tasks: Most tasks that simulate at a time; default one for each processor of the cluster.
            address: The cluster; default that of RAY_ADDRESS, or what `ray start` started here, else one that
                is started for the time and listens on this machine only.
            tables: Whole results are wanted back.
        """
        self._work = work
        self._tasks = tasks
        self._address = address or os.environ.get("RAY_ADDRESS") or _running()
        self._tables = tables
        self._ray: Any = None
        self._own = False
        self._at_most = 0
        self._task: Any = None
        self._under_way: dict[Any, _Batch] = {}
        self._again: deque[Ready[Any]] = deque()
        self._run_s = _BATCH_S

    def start(self) -> None:
        """Join the cluster.

        Raises:
            InputError: Ray is not installed, or there is no such cluster.
        """
        ray = import_ray(local=self._address is None)
        self._own = not ray.is_initialized()
        if self._own:
            connect(ray, self._address)
        self._ray = ray
        processors_there = int(ray.cluster_resources().get("CPU", 1))
        at_a_time = min(self._tasks, processors_there) if self._tasks else processors_there
        self._at_most = at_a_time if self._tasks else _TASKS_A_PROCESSOR * at_a_time
        self._task = ray.remote(num_cpus=1, max_retries=0)(_simulate_batch)

    def turn(self) -> bool:
        """Start what there is room for, and take what came back.

        Raises:
            InputError: The workers have another engine, or no Bufferlab.
            OutputError: The store cannot be written.
        """
        more = self._fill()
        if self._under_way:
            self._collect()
        elif more:  # others simulate what is left
            time.sleep(_POLL_S)
        return more or bool(self._under_way)

    def running(self) -> float:
        """Nothing is known of the runs under way."""
        return 0.0

    def cancel(self) -> None:
        """Tasks are canceled by `close`: a signal's handler must not wait for Ray."""

    def close(self) -> None:
        """Cancel what is under way, and leave the cluster, or end it if it was started for the time."""
        if self._ray is None:
            return
        for task in self._under_way:
            with suppress(Exception):
                self._ray.cancel(task, force=True)
        if self._own:
            self._ray.shutdown()

    def _fill(self) -> bool:
        """Start tasks while there is room; say whether there may be more to do later."""
        while len(self._under_way) < self._at_most:
            if self._again:
                self._start(_Batch([self._again.popleft()], again=True))
                continue
            taken, nothing = self._take()
            if taken:
                self._start(_Batch(taken))
            if nothing is Nothing.OVER:
                return bool(self._again)
            if nothing is Nothing.LATER:
                return True
        return True

    def _take(self) -> tuple[list[Ready[Any]], Nothing | None]:
        left = self._work.total - self._work.settled
        most = max(min(int(_BATCH_S / self._run_s), left // (2 * self._at_most)), 1)
        taken: list[Ready[Any]] = []
        while len(taken) < most:
            ready = self._work.next(wait=False)
            if isinstance(ready, Nothing):
                return taken, ready
            taken.append(ready)
        return taken, None

    def _start(self, batch: _Batch) -> None:
        requests = [_Request(ready.job.portable(), self._wants_tables(ready.job)) for ready in batch.ready]
        self._under_way[self._task.remote(ENGINE, requests)] = batch

    def _wants_tables(self, job: Job) -> bool:
        return self._tables or (job.measure is None and job.procedure is None)

    def _collect(self) -> None:
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
                for each, reply in zip(batch.ready, replies, strict=True):
                    self._record(each, reply)

    def _record(self, ready: Ready[Any], reply: _Reply) -> None:
        self._run_s = max(0.8 * self._run_s + 0.2 * reply.wall_s, _LEAST_RATE_S)
        performed = reply.performed
        if performed is None:
            error = reply.error or WorkerError("was canceled")
            self._work.broke(ready, error, reply.wall_s)
            return
        if performed.result is not None:
            performed = replace(performed, result=with_scenario(performed.result, ready.job.point))
        self._work.record(ready, performed)

    def _mourn(self, batch: _Batch, error: Exception) -> None:
        """A worker died with a batch: its runs get a second try, each on its own."""
        if not batch.again:
            self._again.extend(batch.ready)
            return
        reason = next(iter(str(error).splitlines()), "")
        for ready in batch.ready:
            died = WorkerError(f"its worker died twice: {type(error).__name__}: {reason}")
            self._work.broke(ready, died, 0.0)


def _running() -> str | None:
    """The cluster that `ray start` started on this machine, as Ray itself looks for it."""
    try:
        text = (Path(os.environ.get("RAY_TMPDIR", "/tmp")) / "ray" / "ray_current_cluster").read_text()  # noqa: S108
    except OSError:
        return None
    return text.strip() or None


def import_ray(*, local: bool) -> Any:  # noqa: ANN401 - Ray is an extra, whose types are not there to check
    """Import Ray; `local` if it is to run on this machine only.

    Raises:
        InputError: It is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if local:
        # Ray's default on macOS and Windows: a cluster of one machine, listening on its loopback address only
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        import ray  # noqa: PLC0415 - an extra, and slow to start
    except ImportError as error:
        raise InputError(f"needs Ray ({error})", key="engine", value="ray", accepted=_INSTALL) from None
    return ray


def connect(ray: Any, address: str | None) -> None:  # noqa: ANN401 - see import_ray
    """Join a cluster, or start one of this machine; SIGTERM keeps its meaning, which Ray would change.

    Raises:
        InputError: There is no such cluster.
    """
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
    job = request.job
    try:
        performed = job.perform(_core.Control())
        if performed is not None and performed.result is not None:
            row = variant_row(job, performed.result, performed.wall_s)
            result = performed.result if request.tables else None
            performed = replace(performed, figures=row, result=result)
    except Exception as error:  # noqa: BLE001 - one run's failure, whatever it is, must not end the others
        # other errors may be of kinds that cannot be sent
        sendable = error if isinstance(error, InputError) else WorkerError(why(error))
        return _Reply(None, sendable, time.monotonic() - began_s)
    return _Reply(performed, None, time.monotonic() - began_s)


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
