"""What the flows' applications exchanged, one by one: a frame, and its figures.

An exchange is a burst of an on-off application with a size, a fetch, a recorded datagram or a ping.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bufferlab.stats import censored_quantiles
from bufferlab.units import PS_PER_S

Floats = NDArray[np.float64]

_NONE: Final = 2**64 - 1
_MS_PER_S: Final = 1000
_JITTER_GAIN: Final = 1 / 16

QUANTILES: Final[Mapping[str, float]] = {
    "exchange_p50_s": 0.50,
    "exchange_p95_s": 0.95,
    "exchange_p99_s": 0.99,
}
"""Quantiles of how long exchanges take."""


def from_table(table: pl.DataFrame, plan: Mapping[str, Any]) -> pl.DataFrame:
    """The engine's table with names, seconds, and for recorded datagrams their delay variation and jitter."""
    names = [group["name"] for group in plan["groups"]]
    of_flows = pl.Series(plan["flows"]["group"], dtype=pl.UInt32)
    groups = of_flows.gather(table["flow"])
    recorded = [bool(group.get("source", {}).get("record")) for group in plan["groups"]]
    ended = pl.when(pl.col("end_ps") != _NONE).then(pl.col("end_ps"))
    frame = table.select(
        pl.lit(plan["seed"], dtype=pl.UInt64).alias("seed"),
        "flow",
        pl.Series("group", [names[group] for group in groups], dtype=pl.String),
        "number",
        (pl.col("start_ps") / PS_PER_S).alias("start_s"),
        (ended / PS_PER_S).alias("end_s"),
        ((ended - pl.col("start_ps")) / PS_PER_S).alias("duration_s"),
        "bytes",
    )
    is_recorded = pl.Series([recorded[group] for group in groups], dtype=pl.Boolean)
    variation = np.full(frame.height, np.nan)
    jitter = np.full(frame.height, np.nan)
    came = (is_recorded & frame["end_s"].is_not_null()).to_numpy()
    for flow in frame["flow"].filter(pl.Series(came)).unique().to_list():
        rows = np.flatnonzero(came & (frame["flow"] == flow).to_numpy())
        rows = rows[np.argsort(table["end_ps"].to_numpy()[rows], kind="stable")]
        start_s, end_s = frame["start_s"].to_numpy()[rows], frame["end_s"].to_numpy()[rows]
        variation[rows] = delay_variation(end_s) * _MS_PER_S
        jitter[rows] = interarrival_jitter(start_s, end_s) * _MS_PER_S
    return frame.with_columns(
        pl.Series("variation_ms", variation).fill_nan(None), pl.Series("jitter_ms", jitter).fill_nan(None)
    )


def delay_variation(end_s: Floats) -> Floats:
    """Times between arrivals less their mean, one a packet, in their unit; not a number for the first.

    Source: the packet delay variation of studies of bufferbloat in OMNeT++, whose sinks record times between
    arrivals; with packets sent at equal distances it is the change of the delay from one packet to the next.

    >>> delay_variation(np.array([0.0, 1.0, 3.0]))
    array([ nan, -0.5,  0.5])
    """
    gaps = np.diff(end_s)
    if not gaps.size:
        return np.full(end_s.size, np.nan)
    return np.concatenate([[np.nan], gaps - gaps.mean()])


def interarrival_jitter(start_s: Floats, end_s: Floats) -> Floats:
    """The estimate of jitter after each packet, packets in order of arrival; 0 after the first.

    Source: RFC 3550 section 6.4.1, J(i) = J(i-1) + (|D(i-1,i)| - J(i-1))/16 with D the difference of two
    packets' times under way, and appendix A.8; here in full precision, not in units of timestamps.

    >>> interarrival_jitter(np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.5, 4.1]))
    array([0. , 0. , 0.1])
    """
    changes = np.abs(np.diff(end_s - start_s))
    estimates = np.zeros(end_s.size)
    for index, change in enumerate(changes, start=1):
        estimates[index] = estimates[index - 1] + (change - estimates[index - 1]) * _JITTER_GAIN
    return estimates


def begun_of(
    exchanges: pl.DataFrame, group: str, warmup_s: float, *, under_way: bool = False
) -> pl.DataFrame:
    """A group's exchanges that began in the measured window.

    Args:
        exchanges: Those of all groups.
        group: The group.
        warmup_s: When the window begins, s.
        under_way: With those that began before and are still under way at the run's end: a fetch that hangs
            for all of the run must not go unseen. (What is lost of datagrams is not under way.)
    """
    if not exchanges.height:  # results that older versions stored have no columns here
        return exchanges
    counts = pl.col("start_s") >= warmup_s
    if under_way:
        counts |= pl.col("end_s").is_null()
    return exchanges.filter((pl.col("group") == group) & counts)


def figures(begun: pl.DataFrame, reached_s: float) -> dict[str, float | None]:
    """The summary's figures of the exchanges that began in the measured window; `null` if there were none.

    Quantiles are Kaplan and Meier's: what was not done by the run's end took longer than what was seen of it.
    """
    if not begun.height:
        return dict.fromkeys(_keys())
    done = begun["duration_s"].is_not_null()
    lasted_s = begun["duration_s"].fill_null(reached_s - begun["start_s"])
    quantiles = censored_quantiles(lasted_s.to_numpy(), done.to_numpy(), list(QUANTILES.values()))
    last = begun.filter(done).sort("end_s").group_by("flow").agg(pl.col("jitter_ms").last())
    return {
        "exchanges": int(done.sum()),
        "exchanges_not_done": int((~done).sum()),
        "exchange_s": _number(begun["duration_s"].mean()),
        "exchange_sd_s": _number(begun["duration_s"].std(ddof=0)),
        **dict(zip(QUANTILES, quantiles, strict=True)),
        "delay_variation_ms": _number(begun["variation_ms"].std(ddof=0)),
        "jitter_ms": _number(last["jitter_ms"].mean()),
    }


def _keys() -> list[str]:
    return [
        "exchanges", "exchanges_not_done", "exchange_s", "exchange_sd_s", *QUANTILES, "delay_variation_ms",
        "jitter_ms",
    ]  # fmt: skip


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
