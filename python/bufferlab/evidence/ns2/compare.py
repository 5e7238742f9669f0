"""Whether our runs of a setting agree with ns-2's, by tolerances that follow from what decides a run.

Each setting belongs to a class (`class_of`). A class says how it is run (which circumstances that ns-2
leaves to rounding or chance are varied), by which criterion it is judged, and which difference is of no
consequence (the floor, for each metric). Criteria:

- `paired`: run by run, with ns-2's own start times; the worst run counts.
- `bracket`: ns-2's mean lies between our least and most over the varied circumstances.
- `scatter`: the difference of the means over seeds is within the 99.9 % Student interval of such a
difference.
  Where ns-2 ran one seed its scatter is taken to be ours.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from bufferlab.evidence.ns2.equivalent import AS_IS, Variant
from bufferlab.evidence.ns2.reference import Setting

CONFIDENCE = 0.999
CLOCK_TICK_MS = 10
FEW_FLOWS = 10
"""So few flows of Agent/TCP/Linux may lock others out."""


@dataclass(frozen=True)
class Metric:
    """A quantity that is compared.

    Attributes:
        name: Key of the measurements.
        label: For tables, with its unit.
        relative: Whether floors are fractions of ns-2's value (else in the metric's own unit).
        resolution: Differences below this are never counted, in the metric's unit.
    """

    name: str
    label: str
    relative: bool
    resolution: float = 0.0


METRICS = (
    Metric("utilization", "utilization", relative=False),
    Metric("mean_queue_packets", "mean queue, packets", relative=True, resolution=0.1),
    Metric("queueing_delay1_ms", "delay 1, ms", relative=True, resolution=0.02),
    Metric("queueing_delay2_ms", "delay 2, ms", relative=True, resolution=0.02),
    Metric("loss1", "loss 1", relative=True, resolution=1e-6),
    Metric("loss2", "loss 2", relative=True, resolution=1e-6),
    Metric("share1", "share of type 1", relative=False),
    Metric("share_reno", "share of reno", relative=False),
    Metric("share_bic", "share of bic", relative=False),
    Metric("share_cubic", "share of cubic", relative=False),
    Metric("share_compound", "share of compound", relative=False),
)
"""Shares are derived: type 1's part of the goodput and, in mixes, that of the flows of each control."""


@dataclass(frozen=True)
class RowClass:
    """Settings that the same thing decides.

    Attributes:
        name: Short name.
        reason: What decides these runs, hence how they are run and judged.
        criterion: See the module's documentation.
        variants: Circumstances in which each seed is run.
        floors: Metric → tolerated difference, relative or absolute as the metric says.
        least_seeds: Runs that scatter needs, if ns-2 has fewer.
    """

    name: str
    reason: str
    criterion: Literal["paired", "bracket", "scatter"]
    variants: tuple[Variant, ...]
    floors: dict[str, float]
    least_seeds: int = 1


def _floors(utilization: float, queue: float, loss: float, share: float) -> dict[str, float]:
    delays = dict.fromkeys(("mean_queue_packets", "queueing_delay1_ms", "queueing_delay2_ms"), queue)
    shares = {metric.name: share for metric in METRICS if metric.name.startswith("share")}
    return {"utilization": utilization, "loss1": loss, "loss2": loss, **shares, **delays}


