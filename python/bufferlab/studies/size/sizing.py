"""The answer of `size`, as an object and as a document.

The document (`--json`, `Sizing.to_dict()`) has `format` ("bufferlab-sizing"), `format_version`, `version`,
`name`, `link`, `resolved` (the scenario), `queue`, `rate_bps`, `rtt_ms`, `packet_bytes`, `targets`,
`targets_from` ("asked", "scenario" or "default"), `asked` (`confidence`, `resolution`, `bounds`, and whether
the least or the largest buffer is sought); the answer: `buffer` (in packets, bytes and ms of draining; `null`
if none meets the targets), `closest`, `confirmed`, `confidence`, `checks` (one a target), `beyond`,
`conflict`, `islands`; `rules`, one object a published rule, with what runs say of its buffer; `tried`, one
object a buffer that was simulated; `configuration` (what to type; `null` if no platform is named or it cannot
take the answer); `assumed` (what a scenario of a few numbers takes for granted), `warnings`, `runs`,
`finished`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from bufferlab import _core, display
from bufferlab.configure import Configuration, configuration
from bufferlab.errors import InputError
from bufferlab.files import make_folder, write_whole
from bufferlab.scenario import Table
from bufferlab.studies.advise.entry import Site
from bufferlab.studies.advise.needs import Origin
from bufferlab.studies.least import Goal, Least, checks_to_dicts
from bufferlab.studies.size.judged import Judged
from bufferlab.studies.size.published import Rules
from bufferlab.studies.targets import Target, Values, mean_columns, mean_over_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bufferlab._scenario_types import ResolvedScenario

FORMAT: Final = "bufferlab-sizing"
FORMAT_VERSION: Final = 2

METRICS: Final = ("utilization", "loss", "wait_mean_ms")
"""What is shown of every buffer, whatever the targets are about."""


@dataclass(frozen=True, eq=False, repr=False)
class Sizing(display.Displayed):
    """The smallest buffer that meets all targets, or the largest that keeps a bound, by simulation.

    Attributes:
        site: Where it is for.
        resolved: The scenario, with its own buffer.
        table: The link's queue discipline as a scenario has it.
        goal: What was asked of the search.
        least: What it came to.
        measured: What every run measured, by buffer in packets and seed.
        rules: What the published rules say; `None` if none applies.
        judged: What runs say of the rules' buffers, by rising size.
        assumed: What the scenario takes for granted.
        warnings: What the reader should know.
        start_measured: Whether BBR's start may still be in what was measured, with the answer's buffer,
            or the largest where there is no answer.
        targets_from: Where the targets come from: from who asks, the scenario, or nobody.
        floor: Of the targets the one on the link's use that nobody has asked for, if there is one.
        finished: Whether it came to its end; Ctrl-C ends it with the best answer so far.
    """

    site: Site
    resolved: ResolvedScenario
    table: Table
    goal: Goal
    least: Least
    measured: Mapping[int, Mapping[int, Values]]
    rules: Rules | None = None
    judged: tuple[Judged, ...] = ()
    assumed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    start_measured: bool = False
    targets_from: Origin = "asked"
    floor: Target | None = None
    finished: bool = True

    @property
    def queue(self) -> str:
        """The link's queue discipline."""
        return str(self.table["discipline"])

    @property
    def packets(self) -> int | None:
        """The buffer, packets; `None` if no buffer that was allowed meets all targets."""
        return self.least.size

    @property
    def met(self) -> bool:
        """Whether the buffer meets all targets with the confidence that was asked for."""
        return self.least.size is not None and self.least.confidence >= self.goal.confidence

    @property
    def runs(self) -> int:
        """How many runs it took, those of the rules' buffers included."""
        return sum(map(len, self.measured.values()))

    def metrics(self) -> list[str]:
        """Names of what is shown of every buffer."""
        return list(dict.fromkeys((*METRICS, *(target.name for target in self.goal.targets))))

    def curve(self) -> pl.DataFrame:
        """Means over the runs by buffer: `buffer_packets`, `runs`, each metric and its `…_ci95`.

        `…_runs` is of how many runs a mean is where some have no value.
        """
        rows = []
        for packets in sorted(self.measured):
            values = list(self.measured[packets].values())
            row: dict[str, float | None] = {"buffer_packets": packets, "runs": len(values)}
            for name in self.metrics():
                row |= mean_columns(name, mean_over_runs(name, values))
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None)

    def figure(self) -> Figure:
        """What every buffer that was simulated does, and where the answer and the rules lie."""
        return display.figure(self)

    def configuration(
        self, platform: str, device: str | None = None, *, shape: bool = False
    ) -> Configuration | None:
        """What to type on a router for the answer; `None` if there is no answer.

        Args:
            platform: For which platform: a name of `configure.PLATFORMS`.
            device: The interface that sends into the link; default a usual name.
            shape: Add a shaper at this rate, for an interface that is faster.

        Raises:
            InputError: There is no such platform, or it cannot take the answer's values.
        """
        if self.packets is None:
            return None
        return configuration(
            f"{self.site.rate_bps} bps",
            self.table,
            f"{self.packets} packets",
            platform=platform,
            device=device,
            shape=shape,
            packet=f"{self.site.packet_bytes} B",
        )

    def _configuration(
        self, platform: str | None, device: str | None, *, shape: bool
    ) -> dict[str, Any] | None:
        try:
            made = None if platform is None else self.configuration(platform, device, shape=shape)
        except InputError:  # the platform cannot take it
            return None
        return None if made is None else made.to_dict()

    def to_dict(
        self, platform: str | None = None, device: str | None = None, *, shape: bool = False
    ) -> dict[str, Any]:
        """The document.

        Args:
            platform: For which platform it has what to type; default none.
            device: The interface for that; default a usual name.
            shape: Add a shaper at this rate, for an interface that is faster.
        """
        least, goal, site = self.least, self.goal, self.site
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "version": _core.engine_version,
            "name": site.name,
            "link": site.link,
            "resolved": self.resolved,
            "queue": self.queue,
            "rate_bps": site.rate_bps,
            "rtt_ms": site.rtt_ms,
            "packet_bytes": site.packet_bytes,
            "targets": [str(target) for target in goal.targets],
            "targets_from": self.targets_from,
            "asked": {
                "for": "largest" if goal.largest else "least",
                "confidence": goal.confidence,
                "resolution": goal.resolution,
                "bounds": [goal.lower, least.upper],
            },
            "buffer": None if least.size is None else site.buffer(least.size),
            "closest": site.buffer(least.closest),
            "confirmed": self.met,
            "confidence": least.confidence,
            "checks": checks_to_dicts(least.checks, least.confidence, goal.confidence),
            "beyond": least.beyond,
            "conflict": [str(target) for target in least.conflict],
            "islands": list(least.islands),
            "rules": self._rules(),
            "tried": self.curve().to_dicts(),
            "configuration": self._configuration(platform, device, shape=shape),
            "assumed": list(self.assumed),
            "warnings": list(self.warnings),
            "runs": self.runs,
            "finished": self.finished,
        }

    def _rules(self) -> list[dict[str, Any]]:
        judged = {each.rule: each for each in self.judged}
        rows = [] if self.rules is None else self.rules.frame.to_dicts()
        return [
            row | {"simulated": judged[row["rule"]].to_dict() if row["rule"] in judged else None}
            for row in rows
        ]

    def save_tables(self, directory: Path, name: str) -> list[Path]:
        """Write the buffers that were simulated, and the rules, as CSV and Parquet; return the files.

        Raises:
            OutputError: The folder cannot be written.
        """
        frames = {f"{name}-tried": self.curve()}
        if self.rules is not None:
            frames[f"{name}-rules"] = self.rules.frame
        return save_frames(frames, directory)

    def __repr__(self) -> str:
        return f"<Sizing {self.site.name!r}, {self.packets} packets>"


def save_frames(frames: Mapping[str, pl.DataFrame], directory: Path) -> list[Path]:
    """Write frames as CSV and Parquet by their names; return the files.

    Raises:
        OutputError: A file cannot be written; those before it are there.
    """
    make_folder(directory)
    return [
        write_whole(directory / f"{stem}.{kind}", write)
        for stem, frame in frames.items()
        for kind, write in (("csv", frame.write_csv), ("parquet", frame.write_parquet))
    ]
