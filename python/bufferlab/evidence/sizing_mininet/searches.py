"""The searches behind the reproductions of "Sizing Router Buffers" on Mininet-HiFi.

The testbed: 62.5 Mbps, 87 ms, 2 to 800 long-lived flows, which connect a millisecond apart, wait 5 s and then
send. Two searches are made of each setting: the script's own, live, by plain bisection; and ours, with fresh
runs and a confidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import polars as pl

from bufferlab import _core
from bufferlab.evidence.reproduction import Request
from bufferlab.evidence.sizing_mininet.search import Effort, Found, search_least
from bufferlab.evidence.sizing_mininet.search.least import size_grid
from bufferlab.evidence.sizing_mininet.search.live import Simulated, Timing
from bufferlab.evidence.sizing_mininet.search.restart import Restarts
from bufferlab.evidence.sizing_mininet.search.script import Bisected, Procedure, bisected
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.inline import CanceledError, Inline
from bufferlab.experiment.simulation import prepare
from bufferlab.progress import progress_bar
from bufferlab.scenario import Scenario

SCENARIOS: Final = Path(__file__).parent / "scenarios"

TESTBED: Final = "testbed.toml"

TARGET: Final = 0.98
"""The script's; the text says 99 %."""

CONTROLS: Final[Mapping[str, str]] = {"RENO": "reno", "BIC": "bic", "CUBIC": "cubic-linux"}
"""Names in the tables; BIC is the script's default."""

SENDERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "jitter": {"flows[0].jitter": "uniform(0 s, 1 ms)"},
    "synchronized": {},
    "spread": {"flows[0].rtt_spread": 0.1},
}
"""What keeps flows apart: up to 1 ms of delay in senders, nothing but the starts, round trips of ± 10 %."""

OWN_HOSTS: Final = "own hosts"
"""As `jitter`, each flow behind a link of 1 Gbps of its own, as on up to 400 of the testbed's hosts."""

_CHANGES: Final = {
    **SENDERS,
    OWN_HOSTS: {**SENDERS["jitter"], "flows[0].access_rate": "1 Gbps"},
}

SCRIPT: Final = Procedure(
    target=TARGET,
    trial=Timing(settle_s=3.0, reading_s=1.0, readings=3),
    pause_s=1.0,
    calibration=Timing(settle_s=3.0, reading_s=1.0, readings=40),
    skip=10,
)
"""buffersizing.py: SAMPLE_WAIT_SEC, SAMPLE_PERIOD_SEC, NSAMPLES, CALIBRATION_SAMPLES and CALIBRATION_SKIP."""

_STARTED_S: Final = 5.0
_SCRIPT_S: Final = 200.0
MANY: Final = 100


_EFFORT: Final = Effort(rounds=40)


@dataclass(frozen=True)
class Link:
    """The link of a scenario.

    Attributes:
        rate_bps: Its rate, bit/s.
        bdp_packets: Its buffer, a bandwidth-delay product: the largest that is tried.
    """

    rate_bps: int
    bdp_packets: int


@cache
def link_of(file: str) -> Link:
    """The link of one of the document's scenarios."""
    (link,) = Scenario.load(SCENARIOS / file).links
    return Link(link["rate_bps"], int(link["buffer"]["amount"]))


@dataclass(frozen=True)
class Plan:
    """How much is done.

    Attributes:
        flows: Numbers of flows.
        senders: Which of `SENDERS`.
        controls: Which of `CONTROLS`.
        script_runs: Runs of the script's procedure.
        effort: Of our search.
        measured_s: Length of a run from its warm-up on, with fewer than 100 flows and with more, s.
        warmup_s: Warm-up, s.
        target: Utilization that is asked for.
    """

    flows: tuple[int, ...] = (2, 4, 10, 20, 50, 100, 200, 400, 600, 800)
    senders: tuple[str, ...] = tuple(SENDERS)
    controls: tuple[str, ...] = tuple(CONTROLS)
    script_runs: int = 5
    effort: Effort = _EFFORT
    measured_s: tuple[float, float] = (100.0, 40.0)
    warmup_s: float = 15.0
    target: float = TARGET


FULL: Final = Plan()
QUICK: Final = Plan(
    flows=(10, 400),
    senders=("jitter",),
    controls=("BIC",),
    script_runs=1,
    effort=Effort(confidence=0.8, resolution=0.5, rounds=12),
    measured_s=(20.0, 8.0),
    warmup_s=12.0,
)