EXACT = RowClass(
    "exact",
    "Nothing is random but the start times, which are ns-2's, and no two events that matter share a moment: "
    "both simulators must do the same packet by packet.",
    "paired",
    (AS_IS,),
    _floors(utilization=1e-5, queue=5e-4, loss=1e-3, share=1e-4),
)
SINGLE = RowClass(
    "single",
    "One flow. ns-2's clock of 10 ms ticks has a random phase, and whether a timeout comes a tick earlier "
    "can decide a run: all ten phases are run, and ns-2's must be among them.",
    "bracket",
    tuple(Variant(later_ms=phase) for phase in range(CLOCK_TICK_MS)),
    _floors(utilization=1e-3, queue=2e-3, loss=1e-2, share=0.0),
)
TIED = RowClass(
    "tied",
    "Both round-trip times are whole multiples of a packet's transmission time: acknowledgments of both "
    "types meet at the same moment, and who goes first decides every loss. Rounding decides in ns-2, now "
    "so, now so; here both orders are run, and ns-2 must lie between them.",
    "bracket",
    (Variant(second_first_ps=1), Variant(second_first_ps=-1)),
    _floors(utilization=1e-3, queue=1e-2, loss=5e-2, share=5e-3),
    least_seeds=3,
)
SYNCHRONIZED = RowClass(
    "synchronized",
    "Equal round-trip times without jitter: flows move together, and arrivals meet departures at the same "
    "moment, which rounding decides in ns-2; here senders wait up to 1 ns, so that chance does.",
    "scatter",
    (Variant(noise_ns=1),),
    _floors(utilization=5e-3, queue=3e-2, loss=3e-2, share=1e-2),
    least_seeds=8,
)
AVERAGED = RowClass(
    "averaged",
    "Sender jitter or spread round-trip times keep flows out of step: means over many flows and cuts.",
    "scatter",
    (AS_IS,),
    _floors(utilization=5e-3, queue=3e-2, loss=3e-2, share=1e-2),
    least_seeds=8,
)
CHAOTIC = RowClass(
    "chaotic",
    "Deterministic, but sooner or later a tie or the phase of ns-2's clock decides a loss (in one of these "
    "settings after 322 s of identical packets), and from then on the runs part: only distributions over "
    "start times compare.",
    "scatter",
    (Variant(noise_ns=1),),
    _floors(utilization=2e-3, queue=2e-2, loss=5e-2, share=1e-2),
    least_seeds=5,
)
KERNEL = RowClass(
    "kernel",
    "Agent/TCP/Linux: window growth of Linux 2.6.22, with a recovery of ns-2's own; here today's Linux "
    "recovery and the control as Linux has it now (BIC and CUBIC' as 2.6 had them). Not the same TCP, so "
    "only figures that a buffer is sized by are compared, with wide floors.",
    "scatter",
    (AS_IS,),
    _floors(utilization=2e-2, queue=0.1, loss=0.15, share=5e-2),
    least_seeds=5,
)
LOCKED = RowClass(
    "locked",
    "As kernel, with ten flows. Where in the time between two departures an ack-clocked flow's packets come "
    "decides whether it ever finds the buffer full, so a few flows may take half of the link: the round "
    "trips are made longer by six parts of a packet's transmission (77 us), and ns-2 must lie within what "
    "that gives.",
    "bracket",
    tuple(Variant(further_us=shift) for shift in range(0, 77, 13)),
    KERNEL.floors,
    least_seeds=3,
)
CLASSES = (EXACT, SINGLE, TIED, SYNCHRONIZED, AVERAGED, CHAOTIC, KERNEL, LOCKED)


def class_of(setting: Setting) -> RowClass:
    """The class that a setting belongs to."""
    if setting.stack.startswith("linux-"):
        return LOCKED if setting.flows <= FEW_FLOWS else KERNEL
    if setting.flows == 1:
        return SINGLE
    if setting.option("overhead") or setting.option("spread"):
        return AVERAGED
    if is_tied(setting):
        return TIED
    exact = {
        "fig1": setting.stack == "sack1",
        "fig4": setting.flows == 2 and setting.rtt_ms[0] == setting.rtt_ms[1],
    }
    family = "fig1" if setting.scenario.startswith("fig1") else setting.scenario
    if family in exact:
        return EXACT if exact[family] else CHAOTIC
    return SYNCHRONIZED


def is_tied(setting: Setting) -> bool:
    """Whether packets of both types come at the same moments: both RTTs are multiples of a transmission."""
    packet_us = setting.wire_bytes * 8 / setting.rate_bps * 1e6
    first, second = (rtt * 1e3 / packet_us for rtt in setting.rtt_ms)
    apart = abs(second - first)
    return apart > 0 and abs(apart - round(apart)) < 1e-6


