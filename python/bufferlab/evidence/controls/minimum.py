"""The least buffer that keeps a link busy: simulated, by Theorem 2 and by BDP/√n.

The link grows with the number of flows, so that the bandwidth-delay product is 26 packets a flow, what the
OC-12 of P. Yang, E. Zhang and L. Xu (2013) with 200 flows has: windows stay of a size at which losses are
repaired without timeouts. Buffers are searched by bisection on a geometric grid, with the same seeds (starts,
round-trip times) for each, and interpolated between the last that fails and the first that does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from bufferlab import _core
from bufferlab.evidence.controls.mixes import PACKET_BYTES, RTT_S, Mix, scenario_of
from bufferlab.experiment.batch import run_batch
from bufferlab.experiment.simulation import prepare, simulate
from bufferlab.results.frames import ALL
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario
from bufferlab.studies.search.plain import interpolated
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
        utilization: What the buffer shall keep.
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
            independent, √n in step.
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


def least_buffers(
    mixes: tuple[Mix, ...],
    flow_counts: tuple[int, ...] = FLOWS,
    *,
    duration_s: float = DURATION_S,
    warmup_s: float = WARMUP_S,
    threads: int | None = None,
    progress: bool | None = None,
) -> list[Cell]:
    """Search the least buffer of every mix, number of flows and target.

    Raises:
        BatchInterrupted: At Ctrl-C.
    """
    tasks = [(mix, flows) for mix in mixes for flows in flow_counts]
    return run_batch(
        lambda task, control: _search(*task, duration_s, warmup_s, control),
        tasks,
        title="least buffers",
        threads=threads,
        progress=progress,
        weights=[float(flows) for _, flows in tasks],
    )


class _CanceledError(Exception):
    """A run was canceled."""


def _search(mix: Mix, flows: int, duration_s: float, warmup_s: float, control: _core.Control) -> Cell | None:
    counts = mix.counts(flows)
    document = scenario_of(counts, window_packets=WINDOW_PACKETS, duration_s=duration_s, warmup_s=warmup_s)
    bdp = WINDOW_PACKETS * flows
    steps = math.ceil(math.log(LARGEST_BDPS * bdp) / math.log(GRID_RATIO))
    grid = sorted({round(float(value)) for value in np.geomspace(1, LARGEST_BDPS * bdp, steps + 1)})
    seeds = range(1, 2 if flows >= _MANY_FLOWS else 1 + _RUNS_OF_FEW)
    scenario = prepare(document)
    known: dict[int, float] = {}

    def utilization(packets: int) -> float:
        if packets not in known:
            runs = [_run(scenario, packets, seed, control) for seed in seeds]
            known[packets] = float(np.mean([_utilization(run) for run in runs]))
        return known[packets]

    try:
        minima = {target: interpolated(utilization, grid, target) for target in TARGETS}
        enough = [packets for packets in sorted(known) if known[packets] >= _LOOKED_AT]
        looked_at = enough[0] if enough else grid[-1]
        sampled = prepare(document | {"probes": {"interval": "50 ms", "per_group": max(counts.values())}})
        run = _run(sampled, looked_at, 1, control)
    except _CanceledError:
        return None
    demand = {target: _demand(counts, flows, target) for target in TARGETS}
    return Cell(
        mix=mix.name,
        flows=flows,
        stanford=bdp / math.sqrt(flows),
        minima=tuple(
            Minimum(target, packets, float(get_rule("heterogeneous").buffer_packets(demand[target])))
            for target, packets in minima.items()
        ),
        buffer_packets=looked_at,
        timeouts_a_flow_s=float(run.flows["timeouts"].sum()) / flows / (duration_s - warmup_s),
        **_windows(run, warmup_s),
        theory=float(demand[_LOOKED_AT].characteristic),
    )


def _run(scenario: Scenario, packets: int, seed: int, control: _core.Control) -> Result:
    run = simulate(scenario.with_overrides({"links[0].buffer": f"{packets} packets"}), seed, control)
    if run is None:
        raise _CanceledError
    return run


def _utilization(run: Result) -> float:
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
