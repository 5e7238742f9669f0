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

_OVERLAPS_S: Final = (55.0, 75.0)
"""Events A and B send, after B's slow start and before the first end of B."""

_OVERLAP_FROM_S: Final = 40.0

_EARLY_S: Final = 2.0
"""Where the smoothed round-trip time still lags behind the queue."""

Keys = Mapping[str, Any]


def measure(result: Result, keys: Keys) -> dict[str, float | None]:
    """Figures of the queue, event A's round-trip times and event C's delay variation; when events end."""
    del keys
    queue = backlog(result)
    trips, variation = round_trips(result), variations(result)["variation_ms"]
    times = trips["rtt_ms"]
    early = trips.filter(pl.col("time_s") >= _EARLY_S)
    overlap = queue.filter(pl.col("time_s") >= _OVERLAPS_S[0])
    settled = queue.filter(pl.col("time_s").is_between(*_GROWS_S))["frames"]
    up = result.queues.filter(pl.col("link") == "up", pl.col("group") == "all")
    return {
        "settled_frames": _number(settled.mean()),
        "growth_frames_s": growth(queue, *_GROWS_S),
        "overlap_growth_frames_s": growth(queue, *_OVERLAPS_S),
        "most_frames": _number(queue["frames"].max()),
        "mean_frames": _number(queue["frames"].mean()),
        "least_rtt_ms": _least(times, trips["srtt_ms"]),
        "most_rtt_ms": _number(times.max()),
        "early_rtt_ms": _number(early["rtt_ms"].first()),
        "early_srtt_ms": _number(early["srtt_ms"].first()),
        "early_frames": _number(queue.filter(pl.col("time_s") >= _EARLY_S)["frames"].first()),
        "overlap_begins_frames": _number(overlap["frames"].first()),
        "before_b_frames": _number(queue.filter(pl.col("time_s") < _OVERLAP_FROM_S)["frames"].last()),
        "dropped": _number(up["dropped_packets"].sum()),
        "a_ends_s": _end_s(result, "a", 0.0),
        "b_ends_s": _end_s(result, "b", _OVERLAP_FROM_S),
        "variation_packets": float(variation.len()),
        "variation_sd_ms": _number(variation.std(ddof=0)),
        "variation_p50_ms": _number(variation.abs().quantile(0.5)),
        "variation_p75_ms": _number(variation.abs().quantile(0.75)),
        "variation_p90_ms": _number(variation.abs().quantile(0.9)),
        "variation_p99_ms": _number(variation.abs().quantile(0.99)),
        "variation_most_ms": _number(variation.abs().max()),
    }


def backlog(result: Result) -> pl.DataFrame:
    """Router 1's queue: `time_s`, `frames`."""
    samples = result.queue_samples.filter(pl.col("link") == "up")
    return samples.select("time_s", frames=pl.col("backlog_packets"))


def round_trips(result: Result) -> pl.DataFrame:
    """Event A's latest round-trip time while it sends, `rtt_ms`, and the smoothed one, `srtt_ms`."""
    samples = result.flow_samples.filter(pl.col("group") == "a", pl.col("inflight_segments") > 0)
    return samples.select("time_s", "srtt_ms", rtt_ms=pl.col("rtt_sample_ms")).drop_nulls()


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
    return {"series": times.filter(~pl.col("window").str.contains("on data|1024"))}


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
    megabyte = "" if keys["megabyte"] == "10^6" else f", MB of {keys['megabyte']} bytes"
    return frame.select(pl.lit(f"{keys['window_bytes']} bytes{riding}{megabyte}").alias("window"), pl.all())


def _end_s(result: Result, group: str, start_s: float) -> float | None:
    lasted = result.flows.filter(pl.col("group") == group)["completion_s"][0]
    return None if lasted is None else start_s + float(lasted)


def _least(samples_ms: pl.Series, smoothed_ms: pl.Series) -> float | None:
    """The least round-trip time. The handshake's lies between readings; the smoothed time begins with it."""
    known = [value for value in map(_number, (samples_ms.min(), smoothed_ms.min())) if value is not None]
    return min(known, default=None)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
