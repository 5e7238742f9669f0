"""The heterogeneous-TCP document's evaluation (section VIII), simulated: what figures 9 to 12 are drawn from.

198 flows of five congestion controls over an OC-12 with the buffers of (7) and of (14), at the three
bandwidth-delay products. The third is done twice, as Table IV has two: 90 ms and 18 MB, which are 231.5 ms.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bufferlab import _core
from bufferlab.evidence.heterogeneous.hosts import (
    LINUX_HOSTS,
    NS2_HOSTS,
    SAMPLE_S,
    Hosts,
    bdp_packets,
    scenario,
)
from bufferlab.evidence.heterogeneous.ns2 import Ns2Run, ns2_runs
from bufferlab.evidence.heterogeneous.published import TABLE_IV
from bufferlab.evidence.heterogeneous.settings import AS_PUBLISHED, MIX, RATE_BPS, VARIANTS, Variant
from bufferlab.evidence.points import means_of_points
from bufferlab.evidence.registry import Request
from bufferlab.experiment.batch import run_batch
from bufferlab.experiment.simulation import prepare, simulate
from bufferlab.results.result import Result
from bufferlab.theory import heterogeneous as theory

Rule = Literal["utilization", "both"]
"""(7), Theorem 2, or (14), with the loss bound as well."""

MAX_LOSS: Final = 0.01
"""phi of the evaluation."""

_THIRD_STATED_MS: Final = TABLE_IV[2][1] * 1e6 * 8.0 / RATE_BPS * 1e3
ROUND_TRIPS_MS: Final = (*(rtt for rtt, _ in TABLE_IV), round(_THIRD_STATED_MS, 1))
"""Table IV's round-trip times, and that of the 18 MB which it gives for 90 ms."""

KEYS: Final = ("hosts", "variant", "rtt_ms", "buffer_packets")
MEASURES: Final = (
    "utilization", "utilization_low", "utilization_high", "loss", "mean_windows", "deviation",
    "deviation_independent", "share_above_bdp", "share_within_loss", "mean_over_bound",
    "bound_10_packets", "timeouts_per_flow_s", "drops_per_recovery", "wait_mean_ms",
)  # fmt: skip
"""What `_measure` finds; windows in packets, shares of the samples."""


@dataclass(frozen=True)
class _Effort:
    duration_s: float
    warmup_s: float
    seeds: int


_FULL: Final = _Effort(120.0, 30.0, 4)
_QUICK: Final = _Effort(12.0, 6.0, 1)
_UTILIZATION_S: Final = 1.0
"""Highest and lowest utilization are those of such intervals; the document does not say its own."""


@dataclass(frozen=True)
class Evaluation:
    """All runs for one rule.

    Attributes:
        runs: One row a run.
        points: One row a setting: means over the seeds, see `bufferlab.evidence.points`.
        windows: One row a setting and congestion control: its flows' windows and rates, means over seeds.
        ns2: ns-2's runs, with the same measures where it has them.
        notes: Settings.
    """

    runs: pl.DataFrame
    points: pl.DataFrame
    windows: pl.DataFrame
    ns2: pl.DataFrame
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Case:
    hosts: Hosts
    variant: Variant
    rtt_ms: float
    buffer_packets: int

    @property
    def labels(self) -> dict[str, Any]:
        values = (self.hosts.name, self.variant.name, self.rtt_ms, self.buffer_packets)
        return dict(zip(KEYS, values, strict=True))


def rule_packets(rule: Rule, variant: Variant, rtt_ms: float) -> int:
    """The buffer of (7) or (14) for the document's mix, in whole packets.

    Args:
        rule: Which of the two.
        variant: Gives characteristic values and z.
        rtt_ms: Round-trip time, ms.
    """
    a = theory.mix_characteristic([variant.characteristics[name] for name in MIX], list(MIX.values()))
    spread = theory.relative_deviation(a, sum(MIX.values()))
    bdp = bdp_packets(rtt_ms)
    if rule == "utilization":
        return round(float(theory.utilization_buffer(bdp, spread, variant.z)))
    return round(float(theory.combined_buffer(bdp, spread, variant.z, variant.z, MAX_LOSS)))


