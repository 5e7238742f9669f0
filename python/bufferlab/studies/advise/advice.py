"""The answer of `advise`, as an object and as a document.

The document (`--json`, `Advice.to_dict()`) has `format` ("bufferlab-advice"), `format_version`, `version`,
`name`, `link`, `rate_bps`, `rtt_ms`, `packet_bytes`, `stage`, `finished`; the answer: `queue`, `setting`,
`buffer` (in packets, bytes and ms of draining), `meets`, `confidence`, `checks` (one a target); `aspects`
(what users feel); `queues`, one object a queue that was tried; `sensitivity`; `warnings`; `runs`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from bufferlab import _core, display
from bufferlab.configure import Configuration, configuration
from bufferlab.files import not_written
from bufferlab.scenario import Table
from bufferlab.stats import Estimate, estimate
from bufferlab.studies.advise.choice import Choice
from bufferlab.studies.advise.objectives import Aspect, Kind
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.least import Check, Least
from bufferlab.studies.targets import Target, Values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT: Final = "bufferlab-advice"
FORMAT_VERSION: Final = 1

Stage = Literal["first", "tuned", "final"]
"""How far it is: buffers searched; every queue's own setting searched, too; and what would change it."""


@dataclass(frozen=True)
class Users:
    """A flow group, as those who use it see it.

    Attributes:
        name: Name of the group.
        kind: Kind of its application: "bulk", "udp", "web" and so on.
        flows: How many flows it has.
        control: Its congestion control; `None` for datagrams.
    """

    name: str
    kind: str
    flows: int
    control: str | None


@dataclass(frozen=True)
class Site:
    """Where the answer is for.

    Attributes:
        name: Title of the scenario.
        link: Name of the link.
        rate_bps: Its rate, bit/s.
        rtt_ms: Mean round-trip time of the flows that cross it, without waiting, ms.
        packet_bytes: Its largest full packet, bytes.
        users: The flow groups of the scenario.
        rules: Buffers by published rules, packets, by the rules' names; none without TCP.
        largest: Largest buffer that is tried, packets.
    """

    name: str
    link: str
    rate_bps: int
    rtt_ms: float
    packet_bytes: int
    users: tuple[Users, ...] = ()
    rules: Mapping[str, int] = field(default_factory=dict)
    largest: int = 0

    @property
    def bdp_packets(self) -> float:
        """Bandwidth-delay product, packets."""
        return self.rate_bps * self.rtt_ms / 8e3 / self.packet_bytes

    def buffer(self, packets: int) -> dict[str, float]:
        """A buffer in packets, bytes and ms of draining."""
        size_bytes = packets * self.packet_bytes
        return {"packets": packets, "bytes": size_bytes, "ms": size_bytes * 8e3 / self.rate_bps}


@dataclass(frozen=True)
class Entry:
    """A queue with a setting, and what it measured.

    Attributes:
        queue: The queue.
        setting: Its setting.
        values: What each run measured, with the seeds that all entries have.
        runs: What the runs measured that check its targets, with seeds of their own if there are such.
        checks: Each target.
        confidence: That all targets are met; 0 if one is missed in the mean.
        least: The search that gave the setting; `None` if it is the usual one.
    """

    queue: Queue
    setting: int
    values: tuple[Values, ...]
    runs: tuple[Values, ...]
    checks: tuple[Check, ...]
    confidence: float
    least: Least | None

    @property
    def name(self) -> str:
        """The queue and, where two settings of it are compared, its setting."""
        return f"{self.queue.name}, {self.queue.show(self.setting)}"

    @property
    def table(self) -> Table:
        """The discipline as a scenario has it, with its setting."""
        return self.queue.with_setting(self.setting)

    @property
    def packets(self) -> int:
        """Its buffer, packets."""
        return self.queue.limit(self.setting)

    def mean(self, name: str) -> Estimate:
        """Mean of a value over the runs with common seeds, and how sure it is."""
        return self._estimate(self.values, name)

    def checked(self, name: str) -> Estimate:
        """Mean of a value over the runs that check the targets, and how sure it is."""
        return self._estimate(self.runs, name)

    def _estimate(self, runs: Sequence[Values], name: str) -> Estimate:
        """Mean and interval, which identical runs do not tell."""
        found = estimate(values.get(name) for values in runs)
        return Estimate(found.mean, None) if self.identical else found

    @property
    def identical(self) -> bool:
        """Whether all its runs measured the same."""
        return len(self.runs) > 1 and all(values == self.runs[0] for values in self.runs)


