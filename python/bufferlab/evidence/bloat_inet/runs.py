"""The network and the events of "Bufferbloat: A simulation", and what is read off a run of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from bufferlab.evidence.registry import Request
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.simulation import prepare
from bufferlab.results.result import Result

RATE_BPS: Final = 1_000_000
SEGMENT_BYTES: Final = 536
FRAME_BYTES: Final = SEGMENT_BYTES + 47
"""A full segment, 40 bytes of IP and TCP, 7 of PPP: flag, address, control, protocol (2), check (2)."""

INITIAL_SSTHRESH: Final = 122
"""65535 bytes in segments: INET's slow-start threshold before the first loss."""

WINDOWS_BYTES: Final = (14 * SEGMENT_BYTES, 2**14, 2**15, 2**16, 2**17, 2**18)
"""INET's default, 7504 bytes, and powers of two up to the document's largest."""

BUFFERS: Final = (100, 200, 300, 400, 500)
"""Frames that may wait at router 1; the document has five sizes, 400 and 500 among them."""

OVERLAP_FROM_S: Final = 40.0
"""When event B begins."""

_DURATION_S: Final = 200.0
_QUICK_S: Final = 90.0
_DELAY: Final = "19.9998 ms"
"""What 20 ms leave when the 1 Gbps links' 0.1 us are taken off at both ends."""

_TCP: Final[Mapping[str, Any]] = {
    "stack": "inet-reno",
    "rtt": "39.9998 ms",
    "window_scaling": True,
    "header": "47 B",
    "ack": "47 B",
    "access_rate": "1 Gbps",
}


@dataclass(frozen=True)
class Setting:
    """One run: the advertised window, the buffer in frames (`None` for none that fills), what is changed.

    Attributes:
        window_bytes: Advertised window of all TCP hosts.
        buffer_frames: Frames that may wait at router 1.
        echo_acknowledged: Acknowledgments of what event B's server returns are packets of their own in
            router 1's queue; otherwise they take no place there, as if they all rode on data.
        alone: Event A only.
    """

    window_bytes: int
    buffer_frames: int | None = None
    echo_acknowledged: bool = True
    alone: bool = False


def scenario(setting: Setting, *, quick: bool = False) -> dict[str, Any]:
    """Two clients, router 1, router 2, two servers; 1 Mbps and 20 ms between the routers."""
    window = {"window": f"{setting.window_bytes} B"}
    there = {"path": ["up"], "reverse_path": ["down"], **_TCP, **window}
    back = {"path": ["down"], **_TCP, **window}
    if setting.echo_acknowledged:
        back["reverse_path"] = ["up"]
    event_a = {"name": "a", "application": {"kind": "transfer", "bytes": "20 MB"}, **there}
    event_b = {"name": "b", "application": {"kind": "transfer", "bytes": "2 MB"}, "start": "40 s", **there}
    returned = {"name": "b-back", "application": {"kind": "echo", "of": "b"}, **back}
    event_c = {
        "name": "c",
        "path": ["up"],
        "rtt": "40 ms",
        "access_rate": "1 Gbps",
        "application": {
            "kind": "udp", "packet": "107 B", "header": "35 B", "interval": "1 s", "record": True,
        },
    }  # fmt: skip
    frames = "unlimited" if setting.buffer_frames is None else f"{setting.buffer_frames} packets"
    return {
        "run": {
            "name": "Bufferbloat: A simulation",
            "duration": f"{_QUICK_S if quick else _DURATION_S:g} s",
            "warmup": "1 s",
        },
        "links": [
            {"name": "up", "rate": f"{RATE_BPS} bps", "delay": _DELAY, "buffer": frames},
            {"name": "down", "rate": f"{RATE_BPS} bps", "delay": _DELAY, "buffer": "unlimited"},
        ],
        "flows": [event_a] if setting.alone else [event_a, event_b, returned, event_c],
        "probes": {"interval": "100 ms"},
    }


def simulated(settings: Sequence[Setting], request: Request) -> list[Result]:
    """One run a setting: nothing is random here, so seeds change nothing."""
    scenarios = {each: prepare(scenario(each, quick=request.quick)) for each in settings}
    return request.runner().values(Experiment("bloat-inet", scenarios))


def backlog(result: Result) -> pl.DataFrame:
    """Router 1's queue: `time_s`, `frames`."""
    samples = result.queue_samples.filter(pl.col("link") == "up")
    return samples.select("time_s", frames=pl.col("backlog_packets"))


def round_trips(result: Result) -> pl.DataFrame:
    """Event A's smoothed round-trip time while it sends: `time_s`, `rtt_ms`."""
    samples = result.flow_samples.filter(pl.col("group") == "a", pl.col("inflight_segments") > 0)
    return samples.select("time_s", rtt_ms=pl.col("srtt_ms")).drop_nulls()


def variations(result: Result) -> pl.DataFrame:
    """Event C's delay variation, a row a packet that came: `time_s`, `variation_ms`."""
    came = result.exchanges.filter(pl.col("group") == "c", pl.col("variation_ms").is_not_null())
    return came.select(time_s=pl.col("end_s"), variation_ms=pl.col("variation_ms"))


def growth(samples: pl.DataFrame, from_s: float, until_s: float) -> float | None:
    """How fast a queue grows in a time, frames a second: the slope of the least-squares line."""
    part = samples.filter(pl.col("time_s").is_between(from_s, until_s))
    if part.height < 2:
        return None
    slope = np.polyfit(part["time_s"].to_numpy(), part["frames"].to_numpy(), 1)[0]
    return round(float(slope), 3)