@lru_cache(maxsize=4)
def evaluate(rule: Rule, request: Request) -> Evaluation:
    """Simulate all settings of a rule; two figures are drawn from each, so the answer is kept.

    Args:
        rule: (7) or (14).
        request: How to reproduce.
    """
    effort = _QUICK if request.quick else _FULL
    seeds = range(1, (request.seeds or effort.seeds) + 1)
    cases = _cases(rule)
    scenarios = {
        index: prepare(
            scenario(
                case.hosts.groups(case.rtt_ms),
                case.buffer_packets,
                effort.duration_s,
                effort.warmup_s,
                SAMPLE_S,
            )
        )
        for index, case in enumerate(cases)
    }

    def task(which: tuple[int, int], control: _core.Control) -> tuple[dict[str, Any], pl.DataFrame] | None:
        index, seed = which
        result = simulate(scenarios[index], seed, control)
        return None if result is None else _measure(cases[index], result)

    done = run_batch(
        task,
        list(itertools.product(scenarios, seeds)),
        title=f"heterogeneous, {'(7)' if rule == 'utilization' else '(14)'}",
        threads=request.threads,
        progress=request.progress,
    )
    runs = pl.DataFrame([row for row, _ in done], infer_schema_length=None)
    return Evaluation(
        runs=runs,
        points=means_of_points(runs, KEYS, MEASURES),
        windows=_windows_of_points([windows for _, windows in done]),
        ns2=_ns2_points([run for run in ns2_runs() if run.rule == rule]),
        notes=_notes(effort, len(seeds), quick=request.quick),
    )


def _cases(rule: Rule) -> list[_Case]:
    own = [
        _Case(hosts, variant, rtt_ms, rule_packets(rule, variant, rtt_ms))
        for hosts in LINUX_HOSTS
        for variant in VARIANTS
        for rtt_ms in ROUND_TRIPS_MS
    ]
    # ns-2 drops if L packets would wait, so L - 1 may
    settings = dict.fromkeys((run.rtt_ms, run.limit_packets - 1) for run in ns2_runs() if run.rule == rule)
    return own + [
        _Case(hosts, AS_PUBLISHED, rtt_ms, packets) for hosts in NS2_HOSTS for rtt_ms, packets in settings
    ]


def _measure(case: _Case, result: Result) -> tuple[dict[str, Any], pl.DataFrame]:
    flows = _flow_moments(result)
    windows = sum_of_windows(result)
    queue = result.queues.filter(pl.col("group") == "all").row(0, named=True)
    seconds = _utilizations(result)
    moments = {
        "utilization": queue["utilization"],
        "utilization_low": float(seconds.min()),
        "utilization_high": float(seconds.max()),
        "loss": queue["loss"],
        "mean_windows": float(windows.mean()),
        "deviation": float(windows.std()),
        "deviation_independent": float(flows["variance"].sum()) ** 0.5,
    }
    measured_s = result.measured_s * result.flows.height
    row = {
        **moments,
        **bounds(moments, bdp_packets(case.rtt_ms), case.variant.z),
        "share_above_bdp": float((windows >= bdp_packets(case.rtt_ms)).mean()),
        "share_within_loss": float(
            (windows * (1.0 - MAX_LOSS) <= bdp_packets(case.rtt_ms) + case.buffer_packets).mean()
        ),
        "timeouts_per_flow_s": float(result.flows["timeouts"].sum()) / measured_s,
        "drops_per_recovery": queue["dropped_packets"] / max(int(result.flows["recoveries"].sum()), 1),
        "wait_mean_ms": queue["wait_mean_ms"],
    }
    labels = [pl.lit(value).alias(name) for name, value in case.labels.items()]
    return case.labels | {"seed": result.seed} | row, _by_control(flows).select(*labels, pl.all())


def bounds(moments: dict[str, float], bdp: float, z: float) -> dict[str, float]:
    """Measured mu over (1)'s bound, and (10)'s bound of the buffer in packets."""
    mean, deviation = moments["mean_windows"], moments["deviation"]
    return {
        "mean_over_bound": mean / float(theory.least_mean_by_deviation(bdp, deviation, z)),
        "bound_10_packets": float(theory.loss_buffer_by_moments(bdp, mean, deviation, z, MAX_LOSS)),
    }


def sum_of_windows(result: Result) -> NDArray[np.float64]:
    """W at each sample of the measured window, packets."""
    samples = result.flow_samples.filter(pl.col("time_s") > result.warmup_s)
    sums = samples.group_by("time_s", maintain_order=True).agg(pl.col("cwnd_segments").cast(pl.Float64).sum())
    return sums["cwnd_segments"].to_numpy()


