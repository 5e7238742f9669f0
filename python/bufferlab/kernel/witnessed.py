"""Kernels' runs that leave more than figures: captures, and what users' programs do. No store spares them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bufferlab.experiment.inline import CanceledError
from bufferlab.experiment.recording import Request, check_writable, warn
from bufferlab.experiment.run import run_by
from bufferlab.experiment.runner import Runner
from bufferlab.kernel import captures
from bufferlab.kernel.boot import Report, shared_folder
from bufferlab.kernel.host import Punctual
from bufferlab.kernel.job import Job
from bufferlab.kernel.network import Net
from bufferlab.kernel.outcome import result_of
from bufferlab.kernel.program import Ending, Program
from bufferlab.plan import Plan, plan_of
from bufferlab.results.result import Result, RunSet
from bufferlab.scenario import Scenario

if TYPE_CHECKING:
    from bufferlab._core import Control


class Starts(Protocol):
    """Has a kernel do a job."""

    def __call__(
        self,
        job: dict[str, Any],
        seed: int,
        is_canceled: Callable[[], bool],
        *,
        captures: Path | None,
        looks_on: Callable[[Path], None],
    ) -> Report:
        """As `bufferlab.kernel.boot.boot`."""


@dataclass(frozen=True)
class Witnessed:
    """How to run.

    Attributes:
        start: Has the kernel do a job.
        title: The kernel's.
        job_of: A plan's job.
        net: Where packets are seen, of that many distinct round-trip times.
        asked: What to capture, by seed.
        program: What takes the place of the first group of flows.
        punctual: Where to tell how punctual a live link was, run by run.
    """

    start: Starts
    title: str
    job_of: Callable[[Plan], Job]
    net: Callable[[int], Net]
    asked: dict[int, Request]
    program: Program | None
    punctual: list[Punctual]

    def run(self, scenario: Scenario, seeds: Sequence[int], runner: Runner) -> RunSet:
        """Run all seeds.

        Raises:
            InputError: The kernel fails.
            OutputError: A capture cannot be written.
            RunInterrupted: At Ctrl-C, with the seeds that were finished.
        """
        check_writable(self.asked.values())
        runs = run_by(scenario, seeds, runner, self._simulate)
        warn(one for run in runs for one in run.recordings)
        return runs

    def _simulate(self, scenario: Scenario, seed: int, control: Control) -> Result | None:
        asked, plan = self.asked.get(seed), plan_of(scenario.seeded(seed))
        job = self.job_of(plan)
        net = self.net(len({each["namespace"] for each in job["receivers"]}))
        with ExitStack() as stack:
            folder = None
            if asked is not None:
                folder = stack.enter_context(shared_folder())
                seen = captures.taps(asked, plan["links"][0]["name"], net)
                job["captures"] = [tap.job(asked.limit) for tap in seen]
            relay = stack.enter_context(self.program.relay()) if self.program else (lambda _folder: None)
            try:
                report = self.start(job, seed, control.is_canceled, captures=folder, looks_on=relay)
            except CanceledError:
                return None
            written = (
                None if asked is None or folder is None else (asked, captures.save(asked, plan, net, folder))
            )
        if self.program is not None:
            self.program.endings.append(Ending.of(report.rows))
        title = self.title
        if (live := Punctual.of(report.rows)) is not None:
            self.punctual.append(live)
            title += ", disturbed" if live.disturbances else ""
        return result_of(scenario, seed, report, title=title, written=written)
