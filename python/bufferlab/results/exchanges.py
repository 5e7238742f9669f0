"""What the flows' applications exchanged, one by one.

An exchange is a burst of an on-off application with a size, a fetch, a recorded datagram, a packet of a
video call or a ping.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bufferlab.resolved import is_recorded
from bufferlab.results.columns import repeated
from bufferlab.results.tables import NONE
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario

Floats = NDArray[np.float64]

_MS_PER_S: Final = 1000
_JITTER_GAIN: Final = 1 / 16


def with_parts(table: pl.DataFrame, groups: pl.Series, resolved: ResolvedScenario) -> pl.DataFrame:
    """The engine's table with each exchange's group, delay variation and jitter; `groups` has each flow's."""
    table = table.hstack([groups[table["flow"]].alias("group")])
    return _with_jitter(table, [is_recorded(flow["application"]) for flow in resolved["flows"]])


def _with_jitter(table: pl.DataFrame, recorded: Sequence[bool]) -> pl.DataFrame:
    """The table with delay variation and jitter of recorded datagrams, null elsewhere."""
    if not any(recorded):
        nothing = repeated(None, pl.Float64(), table.height)
        return table.hstack([nothing.alias("variation_ms"), nothing.alias("jitter_ms")])
    is_recorded = pl.Series([recorded[group] for group in table["group"]], dtype=pl.Boolean)
    variation = np.full(table.height, np.nan)
    jitter = np.full(table.height, np.nan)
    came = (is_recorded & (table["end_ps"] != NONE)).to_numpy()
    for flow in table["flow"].filter(pl.Series(came)).unique().to_list():
        rows = np.flatnonzero(came & (table["flow"] == flow).to_numpy())
        rows = rows[np.argsort(table["end_ps"].to_numpy()[rows], kind="stable")]
        start_s, end_s = ((table[name] / PS_PER_S).to_numpy()[rows] for name in ("start_ps", "end_ps"))
        variation[rows] = delay_variation(end_s) * _MS_PER_S
        jitter[rows] = interarrival_jitter(start_s, end_s) * _MS_PER_S
    return table.with_columns(
        pl.Series("variation_ms", variation).fill_nan(None), pl.Series("jitter_ms", jitter).fill_nan(None)
    )


def delay_variation(end_s: Floats) -> Floats:
    """Times between arrivals less their mean, one per packet, in their unit; not a number for the first.

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
    if not exchanges.height:  # a filter takes longer than a small run
        return exchanges
    counts = pl.col("start_s") >= warmup_s
    if under_way:
        counts |= pl.col("end_s").is_null()
    return exchanges.filter((pl.col("group") == group) & counts)
