"""One run's measurements and what they belong to, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from bufferlab.plan import Plan
from bufferlab.results.frames import Frames, measured_s
from bufferlab.results.recording import Recording
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario


@dataclass(frozen=True, eq=False, repr=False)
class Measurement:
    """What one run measured.

    Attributes:
        name: Title of the scenario.
        scenario: The scenario as TOML: as given, or with the overrides applied if there are any.
        files: What the files hold that the scenario's laws name, by path as written.
        overrides: The overrides, by path: `{"links[0].rate": "50 Mbps"}`.
        resolved: What it means under the run's seed: defaults filled in, units resolved, buffers in packets.
        plan: The plan that ran, as plain values.
        plan_hash: Identity of the plan.
        frames: The measurements. Each frame is an attribute of its own, too: `flows`, `queues`, `histograms`,
            `queue_samples`, `flow_samples`, `classes`, `class_samples` and `exchanges`; docs/metrics.md has
            their columns.
        reached_ps: Simulated time, ps.
        events: Events that the engine processed.
        packets: Packets that left a link, summed over links.
        cpu_s: CPU time of the simulation, s.
        version: Version of Bufferlab, and of its engine, that made it.
        recordings: The capture and the trace that were written, if asked for; stored results have none.
    """

    name: str
    scenario: str
    overrides: Mapping[str, Any]
    resolved: ResolvedScenario
    plan: Plan
    plan_hash: str
    frames: Frames
    reached_ps: int
    events: int
    packets: int
    cpu_s: float
    version: str
    recordings: tuple[Recording, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return self.resolved["run"]["seed"]

    @property
    def duration_s(self) -> float:
        """Length of the run, s."""
        return self.resolved["run"]["duration_ps"] / PS_PER_S

    @property
    def warmup_s(self) -> float:
        """When measuring began, s."""
        return self.resolved["run"]["warmup_ps"] / PS_PER_S

    @property
    def measured_s(self) -> float:
        """Length of the measured window, s."""
        return measured_s(self.resolved, self.reached_ps)

    @property
    def packets_per_cpu_s(self) -> float | None:
        """Packets that left a link for each second of CPU time; `None` if the run took no time."""
        return self.packets / self.cpu_s if self.cpu_s > 0 else None

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow."""
        return self.frames.flows

    @property
    def queues(self) -> pl.DataFrame:
        """One row per link and group, and one with group "all" per link."""
        return self.frames.queues

    @property
    def histograms(self) -> pl.DataFrame:
        """Histograms of the waits in the queues."""
        return self.frames.histograms

    @property
    def queue_samples(self) -> pl.DataFrame:
        """Time series of the sampled links."""
        return self.frames.queue_samples

    @property
    def flow_samples(self) -> pl.DataFrame:
        """Time series of the sampled flows."""
        return self.frames.flow_samples

    @property
    def classes(self) -> pl.DataFrame:
        """One row per link and class of its discipline, if that has classes."""
        return self.frames.classes

    @property
    def class_samples(self) -> pl.DataFrame:
        """Time series of what the sampled links' classes hold and estimate."""
        return self.frames.class_samples

    @property
    def exchanges(self) -> pl.DataFrame:
        """One row per burst, fetch, recorded datagram or ping."""
        return self.frames.exchanges