@dataclass(frozen=True)
class Comparison:
    """One metric of one setting.

    Attributes:
        metric: What.
        ns2: ns-2's mean over its seeds.
        ours: Our mean over all runs.
        ns2_range: ns-2's least and most.
        ours_range: Our least and most.
        difference: What the criterion looks at: worst run's difference, distance from the bracket, or
            difference of the means.
        tolerance: What it may be.
    """

    metric: Metric
    ns2: float
    ours: float
    ns2_range: tuple[float, float]
    ours_range: tuple[float, float]
    difference: float
    tolerance: float

    @property
    def agrees(self) -> bool:
        """Whether the difference is within tolerance."""
        return abs(self.difference) <= self.tolerance


def compare(
    row_class: RowClass, metric: Metric, ns2: Sequence[float], ours: Sequence[Sequence[float]]
) -> Comparison:
    """Compare one metric.

    Args:
        row_class: Gives criterion and floor.
        metric: Which.
        ns2: ns-2's values, one a seed, at least one.
        ours: Our values, for each seed one a variant; the first seeds are ns-2's.
    """
    theirs = np.asarray(ns2, dtype=np.float64)
    mine = np.asarray(ours, dtype=np.float64)
    allowed = row_class.floors[metric.name]
    floor = max(allowed * abs(float(theirs.mean())) if metric.relative else allowed, metric.resolution)
    difference, tolerance = _JUDGES[row_class.criterion](theirs, mine, floor)
    return Comparison(
        metric=metric,
        ns2=float(theirs.mean()),
        ours=float(mine.mean()),
        ns2_range=(float(theirs.min()), float(theirs.max())),
        ours_range=(float(mine.min()), float(mine.max())),
        difference=difference,
        tolerance=tolerance,
    )


_Floats = NDArray[np.float64]


def _paired(theirs: _Floats, mine: _Floats, floor: float) -> tuple[float, float]:
    apart = mine[: theirs.size, 0] - theirs
    return float(apart[np.argmax(np.abs(apart))]), floor


def _bracket(theirs: _Floats, mine: _Floats, floor: float) -> tuple[float, float]:
    mean = float(theirs.mean())
    return float(np.clip(mean, mine.min(), mine.max()) - mean), floor


def _scatter(theirs: _Floats, mine: _Floats, floor: float) -> tuple[float, float]:
    sample = mine.mean(axis=1)
    return float(sample.mean() - theirs.mean()), max(floor, scatter_of_difference(theirs, sample))


_JUDGES = {"paired": _paired, "bracket": _bracket, "scatter": _scatter}


def scatter_of_difference(first: _Floats, second: _Floats) -> float:
    """Half width of the interval of the difference of two means, by Student's t with pooled variance.

    0 if neither side has two values, for nothing is known of the scatter then.
    """
    sides = [side for side in (first, second) if side.size > 1]
    freedom = sum(side.size - 1 for side in sides)
    if freedom == 0:
        return 0.0
    variance = sum(float(side.var(ddof=1)) * (side.size - 1) for side in sides) / freedom
    quantile = float(stdtrit(freedom, 0.5 + CONFIDENCE / 2))
    return quantile * math.sqrt(variance * (1 / first.size + 1 / second.size))


def with_share(values: dict[str, float], setting: Setting) -> dict[str, float]:
    """The measurements of a run and shares of the goodput: type 1's, and in a mix each control's."""
    if "goodput2_mbps" not in values:
        return values
    first, second = (values[f"goodput{kind + 1}_mbps"] * setting.flow_counts[kind] for kind in (0, 1))
    total = first + second if first + second > 0 else math.nan
    shares = {"share1": first / total}
    if setting.stack == "linux-mix":
        for name, flows in Counter(setting.control_of).items():
            shares[f"share_{name}"] = values[f"goodput_{name}_mbps"] * flows / total
    return values | shares
