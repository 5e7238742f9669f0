"""What all tests share: how they run, and an outcome of the engine, small enough to work out by hand."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest
from hypothesis import settings

from bufferlab import _core
from bufferlab.plan import Plan, plan_of
from bufferlab.results.engine_frames import from_outcome
from bufferlab.results.result import Result
from bufferlab.results.tables import ALL_CLASSES, ALL_GROUPS
from bufferlab.results.tables import NONE as NEVER
from bufferlab.scenario import Scenario, Seeded
from bufferlab.units import PS_PER_MS as MS
from bufferlab.units import PS_PER_S as S

settings.register_profile("patient", deadline=None)  # a loaded machine is no failure
settings.load_profile("patient")

_CACHES: Final = Path(tempfile.mkdtemp(prefix="bufferlab-caches-"))
TRANSFER: Final = {"kind": "transfer", "bytes": "2500 B"}


def pytest_configure() -> None:
    """Take Ctrl-C, as at a terminal, so that tests can send it; wait for no disk.

    A shell that starts something in the background has it ignore SIGINT, and its children inherit that.
    What a test writes need not survive a power cut, but the file that is synced must be open.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    setattr(os, "fsync", os.fstat)  # noqa: B010 - mypy knows that it returns something


_LONGEST: Final = "test_readers_can_use_the_page"
"""It waits for a browser, most of the time, and is begun first, lest it be all that is left at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest test."""
    items.sort(key=lambda item: item.name != _LONGEST)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give each test a cache of runs of its own, which is made if it is used."""
    os.environ["BUFFERLAB_CACHE"] = str(_CACHES / f"{abs(hash(item.nodeid))}")


def pytest_unconfigure() -> None:
    """Remove the caches."""
    shutil.rmtree(_CACHES, ignore_errors=True)


def table(name: str, **columns: Sequence[float]) -> pl.DataFrame:
    """One of the engine's tables with these columns; what a test does not need to know is 0."""
    schema = pl.DataFrame(getattr(_core.Outcome(), name)()).schema
    assert columns.keys() <= schema.keys()
    rows = len(next(iter(columns.values())))
    return pl.DataFrame({each: columns.get(each, [0] * rows) for each in schema}, schema=schema)


@dataclass(frozen=True)
class FakeOutcome:
    """Stands for `bufferlab._core.Outcome`."""

    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    reached_ps: int = 12 * S
    canceled: bool = False
    events: int = 30
    packets: int = 20

    def flows(self) -> pl.DataFrame:
        return self.tables["flows"]

    def queues(self) -> pl.DataFrame:
        return self.tables["queues"]

    def histograms(self) -> pl.DataFrame:
        return self.tables["histograms"]

    def classes(self) -> pl.DataFrame:
        return self.tables["classes"]

    def class_histograms(self) -> pl.DataFrame:
        return self.tables["class_histograms"]

    def class_samples(self) -> pl.DataFrame:
        return self.tables["class_samples"]

    def queue_samples(self) -> pl.DataFrame:
        return self.tables["queue_samples"]

    def sender_samples(self) -> pl.DataFrame:
        return self.tables["sender_samples"]

    def receiver_samples(self) -> pl.DataFrame:
        return self.tables["receiver_samples"]

    def exchanges(self) -> pl.DataFrame:
        return self.tables["exchanges"]


def small(seed: int) -> Seeded:
    """The scenario below under a seed."""
    return small_scenario(seed).seeded()


def small_scenario(seed: int) -> Scenario:
    """10 s measured from 2 s; link "west" of 8 kbps; flows 0 and 1 of "near", transfers; flow 2 of "far"."""
    tcp = {"segment": "90 B", "header": "10 B", "ack": "10 B"}
    scenario = {
        "run": {"duration": "12 s", "warmup": "2 s", "seed": seed},
        "links": [{"name": "west", "rate": "8 kbps", "buffer": "10 packets"}],
        "flows": [
            {"name": "near", "count": 2, "rtt": "10 ms", "application": TRANSFER, **tcp},
            {"name": "far", "rtt": "40 ms", **tcp},
        ],
    }
    return Scenario.from_dict(scenario)


