"""The least buffer that keeps a link busy: simulated, by Theorem 2 and by BDP/√n.

The link grows with the number of flows, so that the bandwidth-delay product is 26 packets a flow, what the
OC-12 of P. Yang, E. Zhang and L. Xu (2013) with 200 flows has: windows stay of a size at which losses are
repaired without timeouts. Buffers are searched by bisection on a geometric grid, with the same seeds (starts,
round-trip times) for each, and interpolated between the last that fails and the first that does.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from bufferlab import _core
from bufferlab.evidence.controls.mixes import MIXES, PACKET_BYTES, RTT_S, Mix, alone, scenario_of
from bufferlab.evidence.documents import Work
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.inline import CanceledError, Inline
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import prepare
from bufferlab.results.result import Result
from bufferlab.results.tables import ALL
from bufferlab.studies.size import Demand, Targets, get_rule

WINDOW_PACKETS: Final = 26.0
TARGETS: Final = (0.98, 0.99, 0.995)
FLOWS: Final = (10, 30, 100, 300, 1000)
DURATION_S: Final = 30.0
WARMUP_S: Final = 10.0
GRID_RATIO: Final = 1.25
LARGEST_BDPS: Final = 2.0
_MANY_FLOWS: Final = 300
_RUNS_OF_FEW: Final = 3
_LOOKED_AT: Final = 0.99


@dataclass(frozen=True)
class Minimum:
    """The least buffer for one utilization.

    Attributes:
        utilization: What the buffer must keep.
        simulated: Packets; infinite if twice the BDP is not enough.
        theorem: Theorem 2's, packets; infinite where it has none.
    """

    utilization: float
    simulated: float
    theorem: float


@dataclass(frozen=True)
class Cell:
    """One mix and number of flows.

    Attributes:
        mix: Name of the flows.
        flows: How many.
        stanford: BDP/√n, packets.
        minima: One a target.
        buffer_packets: The least of the grid that keeps 99 %; the following are measured there.
        timeouts_a_flow_s: Timeouts per flow and second.
        characteristic: Standard deviation over mean of a flow's window, root of the mean square over flows.
        theory: The a of Theorem 2.
        synchronization: Deviation of the sum of the windows over that of independent ones: 1 if the flows are
            independent, √n if all fall together.
    """

    mix: str
    flows: int
    stanford: float
    minima: tuple[Minimum, ...]
    buffer_packets: int
    timeouts_a_flow_s: float
    characteristic: float
    theory: float
    synchronization: float


@dataclass(frozen=True)
class Point:
    """What one search is about.

    Attributes:
        mix: The flows' congestion controls.
        flows: How many flows.
        duration_s: Length of the runs, s.
        warmup_s: Measured from here on, s.
    """

    mix: Mix
    flows: int
    duration_s: float = DURATION_S
    warmup_s: float = WARMUP_S


def tables(work: Work) -> dict[str, pl.DataFrame]:
    """The least buffer of each mix, number of flows and target; quick: of ten Reno flows only."""
    mixes = (alone("reno"),) if work.request.quick else MIXES
    counts = FLOWS[:1] if work.request.quick else FLOWS
    points = [Point(mix, flows) for mix in mixes for flows in counts]
    rows = [
        {key: value for key, value in asdict(cell).items() if key != "minima"} | asdict(one)
        for cell in least_buffers(points, work.request.runner())
        for one in cell.minima
    ]
    return {"minimum": pl.DataFrame(rows)}


def least_buffers(points: Sequence[Point], runner: Runner) -> list[Cell]:
    """Search the least buffer of every mix, number of flows and target.

    Raises:
        RunInterrupted: At Ctrl-C.
    """
    experiment = Experiment(
        "least buffers",
        {(point.mix.name, point.flows): point for point in points},
        procedure=search,
        weight=lambda key: float(key[1]),
        parameters=lambda key: {"mix": key[0], "flows": key[1]},
    )
    return [conclude(point, value) for point, value in zip(points, runner.values(experiment), strict=True)]


def search(point: Point, seed: int, control: _core.Control) -> dict[str, Any] | None:
    """The least buffers of one point, by `TARGETS`, and how the flows behave there; `None` if canceled."""
    counts = point.mix.counts(point.flows)
    document = scenario_of(
        counts, window_packets=WINDOW_PACKETS, duration_s=point.duration_s, warmup_s=point.warmup_s
    )
    bdp = WINDOW_PACKETS * point.flows
    steps = math.ceil(math.log(LARGEST_BDPS * bdp) / math.log(GRID_RATIO))
    grid = sorted({round(float(value)) for value in np.geomspace(1, LARGEST_BDPS * bdp, steps + 1)})
    seeds = 1 if point.flows >= _MANY_FLOWS else _RUNS_OF_FEW
    scenario = prepare(document)
    inline = Inline(control)
    known: dict[int, float] = {}

    def mean_utilization(packets: int) -> float:
        if packets not in known:
            case = {packets: scenario.with_overrides({"links[0].buffer": f"{packets} packets"})}
            runs = Experiment("", case, utilization, seeds=range(seed, seed + seeds))
            known[packets] = float(np.mean(inline.values(runs)))
        return known[packets]

    try:
        minima = [interpolated(mean_utilization, grid, target) for target in TARGETS]
        enough = [packets for packets in sorted(known) if known[packets] >= _LOOKED_AT]
        looked_at = enough[0] if enough else grid[-1]
        sampled = prepare(document | {"probes": {"interval": "50 ms", "per_group": max(counts.values())}})
        case = {looked_at: sampled.with_overrides({"links[0].buffer": f"{looked_at} packets"})}
        (behavior,) = inline.values(Experiment("", case, partial(behavior_of, point.warmup_s), seeds=[seed]))
    except CanceledError:
        return None
    return {"minima": minima, "buffer_packets": looked_at, **behavior}


def interpolated(measure: Callable[[int], float], grid: Sequence[int], target: float) -> float:
    """The least size that keeps `target`, by bisection of `grid` and interpolation between its values.

    For a measure without noise, such as the mean over given seeds, that grows with the size. Infinite if
    the largest of the grid does not do.
    """
    first = bisect.bisect_left(grid, True, key=lambda size: measure(size) >= target)
    if first == len(grid):
        return math.inf
    if first == 0:
        return float(grid[0])
    below, above = grid[first - 1], grid[first]
    low, high = measure(below), measure(above)
    share = (target - low) / (high - low)
    return float(below * (above / below) ** share)


def conclude(point: Point, found: dict[str, Any]) -> Cell:
    """What was found, beside theory."""
    counts, flows = point.mix.counts(point.flows), point.flows
    demand = {target: _demand(counts, flows, target) for target in TARGETS}
    return Cell(
        mix=point.mix.name,
        flows=flows,
        stanford=WINDOW_PACKETS * flows / math.sqrt(flows),
        minima=tuple(
            Minimum(target, packets, float(get_rule("heterogeneous").buffer_packets(demand[target])))
            for target, packets in zip(TARGETS, found["minima"], strict=True)
        ),
        buffer_packets=found["buffer_packets"],
        timeouts_a_flow_s=found["timeouts"] / flows / (point.duration_s - point.warmup_s),
        characteristic=found["characteristic"],
        synchronization=found["synchronization"],
        theory=float(demand[_LOOKED_AT].characteristic),
    )


def behavior_of(warmup_s: float, run: Result) -> dict[str, float]:
    """Timeouts of all flows, and the variation of their windows."""
    return {"timeouts": float(run.flows["timeouts"].sum()), **_windows(run, warmup_s)}


def utilization(run: Result) -> float:
    """Share of the link's rate that was used."""
    return float(run.queues.filter(pl.col("group") == ALL)["utilization"][0])


def _demand(counts: dict[str, int], flows: int, target: float) -> Demand:
    return Demand(
        rate_bps=WINDOW_PACKETS * flows * PACKET_BYTES * 8 / RTT_S,
        rtt_s=RTT_S,
        flows=flows,
        packet_bytes=PACKET_BYTES,
        mix=tuple((control, float(count)) for control, count in counts.items()),
        targets=Targets(utilization=target),
    )


def _windows(run: Result, warmup_s: float) -> dict[str, float]:
    samples = run.flow_samples.filter(pl.col("time_s") >= warmup_s)
    window = pl.col("inflight_segments")
    each = samples.group_by("flow").agg(mean=window.mean(), variance=window.var(ddof=0))
    total = samples.group_by("time_s").agg(windows=window.sum())["windows"]
    squares = each["variance"].to_numpy() / np.maximum(each["mean"].to_numpy(), 1e-9) ** 2
    independent = math.sqrt(float(each["variance"].sum()))
    return {
        "characteristic": math.sqrt(float(squares.mean())),
        "synchronization": float(total.to_numpy().std()) / independent if independent else math.nan,
    }
