"""What a run of "Bufferbloat: A simulation" shows: queue, round-trip times, delay variation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from bufferlab.evidence.documents import Work
from bufferlab.results.result import Result

_GROWS_S: Final = (15.0, 39.0)
"""After slow start, before event B begins."""

_OVERLAPS_S: Final = (55.0, 85.0)
"""Events A and B send, after B's slow start."""

_OVERLAP_FROM_S: Final = 40.0

Keys = Mapping[str, Any]


def measure(result: Result, keys: Keys) -> dict[str, float | None]:
    """Figures of the queue, event A's round-trip times and event C's delay variation; when events end."""
    del keys
    queue = backlog(result)
    times, variation = round_trips(result)["rtt_ms"], variations(result)["variation_ms"]
    settled = queue.filter(pl.col("time_s").is_between(*_GROWS_S))["frames"]
    up = result.queues.filter(pl.col("link") == "up", pl.col("group") == "all")
    return {
        "settled_frames": _number(settled.mean()),
        "growth_frames_s": growth(queue, *_GROWS_S),
        "overlap_growth_frames_s": growth(queue, *_OVERLAPS_S),
        "most_frames": _number(queue["frames"].max()),
        "mean_frames": _number(queue["frames"].mean()),
        "least_rtt_ms": _number(times.min()),
        "most_rtt_ms": _number(times.max()),
        "dropped": _number(up["dropped_packets"].sum()),
        "a_ends_s": _end_s(result, "a", 0.0),
        "b_ends_s": _end_s(result, "b", _OVERLAP_FROM_S),
        "variation_packets": float(variation.len()),
        "variation_sd_ms": _number(variation.std(ddof=0)),
        "variation_p50_ms": _number(variation.abs().quantile(0.5)),
        "variation_p90_ms": _number(variation.abs().quantile(0.9)),
        "variation_p99_ms": _number(variation.abs().quantile(0.99)),
        "variation_most_ms": _number(variation.abs().max()),
    }


def backlog(result: Result) -> pl.DataFrame:
    """Router 1's queue: `time_s`, `frames`."""
    samples = result.queue_samples.filter(pl.col("link") == "up")
    return samples.select("time_s", frames=pl.col("backlog_packets"))


def round_trips(result: Result) -> pl.DataFrame:
    """Event A's smoothed round-trip time while it sends: `time_s`, `rtt_ms`."""
    samples = result.flow_samples.filter(pl.col("group") == "a", pl.col("inflight_segments") > 0)
    return samples.select("time_s", rtt_ms=pl.col("srtt_ms")).drop_nulls()


def variations(result: Result) -> pl.DataFrame:
    """Event C's delay variation, a row a packet that arrived: `time_s`, `variation_ms`."""
    came = result.exchanges.filter(pl.col("group") == "c", pl.col("variation_ms").is_not_null())
    return came.select(time_s=pl.col("end_s"), variation_ms=pl.col("variation_ms"))


def windows(result: Result, keys: Keys) -> pl.DataFrame:
    """Event A's window and round-trip time while it sends."""
    del keys
    sending = result.flow_samples.filter(pl.col("inflight_segments") > 0).drop_nulls("srtt_ms")
    return sending.select("time_s", "cwnd_segments", rtt_ms="srtt_ms")


def queue_frame(result: Result, keys: Keys) -> pl.DataFrame:
    """`backlog` with the setting's title."""
    return _titled(backlog(result), keys)


def round_trip_frame(result: Result, keys: Keys) -> pl.DataFrame:
    """`round_trips` with the setting's title."""
    return _titled(round_trips(result), keys)


def variation_frame(result: Result, keys: Keys) -> pl.DataFrame:
    """`variations` with the setting's title."""
    return _titled(variations(result), keys)


def queue_series(work: Work) -> dict[str, pl.DataFrame]:
    """The series that a figure of queues draws."""
    return {"series": work.tables["queues"]}


def round_trip_series(work: Work) -> dict[str, pl.DataFrame]:
    """The series that a figure of round-trip times draws: without acknowledgments on data."""
    times = work.tables["round_trips"]
    return {"series": times.filter(~pl.col("window").str.contains("on data"))}


def variation_series(work: Work) -> dict[str, pl.DataFrame]:
    """The series that a figure of delay variation draws."""
    return {"series": work.tables["variations"]}


def growth(samples: pl.DataFrame, from_s: float, until_s: float) -> float | None:
    """How fast a queue grows in a time, frames a second: the slope of the least-squares line."""
    part = samples.filter(pl.col("time_s").is_between(from_s, until_s))
    if part.height < 2:
        return None
    return float(np.polyfit(part["time_s"].to_numpy(), part["frames"].to_numpy(), 1)[0])


def _titled(frame: pl.DataFrame, keys: Keys) -> pl.DataFrame:
    if "buffer_frames" in keys:
        return frame.select(pl.lit(f"{keys['buffer_frames']} frames").alias("buffer"), pl.all())
    riding = "" if keys["acknowledgments"] == "own packets" else ", acknowledgments on data"
    return frame.select(pl.lit(f"{keys['window_bytes']} bytes{riding}").alias("window"), pl.all())


def _end_s(result: Result, group: str, start_s: float) -> float | None:
    lasted = result.flows.filter(pl.col("group") == group)["completion_s"][0]
    return None if lasted is None else start_s + float(lasted)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
