"""Simulates a sweep's runs in threads of this process."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.experiment.batch import processors
from bufferlab.experiment.session import Job, Session
from bufferlab.experiment.simulation import simulate_plan
from bufferlab.experiment.store import Row, done_row
from bufferlab.progress import Bar

_POLL_S = 0.2
_SYNC_S = 1.0


def run_local(session: Session, bar: Bar, threads: int | None = None) -> None:
    """Simulate all that the session has, in threads; Ctrl-C cancels what is running."""
    team = [_Worker(session) for _ in range(threads or processors())]
    with ThreadPoolExecutor(len(team), thread_name_prefix="sweep") as pool:
        futures = [pool.submit(worker.work) for worker in team]
        try:
            _watch(futures, session, bar, lambda: sum(worker.share() for worker in team))
        except BaseException:
            session.stop()
            for worker in team:
                worker.cancel()
            raise


def report(session: Session, bar: Bar, running: float = 0.0) -> None:
    """Show how far a session is; `running` is how many runs' worth are done of those under way."""
    tally = session.tally
    failed = f", {tally.failed} failed" if tally.failed else ""
    bar.update((tally.settled + running) / max(tally.total, 1), f"{tally.settled}/{tally.total}{failed}")


def why(error: BaseException) -> str:
    """What to store about a run that failed."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return "out of memory"
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class _Worker:
    """One thread, one run after the other."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._control = _core.Control()
        self._canceled = False
        self._duration_ps = 0

    def work(self) -> None:
        while isinstance(job := self._session.next(), Job) and not self._canceled:
            self._control = _core.Control()
            self._duration_ps = int(job.plan["duration_ps"])
            self._run(job)
            self._duration_ps = 0

    def cancel(self) -> None:
        self._canceled = True
        self._control.cancel()

    def share(self) -> float:
        """How far the run under way is, 0 to 1."""
        return min(self._control.reached_ps() / self._duration_ps, 1.0) if self._duration_ps else 0.0

    def _run(self, job: Job) -> None:
        began_s = time.monotonic()
        row: Row
        try:
            result = simulate_plan(
                job.plan,
                self._control,
                name=job.scenario.title,
                scenario=job.scenario.to_toml(),
                overrides=job.scenario.overrides,
                file=job.scenario.file,
                brief=not self._session.tables,
            )
            if result is None:
                return
            row = done_row(result, parameters=job.point, wall_s=time.monotonic() - began_s)
        except Exception as error:  # noqa: BLE001 - one run's failure, whatever it is, must not end the others
            self._session.record(job, job.failure(why(error), time.monotonic() - began_s))
            return
        self._session.record(job, row, result)


def _watch(futures: list[Future[None]], session: Session, bar: Bar, running: Callable[[], float]) -> None:
    pending = set(futures)
    synced_s = time.monotonic()
    while pending:
        done, pending = wait(pending, timeout=_POLL_S, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        if time.monotonic() - synced_s >= _SYNC_S:
            session.sync()
            synced_s = time.monotonic()
        report(session, bar, running())
