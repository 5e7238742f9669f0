"""Section VIII: W, the sum of the windows, and what (1), (6), (7), (10) and (14) say about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bufferlab.evidence.documents import Work
from bufferlab.evidence.heterogeneous.settings import (
    AS_PUBLISHED,
    CORRECTED,
    MAX_LOSS,
    MIX,
    RATE_BPS,
    VARIANTS,
    WIRE_BYTES,
    bdp_packets,
)
from bufferlab.results.result import Result
from bufferlab.theory import heterogeneous as theory

Keys = Mapping[str, Any]

_UTILIZATION_S: Final = 1.0
"""Highest and lowest utilization are those of such intervals; the document does not say its own."""

_NS2_HOSTS: Final = "ns-2's"
"""Begins the names of hosts that are compared with ns-2's runs."""


def utilization_buffer(keys: Keys) -> dict[str, int]:
    """The buffer of (7) at a point."""
    packets = VARIANTS[keys["variant"]].utilization_packets(keys["rtt_ms"], MIX)
    return {"buffer_packets": packets - _in_transmission(keys)}


def both_buffer(keys: Keys) -> dict[str, int]:
    """The buffer of (14) at a point."""
    packets = VARIANTS[keys["variant"]].both_packets(keys["rtt_ms"], MIX)
    return {"buffer_packets": packets - _in_transmission(keys)}


def _in_transmission(keys: Keys) -> int:
    """ns-2 drops a packet if as many as its limit would wait, so one less may."""
    return int(keys["hosts"].startswith(_NS2_HOSTS))


def predicted() -> pl.DataFrame:
    """(6): delta/mu of the mix."""
    rows = [{"variant": each.name, "spread": each.spread(MIX)} for each in VARIANTS.values()]
    return pl.DataFrame(rows)


def measure(result: Result, keys: Keys) -> dict[str, Any]:
    """Utilization, loss, and moments of W against the bounds; windows in packets, shares of the samples."""
    flows = _flow_moments(result)
    windows = sum_of_windows(result)
    queue = result.queues.filter(pl.col("group") == "all").row(0, named=True)
    seconds = _utilizations(result)
    bdp = bdp_packets(keys["rtt_ms"])
    moments = {"mean_windows": float(windows.mean()), "deviation": float(windows.std())}
    return {
        "utilization": queue["utilization"],
        "utilization_low": float(seconds.min()),
        "utilization_high": float(seconds.max()),
        "loss": queue["loss"],
        **moments,
        "deviation_independent": float(flows["variance"].sum()) ** 0.5,
        "share_above_bdp": float((windows >= bdp).mean()),
        "share_within_loss": float((windows * (1.0 - MAX_LOSS) <= bdp + keys["buffer_packets"]).mean()),
        **bounds(moments, bdp, VARIANTS[keys["variant"]].z),
        "timeouts_per_flow_s": float(result.flows["timeouts"].sum()) / (result.measured_s * flows.height),
        "drops_per_recovery": queue["dropped_packets"] / max(int(result.flows["recoveries"].sum()), 1),
        "wait_mean_ms": queue["wait_mean_ms"],
    }


def bounds(moments: Mapping[str, float], bdp: float, z: float) -> dict[str, float]:
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
    samples = result.queue_samples.filter(pl.col("time_s") >= result.warmup_s)
    times_s = samples["time_s"].to_numpy()
    every = round(_UTILIZATION_S / float(times_s[1] - times_s[0]))
    steps = np.diff(samples["departed_bytes"].cast(pl.Float64).to_numpy()[::every])
    return np.asarray(steps * 8.0 / (RATE_BPS * _UTILIZATION_S), dtype=np.float64)


def _flow_moments(result: Result) -> pl.DataFrame:
    """Mean and variance of each flow's window, and its goodput."""
    window = pl.col("cwnd_segments").cast(pl.Float64)
    samples = result.flow_samples.filter(pl.col("time_s") > result.warmup_s)
    moments = samples.group_by("flow", "group", maintain_order=True).agg(
        window.mean().alias("mean"), window.var(ddof=0).alias("variance")
    )
    return moments.join(result.flows.select("flow", "goodput_bps"), on="flow", maintain_order="left")


def by_control(result: Result, keys: Keys) -> pl.DataFrame:
    """Windows and goodput of each congestion control's flows in a run."""
    controls = _flow_moments(result).group_by("group", maintain_order=True)
    frame = controls.agg(
        pl.len().alias("flows"),
        pl.col("mean").mean().alias("window_mean"),
        (pl.col("variance").mean().sqrt() / pl.col("mean").mean()).alias("characteristic"),
        (pl.col("goodput_bps").mean() / 1e6).alias("goodput_mbps"),
    )
    labels = [pl.lit(value).alias(name) for name, value in keys.items() if name != "seed"]
    return frame.select(*labels, pl.all())


def by_control_of_points(work: Work) -> dict[str, pl.DataFrame]:
    """The means of `by_control` over the seeds, with Table III's values beside."""
    runs = work.tables["windows"]
    values = ("flows", "window_mean", "characteristic", "goodput_mbps")
    keys = [name for name in runs.columns if name not in values]
    means = runs.group_by(keys, maintain_order=True).agg(pl.col(values).mean())
    controls = {name.replace(".", "_"): name for name in MIX}
    control = pl.col("group").replace_strict(controls).alias("control")
    tabled = (
        control.replace_strict(dict(variant.characteristics)).alias(f"characteristic_{label}")
        for variant, label in ((AS_PUBLISHED, "table_iii"), (CORRECTED, "by_4_and_5"))
    )
    return {"windows": means.with_columns(control, *tabled).drop("group")}


def with_table_iv(work: Work) -> dict[str, pl.DataFrame]:
    """`by_control_of_points`, and points with (10) and (14) by Table IV's own bandwidth-delay products."""
    stated = {float(claim.setting["rtt_ms"]): claim.number for claim in work.document.claims_of("table4")}
    return by_control_of_points(work) | {"points": margins(work.tables["points"], stated)}


def margins(points: pl.DataFrame, stated_mb: Mapping[float, float | None]) -> pl.DataFrame:
    """Adds what the buffer is above the bound of (10), % of the BDP, with the link's and with Table IV's BDP.

    Args:
        points: `rtt_ms`, `buffer_packets`, `bound_10_packets`.
        stated_mb: Table IV by round-trip time, MB; the largest of it is also that of longer times.
    """
    largest = max(value or 0.0 for value in stated_mb.values())
    rows = []
    for rtt_ms, buffer, bound in points.select("rtt_ms", "buffer_packets", "bound_10_packets").iter_rows():
        bdp = bdp_packets(rtt_ms)
        table_iv = (stated_mb.get(rtt_ms) or largest) * 1e6 / WIRE_BYTES
        rows.append(
            {
                "bdp_iv_mb": stated_mb.get(rtt_ms) or largest,
                "margin_percent": 100.0 * (buffer - bound) / bdp,
                "margin_iv_percent": 100.0 * (buffer * table_iv / bdp - (bound + bdp - table_iv)) / bdp,
            }
        )
    return points.hstack(pl.DataFrame(rows))
