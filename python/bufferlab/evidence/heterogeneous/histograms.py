"""The heterogeneous-TCP document's figure 1: how normal the sum of the windows is, for 10 to 200 flows.

The text gives the link (OC-12, 100 ms) and the numbers of flows, "from 10 to 200", but neither protocol nor
buffer: here RENO alone and the mix of section VIII, with the buffer of (7).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import special

from bufferlab import _core
from bufferlab.evidence.heterogeneous.evaluation import sum_of_windows
from bufferlab.evidence.heterogeneous.histogram_figure import draw_histograms
from bufferlab.evidence.heterogeneous.hosts import LINUX_HOSTS, Hosts, bdp_packets, scenario
from bufferlab.evidence.heterogeneous.settings import AS_PUBLISHED, CITATION, MIX, RTT_S
from bufferlab.evidence.points import means_of_points
from bufferlab.evidence.registry import Reproduced, Request, reproduction
from bufferlab.experiment.batch import run_batch
from bufferlab.experiment.simulation import prepare, simulate
from bufferlab.theory import heterogeneous as theory

RTT_MS: Final = RTT_S * 1e3
_KEYS: Final = ("protocols", "hosts", "flows", "buffer_packets", "predicted_spread")
_MEASURES: Final = ("mean_over_bdp", "spread", "distance", "skewness", "excess_kurtosis", "utilization")
_BINS: Final = 40
_SAMPLE_S: Final = RTT_S


@dataclass(frozen=True)
class _Effort:
    flows: tuple[int, ...]
    protocols: tuple[str, ...]
    duration_s: float
    warmup_s: float
    seeds: int


_FULL: Final = _Effort((10, 50, 100, 200), ("reno", "mix"), 400.0, 100.0, 3)
_QUICK: Final = _Effort((10, 200), ("reno",), 40.0, 20.0, 1)


@dataclass(frozen=True)
class _Case:
    protocols: str
    hosts: Hosts
    flows: int

    @property
    def counts(self) -> dict[str, int]:
        """Flows of each congestion control."""
        return {"reno": self.flows} if self.protocols == "reno" else shares(MIX, self.flows)

    @property
    def predicted_spread(self) -> float:
        """(6): delta/mu by Table III."""
        counts = self.counts
        a = theory.mix_characteristic(
            [AS_PUBLISHED.characteristics[name] for name in counts], list(counts.values())
        )
        return float(theory.relative_deviation(a, self.flows))

    @property
    def buffer_packets(self) -> int:
        """(7), as published."""
        return round(
            float(theory.utilization_buffer(bdp_packets(RTT_MS), self.predicted_spread, AS_PUBLISHED.z))
        )

    @property
    def labels(self) -> dict[str, Any]:
        values = (self.protocols, self.hosts.name, self.flows, self.buffer_packets, self.predicted_spread)
        return dict(zip(_KEYS, values, strict=True))


@reproduction(
    name="heterogeneous/fig1",
    title="Histograms of the sum of the windows, 10 to 200 flows, against the normal distribution",
    citation=CITATION,
)
def fig1(request: Request) -> Reproduced:
    """Histograms, and how far they are from a normal distribution of the same mean and deviation."""
    effort = _QUICK if request.quick else _FULL
    seeds = request.seeds or effort.seeds
    cases = [
        _Case(protocols, hosts, flows)
        for protocols in effort.protocols
        for hosts in LINUX_HOSTS
        for flows in effort.flows
    ]
    done = _simulate(cases, effort, seeds, request)
    runs = pl.DataFrame([row for row, _ in done], infer_schema_length=None)
    points = means_of_points(runs, _KEYS, _MEASURES)
    bins = pl.concat(
        [
            _histogram(case, np.concatenate([sums for _, sums in done[index * seeds : (index + 1) * seeds]]))
            for index, case in enumerate(cases)
        ]
    )
    figures = {
        name: draw_histograms(bins.filter(pl.col("protocols") == protocols))
        for protocols, name in (("reno", "fig1"), ("mix", "fig1-mix"))
        if protocols in effort.protocols
    }
    return Reproduced(
        name="heterogeneous/fig1",
        tables={"runs": runs, "points": points, "histograms": bins},
        figures=figures,
        comparison=_compare(points, effort.flows),
        notes=_notes(effort, seeds, quick=request.quick),
    )


def shares(mix: dict[str, int], flows: int) -> dict[str, int]:
    """A mix scaled to a number of flows: whole numbers, the largest remainders rounded up.

    Args:
        mix: Flows of each congestion control.
        flows: How many there shall be.
    """
    exact = {name: count * flows / sum(mix.values()) for name, count in mix.items()}
    whole = {name: int(value) for name, value in exact.items()}
    by_rest = sorted(exact, key=lambda name: whole[name] - exact[name])
    for name in by_rest[: flows - sum(whole.values())]:
        whole[name] += 1
    return whole


def normality(sums: NDArray[np.float64]) -> dict[str, float]:
    """How far samples are from a normal distribution of their own mean and standard deviation.

    Returns:
        The largest difference of the distribution functions (Kolmogorov and Smirnov's, not their test, as
        samples depend on each other), skewness and excess kurtosis: 0 each for a normal distribution.
    """
    scores = np.sort((sums - sums.mean()) / sums.std())
    below = special.ndtr(scores)
    steps = np.arange(scores.size + 1) / scores.size
    return {
        "distance": float(max((steps[1:] - below).max(), (below - steps[:-1]).max())),
        "skewness": float((scores**3).mean()),
        "excess_kurtosis": float((scores**4).mean() - 3.0),
    }


def _simulate(
    cases: list[_Case], effort: _Effort, seeds: int, request: Request
) -> list[tuple[dict[str, Any], NDArray[np.float64]]]:
    scenarios = [
        prepare(
            scenario(
                case.hosts.groups(RTT_MS, case.counts),
                case.buffer_packets,
                effort.duration_s,
                effort.warmup_s,
                _SAMPLE_S,
            )
        )
        for case in cases
    ]

    def task(
        which: tuple[int, int], control: _core.Control
    ) -> tuple[dict[str, Any], NDArray[np.float64]] | None:
        index, seed = which
        result = simulate(scenarios[index], seed, control)
        if result is None:
            return None
        sums = sum_of_windows(result) / bdp_packets(RTT_MS)
        row = {"mean_over_bdp": float(sums.mean()), "spread": float(sums.std() / sums.mean())}
        queue = result.queues.filter(pl.col("group") == "all").row(0, named=True)
        row |= normality(sums) | {"utilization": queue["utilization"]}
        return cases[index].labels | {"seed": seed} | row, sums

    return run_batch(
        task,
        list(itertools.product(range(len(cases)), range(1, seeds + 1))),
        title="heterogeneous/fig1",
        threads=request.threads,
        progress=request.progress,
    )


def _histogram(case: _Case, sums: NDArray[np.float64]) -> pl.DataFrame:
    """Densities of all seeds' samples, and the normal density in the middle of each bin."""
    density, edges = np.histogram(sums, bins=_BINS, density=True)
    scores = ((edges[1:] + edges[:-1]) / 2.0 - sums.mean()) / sums.std()
    normal = np.exp(-(scores**2) / 2.0) / (sums.std() * np.sqrt(2.0 * np.pi))
    return pl.DataFrame(
        {
            "protocols": [case.protocols] * _BINS,
            "hosts": [case.hosts.name] * _BINS,
            "flows": [case.flows] * _BINS,
            "w_over_bdp_from": edges[:-1],
            "w_over_bdp_to": edges[1:],
            "density": density,
            "normal_density": normal,
        }
    )