def as_given(seed: int) -> str:
    """Its text, as in a file of a user's."""
    return f"# as given\n{small_scenario(seed).to_toml()}"


@pytest.fixture
def seeded() -> Seeded:
    return small(7)


@pytest.fixture
def outcome() -> FakeOutcome:
    return FakeOutcome(
        {
            "flows": _flows(),
            "queues": _queues(),
            "histograms": table(
                "histograms",
                link=[0, 0, 0, 0],
                group=[0, 0, ALL_GROUPS, ALL_GROUPS],
                lower_ps=[0, 100 * MS, 0, 100 * MS],
                upper_ps=[1, 200 * MS, 1, 200 * MS],
                count=[60, 40, 60, 40],
            ),
            "queue_samples": table(
                "queue_samples",
                time_ps=[0, 1 * S, 2 * S],
                link=[0, 0, 0],
                backlog_packets=[0, 3, 1],
                backlog_bytes=[0, 300, 100],
                arrived_packets=[0, 10, 20],
                dropped_packets=[0, 1, 2],
                departed_bytes=[0, 1000, 1500],
            ),
            **_classes(),
            "sender_samples": table(
                "sender_samples",
                time_ps=[1 * S, 1 * S, 2 * S, 2 * S],
                flow=[0, 2, 0, 2],
                cwnd_segments=[2.0, 10.0, 4.0, 11.0],
                ssthresh_segments=[8.0, 8.0, 8.0, 8.0],
                srtt_ps=[0, 50 * MS, 20 * MS, 50 * MS],
                rtt_sum_ps=[0.0, 48.0 * MS, 48.0 * MS, 48.0 * MS],
                rtt_samples=[0, 1, 2, 1],
                inflight_segments=[2, 10, 4, 11],
                retransmissions=[0, 0, 1, 0],
            ),
            "exchanges": table(
                "exchanges",
                flow=[0, 0, 2],
                number=[0, 1, 0],
                start_ps=[1 * S, 3 * S, 4 * S],
                end_ps=[2 * S, 5 * S, NEVER],
                bytes=[100, 100, 50],
            ),
            "receiver_samples": table(
                "receiver_samples",
                time_ps=[1 * S, 1 * S, 2 * S, 2 * S],
                flow=[0, 2, 0, 2],
                delivered_bytes=[100, 500, 300, 500],
            ),
        }
    )


@pytest.fixture
def result(outcome: FakeOutcome, seeded: Seeded) -> Result:
    return make_result(outcome, seeded)


def make_result(outcome: FakeOutcome, seeded: Seeded, **changes: Any) -> Result:
    """A result as `simulation.simulate` makes it."""
    plan: Plan = plan_of(seeded)
    made = Result(
        name="by hand",
        scenario=as_given(seeded.resolved["run"]["seed"]),
        overrides={},
        resolved=seeded.resolved,
        plan=plan,
        plan_hash="0123",
        frames=from_outcome(outcome, seeded.resolved, plan),  # type: ignore[arg-type]
        reached_ps=outcome.reached_ps,
        events=outcome.events,
        packets=outcome.packets,
        cpu_s=0.5,
        version="0.0.1",
    )
    return replace(made, **changes)


@pytest.fixture
def three_seeds(outcome: FakeOutcome) -> list[Result]:
    """Runs that differ in what they delivered, waited and left waiting."""
    runs: list[Result] = []
    for index, seed in enumerate((7, 8, 9)):
        tables = dict(outcome.tables)
        tables["flows"] = tables["flows"].with_columns(pl.col("delivered_bytes") + 100 * index)
        tables["queue_samples"] = tables["queue_samples"].with_columns(pl.col("backlog_packets") + index)
        tables["histograms"] = tables["histograms"].with_columns(pl.col("count") + 5 * index)
        runs.append(make_result(FakeOutcome(tables), small(seed)))
    return runs


