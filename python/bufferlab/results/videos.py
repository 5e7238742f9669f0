"""What viewers of adaptive video see: bitrates, stalls, the start-up, switches.

Segments are the exchanges of a video's group. One that has begun to play plays to its end: only then the next
one's turn comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import polars as pl

from bufferlab.results.columns import repeated
from bufferlab.results.tables import BITS_PER_BYTE

if TYPE_CHECKING:
    from bufferlab._core import Outcome
    from bufferlab._scenario_types import ResolvedScenario

_KEYS: Final = ("flow", "number")
_COLUMNS: Final = ("bitrate_bps", "due_ps", "play_ps", "stall_ps")
_S_PER_MIN: Final = 60.0


def with_segments(table: pl.DataFrame, outcome: Outcome, resolved: ResolvedScenario) -> pl.DataFrame:
    """The engine's table of exchanges with what is known of segments of videos, null elsewhere."""
    if all(flow["application"]["kind"] != "video" for flow in resolved["flows"]):
        nothing = repeated(None, pl.UInt64(), table.height)
        return table.hstack([nothing.alias(name) for name in _COLUMNS])
    segments = pl.DataFrame(outcome.segments())
    return table.join(segments, on=_KEYS, how="left", maintain_order="left")


@dataclass(frozen=True)
class Viewing:
    """What the viewers of a group see in the measured window.

    Attributes:
        segments: The group's segments, of the whole run.
        from_s: When the window begins, s.
        to_s: When it ends, s.
    """

    segments: pl.DataFrame
    from_s: float
    to_s: float

    @cached_property
    def played_s(self) -> float:
        """Time in which they see the video, s, all flows together."""
        return float(self._played["played_s"].sum())

    def bitrate_bps(self) -> float | None:
        """Mean bitrate of what they see."""
        bits = float((self._played["bitrate_bps"] * self._played["played_s"]).sum())
        return bits / self.played_s if self.played_s else None

    def stalls(self) -> float | None:
        """Share of the time since the playback's begin in which it stands still."""
        stood = self._stood
        until = (pl.col("due_s") + pl.col("stall_s")).clip(upper_bound=self.to_s)
        stood_s = float(stood.select((until - pl.col("due_s").clip(self.from_s)).clip(0.0).sum()).item())
        watched_s = self.played_s + stood_s
        return stood_s / watched_s if watched_s else None

    def stall_count(self) -> int:
        """Stalls that begin."""
        return self._stood.filter(pl.col("due_s") >= self.from_s).height

    def startup_s(self) -> float | None:
        """Mean time to the playback's begin, of the whole run."""
        first = self.segments.filter(pl.col("number") == 0)["stall_s"]
        return float(first.sum()) / first.len() if first.len() else None

    def switches_per_minute(self) -> float | None:
        """Changes of the bitrate that they see."""
        before = pl.col("bitrate_bps").shift(1).over("flow", order_by="number")
        seen = self.segments.filter(pl.col("play_s").is_not_null())
        changed = seen.filter((pl.col("bitrate_bps") != before) & (pl.col("play_s") >= self.from_s))
        return changed.height * _S_PER_MIN / self.played_s if self.played_s else None

    @cached_property
    def _played(self) -> pl.DataFrame:
        """The segments with how long of each is in the window."""
        length_s = pl.col("bytes") * BITS_PER_BYTE / pl.col("bitrate_bps")
        end_s = (pl.col("play_s") + length_s).clip(upper_bound=self.to_s)
        played_s = (end_s - pl.col("play_s").clip(self.from_s)).clip(0.0)
        return self.segments.filter(pl.col("play_s").is_not_null()).with_columns(played_s=played_s)

    @property
    def _stood(self) -> pl.DataFrame:
        """The segments before which playback stood still, the start-up not counted."""
        return self.segments.filter((pl.col("number") > 0) & (pl.col("stall_s") > 0))
