"""The window of event A alone against two explanations of its growth."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import polars as pl

from bufferlab.evidence.documents import Work
from bufferlab.experiment.simulation import prepare
from bufferlab.resolved import full_packet_bytes, payload_bytes

_ALONE: Final = prepare(Path(__file__).parent / "scenarios" / "alone.toml").resolved

SEGMENT_BYTES: Final = payload_bytes(_ALONE["flows"][0])
FRAME_BYTES: Final = full_packet_bytes(_ALONE["flows"][0])
"""A full segment, 40 bytes of IP and TCP, 7 of PPP: flag, address, control, protocol (2), check (2)."""

RATE_BPS: Final = _ALONE["links"][0]["rate_bps"]

INITIAL_SSTHRESH: Final = 122
"""65535 bytes in segments: INET's slow-start threshold before the first loss."""

_WINDOW_BYTES: Final = 2**18
_BASE_S: Final = 0.04
_TIMES_S: Final = (20, 60, 100, 150)


def inflation(work: Work) -> dict[str, pl.DataFrame]:
    """The window over time beside both explanations, and its values at some times."""
    frame = grown(work.tables["windows"], _WINDOW_BYTES)
    last_s = float(frame["time_s"].to_numpy().max())
    rows = [
        frame.filter(pl.col("time_s") >= time_s).head(1).with_columns(time_s=pl.lit(time_s))
        for time_s in _TIMES_S
        if time_s <= last_s
    ]
    return {"window": frame, "at_times": pl.concat(rows)}


def grown(samples: pl.DataFrame, window_bytes: int) -> pl.DataFrame:
    """Adds what the window would be with the base and with the inflated round-trip time.

    Args:
        samples: `time_s`, `cwnd_segments`, `rtt_ms`.
        window_bytes: Advertised window, which bounds both.
    """
    advertised = window_bytes // SEGMENT_BYTES
    began_s = float(samples.filter(pl.col("cwnd_segments") >= INITIAL_SSTHRESH)["time_s"][0])
    frame_s = FRAME_BYTES * 8 / RATE_BPS
    since = (pl.col("time_s") - began_s).clip(lower_bound=0)
    square = INITIAL_SSTHRESH**2 + 2 * since / frame_s
    return samples.with_columns(
        at_base_segments=(INITIAL_SSTHRESH + since / _BASE_S).clip(upper_bound=advertised),
        at_inflated_segments=square.sqrt().clip(upper_bound=advertised),
        advertised_segments=pl.lit(advertised),
    ).filter(pl.col("time_s") >= began_s)