def _compare(points: pl.DataFrame, flows: tuple[int, ...]) -> pl.DataFrame:
    rows = []
    for protocols, hosts in itertools.product(
        points["protocols"].unique(maintain_order=True), points["hosts"].unique(maintain_order=True)
    ):
        of_these = points.filter(pl.col("protocols") == protocols, pl.col("hosts") == hosts)
        for count in (flows[0], flows[-1]):
            point = of_these.row(by_predicate=pl.col("flows") == count, named=True)
            rows += [
                _row(point, "distance", f"{protocols}, {count} flows: distance from normal", "falls with n"),
                _row(
                    point,
                    "spread",
                    f"{protocols}, {count} flows: delta/mu",
                    f"{point['predicted_spread']:.4f} by (6)",
                ),
            ]
    return pl.DataFrame(rows)


def _row(point: dict[str, Any], column: str, what: str, published: str) -> dict[str, Any]:
    return {
        "what": what,
        "hosts": point["hosts"],
        "published": published,
        "ours": point[column],
        "ours_min": point[f"{column}_min"],
        "ours_max": point[f"{column}_max"],
        "why": _WHY[column],
    }


_WHY: Final = {
    "distance": (
        "The document shows histograms and no numbers. Flows in step halve their windows together: their "
        "sum is a sawtooth, near uniform, however many they are. With round-trip times that differ the mix "
        "comes near a normal distribution from 50 flows on; RENO alone stays skewed, as all its flows lose "
        "when the buffer overflows."
    ),
    "spread": (
        "(6) has delta fall as 1/sqrt n because windows are independent, with Table III's deviation of a "
        "window that meets its loss at the same w_max each time. Neither holds, see figure 10."
    ),
}


def _notes(effort: _Effort, seeds: int, *, quick: bool) -> tuple[str, ...]:
    notes = [
        f"OC-12 of 622 Mbps, 100 ms, {seeds} runs a point of {effort.duration_s:g} s, measured from "
        f"{effort.warmup_s:g} s; W, the sum of all congestion windows, is read each {_SAMPLE_S * 1e3:g} ms.",
        "Neither protocol nor buffer are in the text: RENO alone (fig1) and section VIII's mix (fig1-mix), "
        "the buffer by (7) as published for that number of flows.",
        "Hosts as Linux 2.6's; 'in step', 'jitter' and 'spread' as for figure 9.",
        "distance: the largest difference between W's distribution function and that of a normal "
        "distribution with W's mean and deviation; 0.06 for a uniform distribution.",
    ]
    if quick:
        notes.append("Quick: one short run a point: shows that it works, not what the document found.")
    return tuple(notes)
