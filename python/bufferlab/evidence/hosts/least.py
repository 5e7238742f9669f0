"""The least buffer of a fast link by two criteria, with each part of the hosts that is added."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from bufferlab import _core
from bufferlab.evidence.documents import Work
from bufferlab.evidence.reproduction import Request
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.inline import CanceledError, Inline
from bufferlab.experiment.simulation import prepare
from bufferlab.resolved import full_packet_bytes
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario
from bufferlab.units import PS_PER_S

STEPS: Final = ("ideal", "bursts", "interrupts", "noise", "fq")
"""The scenarios, in the order in which parts of the host are added."""

CONTROLS: Final = ("reno", "cubic", "scalable", "bbr")
FLOWS: Final = (1, 2, 4, 8, 16, 32, 64)
SIZES: Final = tuple(sorted({round(2 * 1.15**step) for step in range(46)}))
"""Packets, 15 % apart."""

UTILIZATION: Final = 0.999
WAITING: Final = 2
"""A queue of more than two packets, as one leaves it: the next is in transmission, so two wait."""

SCENARIOS: Final = Path(__file__).parent / "scenarios"
_QUICK: Final = {"run.duration": "1 s", "run.warmup": "200 ms"}


class Point(NamedTuple):
    """Who sends, from which hosts."""

    control: str
    flows: int
    step: str


@dataclass(frozen=True)
class Measured:
    """What a run shows of the link.

    Attributes:
        utilization: Of the link.
        p1_packets: 1st percentile of what waits while the link sends.
    """

    utilization: float
    p1_packets: float


def tables(work: Work) -> dict[str, pl.DataFrame]:
    """The least buffers of every control, number of flows and kind of hosts; quick: of four Reno flows."""
    experiment = Experiment(
        "hosts, least buffers",
        _points(work.request),
        procedure=search,
        weight=lambda point: float(point.flows),
        parameters=Point._asdict,
    )
    rows = [done.key._asdict() | done.value for done in work.request.runner().all(experiment)]
    return {"least": pl.DataFrame(rows, schema_overrides=dict.fromkeys(("utilization", "queue"), pl.Int64))}


def scenarios(request: Request) -> dict[str, str]:
    """What is simulated, without the buffers, by control, flows and hosts."""
    points = _points(request)
    return {f"{point.control}-{point.flows}-{point.step}": each.to_toml() for point, each in points.items()}


def _points(request: Request) -> dict[Point, Scenario]:
    quick = request.quick
    points = [
        Point(control, flows, step)
        for control in (CONTROLS[:1] if quick else CONTROLS)
        for flows in ((4,) if quick else FLOWS)
        for step in STEPS
    ]
    return {point: _scenario(point, _QUICK if quick else {}) for point in points}


def _scenario(point: Point, changes: Mapping[str, Any]) -> Scenario:
    senders = {"flows[0].count": point.flows, "flows[0].congestion": point.control}
    return prepare(SCENARIOS / f"{point.step}.toml", {**senders, **changes})


def search(scenario: Scenario, seed: int, control: _core.Control) -> dict[str, Any] | None:
    """The least buffers of a point; `standing` is the 1st percentile with one BDP; `None` if canceled."""
    inline, runs = Inline(control), dict[int, Measured]()

    def at(size: int) -> Measured:
        if size not in runs:
            case = {size: scenario.with_overrides({"links[0].buffer": f"{size} packets"})}
            (values,) = inline.values(Experiment("", case, of_result, seeds=[seed]))
            runs[size] = Measured(**values)
        return runs[size]

    try:
        return {
            "utilization": least(lambda size: at(size).utilization >= UTILIZATION),
            "queue": least(lambda size: at(size).p1_packets >= WAITING),
            "standing": at(round(bdp_packets(scenario))).p1_packets,
        }
    except CanceledError:
        return None


def least(holds: Callable[[int], bool]) -> int | None:
    """The least size with which a criterion holds, by bisection; `None` if there is none."""
    below, above = -1, len(SIZES) - 1
    if not holds(SIZES[above]):
        return None
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if holds(SIZES[middle]) else (middle, above)
    return SIZES[above]


def bdp_packets(scenario: Scenario) -> float:
    """The bandwidth-delay product of a scenario's link and flows, packets."""
    flows = scenario.flows[0]
    rtt = flows["rtt"]
    if rtt["kind"] != "constant":
        raise TypeError("flows of several round-trip times have several products")
    return scenario.links[0]["rate_bps"] * rtt["value"] / PS_PER_S / 8 / full_packet_bytes(flows)


def of_result(result: Result) -> dict[str, float]:
    """The values of a `Measured`. No packet leaves an idle link, so nothing counts then."""
    link = result.queues.filter(pl.col("group") == "all").row(0, named=True)
    waiting = result.queue_samples.filter(pl.col("time_s") > result.warmup_s)["backlog_packets"]
    idle = round((1 - link["utilization"]) * waiting.len())
    busy = waiting.sort().tail(waiting.len() - idle)
    return {"utilization": link["utilization"], "p1_packets": float(busy.quantile(0.01, "lower") or 0)}