@dataclass(frozen=True, eq=False, repr=False)
class Advice:
    """Which queue, how large, what it costs, how sure.

    Attributes:
        site: Where it is for.
        targets: What shall be met.
        confidence: With which.
        aspects: What the scenario's users feel.
        weights: How much each kind of aspect weighs.
        entries: What was tried, by name.
        choice: Which of them to take, and why not the others.
        stage: How far it is.
        sensitivity: What would change it.
        warnings: What the reader should know.
        runs: How many runs it took.
        finished: Whether it came to its end; Ctrl-C ends it with the best answer so far.
    """

    site: Site
    targets: tuple[Target, ...]
    confidence: float
    aspects: tuple[Aspect, ...]
    weights: Mapping[Kind, float]
    entries: Mapping[str, Entry]
    choice: Choice
    stage: Stage
    sensitivity: tuple[Sensitivity, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    runs: int = 0
    finished: bool = False

    @property
    def answer(self) -> Entry:
        """The queue and setting to take."""
        return self.entries[self.choice.name]

    @property
    def met(self) -> bool:
        """Whether the answer meets all targets with the confidence that was asked for."""
        return self.choice.meets and self.answer.confidence >= self.confidence

    def configuration(self, platform: str = "linux", device: str | None = None) -> Configuration:
        """What to type for the answer.

        Args:
            platform: For what: linux, openwrt, routeros, junos, ios-xe, ios-xr, nx-os.
            device: The interface whose output it is; default a usual name.

        Raises:
            InputError: There is no such platform, or it cannot take the answer's values.
        """
        return self.configuration_of(self.answer, platform, device)

    def configuration_of(self, entry: Entry, platform: str, device: str | None = None) -> Configuration:
        """What to type for any entry."""
        return configuration(
            f"{self.site.rate_bps} bps",
            entry.table,
            f"{entry.packets} packets",
            platform=platform,
            device=device,
            packet=f"{self.site.packet_bytes} B",
        )

    def best_fifo(self) -> Entry | None:
        """The best buffer of a plain FIFO queue, if one was tried."""
        found = [entry for entry in self.entries.values() if entry.queue.table == {"discipline": "fifo"}]
        return found[0] if found else None

    def to_dict(self, *, platform: str = "linux", device: str | None = None) -> dict[str, Any]:
        """The document.

        Args:
            platform: For what the lines are that are to be typed.
            device: The interface whose output it is; default a usual name.
        """
        answer = self.answer
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "version": _core.engine_version,
            "name": self.site.name,
            "link": self.site.link,
            "rate_bps": self.site.rate_bps,
            "rtt_ms": self.site.rtt_ms,
            "packet_bytes": self.site.packet_bytes,
            "stage": self.stage,
            "finished": self.finished,
            "queue": answer.queue.name,
            "setting": answer.queue.show(answer.setting),
            "buffer": self.site.buffer(answer.packets),
            "meets": self.met,
            "confidence": answer.confidence,
            "checks": [each.to_dict() for each in answer.checks],
            "aspects": [
                {"kind": each.kind, "metric": each.metric, "weight": self.weights[each.kind]}
                for each in self.aspects
            ],
            "queues": [self._entry(entry) for entry in self.entries.values()],
            "sensitivity": [_sensitivity(each) for each in self.sensitivity],
            "configuration": self.configuration(platform, device).to_dict(),
            "warnings": list(self.warnings),
            "runs": self.runs,
        }

    def _entry(self, entry: Entry) -> dict[str, Any]:
        names = dict.fromkeys(name for values in entry.values for name in values)
        means = {name: entry.mean(name) for name in names}
        rival = next((each for each in self.choice.rivals if each.name == entry.name), None)
        return {
            "queue": entry.queue.name,
            "setting": entry.queue.show(entry.setting),
            "buffer": self.site.buffer(entry.packets),
            "confidence": entry.confidence,
            "behind": 0.0 if rival is None else rival.behind.mean,
            "behind_ci95": None if rival is None else rival.behind.half_width,
            "missed": [str(each) for each in (rival.missed if rival else ())],
            "identical": entry.identical,
            "values": {name: mean for name, (mean, _) in means.items()},
            "values_ci95": {name: half_width for name, (_, half_width) in means.items()},
        }

    def save(self, folder: str | PathLike[str]) -> list[Path]:
        """Write `advice.json`, `advice.txt`, `advice.png` and `advice.svg` into a folder.

        Raises:
            OutputError: They cannot be written.
        """
        directory = Path(folder)
        document, text = directory / "advice.json", directory / "advice.txt"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            document.write_text(json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n", "utf-8")
            text.write_text(f"{self}\n", "utf-8")
        except OSError as error:
            raise not_written(directory, error) from error
        return [document, text, *display.save_figure(self.figure(), directory / "advice")]

    def figure(self) -> Figure:
        """What the buffers that were tried do, and what each queue does to users."""
        return display.figure(self)

    def __repr__(self) -> str:
        return f"<Advice {self.site.name!r}: {self.choice.name}>"

    def __str__(self) -> str:
        return display.text(self)

    def _repr_html_(self) -> str:
        return display.html(self)


def _sensitivity(each: Sensitivity) -> dict[str, Any]:
    return {
        "title": each.title,
        "holds": each.holds,
        "missed": [str(target) for target in each.missed],
        "least_packets": None if each.least is None else each.least.size,
        "values": dict(each.values),
    }


def mean_values(runs: Sequence[Values]) -> Values:
    """Means over runs of every value that all have."""
    names = dict.fromkeys(name for run in runs for name in run)
    return {name: estimate(run.get(name) for run in runs).mean for name in names}
