"""The figure of "Sizing Router Buffers" (Appenzeller et al. 2004) that the testbeds were compared with.

An OC-3 of 155 Mbps, long-lived flows with a mean round-trip time of about 80 ms, simulated with ns-2: the
least buffer for three utilizations over the number of flows. The figure's numbers are lost; the text says
that 98 % closely follows RTT·C/√n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from bufferlab import _core
from bufferlab.evidence.reproduction import Request
from bufferlab.evidence.sizing_mininet.search import Effort
from bufferlab.evidence.sizing_mininet.searches import SCENARIOS, link_of, row_of, searched
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.simulation import prepare
from bufferlab.scenario import Scenario

OC3: Final = "oc3.toml"

TARGETS: Final = (0.98, 0.995, 0.999)


@dataclass(frozen=True)
class Oc3Plan:
    """How much is done.

    Attributes:
        flows: Numbers of flows.
        targets: Utilizations.
        effort: Of each search.
        duration_s: Length of a run, s.
        warmup_s: Measured from here on, s.
    """

    flows: tuple[int, ...]
    targets: tuple[float, ...]
    effort: Effort
    duration_s: float
    warmup_s: float


FULL: Final = Oc3Plan((50, 100, 200, 300, 400, 500), TARGETS, Effort(rounds=40), 50.0, 15.0)
QUICK: Final = Oc3Plan((100,), (0.98,), Effort(confidence=0.8, resolution=0.5, rounds=12), 20.0, 10.0)


def scenario(flows: int, duration_s: float, warmup_s: float) -> Scenario:
    """ns-2's Sack1 hosts over an OC-3.

    Args:
        flows: Number of flows.
        duration_s: Length of the run, s.
        warmup_s: Measured from here on, s.
    """
    changes = {
        "run.duration": f"{duration_s:g} s",
        "run.warmup": f"{warmup_s:g} s",
        "flows[0].count": flows,
    }
    return prepare(Scenario.load(SCENARIOS / OC3), changes)


def search_oc3(plan: Oc3Plan, request: Request) -> pl.DataFrame:
    """One row a number of flows and utilization: `packets`, `low`, `high`, `reached` and what it took."""
    points = {(flows, target): (flows, target, plan) for flows in plan.flows for target in plan.targets}
    experiment = Experiment(
        "sizing-mininet: OC-3",
        points,
        procedure=search_point,
        parameters=lambda key: {"flows": key[0], "target": key[1]},
    )
    rows = [experiment.columns(done.key) | done.value for done in request.runner().all(experiment)]
    return pl.DataFrame(rows, infer_schema_length=None).sort("target", "flows")


def search_point(
    point: tuple[int, float, Oc3Plan], _seed: int, control: _core.Control
) -> dict[str, Any] | None:
    """The search for one number of flows and utilization as a row; `None` if canceled."""
    flows, target, plan = point
    case = scenario(flows, plan.duration_s, plan.warmup_s)
    found = searched(case, target, link_of(OC3).bdp_packets, plan.effort, control)
    return None if found is None else row_of(found)
