"""The answer of a search, as an object and as a document.

The document (`--json`, `Searched.to_dict()`) has `format` ("bufferlab-search"), `format_version`, `version`,
`name`, `link`, `resolved` (the scenario), `mode`, `goal`, `confidence`, the answer (`buffer`, `low`, `high`,
each in packets, bytes and ms of draining, or `null`), `reached`, `interrupted`, `rate_bps`, `full_rate_bps`,
`calibrated_at_packets`, `settle_s`, `spent`, `warnings` and `course`, one object per measurement.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import polars as pl

from bufferlab import _core, display
from bufferlab.files import not_written
from bufferlab.studies.search.goal import TARGETS
from bufferlab.studies.search.least import Found
from bufferlab.studies.search.settling import Settling

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bufferlab._scenario_types import ResolvedScenario

FORMAT: Final = "bufferlab-search"
FORMAT_VERSION: Final = 1

Mode = Literal["restart", "live"]
"""Whether each measurement is a run of its own, or one run continues while its buffer is changed."""

MODES: Final[tuple[Mode, ...]] = get_args(Mode)


@dataclass(frozen=True, eq=False, repr=False)
class Searched:
    """A scenario's least buffer.

    Attributes:
        name: Title of the scenario.
        link: Name of the link.
        resolved: The scenario, with its own buffer.
        mode: How buffers were measured.
        rate_bps: The link's rate, bit/s.
        packet_bytes: Its largest full packet, bytes.
        settling: Times of its flows.
        found: What the search came to.
    """

    name: str
    link: str
    resolved: ResolvedScenario
    mode: Mode
    rate_bps: int
    packet_bytes: int
    settling: Settling
    found: Found

    def size(self, packets: int | None) -> dict[str, float] | None:
        """A buffer in packets, bytes and ms of draining."""
        if packets is None:
            return None
        size_bytes = packets * self.packet_bytes
        return {"packets": packets, "bytes": size_bytes, "ms": size_bytes * 8e3 / self.rate_bps}

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        found = self.found
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "version": _core.engine_version,
            "name": self.name,
            "link": self.link,
            "resolved": self.resolved,
            "mode": self.mode,
            "goal": {
                "utilization": found.goal.utilization,
                "max_loss": found.goal.max_loss,
                "max_delay_s": found.goal.max_delay_s,
            },
            "confidence": found.confidence,
            "buffer": self.size(found.estimate),
            "low": self.size(found.low),
            "high": self.size(found.high),
            "reached": found.reached,
            "interrupted": found.interrupted,
            "rate_bps": self.rate_bps,
            "full_rate_bps": found.full_rate_bps,
            "calibrated_at_packets": found.calibrated_at,
            "settle_s": self.settling.settle_s,
            "spent": found.spent,
            "warnings": list(found.warnings),
            "course": found.course.to_dicts(),
        }

    def problem(self) -> str | None:
        """Why no buffer within the bounds meets the goal, and what to do; `None` if one does or may."""
        found, goal = self.found, self.found.goal
        best = found.best()
        values = {metric.name: metric.unit.quantity(best[metric.name]) for metric in TARGETS.values()}
        wait_ms = found.wait_at(found.low)
        wait = TARGETS["max_delay_s"]
        if goal.asks_for_more and found.low > found.sizes[-1]:
            return (
                f"no buffer up to {found.sizes[-1]} packets meets {goal.without_delay()}; the best is "
                f"{best['buffer_packets']} packets with a utilization of {values['utilization']} "
                f"and a loss of {values['loss']}: raise the upper end of --bounds, or ask for less"
            )
        if not goal.asks_for_more and found.high is not None and found.high < found.sizes[0]:
            return (
                f"no buffer of {found.sizes[0]} packets or more meets {goal}: the {wait.words} with "
                f"{found.sizes[0]} packets is {values[wait.name]}. Lower --bounds, or allow more"
            )
        if goal.asks_for_more and goal.max_delay_s is not None and wait_ms > goal.max_delay_s * 1e3:
            return (
                f"no buffer meets all targets: {goal.without_delay()} needs {found.estimate} packets (at "
                f"least {found.low}), and then the {wait.words} is {wait.unit.quantity(wait_ms)}. Allow that "
                "wait, or ask for less"
            )
        return None

    def figure(self) -> Figure:
        """The course: rate and buffer of every measurement, and the interval."""
        return display.figure(self)

    def save(self, directory: Path) -> list[Path]:
        """Write the course as CSV and Parquet and the figure as PNG and SVG; return the files.

        Raises:
            OutputError: The folder cannot be written.
        """
        files = [directory / "course.csv", directory / "course.parquet"]
        try:
            directory.mkdir(parents=True, exist_ok=True)
            readings = pl.col("readings_bps").cast(pl.List(pl.String)).list.join(" ")
            self.found.course.with_columns(readings).write_csv(files[0])
            self.found.course.write_parquet(files[1])
        except OSError as error:
            raise not_written(directory, error) from error
        return files + display.save_figure(self.figure(), directory / "course")

    def __repr__(self) -> str:
        return f"<Searched {self.name!r}, {self.found.estimate} packets>"

    def __str__(self) -> str:
        return display.text(self)

    def _repr_html_(self) -> str:
        return display.html(self)