@dataclass(frozen=True)
class Cell:
    """One setting."""

    senders: str
    control: str
    flows: int

    @property
    def labels(self) -> dict[str, Any]:
        """Its columns."""
        return {"senders": self.senders, "control": self.control, "flows": self.flows}


def scenario(cell: Cell, duration_s: float, warmup_s: float) -> Scenario:
    """The testbed.

    Args:
        cell: The setting.
        duration_s: Length, s.
        warmup_s: Measured from here on, s.
    """
    changes = {
        "run.duration": f"{duration_s:g} s",
        "run.warmup": f"{warmup_s:g} s",
        "flows[0].congestion": CONTROLS[cell.control],
        "flows[0].count": cell.flows,
        "flows[0].start": f"uniform({_STARTED_S:g} s, {_STARTED_S + cell.flows * 1e-3:g} s)",
        **_CHANGES[cell.senders],
    }
    return prepare(Scenario.load(SCENARIOS / TESTBED), changes)


def cells(plan: Plan) -> list[Cell]:
    """All settings."""
    return [
        Cell(senders, control, flows)
        for senders in plan.senders
        for control in plan.controls
        for flows in plan.flows
    ]


@dataclass(frozen=True)
class Search:
    """What one of our searches is about."""

    cell: Cell
    duration_s: float
    warmup_s: float
    effort: Effort
    target: float = TARGET


def search_all(plan: Plan, request: Request) -> pl.DataFrame:
    """Our search of every setting: a row each, with `packets`, `low`, `high`, `reached` and what it took."""
    points = {
        cell: Search(
            cell, plan.warmup_s + plan.measured_s[cell.flows >= MANY], plan.warmup_s, plan.effort, plan.target
        )
        for cell in cells(plan)
    }
    experiment = Experiment("sizing-mininet: least buffers", points, procedure=search_cell)
    rows = [done.key.labels | done.value for done in request.runner().all(experiment)]
    return pl.DataFrame(rows, infer_schema_length=None)


def search_cell(point: Search, _seed: int, control: _core.Control) -> dict[str, Any] | None:
    """The search of one setting as a row; `None` if canceled."""
    case = scenario(point.cell, point.duration_s, point.warmup_s)
    most = link_of(TESTBED).bdp_packets
    found = searched(case, point.target, most, point.effort, control)
    return None if found is None else row_of(found)


def searched(
    case: Scenario, target: float, most: int, effort: Effort, control: _core.Control
) -> Found | None:
    """One search in this thread; `None` if canceled."""
    engine = Restarts(case, 0, case.run["seed"], Inline(control))
    try:
        with progress_bar("", visible=False) as bar:
            sizes = size_grid(1, most, effort.resolution)
            return search_least(engine.evaluate, target, sizes, most, effort=effort, bar=bar)
    except CanceledError:
        return None


def row_of(found: Found) -> dict[str, Any]:
    """A search as a row."""
    return {
        "packets": found.estimate,
        "low": found.low,
        "high": found.high,
        "reached": found.reached,
        "full_rate_bps": found.full_rate_bps,
        **found.spent,
        "warnings": "; ".join(found.warnings),
    }


def script_all(plan: Plan, request: Request) -> pl.DataFrame:
    """The script's procedure on every setting: one row a run, with `run` and `packets`."""
    runs = request.seeds or plan.script_runs
    points = {cell: (cell, plan.target) for cell in cells(plan)}
    title = "sizing-mininet: the script's bisections"
    experiment = Experiment(title, points, procedure=script_cell, seeds=range(1, runs + 1))
    rows = [done.key.labels | {"run": done.seed} | done.value for done in request.runner().all(experiment)]
    return pl.DataFrame(rows, infer_schema_length=None)


def script_cell(point: tuple[Cell, float], seed: int, control: _core.Control) -> dict[str, Any] | None:
    """One run of the script's procedure as a row; `None` if canceled."""
    cell, target = point
    found = scripted(cell, seed, control, target)
    return None if found is None else {"packets": found.packets, "full_rate_bps": found.full_rate_bps}


def scripted(
    cell: Cell, seed: int, control: _core.Control | None = None, target: float = TARGET
) -> Bisected | None:
    """One run of the script's procedure; `None` if canceled."""
    case = scenario(cell, _SCRIPT_S, 0.0)
    most = link_of(TESTBED).bdp_packets
    engine = Simulated(case, 0, seed, duration_s=_SCRIPT_S, packets=most, control=control)
    try:
        engine.advance(_STARTED_S)
        return bisected(engine, 1, most, replace(SCRIPT, target=target))
    except CanceledError:
        return None
