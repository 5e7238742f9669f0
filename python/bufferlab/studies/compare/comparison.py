"""The answer of `compare`, as an object and as a document.

The document (`--json`, `Comparison.to_dict()`) has

- `format` ("bufferlab-comparison"), `format_version`, `version`, `name`, `duration_s`, `warmup_s`, `seeds`,
  `resolved` (the scenario under the first seed), `link`, `targets` (the scenario's), `weights_from` ("asked",
  "scenario" or "default");
- `aspects`: what users feel, one object an aspect with `kind`, `title`, `metric` and `weight`;
- `queues`: one object a queue with `queue`, `buffer`, `buffer_packets` and `buffer_ms` (the same where
  it is in packets or a time; else `null`), `identical` (whether all its runs are), `behind` (how
  much worse users fare than with the recommended one, as a share) and `behind_ci95`, `equal` (not
  distinguished, or by less than users notice), `alike` (the runs show the latter), `missed` (the targets),
  `worst` (the aspect in which it is behind most), `values` and `values_ci95`: means of the link's metrics
  and, with the group's name and a dot before, of the flow groups'; `values_runs`, of how many runs, where not
  of all;
- `recommendation` with `queue`, `founded` (whether users fare better than under some other queue, or it
  misses fewer targets), `clear` (than under every other that misses no more), `undecided` (the queues
  that more seeds may recommend in its place) and `tied` (those that are equal to it
  for this traffic: the first in our order is recommended, and other traffic was not tried); `null` if no
  packet was measured;
- `advise`: the command that tries other traffic, and so decides between equal queues;
- `warnings`: why the runs may be too short for what waits under some queue.

`…_ci95` is half the width of a 95 % confidence interval, `null` where runs do not tell.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from bufferlab import _core, display
from bufferlab.stats import Estimate
from bufferlab.studies.advise.entry import Site
from bufferlab.studies.advise.needs import Needs
from bufferlab.studies.choosing.choice import Choice, Rival
from bufferlab.studies.choosing.objectives import Aspect, Kind
from bufferlab.studies.contenders import word_and_buffer
from bufferlab.studies.targets import Target, Values, mean_columns, mean_over_runs, values_document
from bufferlab.studies.words import OWN
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bufferlab._scenario_types import ResolvedScenario

FORMAT: Final = "bufferlab-comparison"
FORMAT_VERSION: Final = 2


@dataclass(frozen=True)
class Measured:
    """A queue, and what it measured.

    Attributes:
        name: The queue as written.
        buffer: Its buffer, as written.
        values: What each run measured, in order of the seeds.
        packets: Its buffer where that is in packets; else `None`.
        time_ms: The time that the link takes to send its buffer, where that is a time, ms; else `None`.
    """

    name: str
    buffer: str
    values: tuple[Values, ...]
    packets: int | None = None
    time_ms: float | None = None

    @property
    def title(self) -> str:
        """The queue, as it is called in sentences."""
        return "the scenario's own" if self.name == OWN else self.name

    @property
    def identical(self) -> bool:
        """Whether all its runs measured the same."""
        return len(self.values) > 1 and all(values == self.values[0] for values in self.values)

    @property
    def means(self) -> dict[str, Estimate]:
        """Means of all values, by name."""
        return {name: self.mean(name) for name in dict.fromkeys(itertools.chain(*self.values))}

    def mean(self, name: str) -> Estimate:
        """Mean of a value over its runs, and how sure it is, which identical runs do not tell."""
        found = mean_over_runs(name, self.values)
        return found._replace(half_width=None) if self.identical else found


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(display.Displayed):
    """What users feel under each queue.

    Attributes:
        name: Title of the scenario.
        site: The link whose queue was replaced, and who crosses it.
        resolved: The scenario under the first seed, with its own queue and buffer.
        seeds: The seeds, common to all queues.
        entries: What was measured, by queue as written.
        aspects: What users feel.
        weights: How much each kind of aspect weighs.
        choice: Which queue to run; `None` if no packet was measured.
        missed: The scenario's targets that each queue misses in the mean.
        needs: What the scenario asks for, and what was asked for beside it.
        advise: The command that tries other traffic, and so decides between equal queues.
        buffers: The queues that differ from the chosen one in the buffer alone, and so were compared with it
            without Jain's index.
        warnings: Why the runs may be too short for what waits under some queue: sentences.
        written: The scenario's own queue as its file has it, a word or a table; `None` if it has none.
    """

    name: str
    site: Site
    resolved: ResolvedScenario
    seeds: Sequence[int]
    entries: Mapping[str, Measured]
    aspects: tuple[Aspect, ...]
    weights: Mapping[Kind, float]
    choice: Choice | None
    missed: Mapping[str, tuple[Target, ...]]
    needs: Needs
    advise: str
    buffers: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    written: object = None

    @property
    def own(self) -> str:
        """Discipline of the scenario's own queue."""
        link = next(each for each in self.resolved["links"] if each["name"] == self.link)
        return str(link["queue"]["discipline"])

    def kind(self, name: str) -> str:
        """The discipline of an entry, by its word."""
        word, _ = word_and_buffer(name)
        return self.own if word == OWN else word

    def called(self, name: str) -> str:
        """An entry's name in tables and lists; of the scenario's own queue also which it is."""
        word, _ = word_and_buffer(name)
        return f"{OWN}'s {self.own}{name.removeprefix(OWN)}" if word == OWN else name

    @property
    def link(self) -> str:
        """Name of the link whose queue was replaced."""
        return self.site.link

    @property
    def tied(self) -> tuple[str, ...]:
        """The queues that are equal to the recommended one, of which more seeds would tell nothing else."""
        return () if self.choice is None else self.choice.tied

    @property
    def is_founded(self) -> bool:
        """Whether users fare better under the chosen queue than under another, or it misses fewer targets."""
        if self.choice is None:
            return False
        fewest = len(self.missed[self.choice.name])
        return any(not rival.is_equal or len(rival.missed) > fewest for rival in self.choice.rivals)

    @property
    def identical(self) -> bool:
        """Whether all seeds gave the same runs under every queue."""
        return all(entry.identical for entry in self.entries.values())

    @property
    def ranked(self) -> list[Measured]:
        """The queues, the chosen one first, then the next best."""
        if self.choice is None:
            return list(self.entries.values())
        names = [self.choice.name, *(each.name for each in self.choice.rivals)]
        return [self.entries[name] for name in names]

    @property
    def groups_on_link(self) -> list[str]:
        """The flow groups whose data crosses the link."""
        return [flow["name"] for flow in self.resolved["flows"] if self.link in flow["path"]]

    @property
    def queues(self) -> pl.DataFrame:
        """One row per queue: its name, buffer, and means of the link's metrics with their `…_ci95`."""
        return _frame(
            {"queue": entry.name, "buffer": entry.buffer, **_of_group(entry, "")}
            for entry in self.entries.values()
        )

    @property
    def groups(self) -> pl.DataFrame:
        """One row per queue and flow group that crosses the link."""
        return _frame(
            {"queue": entry.name, "group": group, **_of_group(entry, group)}
            for entry in self.entries.values()
            for group in self.groups_on_link
        )

    def rival(self, name: str) -> Rival | None:
        """What a queue lacks against the chosen one; `None` for that one."""
        rivals = () if self.choice is None else self.choice.rivals
        return next((each for each in rivals if each.name == name), None)

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        choice = self.choice
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "version": _core.engine_version,
            "name": self.name,
            "duration_s": self.resolved["run"]["duration_ps"] / PS_PER_S,
            "warmup_s": self.resolved["run"]["warmup_ps"] / PS_PER_S,
            "seeds": list(self.seeds),
            "resolved": self.resolved,
            "link": self.link,
            "targets": [str(each) for each in self.needs.targets],
            "weights_from": self.needs.weights_from,
            "aspects": [
                {"kind": each.kind, "title": each.title, "metric": each.metric}
                | {"weight": self.weights[each.kind]}
                for each in self.aspects
            ],
            "queues": [self._row(entry) for entry in self.entries.values()],
            "recommendation": None
            if choice is None
            else {"queue": choice.name, "founded": self.is_founded, "clear": choice.is_clear}
            | {"undecided": list(choice.open), "tied": list(self.tied)},
            "advise": self.advise,
            "warnings": list(self.warnings),
        }

    def _row(self, entry: Measured) -> dict[str, Any]:
        rival = self.rival(entry.name)
        return {
            "queue": entry.name,
            "buffer": entry.buffer,
            "buffer_packets": entry.packets,
            "buffer_ms": entry.time_ms,
            "identical": entry.identical,
            "behind": 0.0 if rival is None else rival.behind.mean,
            "behind_ci95": None if rival is None or entry.identical else rival.behind.half_width,
            "equal": rival is None or rival.is_equal,
            "alike": rival is None or rival.is_alike,
            "missed": [str(target) for target in self.missed[entry.name]],
            "worst": None
            if rival is None or rival.worst is None
            else {"metric": rival.worst[0].metric, "behind": rival.worst[1]},
            **values_document(entry.means),
        }

    def figure(self) -> Figure:
        """How much worse users fare than under the recommended queue, as a whole and in each aspect."""
        return display.figure(self)

    def __repr__(self) -> str:
        return f"<Comparison {self.name!r}, {', '.join(self.entries)}>"


def _frame(rows: Iterable[Mapping[str, object]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), infer_schema_length=None)


def _of_group(entry: Measured, group: str) -> dict[str, float | None]:
    """Means of a group's metrics, or of the link's, and their `…_ci95`."""
    found: dict[str, float | None] = {}
    for name, mean in entry.means.items():
        prefix, _, metric = name.rpartition(".")
        if prefix == group:
            found |= mean_columns(metric, mean)
    return found