def _flows() -> pl.DataFrame:
    return table(
        "flows",
        flow=[0, 1, 2],
        group=[0, 0, 1],
        start_ps=[0, 1 * S, 3 * S],
        rtt_ps=[10 * MS, 20 * MS, 100 * MS],
        delivered_bytes=[5000, 2500, 1250],
        whole_delivered_bytes=[6000, 2500, 1250],
        sent_packets=[50, 50, 0],
        whole_sent_packets=[60, 50, 0],
        retransmissions=[5, 0, 0],
        whole_retransmissions=[6, 0, 0],
        timeouts=[1, 0, 0],
        whole_timeouts=[1, 0, 0],
        recoveries=[2, 0, 0],
        whole_recoveries=[3, 0, 0],
        reordered_packets=[2, 0, 0],
        whole_reordered_packets=[3, 0, 0],
        spurious_retransmissions=[1, 0, 0],
        whole_spurious_retransmissions=[1, 0, 0],
        rtt_sum_ps=[float(40 * 30 * MS), float(10 * 80 * MS), 0.0],
        rtt_samples=[40, 10, 0],
        finished_ps=[NEVER, 5 * S, NEVER],
        received_ps=[NEVER, 5 * S, NEVER],
    )


def _queues() -> pl.DataFrame:
    return table(
        "queues",
        link=[0, 0, 0],
        group=[0, 1, ALL_GROUPS],
        arrived_packets=[100, 0, 100],
        arrived_bytes=[10_000, 0, 10_000],
        dropped_packets=[10, 0, 10],
        dropped_bytes=[1000, 0, 1000],
        departed_packets=[90, 0, 90],
        departed_bytes=[9000, 0, 9000],
        served_packets=[100, 0, 100],
        wait_mean_ps=[float(60 * MS), 0.0, float(60 * MS)],
        wait_max_ps=[150 * MS, 0, 150 * MS],
        backlog_mean_packets=[0.0, 0.0, 4.5],
        backlog_mean_bytes=[0.0, 0.0, 450.0],
        backlog_p1_packets=[0, 0, 1],
        backlog_p50_packets=[0, 0, 4],
        backlog_p95_packets=[0, 0, 9],
        backlog_p99_packets=[0, 0, 11],
        backlog_max_packets=[0, 0, 12],
        backlog_max_bytes=[0, 0, 1200],
        empty_fraction=[0.0, 0.0, 0.03],
        whole_arrived_packets=[120, 0, 120],
        whole_dropped_packets=[10, 0, 10],
        whole_departed_packets=[105, 0, 105],
        left_packets=[5, 0, 5],
        busy_fraction=[0.9, 0.0, 0.9],
    )


def _classes() -> dict[str, pl.DataFrame]:
    """Two classes of "west": all went through the first."""
    counts = ("arrived", "dropped", "departed")
    return {
        "classes": table(
            "classes",
            **{"link": [0, 0], "class": [0, 1]},
            **{f"{name}_packets": [100, 0] for name in counts},
            **{f"{name}_bytes": [9000, 0] for name in counts},
            marked_packets=[8, 0],
            served_packets=[100, 0],
            wait_mean_ps=[60.0 * MS, 0.0],
            wait_max_ps=[150 * MS, 0],
            **{f"whole_{name}_packets": [120, 0] for name in counts},
            busy_fraction=[0.9, 0.0],
        ),
        "class_histograms": table(
            "class_histograms",
            **{"link": [0, 0], "class": [0, 0]},
            lower_ps=[0, 100 * MS],
            upper_ps=[1, 200 * MS],
            count=[60, 40],
        ),
        "class_samples": table(
            "class_samples",
            time_ps=[1 * S, 1 * S, 1 * S],
            link=[0, 0, 0],
            **{"class": [ALL_CLASSES, 0, 1]},
            backlog_packets=[3, 2, 1],
            backlog_bytes=[300, 200, 100],
            limit_packets=[20, 5, 15],
            limit_bytes=[NEVER, NEVER, NEVER],
            threshold_ps=[NEVER, 40 * MS, NEVER],
            rtt_ps=[40 * MS, 20 * MS, NEVER],
            delay_ps=[4 * MS, 2 * MS, 6 * MS],
            flows=[-1.0, 2.0, 1.0],
            weight=[3.0, 2.0, 1.0],
            state_bytes=[1000, 300, 300],
        ),
    }