def _utilizations(result: Result) -> NDArray[np.float64]:
    """Utilization of each interval of `_UTILIZATION_S` of the measured window."""
    every = round(_UTILIZATION_S / SAMPLE_S)
    sent = result.queue_samples.filter(pl.col("time_s") >= result.warmup_s)["departed_bytes"]
    steps = np.diff(sent.cast(pl.Float64).to_numpy()[::every])
    return np.asarray(steps * 8.0 / (RATE_BPS * _UTILIZATION_S), dtype=np.float64)


def _flow_moments(result: Result) -> pl.DataFrame:
    """Mean and variance of each flow's window, and its goodput."""
    window = pl.col("cwnd_segments").cast(pl.Float64)
    samples = result.flow_samples.filter(pl.col("time_s") > result.warmup_s)
    moments = samples.group_by("flow", "group", maintain_order=True).agg(
        window.mean().alias("mean"), window.var(ddof=0).alias("variance")
    )
    return moments.join(result.flows.select("flow", "goodput_bps"), on="flow", maintain_order="left")


def _by_control(flows: pl.DataFrame) -> pl.DataFrame:
    return flows.group_by("group", maintain_order=True).agg(
        pl.len().alias("flows"),
        pl.col("mean").mean().alias("window_mean"),
        (pl.col("variance").mean().sqrt() / pl.col("mean").mean()).alias("characteristic"),
        (pl.col("goodput_bps").mean() / 1e6).alias("goodput_mbps"),
    )


def _windows_of_points(windows: Sequence[pl.DataFrame]) -> pl.DataFrame:
    values = pl.col("flows", "window_mean", "characteristic", "goodput_mbps")
    means = pl.concat(windows).group_by(*KEYS, "group", maintain_order=True).agg(values.mean())
    names = {name.replace(".", "_"): name for name in MIX}
    published = pl.col("group").replace_strict(names).alias("control")
    tabled = [
        published.replace_strict(variant.characteristics).alias(f"characteristic_{label}")
        for variant, label in zip(VARIANTS, ("table_iii", "by_4_and_5"), strict=True)
    ]
    return means.with_columns(published, *tabled).drop("group")


def _ns2_points(runs: Sequence[Ns2Run]) -> pl.DataFrame:
    rows = []
    for run in runs:
        moments = {"mean_windows": run.mean_windows, "deviation": run.deviation}
        rows.append(
            {
                "rtt_ms": run.rtt_ms,
                "spread": run.spread,
                "limit_packets": run.limit_packets,
                "utilization": run.utilization,
                "loss": run.loss,
                **moments,
                **bounds(moments, bdp_packets(run.rtt_ms), AS_PUBLISHED.z),
            }
        )
    frame = pl.DataFrame(rows)
    keys = ("rtt_ms", "spread", "limit_packets")
    return means_of_points(frame, keys, [name for name in frame.columns if name not in keys])


def _notes(effort: _Effort, seeds: int, *, quick: bool) -> tuple[str, ...]:
    notes = [
        "OC-12 of 622 Mbps, packets of 1500 bytes, 42 RENO, 51 BIC, 30 CUBIC', 41 CUBIC'' and 34 CTCP "
        f"flows; {seeds} runs a point of {effort.duration_s:g} s, measured from {effort.warmup_s:g} s, "
        "starts uniform in 0 … 5 s.",
        "Hosts as Linux 2.6's: delayed acknowledgments, Linux's recovery, a timeout 200 ms above the "
        "smoothed round trip. 'in step': one round-trip time and nothing random but the starts; 'jitter': "
        "up to 1 ms in the senders; 'spread': round-trip times of ± 20 %. How the document's flows were is "
        "not known.",
        f"W is the sum of the congestion windows, read each {SAMPLE_S * 1e3:g} ms; highest and lowest "
        "utilization are those of one second.",
        "as_published: buffers and bounds with Table III and z = 2.05; corrected: by (4) and (5), with z = "
        "2.326.",
        "BDP3 is done twice: with Table IV's 90 ms (7.0 MB), and with its 18 MB (231.5 ms).",
        "ns-2: Agent/TCP/Linux, an acknowledgment a packet, 71 CUBIC' for both CUBICs, ± 20 % over twenty "
        'round-trip times, 231 ms for 231.5. The hosts named "ns-2\'s" are ours with these settings and '
        "buffers.",
    ]
    if quick:
        notes.append("Quick: one short run a point: shows that it works, not what the document found.")
    return tuple(notes)
