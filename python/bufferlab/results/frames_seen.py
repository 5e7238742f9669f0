"""What those in video calls see: frames in time or late, and how much of a picture.

Packets are the exchanges of a call's group, each from the moment on at which its frame was taken, so that the
packets of a frame begin together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import polars as pl

from bufferlab.results.tables import BITS_PER_BYTE

LATE_S: Final = 0.15
"""A frame that takes longer is late, s (ITU-T G.114: up to 150 ms one way, most conversations are not felt to
suffer)."""

_PATIENCE_S: Final = 1.0
"""A packet that is sent as long before the run's end and does not come is lost, s."""

_WINDOW_S: Final = 1.0
"""Over which a bitrate is low, s."""


@dataclass(frozen=True)
class FramesSeen:
    """What those in a group's calls see in the measured window.

    Attributes:
        packets: The group's packets, of the whole run.
        header_bytes: Headers of each.
        low_rate_bps: A second that brings less is low.
        from_s: When the window begins, s.
        to_s: When it ends, s.
    """

    packets: pl.DataFrame
    header_bytes: int
    low_rate_bps: int
    from_s: float
    to_s: float

    def sent_bps(self) -> float | None:
        """Mean bitrate that a call sends."""
        sent_bits = pl.col("sent_bytes") * BITS_PER_BYTE
        mean = self._active.select(sent_bits / (pl.col("until") - pl.col("since"))).to_series().mean()
        return float(mean) if isinstance(mean, float) else None

    def delay_ms(self, percent: int) -> float | None:
        """A quantile of the delays of frames that were whole some time."""
        delays_s = self._delays_s.to_numpy()
        whole_s = delays_s[np.isfinite(delays_s)]
        return float(np.quantile(whole_s, percent / 100)) * 1e3 if whole_s.size else None

    def late(self) -> float | None:
        """Share of the frames that were not whole in time."""
        count = self._delays_s.len()
        return float((self._delays_s > LATE_S).sum()) / count if count else None

    def low_bitrate(self) -> float | None:
        """Share of the seconds in which too little came."""
        seconds = low = 0
        for flow, since, until in self._active.select("flow", "since", "until").iter_rows():
            count = int((until - since) / _WINDOW_S)
            came = self._payload.filter((pl.col("flow") == flow) & (pl.col("end_s") >= since))
            number = ((came["end_s"] - since) / _WINDOW_S).cast(pl.Int64).to_numpy()
            inside = number < count
            weights = came["payload_bytes"].to_numpy()[inside]
            found = np.bincount(number[inside], weights=weights, minlength=count)
            seconds += count
            low += int((found * BITS_PER_BYTE < self.low_rate_bps * _WINDOW_S).sum())
        return low / seconds if seconds else None

    @cached_property
    def _payload(self) -> pl.DataFrame:
        return self.packets.with_columns(payload_bytes=pl.col("bytes").cast(pl.Int64) - self.header_bytes)

    @cached_property
    def _active(self) -> pl.DataFrame:
        """Each flow with the part of the window in which it sends, and what it sends there."""
        window = self._payload.filter(pl.col("start_s") >= self.from_s)
        flows = window.group_by("flow", maintain_order=True).agg(
            since=pl.col("start_s").min(),
            until=pl.col("start_s").max(),
            sent_bytes=pl.col("payload_bytes").sum(),
        )
        return flows.filter(pl.col("until") > pl.col("since"))

    @cached_property
    def _delays_s(self) -> pl.Series:
        """How long each frame took until it was whole; infinity for those that never were."""
        frames = (
            self.packets.filter(pl.col("start_s") >= self.from_s)
            .group_by("flow", "start_s", maintain_order=True)
            .agg(end_s=pl.col("end_s").max(), whole=pl.col("end_s").is_not_null().all())
            .filter(pl.col("whole") | (pl.col("start_s") < self.to_s - _PATIENCE_S))
        )
        delay_s = pl.when("whole").then(pl.col("end_s") - pl.col("start_s")).otherwise(float("inf"))
        return frames.select(delay_s).to_series()
